"""All rows of some blocks as the sample that a risk sees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from colk._validation import Array
from colk.risks.samples import LossPart
from colk.rkhs.polishing.block_sums import losses_block, part_block
from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.objective import SmoothedObjective

__all__ = ["BlockSample"]

# Number of thresholds tried per round, and number of rounds. 256⁷ exceeds the precision of float64.
_SECTIONS = 256
_ROUNDS = 7


class BlockSample:
    """The rows of all blocks, which stay where they are; see `colk.risks.samples.LossSample`.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    objective : Objective
        The loss and the risk.
    predictions : object
        The predictions of each block, a result of `blocks.each`.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.risks import CVaR
    >>> from colk.rkhs.polishing import RowBlocks
    >>> blocks = RowBlocks.of(np.ones((4, 1)), np.array([1.0, 3.0, 0.0, 2.0]), np.full(4, 0.25))
    >>> objective = SmoothedObjective(Linear(), np.ones((1, 1)), Squared(), CVaR(0.5), 1)
    >>> sample = BlockSample(blocks, objective, [np.zeros((4, 1))])
    >>> sample.ends(), sample.tail_start(0.25), CVaR(0.5).statistics(sample).value
    ((0.0, 9.0), 4.0, 6.5)
    """

    def __init__(self, blocks: Blocks, objective: SmoothedObjective, predictions: Any) -> None:
        self._blocks, self._objective = blocks, objective
        losses, self._has_losses = predictions, objective.risk.is_of_losses
        if self._has_losses:
            losses = blocks.each(losses_block, objective, per_block=[predictions])
        self._own = [predictions, losses]

    def _call(self, function: Callable[..., tuple[Any, ...]], arguments: tuple[Any, ...]) -> Any:
        return part_block, self._has_losses, self._objective, function, arguments

    def total(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """Return the sums of `function(part, *arguments)` over the blocks."""
        call = self._call(function, arguments)
        found: tuple[Any, ...] = self._blocks.total(*call, per_block=self._own)
        return found

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest loss of rows with weights above 0."""
        call = self._call(_ends, ())
        found = self._blocks.fetch(self._blocks.each(*call, per_block=self._own))
        ends = [each for each in found if each is not None]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def tail_start(self, share: float, accuracy: float = 0.0) -> float:
        """Return the smallest loss that at most this share of the rows exceeds."""
        left, right = self.ends()
        for _ in range(_ROUNDS):
            grid = np.linspace(left, right, _SECTIONS)
            beyond = self.total(_beyond, grid)[0]
            # The first number of the grid that no more than the share exceeds.
            place = int(np.searchsorted(-beyond, -share * (1.0 + 1e-12)))
            if place == 0:
                return left
            if grid[place] <= grid[place - 1]:
                break
            left, right = float(grid[place - 1]), float(grid[place])
            if right - left <= accuracy:
                break
        return right

    def together(self) -> tuple[Array, Array]:
        """Return the losses and the weights of all rows."""
        fetched = self._blocks.fetch(self._own[1])
        shares = self._blocks.fetch(self._blocks.each(_share_block))
        return np.concatenate(fetched), np.concatenate(shares)


def _share_block(block: Any) -> Array:
    return np.asarray(block.share)


def _ends(part: LossPart) -> tuple[float, float]:
    counted = part.losses[part.share > 0.0]
    return float(counted.min(initial=np.inf)), float(counted.max(initial=-np.inf))


def _beyond(part: LossPart, grid: Array) -> tuple[Array]:
    """Return the shares of the rows whose losses exceed each number of an increasing grid."""
    places = np.searchsorted(grid, part.losses, side="left")
    counts = np.bincount(places, part.share, minlength=len(grid) + 1)
    return (counts[:0:-1].cumsum()[::-1],)
