"""The inner value g of a risk, from sums over blocks of rows.

Expectations take one sum each. Thresholds and multipliers are roots of monotone functions, whose
values are sums; they are found in a few rounds of sums. The tilted mean is a log-sum-exp.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from colk._validation import Array
from colk.risks import (
    AUC,
    KLDRO,
    ChiSquareDRO,
    Composition,
    CVaR,
    Entropic,
    LossRisk,
    Risk,
)
from colk.rkhs.polishing.blocks import Block, Blocks
from colk.rkhs.polishing.risk_curvature import has_kink
from colk.rkhs.polishing.row_terms import Inner, SumObjective, losses_of

__all__ = ["LossSample", "inner_of", "losses_block"]

# Number of thresholds tried per round, and number of rounds. 256⁷ exceeds the precision of float64.
_SECTIONS = 256
_ROUNDS = 7
# Largest number of Newton steps for the threshold of a smoothed tail; bisection needs fewer.
_THRESHOLD_STEPS = 200
# Relative step of a finite difference.
_STEP = 1e-5
# Losses that differ by less than this count as equal.
_LEAST_SPREAD = 1e-290


@dataclass(frozen=True, eq=False)
class LossSample:
    """The losses of all rows, which stay with their blocks.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    predictions : object
        The predictions of each block, a result of `blocks.each`.
    losses : object
        Their losses, a result of `blocks.each`.
    """

    blocks: Blocks
    predictions: Any
    losses: Any

    def mean(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        """Return the sums of `function(block, losses, *arguments)`."""
        found = self.blocks.total(function, *arguments, per_block=[self.losses])
        return tuple(found)

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest loss."""
        ends = self.blocks.fetch(self.blocks.each(ends_block, per_block=[self.losses]))
        return min(low for low, _ in ends), max(high for _, high in ends)


# -- sums over the losses of a block ---------------------------------------------------------


def losses_block(block: Block, F: Array, objective: SumObjective) -> Array:
    """Return the losses of the predictions of a block."""
    return losses_of(objective, F, block.targets) if len(F) else np.zeros(0)


def ends_block(block: Block, losses: Array) -> tuple[float, float]:
    """Return the smallest and the largest loss of the rows with weights above 0."""
    counted = losses[block.share > 0.0]
    if len(counted) == 0:
        return math.inf, -math.inf
    return float(counted.min()), float(counted.max())


def moments_block(block: Block, losses: Array, centre: float) -> tuple[float, float, float, float]:
    """Return Σ s(ℓ − c), Σ s|ℓ|, Σ s|ℓ − c| and Σ s(ℓ − c)²."""
    apart = losses - centre
    sums = (apart, np.abs(losses), np.abs(apart), apart * apart)
    mean, size, spread, square = (float(np.sum(block.share * each)) for each in sums)
    return mean, size, spread, square


def inner_block(block: Block, losses: Array, risk: LossRisk, g: Array, i: int) -> tuple[float]:
    """Return Σ s inner_i(ℓ, g)."""
    if len(losses) == 0:
        return (0.0,)
    return (float(np.sum(block.share * risk.inner(losses, g)[:, i])),)


def slopes_block(block: Block, losses: Array, risk: LossRisk, g: Array, k: int) -> tuple[Array]:
    """Return Σ s ∂outer/∂g of the first k components."""
    if len(losses) == 0:
        return (np.zeros(k),)
    return ((risk.outer_slope_inner(losses, g)[:, :k].T * block.share).sum(axis=1),)


def outer_block(block: Block, losses: Array, risk: LossRisk, g: Array) -> tuple[float]:
    """Return Σ s outer(ℓ, g)."""
    if len(losses) == 0:
        return (0.0,)
    return (float(np.sum(block.share * risk.outer(losses, g))),)


def mass_block(block: Block, losses: Array, value: float) -> tuple[float]:
    """Return the share of the rows with this loss."""
    return (float(np.sum(block.share[losses == value])),)


def beyond_block(block: Block, losses: Array, grid: Array) -> tuple[Array]:
    """Return the shares of the rows whose losses exceed each number of an increasing grid."""
    places = np.searchsorted(grid, losses, side="left")
    counts = np.bincount(places, block.share, minlength=len(grid) + 1)
    return (counts[:0:-1].cumsum()[::-1],)


def tail_block(block: Block, losses: Array, threshold: float, s: float) -> tuple[float, float]:
    """Return the share beyond a smoothed threshold, and minus its derivative in it."""
    above = 0.5 + 0.5 * np.tanh((losses - threshold) * (0.5 / s))
    share = block.share
    return float(np.sum(share * above)), float(np.sum(share * above * (1.0 - above))) / s


def excess_block(block: Block, losses: Array, low: float, unit: float, eta: float) -> Any:
    """Return Σ s e and Σ s e² of the excess e = ((ℓ − low)/unit − η)₊."""
    excess = np.maximum((losses - low) / unit - eta, 0.0)
    return float(np.sum(block.share * excess)), float(np.sum(block.share * excess * excess))


def tilt_block(block: Block, losses: Array, centre: float, tilt: float) -> tuple[float, float]:
    """Return Σ s exp(u) and Σ s u exp(u) with u = t(ℓ − c)."""
    u = tilt * (losses - centre)
    tilted = block.share * np.exp(u)
    return float(np.sum(tilted)), float(np.sum(tilted * u))


def auc_block(block: Block, F: Array) -> tuple[Array]:
    """Return the share of the positive class, and the sums of s f in both classes."""
    is_positive = np.reshape(block.targets, (len(F), -1))[:, :1] > 0.0
    weighted = block.share[:, None] * F
    positive = float(block.share[is_positive[:, 0]].sum())
    sums = [positive, weighted[is_positive].sum(), weighted[~is_positive].sum()]
    return (np.array(sums),)


def class_spread_block(block: Block, F: Array, g: Array) -> tuple[float]:
    """Return the sum of the variances of f within the classes."""
    is_positive = np.reshape(block.targets, (len(F), -1))[:, 0] > 0.0
    within = block.share / np.where(is_positive, g[0], 1.0 - g[0])
    return (float(np.sum(within * (F[:, 0] - np.where(is_positive, g[1], g[2])) ** 2)),)


def composed_block(
    block: Block, F: Array, risk: Composition, name: str, g: Array
) -> tuple[Array, float, float]:
    """Return the sums of a function of the composition; with Σ F² and the number of entries."""
    if len(F) == 0:
        return np.zeros(risk.n_inner if name != "outer" else 1), 0.0, 0.0
    table = risk.tabulate(name, F, block.targets, g)
    return (table.T * block.share).sum(axis=1), float(np.sum(F * F)), float(F.size)


# -- the inner value of each risk ------------------------------------------------------------


def inner_of(risk: Risk, sample: LossSample) -> tuple[Inner, float]:
    """Return the statistics that couple the rows, and the exact value of the risk."""
    if isinstance(risk, AUC):
        return _auc(sample)
    if isinstance(risk, Composition):
        return _composed(risk, sample)
    if not isinstance(risk, LossRisk):
        raise TypeError(f"{type(risk).__name__} cannot be summed over rows")
    mean, size, *_ = sample.mean(moments_block, 0.0)
    g, k = _estimate(risk, sample, mean), min(risk.n_expectations, risk.n_inner)
    slopes = sample.mean(slopes_block, risk, g, k)[0] if k else np.zeros(0)
    value = float(sample.mean(outer_block, risk, g)[0])
    step = _STEP * (size or 1.0)
    if has_kink(risk) and risk.smoothing:
        step = min(step, 0.01 * risk.smoothing)
    largest = mass = 0.0
    if isinstance(risk, (ChiSquareDRO, KLDRO)) and g[1] == 0.0:
        largest = sample.ends()[1]
        mass = float(sample.mean(mass_block, largest)[0])
    return Inner(g, slopes, step, largest, mass), value


def _estimate(risk: LossRisk, sample: LossSample, mean: float) -> Array:
    """Return the exact g, of shape (m,)."""
    if isinstance(risk, CVaR):
        threshold = _threshold(risk, sample)
        return np.array([threshold, sample.mean(moments_block, threshold)[2]])
    if isinstance(risk, Entropic):
        low, high = sample.ends()
        centre = high if risk.tilt > 0.0 else low
        tilted = float(sample.mean(tilt_block, centre, risk.tilt)[0])
        return np.array([centre + math.log(tilted) / risk.tilt])
    if isinstance(risk, ChiSquareDRO):
        return _chi_square(risk, sample, mean)
    if isinstance(risk, KLDRO):
        return _kullback_leibler(risk, sample, mean)
    if type(risk).estimate is not LossRisk.estimate:  # a risk of the user's own
        blocks = sample.blocks
        losses = np.concatenate(blocks.fetch(sample.losses))
        return risk.estimate(losses, np.concatenate(blocks.fetch(blocks.each(share_block))))
    g = np.zeros(risk.n_inner)
    for i in range(len(g)):  # in order: inner_i may use g_{<i}
        g[i] = sample.mean(inner_block, risk, g.copy(), i)[0]
    return g


def share_block(block: Block) -> Array:
    """Return the weights of a block."""
    return block.share


def _threshold(risk: CVaR, sample: LossSample) -> float:
    """Return the threshold beyond which the tail lies."""
    a, s = risk.tail_fraction, risk.smoothing
    low, high = sample.ends()
    left, right = low, high
    for _ in range(_ROUNDS):
        grid = np.linspace(left, right, _SECTIONS)
        beyond = sample.mean(beyond_block, grid)[0]
        # The first number of the grid beyond which no more than the tail lies.
        place = int(np.searchsorted(-beyond, -a * (1.0 + 1e-12)))
        if place == 0 or grid[place] <= grid[place - 1]:
            break
        left, right = grid[place - 1], grid[place]
        if right - left <= s:  # near enough for Newton's method
            break
    threshold = float(right) if place else float(left)
    if s == 0.0:
        return threshold
    shift = s * math.log(a / (1.0 - a))
    low, high = low - shift, high - shift
    threshold = min(max(threshold, low), high)
    for _ in range(_THRESHOLD_STEPS):
        above, slope = sample.mean(tail_block, threshold, s)
        excess = above - a
        low, high = (threshold, high) if excess > 0.0 else (low, threshold)
        step, before = (excess / slope if slope > 0.0 else math.inf), threshold
        threshold = threshold + step
        if not low < threshold < high:
            threshold = 0.5 * (low + high)
        if abs(threshold - before) <= max(1e-9 * s, 4e-16 * abs(threshold)):
            break
    return threshold


def _chi_square(risk: ChiSquareDRO, sample: LossSample, mean: float) -> Array:
    factor = math.sqrt(1.0 + 2.0 * risk.radius)
    low, high = sample.ends()
    if float(sample.mean(mass_block, high)[0]) * factor * factor >= 1.0:
        return np.array([high, 0.0])
    unit = high - low

    def slope(eta: float) -> float:
        first, second = sample.mean(excess_block, low, unit, eta)
        return float(1.0 - factor * first / math.sqrt(second))

    deviation = math.sqrt(float(sample.mean(moments_block, mean)[3])) / unit
    least = (mean - low) / unit - deviation / math.sqrt(2.0 * risk.radius)
    most = 1.0 - 1e-12 * (1.0 - least)
    if least <= 0.0:
        eta = least
    else:
        eta = most if slope(most) <= 0.0 else float(brentq(slope, least, most, rtol=8.9e-16))
    second = float(sample.mean(excess_block, low, unit, eta)[1])
    return np.array([low + unit * eta, unit * unit * second])


def _kullback_leibler(risk: KLDRO, sample: LossSample, mean: float) -> Array:
    low, high = sample.ends()
    unit = high - low
    at_largest = float(sample.mean(mass_block, high)[0])
    if -math.log(at_largest) <= risk.radius or unit < _LEAST_SPREAD:
        return np.array([high, 0.0])

    def surplus(log_multiplier: float) -> float:
        tilt = 1.0 / (unit * math.exp(log_multiplier))
        total, weighted = sample.mean(tilt_block, high, tilt)
        return float(weighted / total - math.log(total) - risk.radius)

    left = right = math.log((high - mean) / unit)
    while surplus(left) < 0.0:
        left -= 2.0
    while surplus(right) > 0.0:
        right += 2.0
    multiplier = unit * math.exp(brentq(surplus, left, right, rtol=8.9e-16, xtol=1e-15))
    total = float(sample.mean(tilt_block, high, 1.0 / multiplier)[0])
    return np.array([high + multiplier * math.log(total), multiplier])


def _auc(sample: LossSample) -> tuple[Inner, float]:
    blocks = sample.blocks
    positive, above, below = blocks.total(auc_block, per_block=[sample.predictions])[0]
    if not 0.0 < positive < 1.0:
        raise ValueError("the risk AUC needs samples of both classes, with weights above 0")
    g = np.array([positive, above / positive, below / (1.0 - positive)])
    spread = blocks.total(class_spread_block, g, per_block=[sample.predictions])[0]
    return Inner(g, np.zeros(0)), float(spread + (1.0 - g[1] + g[2]) ** 2)


def _composed(risk: Composition, sample: LossSample) -> tuple[Inner, float]:
    def mean(name: str, g: Array) -> tuple[Array, float, float]:
        total = sample.blocks.total(composed_block, risk, name, g, per_block=[sample.predictions])
        return total[0], float(total[1]), float(total[2])

    g, square, count = mean("inner", np.zeros(risk.n_inner))
    step = _STEP * (math.sqrt(square / count) + 1.0)
    value = float(mean("outer", g)[0][0])
    return Inner(g, mean("outer_slope_inner", g)[0], step), value
