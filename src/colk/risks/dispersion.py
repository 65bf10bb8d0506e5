"""The mean, and the mean plus a weighted dispersion of the losses."""

from typing import ClassVar

import cython

from colk._engine.c_types import ConstPointer, Readonly
from colk._engine.contracts import TrackerContract
from colk._engine.terms import is_outside, overridden
from colk._validation import Array, check_count, check_number
from colk.risks import scalars
from colk.risks.of_losses import LossRisk

# A p-th power is continued linearly beyond this multiple of g₂, see `MeanSemideviation`.
_POWER_CAP: float = 1e6


class Dispersion(LossRisk):
    """E ℓ + η E d(ℓ − E ℓ), for a function d of the deviation from the mean.

    It is not monotone: it can prefer larger losses that vary less, so it need not be convex in the
    predictions. To define a dispersion, write a class with the methods `spread_at` and
    `spread_slope_at`, functions of one number; its constructor takes at least the `weight`.

    Parameters
    ----------
    weight : float
        η, at least 0. Default: 0.1. With 0 the risk is `Mean`, and nothing is tracked.

    Examples
    --------
    >>> import math
    >>> class Roughness(Dispersion):
    ...     def spread_at(self, u):
    ...         return math.sqrt(1.0 + u * u) - 1.0
    ...     def spread_slope_at(self, u):
    ...         return u / math.sqrt(1.0 + u * u)
    >>> round(Roughness(weight=0.5).value([1.0, 3.0]), 6)
    2.207107
    """

    _fields: ClassVar[tuple[str, ...]] = ("weight",)
    _strength = "weight"
    _hooks = ("spread_at", "spread_slope_at")
    n_inner = property(lambda self: 0 if self.weight == 0.0 else 1)
    is_monotone = property(lambda self: self.weight == 0.0)
    # The slopes of a function d of the user's own are not known.
    takes_short_steps = property(lambda self: self.weight != 0.0 and is_outside(type(self)))

    weight: Readonly[float]

    def __init__(self, weight: float = 0.1) -> None:
        self.weight = check_number(weight, "weight", at_least=0.0)

    def spread_at(self, u: float) -> float:  # cdef
        """Return d(u) for a deviation u = ℓ − g₁."""
        with cython.gil:
            return float(overridden(self, "spread_at")(u))

    def spread_slope_at(self, u: float) -> float:  # cdef
        """d'(u)."""
        with cython.gil:
            return float(overridden(self, "spread_slope_at")(u))

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return loss

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 1.0

    def start(self, g: Array, m: int, loss: float) -> int:
        if m > 0:
            g[0] = loss
        return 0

    def track(
        self,
        g: Array,
        m: int,
        before: float,
        now: float,
        tracker: TrackerContract,
        rate: float,
        work: Array,
    ) -> int:
        """g₁ tracks the loss itself."""
        g[0] = tracker.update(g[0], before, now, rate)
        return 0

    def outer_at(self, loss: float, g: Array) -> float:
        if self.weight == 0.0:
            return loss
        return loss + self.weight * self.spread_at(loss - g[0])

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        if self.weight == 0.0:
            return 1.0
        return 1.0 + self.weight * self.spread_slope_at(loss - g[0])

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        return -self.weight * self.spread_slope_at(loss - g[0])

    def chain(self, theta: float, xi: float, g: Array, m: int, factors: Array) -> int:
        """1 + η d'(ℓ_θ − g₁) and −η d'(ℓ_θ − g₁)."""
        factors[0], factors[1] = 1.0, 0.0
        if self.weight != 0.0:
            factors[1] = -self.weight * self.spread_slope_at(theta - g[0])
            factors[0] = 1.0 - factors[1]
        return 0


class Mean(Dispersion):
    """E ℓ: the dispersion of weight 0. Nothing is tracked. Convex and monotone.

    Examples
    --------
    >>> Mean().value([1.0, 2.0, 6.0])
    3.0
    """

    _fields = ()
    is_mean: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(0.0)


class Variance(Dispersion):
    """E ℓ + η E(ℓ − E ℓ)², convex in the losses. The weight η is in units of 1/ℓ.

    Examples
    --------
    >>> Variance(weight=0.5).value([1.0, 3.0])
    2.5
    """

    def spread_at(self, u: float) -> float:
        return u * u

    def spread_slope_at(self, u: float) -> float:
        return 2.0 * u


class CentralMoments(Dispersion):
    """E ℓ + η Σ_{p=2..P} E(ℓ − E ℓ)^p, P ≥ 2 the order: the risk of the paper's experiment.

    Convex in the losses for even P, since u² + … + u^P is. For odd P the risk is unbounded below in
    the losses. With P = 2 this is `Variance`.

    Examples
    --------
    >>> CentralMoments(order=4, weight=0.5).value([1.0, 3.0])
    3.0
    """

    _fields = ("order", "weight")
    is_convex = property(lambda self: self.order % 2 == 0 or self.weight == 0.0)

    order: Readonly[int]

    def __init__(self, order: int = 4, weight: float = 0.1) -> None:
        super().__init__(weight)
        self.order = check_count(order, "order", at_least=2)

    def spread_at(self, u: float) -> float:
        return scalars.powers(u, self.order)

    def spread_slope_at(self, u: float) -> float:
        return scalars.powers_slope(u, self.order)


class Semideviations(Dispersion):
    """E ℓ + η Σ_{p=2..P} E[(ℓ − E ℓ)₊^p], P ≥ 2 the order: the upper halves of central moments.

    Convex in the losses for every P, unlike `CentralMoments`. With a smoothing s > 0, in the units
    of ℓ, the positive part u₊ becomes s·log(1 + exp(u/s)).

    Examples
    --------
    >>> Semideviations(order=3, weight=0.5).value([1.0, 3.0])
    2.5
    """

    _fields: ClassVar[tuple[str, ...]] = ("order", "weight", "smoothing")

    order: Readonly[int]
    smoothing: Readonly[float]

    def __init__(self, order: int = 4, weight: float = 0.1, smoothing: float = 0.0) -> None:
        super().__init__(weight)
        self.order = check_count(order, "order", at_least=2)
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)

    def spread_at(self, u: float) -> float:
        return scalars.powers(scalars.positive_part(u, self.smoothing), self.order)

    def spread_slope_at(self, u: float) -> float:
        excess = scalars.positive_part(u, self.smoothing)
        slope = scalars.positive_part_slope(u, self.smoothing)
        return scalars.powers_slope(excess, self.order) * slope


class Semivariance(Semideviations):
    """E ℓ + η E[(ℓ − E ℓ)₊²]: `Semideviations` of order 2. Monotone if 2η E(ℓ − E ℓ)₊ ≤ 1.

    Examples
    --------
    >>> Semivariance(weight=0.5).value([1.0, 3.0])
    2.25
    """

    _fields = ("weight", "smoothing")

    def __init__(self, weight: float = 0.1, smoothing: float = 0.0) -> None:
        super().__init__(2, weight, smoothing)


class MeanSemideviation(LossRisk):
    """E ℓ + η (E[(ℓ − E ℓ)₊^p])^{1/p}, in the units of ℓ.

    Convex in the losses. With a weight of at most 1 it is also monotone, a coherent risk measure.

    Two numbers are tracked, g₁ = E ℓ and g₂ = E[(ℓ − g₁)₊^p]. The root is written as a minimum,
    g₂^{1/p} = min over r of E[(1/p)(ℓ − g₁)₊^p r^{1/p − 1} + (1 − 1/p) r^{1/p}], attained at r =
    g₂, so that by the envelope theorem g₂ does not enter the gradient. On a stream, g₂ starts at
    |ℓ|^p of the first loss. If the momentum update would more than halve g₂, a moving average is
    used instead. A p-th power beyond 10⁶·g₂, which no sample of fewer than a million points can
    reach, is continued linearly, which bounds the slope for g₂ near 0. For p = 1 without smoothing,
    or if all losses are equal, the gradient is a subgradient.

    Parameters
    ----------
    order : float
        p, at least 1. Default: 2.
    weight : float
        η, at least 0; at most 1 for a coherent risk. Default: 0.5.
    smoothing : float
        s, at least 0, in the units of ℓ. Default: 0, no smoothing. With s > 0 the positive part u₊
        becomes s·log(1 + exp(u/s)).

    Examples
    --------
    >>> MeanSemideviation(order=2, weight=0.5).value([0.0, 0.0, 0.0, 4.0])
    1.75
    """

    _fields = ("order", "weight", "smoothing")
    _strength = "weight"
    _sealed = ("excess", "relative_excess", "deviation_slope")
    n_inner = property(lambda self: 0 if self.weight == 0.0 else 2)
    takes_short_steps = False
    has_kink = property(lambda self: self.order == 1.0 and self.n_inner > 0)
    is_monotone = property(lambda self: self.weight <= 1.0)
    is_smooth = property(
        lambda self: self.order > 1.0 or self.weight == 0.0 or self.smoothing > 0.0
    )

    order: Readonly[float]
    weight: Readonly[float]
    smoothing: Readonly[float]

    def __init__(self, order: float = 2.0, weight: float = 0.5, smoothing: float = 0.0) -> None:
        self.order = check_number(order, "order", at_least=1.0)
        self.weight = check_number(weight, "weight", at_least=0.0)
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)

    def excess(self, loss: float, g: ConstPointer) -> float:  # cdef noexcept
        """(ℓ − g₁)₊, smoothed."""
        return scalars.positive_part(loss - g[0], self.smoothing)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return loss if i == 0 else scalars.power(self.excess(loss, g), self.order)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 1.0 if i == 0 else 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        """ℓ + η ((1/p)(ℓ − g₁)₊^p g₂^(1/p − 1) + (1 − 1/p) g₂^(1/p))."""
        if self.weight == 0.0:
            return loss
        p, excess = self.order, self.excess(loss, g)
        root = scalars.power(g[1], 1.0 / p)
        if excess == 0.0:
            return loss + self.weight * (1.0 - 1.0 / p) * root
        ratio = self.relative_excess(loss, g)
        linear = scalars.power(ratio, p - 1.0) * (excess - ratio * root)  # 0 below the cap
        bound = root * scalars.power(ratio, p) / p + linear + (1.0 - 1.0 / p) * root
        return loss + self.weight * bound

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return 1.0 if self.weight == 0.0 else 1.0 + self.weight * self.deviation_slope(loss, g)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        if i == 0:
            return -self.weight * self.deviation_slope(loss, g)
        p = self.order
        ratio = self.relative_excess(loss, g) if self.excess(loss, g) > 0.0 else 0.0
        share = (1.0 - scalars.power(ratio, p)) * (1.0 - 1.0 / p) / p
        return self.weight * share * scalars.power(g[1], 1.0 / p - 1.0)

    def relative_excess(self, loss: float, g: ConstPointer) -> float:  # cdef noexcept
        """(ℓ − g₁)₊ / g₂^(1/p), no more than the cap."""
        excess = self.excess(loss, g)
        root = scalars.power(g[1], 1.0 / self.order)
        cap = scalars.power(_POWER_CAP, 1.0 / self.order)
        return excess / root if excess < cap * root else cap

    def deviation_slope(self, loss: float, g: ConstPointer) -> float:  # cdef noexcept
        """Return the derivative of the part that depends on ℓ − g₁ in ℓ − g₁."""
        slope: float = scalars.positive_part_slope(loss - g[0], self.smoothing)
        if slope == 0.0:
            return 0.0
        return slope * scalars.power(self.relative_excess(loss, g), self.order - 1.0)

    def start(self, g: Array, m: int, loss: float) -> int:
        if m > 0:
            g[0], g[1] = loss, scalars.power(abs(loss), self.order)
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return g_i after a sample; g₂ is averaged if momentum would more than halve it."""
        shown = self.inner_at(now, g, i)
        moved = tracker.update(g[i], self.inner_at(before, g, i), shown, rate)
        if i == 0 or moved > 0.5 * (1.0 - rate) * g[i]:
            return moved
        return (1.0 - rate) * g[i] + rate * shown
