"""Averages of the iterates, kept in the RKHS over the same atoms as extra rows of weights."""

from typing import ClassVar

import cython

from colk._validation import check_count, check_fraction, check_number
from colk.terms import Term, overridden

__all__ = ["Averaging", "Exponential", "PolyakRuppert"]


class Averaging(Term):
    """A mean of the iterates: f̄ ← f̄ + ρ_t (f − f̄) after step t = 0, 1, …, with ρ_t = rate_at(t).

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.averaging import Averaging
    >>> from colk.kernels import Gaussian
    >>> class Halves(Averaging):
    ...     def rate_at(self, t):
    ...         return 0.5
    >>> COLK(Gaussian(0.5), averaging=Halves()).learn([[0.0], [1.0]], [1.0, 2.0]).steps
    2
    """

    _hooks: ClassVar[tuple[str, ...]] = ("rate_at",)

    def rate_at(self, t: int) -> float:
        """ρ_t, in (0, 1]."""
        with cython.gil:
            return float(overridden(self, "rate_at")(t))


class PolyakRuppert(Averaging):
    """Mean of all iterates after a burn-in; later ones may weigh more.

    f̄ ← f̄ + (1 + growth)/(k + growth)·(f − f̄) at the k-th step after the burn-in, so that an
    iterate weighs about k^growth. A growth of a few steps forgets the transient by itself.

    Parameters
    ----------
    burn_in : int
        Steps before the average begins; until then it is the iterate.
    growth : float
        0 for the plain mean.

    Examples
    --------
    >>> from colk.averaging import PolyakRuppert
    >>> PolyakRuppert(burn_in=1000)
    PolyakRuppert(burn_in=1000, growth=0.0)
    """

    _fields = ("burn_in", "growth")
    burn_in: int
    growth: float

    def __init__(self, burn_in: int = 0, growth: float = 0.0) -> None:
        self.burn_in = check_count(burn_in, "burn_in", at_least=0)
        self.growth = check_number(growth, "growth", at_least=0.0)

    def rate_at(self, t: int) -> float:
        """(1 + growth)/(k + growth) with k = t + 1 − burn_in, at least 1."""
        k = max(t + 1.0 - self.burn_in, 1.0)
        return (1.0 + self.growth) / (k + self.growth)


class Exponential(Averaging):
    """Exponentially weighted mean, f̄ ← f̄ + rate·(f − f̄): for targets that drift.

    Parameters
    ----------
    rate : float
        1/rate is the number of steps that it remembers.

    Examples
    --------
    >>> from colk.averaging import Exponential
    >>> Exponential(rate=0.01)
    Exponential(rate=0.01)
    """

    _fields = ("rate",)
    rate: float

    def __init__(self, rate: float = 0.01) -> None:
        self.rate = check_fraction(rate, "rate")

    def rate_at(self, t: int) -> float:
        """The rate, whatever the step."""
        return self.rate
