"""Means of features over blocks of samples, and which of them changed."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import cython
import numpy as np

from colk import _stored as stored
from colk._engine.c_types import Matrix
from colk._validation import Array

__all__ = ["FeatureMeans"]

# A feature has changed if its mean differs by this many standard errors. At least FEWEST earlier
# blocks are needed to estimate how much its blocks vary.
CLEAR, FEWEST = 5.0, 30

# Blocks in memory at first, and at most; then the older half is dropped.
FIRST = 50
LONGEST: int = 800

# The first features are watched, up to this number.
MOST_FEATURES: int = 1000


class FeatureMeans:  # final
    """Sums and counts of features over the latest blocks of samples.

    Parameters
    ----------
    state : dict, optional
        The state of other means, to continue from.

    Examples
    --------
    >>> means = FeatureMeans()
    >>> for t in range(100):
    ...     _ = means.add({"a": t % 2, "b": 4.0 * (t >= 80) + t % 3})
    ...     if t % 2 == 1:
    ...         _ = means.close_block()
    >>> list(means.changed(10))
    ['b']
    """

    _sums: Matrix  # of shape (blocks, p); the row `_size` is the block that is being filled
    _counts: Matrix
    _n_rows: float  # rows of this block that are not in its counts yet
    _names: list[Hashable]
    _places: dict[Hashable, int]
    _size: int

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self._names = [] if state is None else state["names"]
        self._places = {name: place for place, name in enumerate(self._names)}
        self._sums, self._counts = np.zeros((FIRST, 0)), np.zeros((FIRST, 0))
        self._size, self._n_rows = 0, 0.0
        if state is not None:
            self._sums, self._counts = _moved(state["sums"], 0), _moved(state["counts"], 0)
            self._size, self._n_rows = len(state["sums"]) - 1, state["n_rows"]

    def add(self, features: Mapping[Any, float]) -> int:  # cpdef
        """Add a sample; NaN and features that are missing do not count.

        Parameters
        ----------
        features : dict
            Numbers by name.
        """
        self._admit(features)
        for name, number in features.items():
            j, value = self._places.get(name, -1), number  # type: int, float
            if j >= 0 and math.isfinite(value):
                self._sums[self._size, j] += value
                self._counts[self._size, j] += 1.0
        return 0

    def add_row(self, points: Matrix, row: int) -> int:  # cdef
        """Add a sample whose features are the numbers in a row; their names are 0, 1, ….

        Parameters
        ----------
        points : array of shape (n, p)
            Finite numbers.
        row : int
            The row.
        """
        width: int = min(points.shape[1], MOST_FEATURES)
        if width > self._sums.shape[1]:
            with cython.gil:
                self._admit(range(width))
        for j in range(width):
            self._sums[self._size, j] += points[row, j]
        self._n_rows += 1.0
        return 0

    def add_sums(self, names: Sequence[Hashable], sums: Array) -> None:
        """Add samples of one block.

        Parameters
        ----------
        names : sequence
            The features.
        sums : array of shape (2, p)
            Sum and count of each feature.
        """
        self._admit(names)
        known = [k for k, name in enumerate(names) if name in self._places]
        places = [self._places[names[k]] for k in known]
        np.asarray(self._sums)[self._size, places] += sums[0, known]
        np.asarray(self._counts)[self._size, places] += sums[1, known]

    def _admit(self, names: Iterable[Hashable]) -> int:  # cdef gil
        """Add new features, up to the largest number."""
        new = [name for name in names if name not in self._places]
        new = new[: max(MOST_FEATURES - len(self._names), 0)]
        if new:
            self._names = self._names + new
            self._places = {name: place for place, name in enumerate(self._names)}
            wider = (0, 0), (0, len(new))
            self._sums = np.pad(np.asarray(self._sums), wider)
            self._counts = np.pad(np.asarray(self._counts), wider)
        return 0

    def close_block(self) -> int:  # cpdef nogil
        """End a block, and begin the next one."""
        if self._sums.shape[1] > 0:
            for j in range(self._sums.shape[1]):
                self._counts[self._size, j] += self._n_rows
            self._size += 1
            self._n_rows = 0.0
            if self._size == LONGEST or self._size == self._sums.shape[0]:
                with cython.gil:
                    self._make_room()
        return 0

    def _make_room(self) -> int:  # cdef gil
        """Make room for more blocks, and drop the older half if there are too many."""
        dropped = LONGEST // 2 if self._size == LONGEST else 0
        self._sums, self._counts = _moved(self._sums, dropped), _moved(self._counts, dropped)
        self._size -= dropped
        return 0

    def changed(self, window: int) -> dict[Hashable, float]:
        """Return the features whose means changed, and by how many standard deviations of a sample.

        Parameters
        ----------
        window : int
            Number of latest blocks, which are compared with those before.
        """
        if self._size <= window + FEWEST:
            return {}
        sums, counts = np.asarray(self._sums)[: self._size], np.asarray(self._counts)[: self._size]
        old, new = slice(None, self._size - window), slice(self._size - window, None)
        n_old, n_new = (np.maximum(counts[part].sum(axis=0), 1e-12) for part in (old, new))
        before, after = sums[old].sum(axis=0) / n_old, sums[new].sum(axis=0) / n_new
        # The variance of a block's sum is the variance of a sample times the number of samples.
        spread = np.sqrt(((sums[old] - counts[old] * before) ** 2).sum(axis=0) / n_old) + 1e-12
        gaps = (after - before) / spread
        clear = np.abs(gaps) > CLEAR * np.sqrt(1.0 / n_new + 1.0 / n_old)
        order = np.argsort(-np.abs(gaps))
        return {self._names[k]: float(gaps[k]) for k in order if clear[k] and n_old[k] > FEWEST}

    def _to_file(self) -> dict[str, Any]:
        filled = self._size + 1
        return {
            "names": self._names,
            "sums": np.array(self._sums)[:filled],
            "counts": np.array(self._counts)[:filled],
            "n_rows": self._n_rows,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "FeatureMeans":
        return cls(values)

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureMeans, (self._to_file(),)


def _moved(blocks: Any, dropped: int) -> Array:
    """Return the blocks without the oldest ones, followed by as many empty blocks."""
    kept = np.array(blocks)[dropped:]
    return np.concatenate([kept, np.zeros_like(kept)])


# Compiled classes take no decorators.
stored.stores(
    names=stored.ListOf(stored.Anything(), size="n_names"),
    sums=stored.Array(
        stored.Size("n_blocks", at_least=1, at_most=LONGEST),
        stored.Size("n_names", at_most=MOST_FEATURES),
        finite=False,
    ),
    counts=stored.Array("n_blocks", "n_names", at_least=0.0),
    n_rows=stored.Number(at_least=0.0),
)(FeatureMeans)
