"""The mean plus a root of the mean p-th power above it: a coherent risk."""

# An entry of an array is `Any` to a type checker.
# mypy: disable-error-code="no-any-return"

from typing import Any, ClassVar

from colk._validation import Array, check_number
from colk.risks import scalars
from colk.risks.base import LossRisk
from colk.trackers import Tracker
from colk.window import Window

__all__ = ["MeanSemideviation"]

# The excess over the mean counts by its p-th power up to this multiple of the p-th power tracked,
# linearly beyond. No sample of fewer than a million points is changed by it.
_POWER_CAP = 1e6


class MeanSemideviation(LossRisk):
    r"""E ℓ + η (E[(ℓ − E ℓ)₊^p])^{1/p}, in the units of ℓ.

    Convex in the losses. With a weight of at most 1 also monotone: a coherent risk measure.

    Two numbers are tracked, g₁ = E ℓ and g₂ = E[(ℓ − g₁)₊^p]. The root is written as a minimum,
    g₂^{1/p} = min over r of E[(1/p)(ℓ − g₁)₊^p r^{1/p − 1} + (1 − 1/p) r^{1/p}], attained at
    r = g₂, so that by the envelope theorem g₂ does not enter the gradient. On a stream g₂ starts
    at |ℓ|^p of the first loss, and looks at g₁ from before each sample. An excess (ℓ − g₁)₊ whose
    p-th power is beyond 10⁶·g₂ counts linearly, which no sample of fewer than a million points can
    reach: that bounds the slope where g₂ is near 0. Where momentum would more than halve g₂, the
    moving average is taken.

    Parameters
    ----------
    order : float
        p, at least 1.
    weight : float
        η, at least 0; at most 1 for a coherent risk.

    Examples
    --------
    >>> MeanSemideviation(order=2, weight=0.5).value([0.0, 0.0, 0.0, 4.0])
    1.75
    """

    _fields: ClassVar[tuple[str, ...]] = ("order", "weight")
    _sealed: ClassVar[tuple[str, ...]] = ("relative_excess", "deviation_slope")
    order: float
    weight: float

    def __init__(self, order: float = 2.0, weight: float = 0.5) -> None:
        self.order = check_number(order, "order", at_least=1.0)
        self.weight = check_number(weight, "weight", at_least=0.0)

    @property
    def n_inner(self) -> Any:
        """The mean and the mean p-th power above it, but for weight 0."""
        return 0 if self.weight == 0.0 else 2

    @property
    def is_monotone(self) -> bool:
        """With a weight of at most 1."""
        return self.weight <= 1.0

    @property
    def is_smooth(self) -> bool:
        """With an order above 1, wherever the losses are not all equal."""
        return self.order > 1.0 or self.weight == 0.0

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """inner₁ = ℓ, inner₂ = (ℓ − g₁)₊^p."""
        return loss if i == 0 else scalars.power(max(loss - g[0], 0.0), self.order)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """∂inner₁/∂ℓ = 1; g₂ is stationary."""
        return 1.0 if i == 0 else 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        """ℓ + η ((1/p)(ℓ − g₁)₊^p g₂^(1/p − 1) + (1 − 1/p) g₂^(1/p))."""
        if self.weight == 0.0:
            return loss
        p, excess = self.order, max(loss - g[0], 0.0)
        root = scalars.power(g[1], 1.0 / p)
        if excess == 0.0:
            return loss + self.weight * (1.0 - 1.0 / p) * root
        ratio = self.relative_excess(loss, g)
        linear = scalars.power(ratio, p - 1.0) * (excess - ratio * root)  # 0 below the cap
        bound = root * scalars.power(ratio, p) / p + linear + (1.0 - 1.0 / p) * root
        return loss + self.weight * bound

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        return 1.0 if self.weight == 0.0 else 1.0 + self.weight * self.deviation_slope(loss, g)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g_i."""
        if i == 0:
            return -self.weight * self.deviation_slope(loss, g)
        p = self.order
        ratio = self.relative_excess(loss, g) if loss > g[0] else 0.0
        share = (1.0 - scalars.power(ratio, p)) * (1.0 - 1.0 / p) / p
        return self.weight * share * scalars.power(g[1], 1.0 / p - 1.0)

    def relative_excess(self, loss: float, g: Array) -> float:
        """(ℓ − g₁)₊ / g₂^(1/p), no more than the cap."""
        excess = max(loss - g[0], 0.0)
        root = scalars.power(g[1], 1.0 / self.order)
        cap = scalars.power(_POWER_CAP, 1.0 / self.order)
        return excess / root if excess < cap * root else cap

    def deviation_slope(self, loss: float, g: Array) -> float:
        """Slope in ℓ, and minus that in g₁, of what depends on ℓ − g₁ alone."""
        if loss <= g[0]:
            return 0.0
        return scalars.power(self.relative_excess(loss, g), self.order - 1.0)

    def start(self, w: Window, xi: int) -> int:
        """g₁ = ℓ, and its size |ℓ|^p as the first guess of g₂."""
        if w.g.shape[0] > 0:
            w.g[0] = w.losses[xi]
            w.g[1] = scalars.power(abs(w.losses[xi]), self.order)
        return 0

    def track_at(
        self, tracker: Tracker, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """g_i after a sample.

        A mean of powers is positive: where a tracker would more than halve it, it is averaged.
        """
        shown = self.inner_at(now, g, i)
        moved = tracker.update(g[i], self.inner_at(before, g, i), shown, rate)
        if i == 0 or moved > 0.5 * (1.0 - rate) * g[i]:
            return moved
        return (1.0 - rate) * g[i] + rate * shown
