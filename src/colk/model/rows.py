"""Rows that a fit can read again, in parts: an array, a table, batches or files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from colk._validation import Array
from colk.model.parts import Part, Source
from colk.model.sample import RowSample
from colk.rkhs.polishing import Block, RowBlocks
from colk.rkhs.polishing.blocks import block_edges

__all__ = ["LocalRows", "Rows"]

# Encoded rows stay in memory between passes if they have at most this many numbers (64 MB).
_KEPT = 2**23


class Rows(Protocol):
    """All rows of a fit, wherever they are."""

    def scan(self, sample: RowSample) -> RowSample:
        """Show all rows to a sample; return it."""

    def blocks(self, encode: Callable[[Part], Block], n_rows: int, width: int) -> Any:
        """Return all rows as blocks of encoded rows."""


class LocalRows:
    """Rows that this process reads.

    Parameters
    ----------
    read : callable
        Returns the rows from the first one on, as an iterable of (source, y, weight).
    is_whole : bool
        Whether all rows are one part that stays in memory.

    Examples
    --------
    >>> rows = LocalRows(lambda: [(np.zeros((2, 1)), np.ones(2), np.array([0.0, 1.0]))] * 2)
    >>> [(part.first, len(part.y)) for part in rows.parts()]
    [(0, 1), (1, 1)]
    """

    def __init__(
        self, read: Callable[[], Iterable[tuple[Source, Any, Array]]], is_whole: bool = False
    ) -> None:
        self._read, self.is_whole = read, is_whole

    def parts(self) -> Iterator[Part]:
        """Yield the rows with a positive weight, part by part."""
        first = 0
        for source, y, weight in self._read():
            part = Part(source, y, weight, first).counted()
            first += len(part.y)
            if len(part.y):
                yield part

    def scan(self, sample: RowSample) -> RowSample:
        """Show all rows to a sample; return it."""
        for part in self.parts():
            sample.add(part)
        return sample

    def blocks(self, encode: Callable[[Part], Block], n_rows: int, width: int) -> RowBlocks:
        """Return all rows as blocks of encoded rows, with the same boundaries for any parts.

        Parameters
        ----------
        encode : callable
            Encodes a part.
        n_rows, width : int
            Number of rows, and of columns of an encoded row.
        """
        if self.is_whole:
            return RowBlocks.of(*encode(next(self.parts())))

        def read() -> Iterator[Block]:
            return _recut(map(encode, self.parts()), block_edges(n_rows))

        return RowBlocks([*read()] if n_rows * width <= _KEPT else read)


def _recut(blocks: Iterable[Block], edges: Sequence[int]) -> Iterator[Block]:
    """Yield the rows of blocks in blocks with other boundaries."""
    waiting: list[Block] = []
    lengths = iter(b - a for a, b in pairwise(edges))
    wanted, n_waiting = next(lengths, 0), 0
    for block in blocks:
        start = 0
        while n_waiting + len(block.share) - start >= wanted > 0:
            end = start + wanted - n_waiting
            waiting.append(Block(*(array[start:end] for array in block)))
            yield _together(waiting)
            waiting, n_waiting, start, wanted = [], 0, end, next(lengths, 0)
        if start < len(block.share):
            waiting.append(Block(*(array[start:] for array in block)))
            n_waiting += len(block.share) - start


def _together(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    return Block(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))
