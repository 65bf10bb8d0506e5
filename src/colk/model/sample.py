"""One sample of all rows, which does not depend on how they arrive, in bounded memory."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._engine.counter_arrays import uniforms
from colk._validation import Array
from colk.model.parts import Part, Source, joined

__all__ = ["CHOOSING", "MOST_ROWS", "RowSample", "Sample"]

# With more rows than MOST_ROWS, `fit` finds inputs on so many of them, and kernel, atoms and λ on
# CHOOSING of these. Wide rows have fewer numbers than MOST_NUMBERS together (128 MB).
MOST_ROWS, CHOOSING = 20_000, 10_000
_MOST_NUMBERS = 2**24

# Number of keys that are compared at a time.
_KEYS = 2**20

# A label has at least this many rows in the sample, if there are so many.
_FLOOR = 5


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a sample, in the order of their numbers.

    Parameters
    ----------
    source : array of shape (n, p), or table
        The rows as they were read.
    y : array of shape (n,) or (n, q)
        Numbers or labels.
    weight : array of shape (n,)
        Weights, all positive.
    numbers : array of shape (n,)
        Their numbers among all rows.
    chosen : array of shape (m,)
        The places of the rows that choose kernel, atoms and λ.
    """

    source: Source
    y: NDArray[Any]
    weight: Array
    numbers: NDArray[np.int64]
    chosen: NDArray[np.intp]


class RowSample:
    """Draws the rows with the smallest random numbers, and counts all rows.

    The random number of a row depends only on the seed and on the number of the row among all rows
    with a positive weight. So batches and partitions of any size give the same sample. Rare labels
    have at least 5 rows.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    are_labels : bool
        Whether targets are labels.
    size : int, optional
        Number of rows to draw, which then all choose kernel, atoms and λ. Default: 20,000, or fewer
        if rows are wide, of which 10,000 choose.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.
    weight : float
        The sum of their weights.
    n_of, weight_of : Counter
        Number and weight of the rows of each label.

    Examples
    --------
    >>> from colk.model.rows import LocalRows
    >>> rows = np.zeros((30_000, 1)), np.arange(30_000.0), np.ones(30_000)
    >>> sample = LocalRows(lambda: [rows]).scan(RowSample(seed=0, are_labels=False))
    >>> sample.n_rows, len(sample.drawn().y), len(sample.drawn().chosen), sample.is_whole
    (30000, 20000, 10000, False)
    """

    def __init__(self, seed: int, are_labels: bool, size: int | None = None) -> None:
        self._seed, self._are_labels, self._size = seed, are_labels, size
        self._keys, self._numbers = np.empty(0), np.empty(0, dtype=np.int64)
        self._parts: list[Part] = []
        self._capacity, self._limit = size or MOST_ROWS, np.inf
        self.n_rows, self.weight = 0, 0.0
        self.n_of: Counter[Any] = Counter()
        self.weight_of: Counter[Any] = Counter()

    @property
    def is_whole(self) -> bool:
        """Whether the sample has all rows."""
        return self.n_rows <= self._capacity

    def add(self, part: Part) -> None:
        """Draw from more rows, and count them.

        Parameters
        ----------
        part : Part
            Rows with positive weights.
        """
        if not self._parts and self._size is None:
            self._capacity = min(MOST_ROWS, max(_MOST_NUMBERS // _width_of(part.source), 1))
        size = len(part.weight)
        self.n_rows, self.weight = self.n_rows + size, self.weight + float(part.weight.sum())
        if self._are_labels:
            self._count(part)
        keys = uniforms(self._seed, part.first, size)
        places = _smallest(keys, self._labels(part.y), self._capacity, self._limit)
        self._keys = np.concatenate([self._keys, keys[places]])
        self._numbers = np.concatenate([self._numbers, part.numbers[places]])
        self._parts.append(part if len(places) == size else part.at(places))
        if len(self._keys) > 2 * self._capacity:
            self._cut()

    def for_partition(self, n_rows: int) -> "RowSample":
        """Return an empty sample that draws the rows of a partition.

        Its parts are numbered among all rows. It keeps only rows that the whole sample needs.

        Parameters
        ----------
        n_rows : int
            Number of rows of all partitions.
        """
        own = RowSample(self._seed, self._are_labels, self._size)
        own._limit = _limit(self._seed, n_rows, self._capacity)
        return own

    def _count(self, part: Part) -> None:
        labels, places = np.unique(part.y, return_inverse=True)
        counts, weights = np.bincount(places), np.bincount(places, part.weight)
        known = labels.tolist()
        self.n_of.update(dict(zip(known, counts.tolist(), strict=True)))
        self.weight_of.update(dict(zip(known, weights.tolist(), strict=True)))

    def _labels(self, y: NDArray[Any]) -> NDArray[Any] | None:
        return y if self._are_labels else None

    def merged(self, other: "RowSample") -> "RowSample":
        """Add the rows of a sample of later rows; return this sample.

        Parameters
        ----------
        other : RowSample
            A sample with the same seed.
        """
        if not self._parts:
            self._capacity = other._capacity
        self._parts += other._parts
        self._keys = np.concatenate([self._keys, other._keys])
        self._numbers = np.concatenate([self._numbers, other._numbers])
        self.n_rows, self.weight = self.n_rows + other.n_rows, self.weight + other.weight
        self.n_of.update(other.n_of)
        self.weight_of.update(other.weight_of)
        self._cut()
        return self

    def _cut(self) -> None:
        """Drop rows beyond the capacity, and sort the others by their numbers."""
        source = joined([part.source for part in self._parts])
        y, weight = (np.concatenate([part[k] for part in self._parts]) for k in (1, 2))
        places = _smallest(self._keys, self._labels(y), self._capacity, np.inf)
        if len(self._keys) > self._capacity:
            self._limit = float(np.partition(self._keys, self._capacity - 1)[self._capacity - 1])
        places = places[np.argsort(self._numbers[places], kind="stable")]
        self._parts = [Part(source, y, weight, 0).at(places)]
        self._keys, self._numbers = self._keys[places], self._numbers[places]

    def drawn(self) -> Sample:
        """Return the sample; raise ValueError if there are no rows."""
        if self.n_rows == 0:
            raise ValueError("no row could be learned: there are none with a positive weight")
        if len(self._parts) > 1 or len(self._keys) > self._capacity:
            self._cut()
        part = self._parts[0]
        chosen = np.arange(len(self._keys))
        if not self.is_whole and self._size is None:
            chosen = _smallest(self._keys, self._labels(part.y), CHOOSING, np.inf)
        return Sample(part.source, part.y, part.weight, self._numbers, chosen)


def _limit(seed: int, n_rows: int, most: int) -> float:
    """Return the largest of the `most` smallest keys of all rows."""
    if n_rows <= most:
        return float(np.inf)
    smallest = np.zeros(0)
    for first in range(0, n_rows, _KEYS):
        keys = uniforms(seed, first, min(_KEYS, n_rows - first))
        smallest = np.sort(np.concatenate([smallest, keys]))[:most]
    return float(smallest[-1])


def _width_of(source: Source) -> int:
    """Return the number of columns of an array or a table, at least 1."""
    return max(len(source[0]) if isinstance(source, tuple) else source.shape[1], 1)


def _smallest(
    keys: Array, labels: NDArray[Any] | None, most: int, limit: float
) -> NDArray[np.intp]:
    """Return the places of the `most` smallest keys below a limit, and of some for each label.

    If a label has fewer than `_FLOOR` of these, its smallest keys are added.
    """
    size = len(keys)
    taken = keys <= limit
    if np.count_nonzero(taken) > most:
        taken = np.zeros(size, dtype=bool)
        taken[np.argpartition(keys, most - 1)[:most]] = True
    if labels is not None and not taken.all():
        known, codes = np.unique(labels, return_inverse=True)
        n_taken = np.bincount(codes[taken], minlength=len(known))
        for code in np.flatnonzero(n_taken < _FLOOR).tolist():
            own = np.flatnonzero(codes == code)
            taken[own[np.argsort(keys[own], kind="stable")[:_FLOOR]]] = True
    return np.flatnonzero(taken)
