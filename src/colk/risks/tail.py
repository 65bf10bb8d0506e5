"""Risks of the tail: conditional value at risk, and the tilted (entropic) risk."""

import math

import cython
import numpy as np

from colk._engine.c_types import Readonly
from colk._engine.contracts import TrackerContract
from colk._validation import Array, check_fraction, check_number
from colk.errors import warn_caller
from colk.risks import scalars
from colk.risks.of_losses import LossRisk
from colk.risks.samples import LossPart, LossSample

# exp(t(ℓ − c)) is continued linearly beyond this: see `Entropic`.
_EXPONENT_CAP: float = 30.0
# Largest number of steps; bisection alone needs fewer.
_THRESHOLD_STEPS = 200
# A tail of this share or more is rather a level, as finance counts.
_LIKE_A_LEVEL = 0.75


def _tail_of(level: float, tail_fraction: float) -> float:
    """Return the tail fraction of a level."""
    if tail_fraction != 0.1:  # not the default
        raise ValueError(
            f"give CVaR a tail_fraction or a level, not both: got {tail_fraction!r} and {level!r}"
        )
    if not 0.0 <= check_number(level, "level") < 1.0:
        raise ValueError(f"level must be at least 0 and below 1, got {level!r}")
    return float(round(1.0 - level, 12)) or 1.0 - level


def _warn_of_level(tail_fraction: float) -> None:
    share, rest = 100.0 * tail_fraction, 100.0 * (1.0 - tail_fraction)
    warn_caller(
        f"CVaR({tail_fraction:g}) is the mean of the worst {share:.4g} % of the losses, which is "
        f"close to the mean loss; for the worst {rest:.4g} % write CVaR(level={tail_fraction:g})",
        UserWarning,
    )


class CVaR(LossRisk):
    """(1 − η) E ℓ + η CVaR_a(ℓ); CVaR_a is the mean of the fraction a of largest losses.

    After Rockafellar and Uryasev, CVaR_a = min over τ of τ + E(ℓ − τ)₊/a. Convex and monotone;
    coherent without smoothing.

    Two numbers are tracked: the threshold τ, and the spread E|ℓ − τ|, which scales the steps of τ,
    so that scaling the losses scales both. They start at ℓ and |ℓ|. With the rate β,

        τ ← τ − β √a · spread · (1 − 1{ℓ > τ}/a),        spread ← (1 − β) spread + β |ℓ − τ|.

    The factor √a is a compromise between 1 (fast, with a standard deviation about a^{-1/4} times
    larger) and a (the step of a plain quantile tracker, slow for small tails). τ minimises the
    outer expectation, so its noise enters the gradient at second order only. Momentum is not used.

    Parameters
    ----------
    tail_fraction : float
        a, in (0, 1]: the share of the worst losses. Default: 0.1. With 1 the risk is `Mean`.
    weight : float
        η, in [0, 1]. Default: 1, CVaR alone.
    smoothing : float
        s, at least 0, in the units of ℓ: (ℓ − τ)₊ becomes s·log(1 + exp((ℓ − τ)/s)). With 0 (the
        default) it is exact, with a slope of 0 at the kink ℓ = τ, and `gradient` is a subgradient.
    level : float, optional
        1 − a, as finance counts: `CVaR(level=0.95)` is `CVaR(0.05)`. Give `tail_fraction` or
        `level`; the risk keeps `tail_fraction` only.

    References
    ----------
    R. T. Rockafellar and S. Uryasev, "Optimization of conditional value-at-risk", Journal of Risk
    2 (2000).

    Examples
    --------
    >>> CVaR(tail_fraction=0.25, weight=0.5).value([1.0, 2.0, 3.0, 10.0])
    7.0
    >>> CVaR(level=0.75) == CVaR(0.25)
    True
    """

    _fields = ("tail_fraction", "weight", "smoothing")
    _strength = "weight"
    n_expectations = 0
    n_inner = property(lambda self: 0 if self.weight == 0.0 or self.tail_fraction == 1.0 else 2)
    is_smooth = property(lambda self: self.smoothing > 0.0 or self.n_inner == 0)
    has_kink = property(lambda self: self.n_inner > 0)

    tail_fraction: Readonly[float]
    weight: Readonly[float]
    smoothing: Readonly[float]

    def __init__(
        self,
        tail_fraction: float = 0.1,
        weight: float = 1.0,
        smoothing: float = 0.0,
        *,
        level: float | None = None,
    ) -> None:
        if level is not None:
            tail_fraction = _tail_of(level, tail_fraction)
        self.tail_fraction = check_fraction(tail_fraction, "tail_fraction")
        if level is None and _LIKE_A_LEVEL <= self.tail_fraction < 1.0:
            _warn_of_level(self.tail_fraction)
        if not 0.0 <= check_number(weight, "weight") <= 1.0:
            raise ValueError(f"weight must lie in [0, 1], got {weight!r}")
        self.weight = float(weight)
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)

    def __reduce__(self) -> tuple[object, ...]:
        if type(self) is not CVaR or self.tail_fraction < _LIKE_A_LEVEL:
            return super().__reduce__()
        return cvar_of, (self.tail_fraction, self.weight, self.smoothing)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        if i == 1:
            return abs(loss - g[0])
        a = self.tail_fraction
        above = scalars.positive_part_slope(loss - g[0], self.smoothing)
        return g[0] - g[1] * math.sqrt(a) * (1.0 - above / a)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        if self.weight == 0.0 or self.tail_fraction == 1.0:
            return loss
        excess = scalars.positive_part(loss - g[0], self.smoothing)
        return (1.0 - self.weight) * loss + self.weight * (g[0] + excess / self.tail_fraction)

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        if self.weight == 0.0 or self.tail_fraction == 1.0:
            return 1.0
        above = scalars.positive_part_slope(loss - g[0], self.smoothing)
        return (1.0 - self.weight) + self.weight * above / self.tail_fraction

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        if i == 1:
            return 0.0
        above = scalars.positive_part_slope(loss - g[0], self.smoothing)
        return self.weight * (1.0 - above / self.tail_fraction)

    def start(self, g: Array, m: int, loss: float) -> int:
        if m > 0:
            g[0], g[1] = loss, abs(loss)
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        return (1.0 - rate) * g[i] + rate * CVaR.inner_at(self, now, g, i)

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the exact threshold and spread; if several thresholds are exact, the smallest."""
        if self.n_inner == 0:
            return np.zeros(0)
        threshold = sample.tail_start(self.tail_fraction, self.smoothing)
        if self.smoothing:
            threshold = self._smooth_threshold(sample, threshold)
        return np.array([threshold, sample.total(distance, threshold)[0]])

    def tied_loss(self, g: Array) -> float | None:
        return None if self.is_smooth else float(g[0])

    def _smooth_threshold(self, sample: LossSample, threshold: float) -> float:
        """Solve E sigmoid((ℓ − τ)/s) = a by Newton's method, with bisection as a safeguard."""
        a, s = self.tail_fraction, self.smoothing
        # If all losses were equal, sigmoid((ℓ − τ)/s) = a, so the root lies between these.
        shift = s * math.log(a / (1.0 - a))
        low, high = (end - shift for end in sample.ends())
        threshold = min(max(threshold, low), high)
        for _ in range(_THRESHOLD_STEPS):
            above, slope = sample.total(_beyond, threshold, s)
            excess = above - a
            low, high = (threshold, high) if excess > 0.0 else (low, threshold)
            # A step that leaves the bracket is replaced by its middle.
            step = excess / slope if slope > 0.0 else math.inf
            before = threshold
            threshold = threshold + step
            if not low < threshold < high:
                threshold = 0.5 * (low + high)
            # Convergence is quadratic: the error is then below rounding.
            if abs(threshold - before) <= max(1e-9 * s, 4e-16 * abs(threshold)):
                return threshold
        return threshold


def distance(part: LossPart, centre: float) -> tuple[float]:
    """Return E |ℓ − c|."""
    return (float(np.sum(part.share * np.abs(part.losses - centre))),)


def _beyond(part: LossPart, threshold: float, s: float) -> tuple[float, float]:
    """Return the share beyond a smoothed threshold, and minus its derivative in it."""
    above = 0.5 + 0.5 * np.tanh((part.losses - threshold) * (0.5 / s))
    share = part.share
    return float(np.sum(share * above)), float(np.sum(share * above * (1.0 - above))) / s


def cvar_of(tail_fraction: float, weight: float = 1.0, smoothing: float = 0.0) -> CVaR:
    """Return a CVaR of any tail fraction, without the warning that it may be meant as a level."""
    risk: CVaR = CVaR(0.1, weight, smoothing)
    share = check_fraction(tail_fraction, "tail_fraction")
    if cython.compiled:
        risk.tail_fraction = share
    else:
        vars(risk)["tail_fraction"] = share  # the attributes of a term are read-only
    return risk


class Entropic(LossRisk):
    """(1/t) log E exp(tℓ): the tilted mean, with a tilt t ≠ 0 in units of 1/ℓ.

    With t > 0, large losses get more weight: risk-averse, convex and monotone. With t < 0 they get
    less weight: robust to outliers, monotone, but concave in the losses. The limit for t → 0 is
    `Mean`.

    The tracked number is c, the risk itself, on the scale of the losses, so only exp(t(ℓ − c)) is
    computed, never exp(tℓ). With the tracking rate β,

        c ← c + (1/t) log(1 + β(exp(t(ℓ − c)) − 1)),

    a moving average of exp(tℓ). Momentum corrects this average by the previous loss. If the
    correction would more than halve it, so that it could become negative, the moving average is
    used. The outer function c + (exp(t(ℓ − c)) − 1)/t has its minimum (t > 0) or maximum (t < 0)
    over c at the risk, so c does not enter the gradient. The exponential is continued linearly
    beyond an exponent of 30. With an exact c the exponent is below log n, so no sample of fewer
    than 10¹³ points reaches 30.

    Examples
    --------
    >>> round(Entropic(tilt=1.0).value([0.0, 1000.0]), 6)
    999.306853
    >>> round(Entropic(tilt=-1.0).value([0.0, 1000.0]), 6)
    0.693147
    """

    _fields = ("tilt",)
    _strength = "tilt"
    n_inner = 1
    n_expectations = 0
    takes_short_steps = False
    is_convex = property(lambda self: self.tilt > 0.0)

    tilt: Readonly[float]

    def __init__(self, tilt: float = 1.0) -> None:
        self.tilt = check_number(tilt, "tilt")
        if self.tilt == 0.0:
            raise ValueError("tilt must not be 0; Mean() is the limit of Entropic there")

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return self.outer_at(loss, g)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def outer_at(self, loss: float, g: Array) -> float:
        exponent = self.tilt * (loss - g[0])
        capped = min(exponent, _EXPONENT_CAP)
        growth = math.expm1(capped) + math.exp(capped) * (exponent - capped)
        return g[0] + growth / self.tilt

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return math.exp(min(self.tilt * (loss - g[0]), _EXPONENT_CAP))

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        return -math.expm1(min(self.tilt * (loss - g[0]), _EXPONENT_CAP))

    def start(self, g: Array, m: int, loss: float) -> int:
        g[0] = loss
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return c after a sample, from E exp(tℓ)/exp(tc) − 1 as the tracker moves it from 0.

        A moving average is used if momentum would more than halve the mean or gives NaN (inf −
        inf).
        """
        exponent = self.tilt * (now - g[0])
        earlier = scalars.growth(self.tilt * (before - g[0]))
        moved = tracker.update(0.0, earlier, scalars.growth(exponent), rate)
        if 1.0 + moved > 0.5 * (1.0 - rate) and moved < math.inf:
            return g[0] + math.log1p(moved) / self.tilt
        if exponent < 1.0:
            return g[0] + math.log1p(rate * math.expm1(exponent)) / self.tilt
        log_mean = exponent + math.log(rate + (1.0 - rate) * math.exp(-exponent))
        return g[0] + log_mean / self.tilt

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the risk: log E exp(d)/t beyond the largest tℓ, with d = t(ℓ − c) ≤ 0."""
        low, high = sample.ends()
        centre = high if self.tilt > 0.0 else low
        # From E(exp(d) − 1) if that is small, so that tiny tilts are exact.
        growth, tilted = sample.total(_tilted, centre, self.tilt)
        log_mean = math.log1p(growth) if growth > -0.5 else math.log(tilted)
        return np.array([centre + log_mean / self.tilt])


def _tilted(part: LossPart, centre: float, tilt: float) -> tuple[float, float]:
    """Return E(exp(d) − 1) and E exp(d) with d = t(ℓ − c)."""
    exponents = tilt * (part.losses - centre)
    growth, tilted = np.expm1(exponents), np.exp(exponents)
    return float(np.sum(part.share * growth)), float(np.sum(part.share * tilted))
