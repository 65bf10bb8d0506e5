"""Distributionally robust risks: the worst mean loss over all distributions near the samples."""

import math

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.contracts import TrackerContract
from colk._validation import Array, check_number
from colk.risks import scalars
from colk.risks.base import LossRisk, average, weighed

# Ratios of an excess to its root mean square, and exponents, are continued linearly beyond these.
_RATIO_CAP = 1e3
_EXPONENT_CAP = 30.0

# Losses that differ by less than this count as equal.
_LEAST_SPREAD = 1e-290

# The tracked multiplier of KLDRO changes by no more than this factor in a step.
_LARGEST_CHANGE = 2.0


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

    def __init__(self, radius: float = 0.5) -> None:
        self.radius = check_number(radius, "radius", at_least=0.0)

    def ratio(self, loss: float, g: Array) -> float:
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

    def estimate(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return the exact η and s²; the largest loss and 0 if that is the worst case."""
        values, weights = weighed(losses, sample_weight)
        if self.n_inner == 0:
            return np.zeros(0)
        eta = self._threshold(values, weights)
        return np.array([eta, average(np.maximum(values - eta, 0.0) ** 2, weights)])

    def _threshold(self, losses: Array, weights: Array) -> float:
        from scipy.optimize import brentq

        factor, largest = math.sqrt(1.0 + 2.0 * self.radius), float(losses.max())
        if weights[losses == largest].sum() * factor * factor >= 1.0:
            return largest

        # In units in which the losses are 0 to 1, so that squares do not underflow.
        smallest = float(losses.min())
        span = largest - smallest
        scaled = (losses - smallest) / span

        def slope(eta: float) -> float:
            excess = np.maximum(scaled - eta, 0.0)
            root = math.sqrt(float(average(excess * excess, weights)))
            return 1.0 - factor * float(average(excess, weights)) / root

        mean = float(average(scaled, weights))
        deviation = math.sqrt(float(average((scaled - mean) ** 2, weights)))
        low = mean - deviation / math.sqrt(2.0 * self.radius)
        high = 1.0 - 1e-12 * (1.0 - low)
        if low <= 0.0:
            found = low
        else:
            found = high if slope(high) <= 0.0 else float(brentq(slope, low, high, rtol=8.9e-16))
        return smallest + span * found

    def _gradient(self, losses: Array, weights: Array, g: Array) -> Array:
        if self.n_inner > 0 and g[1] == 0.0:  # the worst distribution is at the largest losses
            worst = np.where(losses == losses.max(), weights, 0.0)
            return worst / worst.sum()
        return super()._gradient(losses, weights, g)


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

    def __init__(self, radius: float = 0.1) -> None:
        self.radius = check_number(radius, "radius", at_least=0.0)

    def exponent(self, loss: float, g: Array) -> float:
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

    def estimate(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return the exact c and λ; the largest loss and 0 if that is the worst case."""
        values, weights = weighed(losses, sample_weight)
        if self.n_inner == 0:
            return np.zeros(0)
        largest = float(values.max())
        unit = largest - float(values.min())
        at_largest = float(weights[values == largest].sum())
        if -math.log(at_largest) <= self.radius or unit < _LEAST_SPREAD:
            return np.array([largest, 0.0])
        multiplier = unit * self._multiplier((values - largest) / unit, weights)
        log_mean = math.log(average(np.exp((values - largest) / multiplier), weights))
        return np.array([largest + multiplier * log_mean, multiplier])

    def _multiplier(self, gaps: Array, weights: Array) -> float:
        """Return λ, at which the tilted distribution has the divergence ρ; gaps are in [−1, 0]."""
        from scipy.optimize import brentq

        def surplus(log_multiplier: float) -> float:
            exponents = gaps / math.exp(log_multiplier)
            tilted = weights * np.exp(exponents)
            mean = float(tilted.sum())
            return float((tilted * exponents).sum()) / mean - math.log(mean) - self.radius

        # The divergence falls from that at the largest loss to 0.
        middle = math.log(-float(average(gaps, weights)))
        low = high = middle
        while surplus(low) < 0.0:
            low -= 2.0
        while surplus(high) > 0.0:
            high += 2.0
        return math.exp(brentq(surplus, low, high, rtol=8.9e-16, xtol=1e-15))

    def _gradient(self, losses: Array, weights: Array, g: Array) -> Array:
        if self.n_inner > 0 and g[1] == 0.0:  # the worst distribution is at the largest losses
            worst = np.where(losses == losses.max(), weights, 0.0)
            return worst / worst.sum()
        return super()._gradient(losses, weights, g)
