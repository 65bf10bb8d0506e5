"""Fit quantile functions by sums over all rows, and their constants by counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._validation import Array
from colk.distributed.engines import Parts
from colk.distributed.fitting import Drawn, encoded_blocks
from colk.distributed.rows import encode_rows
from colk.estimators.coverage import weighted_quantile
from colk.losses import Pinball
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Block, solve_by_sums

__all__ = ["quantile_of_blocks", "quantiles_by_sums"]

_TOLERANCE = 1e-3
# Thresholds per round, and rounds. 256⁷ intervals are finer than the precision of a number.
_SECTIONS, _ROUNDS = 256, 7


def shifted_block(block: Block, centre: float) -> Block:
    """Subtract a constant from the targets."""
    return block._replace(targets=block.targets.reshape(-1) - centre)


def residual_block(block: Block, function: KernelExpansion | None) -> Array:
    """Return the residuals, targets minus values of the function."""
    targets = block.targets.reshape(-1)
    if function is None or len(targets) == 0:
        return np.array(targets)
    return np.asarray(targets - function(block.points))


def ends_block(block: Block, values: Array) -> tuple[float, float]:
    """Return the smallest and the largest value among rows with a positive weight."""
    counted = values[block.share > 0.0]
    return float(counted.min(initial=np.inf)), float(counted.max(initial=-np.inf))


def below_block(block: Block, values: Array, grid: Array) -> tuple[Array]:
    """Return, for each number of an increasing grid, the share of values up to it."""
    places = np.searchsorted(grid, values, side="left")
    return (np.bincount(places, block.share, minlength=len(grid) + 1)[:-1].cumsum(),)


def quantile_of_blocks(blocks: Parts, values: Any, level: float) -> float:
    """Return the smallest number such that a share `level` of the values is at or below it.

    Parameters
    ----------
    blocks : Parts
        Blocks whose shares sum to 1.
    values : object
        The values of each block, a result of `blocks.each`.
    level : float
        The level, in (0, 1].
    """
    ends = blocks.fetch(blocks.each(ends_block, per_block=[values]))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    for _ in range(_ROUNDS):
        if not low < high:
            break
        grid = np.unique(np.linspace(low, high, _SECTIONS))
        below = blocks.total(below_block, grid, per_block=[values])[0]
        at = int(np.searchsorted(below, level * (1.0 - 1e-12)))
        at = min(at, len(grid) - 1)
        if at == 0:
            return float(grid[0])
        low, high = float(grid[at - 1]), float(grid[at])
        if np.nextafter(low, high) >= high:
            break
    return float(high)


def quantiles_by_sums(estimator: Any, drawn: Drawn) -> None:
    """Fit the weights and the constant of each level to all rows."""
    blocks, total, _ = encoded_blocks(drawn, estimator, None)
    part = float(np.sum(drawn.sample.weights)) / total
    few, n_rows = encode_rows(drawn.sample, estimator, None, None), drawn.n_rows
    local = estimator.encode_targets(estimator.intercepts_)[:, 0]
    targets = blocks.each(residual_block, None)
    shared = estimator.learner_.function
    functions = [KernelExpansion(shared.kernel, shared.atoms, w) for w in shared.weights.T]
    fitted = _own_rows(functions, estimator.quantiles_, few)
    weights, constants, decays = [], [], []
    for k, level in enumerate(estimator.quantiles_):
        centre = quantile_of_blocks(blocks, targets, level)
        shifted = blocks.derive(shifted_block, centre)
        decay = float(estimator.regularizations_[k]) * part
        function, _ = solve_by_sums(
            shifted, functions[k], Pinball(level), None, decay, tolerance=_TOLERANCE
        )
        residuals = shifted.each(residual_block, function)
        constant = centre + _conformal(shifted, residuals, level, n_rows)
        # Left-out rows have larger residuals than fitted rows. The difference shrinks as 1/n.
        constants.append(constant + part * (local[k] - fitted[k]))
        weights.append(function.weights)
        decays.append(decay)
    estimator.adopt_quantiles(
        np.column_stack(weights),
        np.array(constants),
        np.array(decays),
        few.points,
        drawn.sample.targets,
    )


def _own_rows(
    functions: Sequence[KernelExpansion], levels: Sequence[float], sample: Block
) -> list[float]:
    """Return the constant of each level from the fitted residuals of the sample."""
    residuals = [residual_block(sample, function) for function in functions]
    return [
        weighted_quantile(each, sample.share, level)
        for each, level in zip(residuals, levels, strict=True)
    ]


def _conformal(blocks: Parts, residuals: Any, level: float, n_rows: int) -> float:
    """Return a quantile such that a new residual lies below it with probability ≥ `level`."""
    if level >= 0.5:
        return quantile_of_blocks(blocks, residuals, min(level * (1.0 + 1.0 / n_rows), 1.0))
    upper = min((1.0 - level) * (1.0 + 1.0 / n_rows), 1.0)
    return quantile_of_blocks(blocks, residuals, max(1.0 - upper, 0.5 / n_rows))
