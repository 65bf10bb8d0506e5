"""Optimised certainty equivalents and shortfall: risks that are the root of an equation."""

from typing import ClassVar

import cython

from colk._engine.c_types import Readonly
from colk._engine.contracts import TrackerContract
from colk._engine.terms import overridden
from colk._validation import Array, check_number
from colk.risks.of_losses import LossRisk

# A tracked mean slope is never below this.
_LEAST_SLOPE: float = 1e-100


class Disutility(LossRisk):
    """Base class of the risks whose τ solves E e(ℓ − τ) = 0, for an increasing function e.

    `CertaintyEquivalent` and `Shortfall` define e by a disutility φ, a convex increasing function
    of one number. The tracked values are τ and a scale s. The outer expectation is stationary at
    both, so neither enters the gradient. `estimate` solves the equation for τ.

    Examples
    --------
    >>> from colk.risks import CertaintyEquivalent, Shortfall
    >>> issubclass(CertaintyEquivalent, Disutility), issubclass(Shortfall, Disutility)
    (True, True)
    """

    _hooks = ("disutility_at", "disutility_slope_at")
    _sealed: ClassVar[tuple[str, ...]] = ("excess_at", "shift_at")
    n_inner = 2
    n_expectations = 0
    is_implicit = True

    def disutility_at(self, u: float) -> float:  # cdef
        """φ(u)."""
        with cython.gil:
            return float(overridden(self, "disutility_at")(u))

    def disutility_slope_at(self, u: float) -> float:  # cdef
        """φ'(u)."""
        with cython.gil:
            return float(overridden(self, "disutility_slope_at")(u))

    def excess_at(self, u: float) -> float:  # cdef
        """e(u) for u = ℓ − τ."""
        return 0.0

    def shift_at(self, u: float, scale: float) -> float:  # cdef
        """Return a change of τ for one sample, whose mean is 0 at the root."""
        return 0.0

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return g[0] + self.shift_at(loss - g[0], g[1])

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return a moving average, which moves τ by at most |ℓ − τ|; momentum is not used."""
        moved = (1.0 - rate) * g[i] + rate * self.inner_at(now, g, i)
        if i == 1:
            return moved
        most = abs(now - g[0])
        return min(max(moved, g[0] - most), g[0] + most)


class CertaintyEquivalent(Disutility):
    """min over τ of τ + E φ(ℓ − τ): the optimised certainty equivalent of a disutility φ.

    Write a class with the methods `disutility_at` and `disutility_slope_at`. φ must be convex and
    increasing, with slopes below 1 somewhere and above 1 elsewhere; the risk is then convex and
    monotone. τ solves E φ'(ℓ − τ) = 1, and `estimate` solves this equation. `CVaR`, with φ(u) =
    u₊/a, and `Entropic`, with φ(u) = (exp(tu) − 1)/t, have faster trackers of their own. If φ has a
    kink, the gradient on a sample is right up to the weight of one row.

    On a stream τ moves by βs(φ'(ℓ − τ) − 1), by at most |ℓ − τ|, with the spread s = E|ℓ − τ|.

    References
    ----------
    A. Ben-Tal and M. Teboulle, "An old-new concept of convex risk measures: the optimized certainty
    equivalent", Mathematical Finance 17 (2007).

    Examples
    --------
    The mean plus half the variance, as long as no loss is more than 1 below the mean:

    >>> class MeanVariance(CertaintyEquivalent):
    ...     def disutility_at(self, u):
    ...         return 0.5 * max(u + 1.0, 0.0) ** 2 - 0.5
    ...     def disutility_slope_at(self, u):
    ...         return max(u + 1.0, 0.0)
    >>> MeanVariance().estimate([1.0, 2.0]).round(6), round(MeanVariance().value([1.0, 2.0]), 6)
    (array([1.5, 0.5]), 1.625)
    """

    _hooks = ("disutility_at", "disutility_slope_at")

    def excess_at(self, u: float) -> float:
        return self.disutility_slope_at(u) - 1.0

    def shift_at(self, u: float, scale: float) -> float:
        return scale * self.excess_at(u)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        u = loss - g[0]
        return abs(u) if i == 1 else g[0] + self.shift_at(u, g[1])

    def outer_at(self, loss: float, g: Array) -> float:
        return g[0] + self.disutility_at(loss - g[0])

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return self.disutility_slope_at(loss - g[0])

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0 if i == 1 else -self.excess_at(loss - g[0])

    def start(self, g: Array, m: int, loss: float) -> int:
        g[0], g[1] = loss, abs(loss)
        return 0


class Shortfall(Disutility):
    """The least τ with E φ(ℓ − τ) ≤ level: the utility-based shortfall of a disutility φ.

    Write a class with the methods `disutility_at` and `disutility_slope_at`. φ must be convex and
    increasing, and cross the level; the risk is then convex and monotone. τ solves E φ(ℓ − τ) =
    level, and `estimate` solves this equation. The risk is written as E[τ + (φ(ℓ − τ) − level)/s]
    with s = E φ'(ℓ − τ), which is stationary in τ and s at the root.

    On a stream τ moves by β(φ(ℓ − τ) − level)/s, by at most |ℓ − τ|.

    Parameters
    ----------
    level : float
        Default: 0.

    References
    ----------
    H. Föllmer and A. Schied, "Convex measures of risk and trading constraints", Finance and
    Stochastics 6 (2002).

    Examples
    --------
    >>> import math
    >>> class Exponential(Shortfall):  # the entropic risk, if the level is 1
    ...     def disutility_at(self, u):
    ...         return math.exp(u)
    ...     def disutility_slope_at(self, u):
    ...         return math.exp(u)
    >>> from colk.risks import Entropic
    >>> losses = [0.0, 1.0, 3.0]
    >>> round(Exponential(level=1.0).value(losses), 6), round(Entropic(1.0).value(losses), 6)
    (2.071234, 2.071234)
    """

    _fields: ClassVar[tuple[str, ...]] = ("level",)
    _hooks = ("disutility_at", "disutility_slope_at")

    level: Readonly[float]

    def __init__(self, level: float = 0.0) -> None:
        self.level = check_number(level, "level")

    def excess_at(self, u: float) -> float:
        return self.disutility_at(u) - self.level

    def shift_at(self, u: float, scale: float) -> float:
        return self.excess_at(u) / max(scale, _LEAST_SLOPE)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        u = loss - g[0]
        return self.disutility_slope_at(u) if i == 1 else g[0] + self.shift_at(u, g[1])

    def outer_at(self, loss: float, g: Array) -> float:
        return g[0] + self.excess_at(loss - g[0]) / max(g[1], _LEAST_SLOPE)

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return self.disutility_slope_at(loss - g[0]) / max(g[1], _LEAST_SLOPE)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        slope = max(g[1], _LEAST_SLOPE)
        if i == 1:
            return -self.excess_at(loss - g[0]) / (slope * slope)
        return 1.0 - self.disutility_slope_at(loss - g[0]) / slope

    def start(self, g: Array, m: int, loss: float) -> int:
        g[0] = loss
        slope = self.disutility_slope_at(abs(loss))
        g[1] = slope if slope > 0.0 else 1.0
        return 0


class ExpectileRisk(Shortfall):
    """The expectile of the losses: the τ with p·E(ℓ − τ)₊ = (1 − p)·E(τ − ℓ)₊.

    A `Shortfall` with the disutility p·u₊ − (1 − p)(−u)₊. Coherent for p ≥ 1/2; the mean for 1/2.

    Parameters
    ----------
    level : float
        p, in [1/2, 1). Default: 0.9.

    Examples
    --------
    >>> round(ExpectileRisk(0.75).value([0.0, 1.0]), 6)
    0.75
    """

    def __init__(self, level: float = 0.9) -> None:
        if not 0.5 <= check_number(level, "level") < 1.0:
            raise ValueError(f"level must lie in [0.5, 1), got {level!r}")
        self.level = float(level)

    def disutility_at(self, u: float) -> float:
        # Plus p: the level of the base class is subtracted.
        return self.level + (self.level if u > 0.0 else 1.0 - self.level) * u

    def disutility_slope_at(self, u: float) -> float:
        return self.level if u > 0.0 else 1.0 - self.level
