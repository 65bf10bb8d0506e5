"""The mean, and the mean plus a weighted dispersion of the losses."""

# An entry of an array is `Any` to a type checker.
# mypy: disable-error-code="no-any-return"

from typing import Any, ClassVar

import cython

from colk._validation import Array, check_count, check_number
from colk.risks import scalars
from colk.risks.base import LossRisk
from colk.terms import overridden
from colk.window import Window

__all__ = [
    "CentralMoments",
    "Dispersion",
    "Mean",
    "Semideviations",
    "Semivariance",
    "Variance",
]


class Mean(LossRisk):
    """E ℓ: nothing is tracked. Convex and monotone.

    A dispersion of weight 0 is `Mean`, bit for bit.

    Examples
    --------
    >>> Mean().value([1.0, 2.0, 6.0])
    3.0
    """

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """inner_i(ℓ, g): never asked for."""
        return loss

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """∂inner_i/∂ℓ: never asked for."""
        return 1.0

    def outer_at(self, loss: float, g: Array) -> float:
        """outer(ℓ) = ℓ."""
        return loss

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        return 1.0

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g_i: never asked for."""
        return 0.0

    def pair_slopes(self, w: Window, theta: int, xi: int) -> int:
        """c_θ is the loss's own slope, c_ξ is 0."""
        for c in range(w.slopes.shape[1]):
            w.slopes[0, c] = w.loss_slopes[theta, c]
            w.slopes[1, c] = 0.0
        return 0


class Dispersion(LossRisk):
    """E ℓ + η E d(ℓ − E ℓ), for a function d of the deviation from the mean.

    A dispersion of your own is a class with the methods `spread_at` and `spread_slope_at` of one
    number; its constructor takes at least the `weight`.

    Parameters
    ----------
    weight : float
        η, at least 0. With 0 the risk is `Mean`, and nothing is tracked.

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
    _hooks: ClassVar[tuple[str, ...]] = ("spread_at", "spread_slope_at")
    weight: float

    def __init__(self, weight: float = 0.1) -> None:
        self.weight = check_number(weight, "weight", at_least=0.0)

    @property
    def n_inner(self) -> Any:
        """The mean, but for weight 0."""
        return 0 if self.weight == 0.0 else 1

    @property
    def is_monotone(self) -> bool:
        """Only with weight 0."""
        return self.weight == 0.0

    def spread_at(self, u: float) -> float:
        """d(u) of a deviation u = ℓ − g₁."""
        with cython.gil:
            return float(overridden(self, "spread_at")(u))

    def spread_slope_at(self, u: float) -> float:
        """d'(u)."""
        with cython.gil:
            return float(overridden(self, "spread_slope_at")(u))

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """inner₁(ℓ) = ℓ."""
        return loss

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """∂inner₁/∂ℓ = 1."""
        return 1.0

    def outer_at(self, loss: float, g: Array) -> float:
        """outer(ℓ, g) = ℓ + η d(ℓ − g₁)."""
        if self.weight == 0.0:
            return loss
        return loss + self.weight * self.spread_at(loss - g[0])

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        if self.weight == 0.0:
            return 1.0
        return 1.0 + self.weight * self.spread_slope_at(loss - g[0])

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g₁."""
        return -self.weight * self.spread_slope_at(loss - g[0])

    def pair_slopes(self, w: Window, theta: int, xi: int) -> int:
        """With m = η d'(ℓ_θ − g₁): c_θ = (1 + m) ℓ'(f_θ, y_θ) and c_ξ = −m ℓ'(f_ξ, y_ξ)."""
        m = 0.0
        if self.weight != 0.0:
            m = self.weight * self.spread_slope_at(w.losses[theta] - w.g[0])
        for c in range(w.slopes.shape[1]):
            w.slopes[0, c] = (1.0 + m) * w.loss_slopes[theta, c]
            w.slopes[1, c] = -m * w.loss_slopes[xi, c] if m != 0.0 else 0.0
        return 0


class Variance(Dispersion):
    """E ℓ + η E(ℓ − E ℓ)².

    Convex in the losses, but not monotone: it can prefer larger losses that vary less, so that it
    need not be convex in the predictions.

    Parameters
    ----------
    weight : float
        η, at least 0, in units of 1/ℓ.

    Examples
    --------
    >>> Variance(weight=0.5).value([1.0, 3.0])
    2.5
    >>> Variance(weight=0.5).estimate([1.0, 3.0])
    array([2.])
    """

    def spread_at(self, u: float) -> float:
        """d(u) of a deviation u = ℓ − g₁."""
        return u * u

    def spread_slope_at(self, u: float) -> float:
        """d'(u)."""
        return 2.0 * u


class CentralMoments(Dispersion):
    """E ℓ + η Σ_{p=2..P} E(ℓ − E ℓ)^p: the risk of the paper's experiment.

    Convex in the losses for even P, since u² + … + u^P is; never monotone. For odd P the risk is
    unbounded below in the losses.

    Parameters
    ----------
    order : int
        P, at least 2. With P = 2 this is `Variance`.
    weight : float
        η, at least 0.

    Examples
    --------
    >>> CentralMoments(order=4, weight=0.5).value([1.0, 3.0])
    3.0
    """

    _fields: ClassVar[tuple[str, ...]] = ("order", "weight")
    order: int

    def __init__(self, order: int = 4, weight: float = 0.1) -> None:
        super().__init__(weight)
        self.order = check_count(order, "order", at_least=2)

    @property
    def is_convex(self) -> bool:
        """For even orders, or weight 0."""
        return self.order % 2 == 0 or self.weight == 0.0

    def spread_at(self, u: float) -> float:
        """d(u) of a deviation u = ℓ − g₁."""
        return scalars.powers(u, self.order)

    def spread_slope_at(self, u: float) -> float:
        """d'(u)."""
        return scalars.powers_slope(u, self.order)


class Semivariance(Dispersion):
    """E ℓ + η E[(ℓ − E ℓ)₊²]: only losses above the mean count as dispersion.

    Convex in the losses. Not monotone in general, as the mean moves with each loss; it is where
    2η E(ℓ − E ℓ)₊ ≤ 1.

    Parameters
    ----------
    weight : float
        η, at least 0, in units of 1/ℓ.
    smoothing : float
        s, at least 0, in the units of ℓ: the positive part u₊ becomes s·log(1 + exp(u/s)). With 0
        it is exact, and its square still has a continuous slope.

    Examples
    --------
    >>> Semivariance(weight=0.5).value([1.0, 3.0])
    2.25
    """

    _fields: ClassVar[tuple[str, ...]] = ("weight", "smoothing")
    smoothing: float

    def __init__(self, weight: float = 0.1, smoothing: float = 0.0) -> None:
        super().__init__(weight)
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)

    def spread_at(self, u: float) -> float:
        """d(u) of a deviation u = ℓ − g₁."""
        excess = scalars.positive_part(u, self.smoothing)
        return excess * excess

    def spread_slope_at(self, u: float) -> float:
        """d'(u)."""
        excess = scalars.positive_part(u, self.smoothing)
        return 2.0 * excess * scalars.positive_part_slope(u, self.smoothing)


class Semideviations(Dispersion):
    """E ℓ + η Σ_{p=2..P} E[(ℓ − E ℓ)₊^p]: the upper halves of the central moments.

    Convex in the losses for every P, unlike `CentralMoments`. Not monotone in general.

    Parameters
    ----------
    order : int
        P, at least 2. With P = 2 this is `Semivariance`.
    weight : float
        η, at least 0.
    smoothing : float
        s, at least 0, in the units of ℓ: the positive part u₊ becomes s·log(1 + exp(u/s)).

    Examples
    --------
    >>> Semideviations(order=3, weight=0.5).value([1.0, 3.0])
    2.5
    """

    _fields: ClassVar[tuple[str, ...]] = ("order", "weight", "smoothing")
    order: int
    smoothing: float

    def __init__(self, order: int = 4, weight: float = 0.1, smoothing: float = 0.0) -> None:
        super().__init__(weight)
        self.order = check_count(order, "order", at_least=2)
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)

    def spread_at(self, u: float) -> float:
        """d(u) of a deviation u = ℓ − g₁."""
        return scalars.powers(scalars.positive_part(u, self.smoothing), self.order)

    def spread_slope_at(self, u: float) -> float:
        """d'(u)."""
        excess = scalars.positive_part(u, self.smoothing)
        slope = scalars.positive_part_slope(u, self.smoothing)
        return scalars.powers_slope(excess, self.order) * slope
