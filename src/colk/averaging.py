"""Averages of the iterates, kept in the RKHS over the same atoms as extra columns of weights."""

from dataclasses import dataclass

from colk._validation import check_count, check_fraction, check_number

__all__ = ["Averaging", "Exponential", "PolyakRuppert"]


@dataclass(frozen=True)
class PolyakRuppert:
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

    burn_in: int = 0
    growth: float = 0.0

    def __post_init__(self) -> None:
        check_count(self.burn_in, "burn_in", at_least=0)
        check_number(self.growth, "growth", at_least=0.0)


@dataclass(frozen=True)
class Exponential:
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

    rate: float = 0.01

    def __post_init__(self) -> None:
        check_fraction(self.rate, "rate")


Averaging = PolyakRuppert | Exponential
