"""Distributionally robust risks: the worst mean loss over all distributions near the samples."""

import math

import numpy as np

from colk._engine.c_types import ConstPointer, Readonly
from colk._engine.contracts import TrackerContract
from colk._validation import Array, check_number
from colk.risks import scalars
from colk.risks.of_losses import LossRisk
from colk.risks.samples import Joint, LossPart, LossSample, Statistics

# Ratios of an excess to its root mean square, and exponents, are continued linearly beyond these.
_RATIO_CAP: float = 1e3
_EXPONENT_CAP: float = 30.0

# Losses that differ by less than this count as equal.
_LEAST_SPREAD = 1e-290

# If losses differ by less than this share of their size, the risk bends within the steps of
# differences: it has a kink where they are equal.
_NEAR_EQUAL = 1e-3

# The tracked multiplier of KLDRO changes by no more than this factor in a step.
_LARGEST_CHANGE: float = 2.0


class ChiSquareDRO(LossRisk):
    """sup E_Q ℓ over all Q with χ²(Q, P)/2 ≤ ρ: the worst mean over nearby distributions.

    With χ²(Q, P) = E_P[(dQ/dP − 1)²] the dual form is

        min over η and s of η + c E[(ℓ − η)₊²/(2s) + s/2],  c = √(1 + 2ρ),

    with s² = E(ℓ − η)₊² at the minimum. If no weight dQ/dP would be negative, it is E ℓ +
    √(2ρ)·std(ℓ). Convex and monotone. The tracked values are η and r = s². Both are stationary, so
    neither enters the gradient. On a stream, η moves by (ℓ − η)₊ − s/c, whose mean is 0 at the
    minimum. An excess beyond 1000·s is continued linearly.

    Parameters
    ----------
    radius : float
        ρ, at least 0. Default: 0.5. With 0 the risk is the mean.

    References
    ----------
    J. Duchi and H. Namkoong, "Learning models with uniform performance via distributionally robust
    optimization", Annals of Statistics 49 (2021).

    Examples
    --------
    >>> ChiSquareDRO(radius=0.02).value([1.0, 2.0, 3.0])  # 2 + √0.04·√(2/3)
    2.163299...
    >>> ChiSquareDRO(radius=50.0).value([1.0, 2.0, 3.0])
    3.0
    """

    _fields = ("radius",)
    _sealed = ("ratio",)
    n_expectations = 0
    n_inner = property(lambda self: 0 if self.radius == 0.0 else 2)
    takes_short_steps = False

    radius: Readonly[float]

    def __init__(self, radius: float = 0.5) -> None:
        self.radius = check_number(radius, "radius", at_least=0.0)

    def ratio(self, loss: float, g: ConstPointer) -> float:  # cdef noexcept
        """(ℓ − η)₊/s, no more than the cap."""
        excess = max(loss - g[0], 0.0)
        root = math.sqrt(max(g[1], 0.0))
        if excess == 0.0:
            return 0.0
        return excess / root if excess < _RATIO_CAP * root else _RATIO_CAP

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        excess = max(loss - g[0], 0.0)
        if i == 1:
            return excess * excess
        return g[0] + excess - math.sqrt(max(g[1], 0.0) / (1.0 + 2.0 * self.radius))

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        if self.radius == 0.0:
            return loss
        root, ratio = math.sqrt(max(g[1], 0.0)), self.ratio(loss, g)
        linear = ratio * (max(loss - g[0], 0.0) - ratio * root)  # 0 below the cap
        spread = 0.5 * root * ratio * ratio + linear + 0.5 * root
        return g[0] + math.sqrt(1.0 + 2.0 * self.radius) * spread

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        if self.radius == 0.0:
            return 1.0
        return math.sqrt(1.0 + 2.0 * self.radius) * self.ratio(loss, g)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        factor, ratio = math.sqrt(1.0 + 2.0 * self.radius), self.ratio(loss, g)
        if i == 0:
            return 1.0 - factor * ratio
        return 0.25 * factor * (1.0 - ratio * ratio) * scalars.power(max(g[1], 0.0), -0.5)

    def start(self, g: Array, m: int, loss: float) -> int:
        if m > 0:
            g[0] = loss - abs(loss) / math.sqrt(1.0 + 2.0 * self.radius)
            g[1] = loss * loss
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        return (1.0 - rate) * g[i] + rate * ChiSquareDRO.inner_at(self, now, g, i)

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the exact η and s²; the largest loss and 0 if that is the worst case."""
        if self.n_inner == 0:
            return np.zeros(0)
        factor = math.sqrt(1.0 + 2.0 * self.radius)
        low, high = sample.ends()
        unit = high - low
        at_largest = float(sample.total(_mass_at, high)[0])
        if at_largest * factor * factor >= 1.0 or not 0.0 < unit < math.inf:
            return np.array([high, 0.0])
        eta = self._threshold(sample, low, unit)
        second = float(sample.total(_excess, low, unit, eta)[1])
        return np.array([low + unit * eta, unit * unit * second])

    def _threshold(self, sample: LossSample, low: float, unit: float) -> float:
        """Return η in units in which the losses are 0 to 1, so that squares do not underflow."""
        from scipy.optimize import brentq

        factor = math.sqrt(1.0 + 2.0 * self.radius)

        def slope(eta: float) -> float:
            first, second = sample.total(_excess, low, unit, eta)
            return float(1.0 - factor * first / math.sqrt(second))

        mean, square = sample.total(_excess, low, unit, 0.0)
        deviation = math.sqrt(max(square - mean * mean, 0.0))
        least = float(mean) - deviation / math.sqrt(2.0 * self.radius)
        most = 1.0 - 1e-12 * (1.0 - least)
        if least <= 0.0 or slope(least) >= 0.0:
            return least
        return most if slope(most) <= 0.0 else float(brentq(slope, least, most, rtol=8.9e-16))

    def tied_loss(self, g: Array) -> float | None:
        return _worst_loss(g)

    def joint(self, found: Statistics, sample: LossSample) -> Joint | None:
        is_near = len(found.g) > 0 and math.sqrt(found.g[1]) < _NEAR_EQUAL * found.unit
        return None if is_near else super().joint(found, sample)


class KLDRO(LossRisk):
    """sup E_Q ℓ over all Q with KL(Q, P) ≤ ρ: the worst mean over nearby distributions.

    The dual form is min over λ > 0 of λρ + λ log E exp(ℓ/λ): `Entropic` with the tilt 1/λ that
    belongs to the radius. Written with the tilted mean c it is

        min over λ and c of λρ + c + λ E[exp((ℓ − c)/λ) − 1].

    Convex and monotone; near E ℓ + √(2ρ)·std(ℓ) for a small radius. The tracked values are c and λ.
    Both are stationary, so neither enters the gradient. On a stream, c moves as for `Entropic`, and
    λ along its slope in units of its curvature, by a factor of at most 2. Exponents beyond 30 are
    continued linearly.

    Parameters
    ----------
    radius : float
        ρ, at least 0. Default: 0.1. With 0 the risk is the mean.

    References
    ----------
    Z. Hu and L. J. Hong, "Kullback-Leibler divergence constrained distributionally robust
    optimization", 2013.

    Examples
    --------
    >>> round(KLDRO(radius=0.1).value([0.0, 1.0]), 6)
    0.719795
    >>> KLDRO(radius=1.0).value([0.0, 1.0])  # all weight on the larger loss needs ρ = log 2
    1.0
    """

    _fields = ("radius",)
    _sealed = ("exponent",)
    n_expectations = 0
    n_inner = property(lambda self: 0 if self.radius == 0.0 else 2)
    takes_short_steps = False

    radius: Readonly[float]

    def __init__(self, radius: float = 0.1) -> None:
        self.radius = check_number(radius, "radius", at_least=0.0)

    def exponent(self, loss: float, g: ConstPointer) -> float:  # cdef noexcept
        """(ℓ − c)/λ; for λ = 0 the limit, within the cap."""
        gap = loss - g[0]
        if gap <= _EXPONENT_CAP * g[1]:
            return gap / g[1] if g[1] > 0.0 else (0.0 if gap == 0.0 else -math.inf)
        return _EXPONENT_CAP

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        u = self.exponent(loss, g)
        tilted = math.exp(u)
        if i == 0:
            return g[0] + g[1] * (tilted - 1.0)
        by_multiplier = self.radius + tilted - 1.0 - (u * tilted if tilted > 0.0 else 0.0)
        return g[1] * (1.0 - by_multiplier / (2.0 * self.radius))

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        if self.radius == 0.0:
            return loss
        u = self.exponent(loss, g)
        tilted = math.exp(u)
        beyond = tilted * max(loss - g[0] - _EXPONENT_CAP * g[1], 0.0)  # 0 below the cap
        return self.radius * g[1] + g[0] + g[1] * math.expm1(u) + beyond

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return 1.0 if self.radius == 0.0 else math.exp(self.exponent(loss, g))

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        u = self.exponent(loss, g)
        tilted = math.exp(u)
        if i == 0:
            return 1.0 - tilted
        return self.radius + tilted - 1.0 - (u * tilted if tilted > 0.0 else 0.0)

    def start(self, g: Array, m: int, loss: float) -> int:
        if m > 0:
            g[0], g[1] = loss, abs(loss) / math.sqrt(2.0 * self.radius)
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return c or λ after a sample: a moving average of exp(ℓ/λ), and a step of λ."""
        if g[1] <= 0.0:
            return (1.0 - rate) * g[i] + rate * (now if i == 0 else abs(now - g[0]))
        if i == 0:
            u = (now - g[0]) / g[1]
            if u < 1.0:
                return g[0] + g[1] * math.log1p(rate * math.expm1(u))
            return g[0] + g[1] * (u + math.log(rate + (1.0 - rate) * math.exp(-u)))
        moved = (1.0 - rate) * g[1] + rate * KLDRO.inner_at(self, now, g, 1)
        return min(max(moved, g[1] / _LARGEST_CHANGE), g[1] * _LARGEST_CHANGE)

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the exact c and λ; the largest loss and 0 if that is the worst case."""
        if self.n_inner == 0:
            return np.zeros(0)
        low, high = sample.ends()
        unit = high - low
        at_largest = float(sample.total(_mass_at, high)[0])
        if not _LEAST_SPREAD <= unit < math.inf or -math.log(at_largest) <= self.radius:
            return np.array([high, 0.0])
        multiplier = unit * self._multiplier(sample, high, unit)
        log_mean = math.log(sample.total(_divergence, high, multiplier)[0])
        return np.array([high + multiplier * log_mean, multiplier])

    def _multiplier(self, sample: LossSample, high: float, unit: float) -> float:
        """Return λ in these units; the tilted distribution has the divergence ρ there."""
        from scipy.optimize import brentq

        def surplus(log_multiplier: float) -> float:
            total, weighted = sample.total(_divergence, high, unit * math.exp(log_multiplier))
            return float(weighted / total - math.log(total) - self.radius)

        # The divergence falls from that at the largest loss to 0.
        left = right = math.log(float(sample.total(_gap, high, unit)[0]))
        while surplus(left) < 0.0:
            left -= 2.0
        while surplus(right) > 0.0:
            right += 2.0
        return math.exp(brentq(surplus, left, right, rtol=8.9e-16, xtol=1e-15))

    def tied_loss(self, g: Array) -> float | None:
        return _worst_loss(g)

    def joint(self, found: Statistics, sample: LossSample) -> Joint | None:
        is_near = len(found.g) > 0 and found.g[1] < _NEAR_EQUAL * found.unit
        return None if is_near else super().joint(found, sample)


def _worst_loss(g: Array) -> float | None:
    """Return the largest loss if the worst distribution has all its weight there."""
    return float(g[0]) if len(g) and g[1] == 0.0 else None


def _mass_at(part: LossPart, loss: float) -> tuple[float]:
    """Return the share of the rows with this loss."""
    return (float(np.sum(part.share[part.losses == loss])),)


def _gap(part: LossPart, high: float, unit: float) -> tuple[float]:
    """Return the mean distance from the largest loss."""
    return (float(np.sum(part.share * ((high - part.losses) / unit))),)


def _excess(part: LossPart, low: float, unit: float, eta: float) -> tuple[float, float]:
    """Return E e and E e² of the excess e = ((ℓ − low)/unit − η)₊."""
    excess = np.maximum((part.losses - low) / unit - eta, 0.0)
    return float(np.sum(part.share * excess)), float(np.sum(part.share * excess * excess))


def _divergence(part: LossPart, high: float, multiplier: float) -> tuple[float, float]:
    """Return E exp(u) and E u exp(u) with u = (ℓ − high)/λ."""
    u = (part.losses - high) / multiplier
    tilted = part.share * np.exp(u)
    return float(np.sum(tilted)), float(np.sum(tilted * u))
