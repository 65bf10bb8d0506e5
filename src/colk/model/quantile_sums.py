"""Quantiles of the values of all rows, by counts over blocks of rows."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Block

__all__ = ["conformal_of_blocks", "quantile_of_blocks", "residual_block", "shifted_block"]

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


def quantile_of_blocks(blocks: Any, values: Any, level: float) -> float:
    """Return the smallest number such that a share `level` of the values is at or below it.

    Parameters
    ----------
    blocks : Blocks
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


def conformal_of_blocks(blocks: Any, residuals: Any, level: float, n_rows: int) -> float:
    """Return a quantile such that a new residual lies below it with probability ≥ `level`."""
    if level >= 0.5:
        return quantile_of_blocks(blocks, residuals, min(level * (1.0 + 1.0 / n_rows), 1.0))
    upper = min((1.0 - level) * (1.0 + 1.0 / n_rows), 1.0)
    return quantile_of_blocks(blocks, residuals, max(1.0 - upper, 0.5 / n_rows))
