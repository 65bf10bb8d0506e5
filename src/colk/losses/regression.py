"""Losses of the residual r = f − y, summed over the outputs."""

import math
from typing import Any, ClassVar

from colk._engine.c_types import Readonly
from colk._validation import check_fraction, check_number
from colk.losses.base import Loss

# exp(−z²) is 0 from here on, and z² does not overflow.
_FAR: float = 40.0


def _check_level(value: Any, name: str) -> float:
    level = check_number(value, name)
    if not 0.0 < level < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return level


class Squared(Loss):
    """Squared residual, r². Its mean is least at the conditional mean of y.

    Examples
    --------
    >>> Squared().value([1.0, 2.0], [3.0, 2.0])
    array([4., 0.])
    """

    def loss_at(self, f: float, y: float) -> float:
        return (f - y) * (f - y)

    def slope_at(self, f: float, y: float) -> float:
        return 2.0 * (f - y)


class Huber(Loss):
    """r²/2 up to a threshold δ > 0 and δ(|r| − δ/2) beyond, so that no slope exceeds δ.

    Examples
    --------
    >>> Huber(threshold=1.0).value([0.5, 3.0], [0.0, 0.0])
    array([0.125, 2.5  ])
    >>> Huber(threshold=1.0).slope([0.5, 3.0], [0.0, 0.0])
    array([0.5, 1. ])
    """

    _fields = ("threshold",)

    threshold: Readonly[float]

    def __init__(self, threshold: float = 1.0) -> None:
        self.threshold = check_number(threshold, "threshold", above=0.0)

    def loss_at(self, f: float, y: float) -> float:
        size = abs(f - y)
        if size <= self.threshold:
            return 0.5 * size * size
        return self.threshold * (size - 0.5 * self.threshold)

    def slope_at(self, f: float, y: float) -> float:
        return min(max(f - y, -self.threshold), self.threshold)


class LogCosh(Loss):
    """s² log cosh(r/s) with scale s > 0: about r²/2 below s and s|r| beyond, infinitely smooth.

    Examples
    --------
    >>> LogCosh(scale=1.0).value([0.0, 1000.0], [0.0, 0.0]).round(6)
    array([  0.      , 999.306853])
    """

    _fields = ("scale",)

    scale: Readonly[float]

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = check_number(scale, "scale", above=0.0)

    def loss_at(self, f: float, y: float) -> float:
        z = abs(f - y) / self.scale
        if z < 1.0:  # cosh z = 1 + 2 sinh²(z/2): no cancellation near 0
            half = math.sinh(0.5 * z)
            return self.scale * self.scale * math.log1p(2.0 * half * half)
        return self.scale * self.scale * (z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0))

    def slope_at(self, f: float, y: float) -> float:
        return self.scale * math.tanh((f - y) / self.scale)


class Welsch(Loss):
    """Welsch's loss (c²/2)(1 − exp(−r²/c²)), also called correntropy: about r²/2 near 0.

    The slope r·exp(−r²/c²) falls to 0 for distant targets, so their number matters less than
    under `Huber`; the loss is not convex. The default scale c has 95 % of the efficiency of the
    mean for normal errors of standard deviation 1.

    References
    ----------
    P. W. Holland and R. E. Welsch, "Robust regression using iteratively reweighted least-squares",
    Communications in Statistics 6 (1977).

    Examples
    --------
    >>> Welsch(scale=1.0).value([0.1, 100.0], [0.0, 0.0]).round(6)
    array([0.004975, 0.5     ])
    """

    _fields = ("scale",)
    is_convex = False

    scale: Readonly[float]

    def __init__(self, scale: float = 2.985) -> None:
        self.scale = check_number(scale, "scale", above=0.0)

    def loss_at(self, f: float, y: float) -> float:
        z = min(abs(f - y) / self.scale, _FAR)
        return -0.5 * self.scale * self.scale * math.expm1(-z * z)

    def slope_at(self, f: float, y: float) -> float:
        z = min(abs(f - y) / self.scale, _FAR)
        return (f - y) * math.exp(-z * z)


class Tukey(Loss):
    """Tukey's biweight, (c²/6)(1 − (1 − r²/c²)³), and the constant c²/6 beyond the threshold c.

    About r²/2 near 0. The slope r(1 − r²/c²)² is exactly 0 beyond c, so a target further away than
    that has no influence; the loss is not convex. The default threshold has 95 % of the efficiency
    of the mean for normal errors of standard deviation 1.

    References
    ----------
    A. E. Beaton and J. W. Tukey, "The fitting of power series, meaning polynomials, illustrated on
    band-spectroscopic data", Technometrics 16 (1974).

    Examples
    --------
    >>> Tukey(threshold=1.0).slope([0.5, 3.0], [0.0, 0.0])
    array([0.28125, 0.     ])
    """

    _fields = ("threshold",)
    is_convex = False

    threshold: Readonly[float]

    def __init__(self, threshold: float = 4.685) -> None:
        self.threshold = check_number(threshold, "threshold", above=0.0)

    def loss_at(self, f: float, y: float) -> float:
        u = min(abs(f - y) / self.threshold, 1.0)
        u *= u
        # 1 − (1 − u)³ without cancellation near 0
        return self.threshold * self.threshold * u * (3.0 - u * (3.0 - u)) / 6.0

    def slope_at(self, f: float, y: float) -> float:
        u = min(abs(f - y) / self.threshold, 1.0)
        return (f - y) * (1.0 - u) * (1.0 + u) * (1.0 - u) * (1.0 + u)


class EpsilonInsensitive(Loss):
    """(|r| − ε)₊: zero inside a tube of half-width ε ≥ 0, a slope of ±1 outside.

    At the kinks |r| = ε the slope is 0.

    Examples
    --------
    >>> EpsilonInsensitive(tube=0.5).value([0.25, 2.0], [0.0, 0.0])
    array([0. , 1.5])
    """

    _fields: ClassVar[tuple[str, ...]] = ("tube",)
    kinks = property(lambda self: (-self.tube, self.tube))

    tube: Readonly[float]

    def __init__(self, tube: float = 0.1) -> None:
        self.tube = check_number(tube, "tube", at_least=0.0)

    def loss_at(self, f: float, y: float) -> float:
        return max(abs(f - y) - self.tube, 0.0)

    def slope_at(self, f: float, y: float) -> float:
        if abs(f - y) <= self.tube:
            return 0.0
        return 1.0 if f > y else -1.0


class AdaptiveTube(EpsilonInsensitive):
    """ε-insensitive loss whose tube a learner adapts so that a share ν of samples is outside.

    It is the only loss that changes during learning, so each learner has its own.
    """

    _fields = ("tube", "nu")
    _sealed = ("adapt",)

    nu: Readonly[float]

    def __init__(self, tube: float, nu: float) -> None:
        super().__init__(tube)
        self.nu = check_fraction(nu, "nu")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def __copy__(self) -> "AdaptiveTube":
        return self.replace()

    def __deepcopy__(self, memo: dict[int, Any]) -> "AdaptiveTube":
        return self.replace()

    def adapt(self, f: float, y: float, step: float) -> float:  # cdef noexcept
        """Widen the tube by α(1 − ν) if the sample is outside it, else narrow it by αν."""
        outside = 1.0 if abs(f - y) > self.tube else 0.0
        self.tube = max(self.tube + step * (outside - self.nu), 0.0)
        return self.tube


class SquaredEpsilonInsensitive(Loss):
    """((|r| − ε)₊)²: zero inside a tube of half-width ε ≥ 0, a square outside, without a kink.

    Examples
    --------
    >>> SquaredEpsilonInsensitive(tube=0.5).value([0.25, 2.5], [0.0, 0.0])
    array([0., 4.])
    """

    _fields = ("tube",)

    tube: Readonly[float]

    def __init__(self, tube: float = 0.1) -> None:
        self.tube = check_number(tube, "tube", at_least=0.0)

    def loss_at(self, f: float, y: float) -> float:
        excess = max(abs(f - y) - self.tube, 0.0)
        return excess * excess

    def slope_at(self, f: float, y: float) -> float:
        excess = max(abs(f - y) - self.tube, 0.0)
        return 2.0 * excess if f > y else -2.0 * excess


class Pinball(Loss):
    """τ(y − f) if f is too low, (1 − τ)(f − y) if it is too high; the slope at f = y is 0.

    Its mean is least at the conditional τ-quantile of y, 0 < τ < 1.

    Examples
    --------
    >>> Pinball(quantile=0.75).value([-1.0, 1.0], [0.0, 0.0])
    array([0.75, 0.25])
    """

    _fields = ("quantile",)
    kinks = (0.0,)

    quantile: Readonly[float]

    def __init__(self, quantile: float = 0.5) -> None:
        self.quantile = _check_level(quantile, "quantile")

    def loss_at(self, f: float, y: float) -> float:
        return (1.0 - self.quantile) * (f - y) if f > y else self.quantile * (y - f)

    def slope_at(self, f: float, y: float) -> float:
        if f == y:
            return 0.0
        return 1.0 - self.quantile if f > y else -self.quantile


class Expectile(Loss):
    """τ(y − f)² if f is too low, (1 − τ)(f − y)² if it is too high, without a kink.

    Its mean is least at the conditional τ-expectile of y, 0 < τ < 1, a smooth alternative to the
    quantile. At τ = 0.5 it is half of `Squared`.

    Examples
    --------
    >>> Expectile(level=0.75).value([-2.0, 2.0], [0.0, 0.0])
    array([3., 1.])
    """

    _fields = ("level",)

    level: Readonly[float]

    def __init__(self, level: float = 0.5) -> None:
        self.level = _check_level(level, "level")

    def loss_at(self, f: float, y: float) -> float:
        share = 1.0 - self.level if f > y else self.level
        return share * (f - y) * (f - y)

    def slope_at(self, f: float, y: float) -> float:
        share = 1.0 - self.level if f > y else self.level
        return 2.0 * share * (f - y)
