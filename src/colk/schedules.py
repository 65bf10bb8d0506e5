"""Schedules: step sizes and tracking rates, averages of the iterates, pairs of samples."""

from typing import ClassVar, Literal

import cython

from colk._engine.c_types import Readonly
from colk._engine.contracts import AveragingContract, RateContract
from colk._engine.terms import check_overrides, overridden
from colk._validation import check_count, check_fraction, check_number

__all__ = ["Averaging", "Exponential", "PolyakRuppert", "PowerDecay", "Rate", "as_decay"]


class PowerDecay(RateContract):
    """initial/(1 + t/scale)^power at step t.

    With a power in (1/2, 1] the sum of squares is finite and the sum is infinite; convergence to a
    point, not only to a neighbourhood, requires both.

    Parameters
    ----------
    initial : float
        The rate at step 0.
    power : float
        Exponent of the decay. Default: 0.5; 0 keeps the rate constant.
    scale : float
        Number of steps after which the decay sets in. Default: 1.

    Examples
    --------
    >>> from colk.schedules import PowerDecay
    >>> PowerDecay(0.5, power=1.0, scale=100.0).at(100)
    0.25
    """

    _fields = ("initial", "power", "scale")
    _sealed = ("rate",)
    initial: Readonly[float]
    power: Readonly[float]
    scale: Readonly[float]

    def __init__(self, initial: float, power: float = 0.5, scale: float = 1.0) -> None:
        self.initial = check_number(initial, "initial", above=0.0)
        self.power = check_number(power, "power", at_least=0.0)
        self.scale = check_number(scale, "scale", above=0.0)

    def at(self, t: int) -> float:
        """Return the rate of step t."""
        return self.rate(t)

    def rate(self, t: int) -> float:  # cdef noexcept
        """`at` for compiled code."""
        if self.power == 0.0:
            return self.initial
        return float(self.initial / (1.0 + t / self.scale) ** self.power)


Rate = float | PowerDecay


def as_decay(rate: Rate, name: str) -> PowerDecay:
    """Return a schedule unchanged; a number becomes a constant schedule.

    Examples
    --------
    >>> from colk.schedules import as_decay
    >>> as_decay(0.1, "step_size").at(100)
    0.1
    """
    if isinstance(rate, PowerDecay):
        check_overrides(rate)
        return rate
    return PowerDecay(check_number(rate, name, above=0.0), power=0.0)


class Averaging(AveragingContract):
    """A mean of the iterates: f̄ ← f̄ + ρ_t (f − f̄) after step t = 0, 1, …, with ρ_t = rate_at(t).

    Dropping an atom removes a part of f̄. With KOMP, the cost of an atom is therefore the loss of f
    and f̄ together, and ρ_t is at least √(Q/R), where Q is the mean squared H-norm that compression
    removes from f̄ per step, and R = 2M‖f̄‖². Without this minimum, a rate that falls to 0 would
    not restore the parts that compression removes at a constant rate, and f̄ would decay on a long
    stream.

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.schedules import Averaging
    >>> from colk.kernels import Gaussian
    >>> class Halves(Averaging):
    ...     def rate_at(self, t):
    ...         return 0.5
    >>> COLK(Gaussian(0.5), averaging=Halves()).learn([[0.0], [1.0]], [1.0, 2.0]).steps
    2
    """

    _hooks: ClassVar[tuple[str, ...]] = ("rate_at",)

    def rate_at(self, t: int) -> float:  # cdef
        """ρ_t, in (0, 1]."""
        with cython.gil:
            return float(overridden(self, "rate_at")(t))


class PolyakRuppert(Averaging):
    """Mean of all iterates after a burn-in; later iterates may have larger weights.

    f̄ ← f̄ + (1 + growth)/(k + growth)·(f − f̄) at the k-th step after the burn-in, so that the
    weight of an iterate is about k^growth. A growth of 2 or 3 reduces the weight of the first
    iterates, without a burn-in.

    Parameters
    ----------
    burn_in : int
        Number of steps before averaging starts. Default: 0. Until then the average is the iterate.
    growth : float
        Exponent of the weights. Default: 0, the plain mean.

    Examples
    --------
    >>> from colk.schedules import PolyakRuppert
    >>> PolyakRuppert(burn_in=1000)
    PolyakRuppert(burn_in=1000, growth=0.0)
    """

    _fields = ("burn_in", "growth")
    burn_in: Readonly[int]
    growth: Readonly[float]

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
        ρ. Default: 0.01. The average covers about the last 1/rate iterates.

    Examples
    --------
    >>> from colk.schedules import Exponential
    >>> Exponential(rate=0.01)
    Exponential(rate=0.01)
    """

    _fields = ("rate",)
    rate: Readonly[float]

    def __init__(self, rate: float = 0.01) -> None:
        self.rate = check_fraction(rate, "rate")

    def rate_at(self, t: int) -> float:
        """Return the rate, which is the same at every step."""
        return self.rate


Pairing = Literal["independent", "overlap", "same"]
PAIRINGS = ("independent", "overlap", "same")
