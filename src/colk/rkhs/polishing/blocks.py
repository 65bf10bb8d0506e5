"""Blocks of rows, and functions of them whose results are added in a fixed order.

A solver asks for sums over all rows and never sees a row. A sum is computed by a pure function at
the top level of a module, `function(block, *per_block, *common)`, which threads, processes or other
machines can run. An engine implements `Blocks`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from colk._engine.thread_pool import each_in_threads
from colk._validation import Array

__all__ = [
    "BLOCK",
    "Block",
    "Blocks",
    "RowBlocks",
    "add",
    "block_edges",
    "normalise_block",
    "turns",
    "weight_block",
]

# Largest number of rows of a block, and of rows whose kernel values are in memory at a time. They
# do not depend on the number of threads, so sums are rounded in the same way for any number.
BLOCK = 2048
TURN = 1024
# The number of blocks is a multiple of this, so that two or four threads have equal shares.
_ALIKE = 4
# With fewer rows than this, threads take longer to start than they save.
_FEW = 4096


class Block(NamedTuple):
    """Some of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.zeros((2, 1)), np.array([1.0, 2.0]), np.full(2, 0.5))
    >>> len(block.share)
    2
    """

    points: Array  # (n, p)
    targets: Array  # (n,) or (n, r), as the loss takes them
    share: Array  # (n,): weights, at least 0, that sum to 1 over all blocks


class Blocks(Protocol):
    """Methods of an engine: call a function on each block, or sum a function over the blocks.

    Results are added first to last, or in a tree whose shape depends on the number of blocks only.
    """

    def each(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """Return the results of `function(block, *values, *common)`, in the order of the blocks.

        They may stay where they were computed. `per_block` lists such results of earlier calls;
        each block gets its own values of them.
        """

    def total(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """Return the sum, by `add`, of the results of `function(block, *values, *common)`."""

    def fetch(self, results: Any) -> list[Any]:
        """Return results of `each` as a list."""


def add(first: Any, second: Any) -> Any:
    """Return the sum of two results: tuples of numbers and arrays, whose entries may be None.

    The result of an empty block is None.

    Examples
    --------
    >>> import numpy as np
    >>> add((1.0, np.ones(2), None), (2.0, np.ones(2), None))
    (3.0, array([2., 2.]), None)
    """
    if first is None or second is None:
        return second if first is None else first
    parts = [None if a is None else a + b for a, b in zip(first, second, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)


def turns(size: int) -> Iterator[slice]:
    """Yield slices of the rows of a block whose kernel values are in memory at a time."""
    for start in range(0, size, TURN):
        yield slice(start, min(start + TURN, size))


def weight_block(block: Block) -> tuple[float, int]:
    """Return the sum of the shares, and the number of rows whose share is 0."""
    return float(block.share.sum()), int(np.count_nonzero(block.share == 0.0))


def normalise_block(block: Block, total: float) -> Block:
    """Divide shares by their sum over all blocks."""
    return block._replace(share=block.share / total)


def block_edges(size: int) -> list[int]:
    """Return the boundaries of blocks of nearly equal numbers of rows.

    Examples
    --------
    >>> block_edges(5000)
    [0, 1666, 3333, 5000]
    """
    n_blocks = -(-size // BLOCK)
    if n_blocks > _ALIKE:
        n_blocks = -(-n_blocks // _ALIKE) * _ALIKE
    return [k * size // n_blocks for k in range(n_blocks + 1)] if size else [0]


class RowBlocks:
    """Blocks of arrays in memory, or of a function that reads them again for each pass.

    Threads compute several blocks at a time. Results of `each` stay in memory.

    Parameters
    ----------
    blocks : sequence of Block, or callable
        The blocks, or a function without arguments that returns an iterable of them.

    Examples
    --------
    >>> import numpy as np
    >>> def size(block):
    ...     return (len(block.points),)
    >>> RowBlocks.of(np.zeros((10_000, 1)), np.zeros(10_000), np.full(10_000, 1e-4)).total(size)
    (10000,)
    """

    def __init__(self, blocks: Sequence[Block] | Callable[[], Iterable[Block]]) -> None:
        self._blocks = blocks

    @classmethod
    def of(cls, points: Array, targets: Array, share: Array) -> "RowBlocks":
        """Return blocks of nearly equal numbers of rows.

        Parameters
        ----------
        points, targets, share
            As in `Block`, of all rows.
        """
        rows = [slice(first, last) for first, last in pairwise(block_edges(len(points)))]
        return cls([Block(points[some], targets[some], share[some]) for some in rows])

    def derive(self, function: Callable[..., Block], *common: Any) -> "RowBlocks":
        """Return blocks `function(block, *common)`.

        Parameters
        ----------
        function : callable
            Makes a block of another one with the same number of rows.
        *common : object
            Further arguments.
        """
        source = self._blocks
        if callable(source):
            return RowBlocks(lambda: (function(block, *common) for block in source()))
        return RowBlocks([function(block, *common) for block in source])

    def _results(
        self, function: Callable[..., Any], common: tuple[Any, ...], per_block: Sequence[Any]
    ) -> Iterator[Any]:
        call = partial(_call, function, common)
        if callable(self._blocks):
            return each_in_threads(call, zip(self._blocks(), *per_block, strict=True))
        calls = [*zip(self._blocks, *per_block, strict=True)]
        is_small = sum(len(block.share) for block in self._blocks) < _FEW
        return map(call, calls) if is_small else each_in_threads(call, calls)

    def each(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> list[Any]:
        """Return the results of a function, in the order of the blocks; see `Blocks`."""
        return list(self._results(function, common, per_block))

    def total(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """Return the sum of the results of a function, first to last; see `Blocks`."""
        return reduce(add, self._results(function, common, per_block))

    def fetch(self, results: Any) -> list[Any]:
        """Return results of `each` as a list."""
        return list(results)


def _call(function: Callable[..., Any], common: tuple[Any, ...], own: tuple[Any, ...]) -> Any:
    return function(*own, *common)
