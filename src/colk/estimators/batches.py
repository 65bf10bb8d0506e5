"""Batches of rows, which `fit` reads several times, and a uniform sample of their rows."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.rkhs.polishing import MANY_ROWS, SAMPLE_SIZE

__all__ = ["Batch", "Batches", "RowSample"]


class Batch(NamedTuple):
    """Rows as they were read, with their targets and weights.

    Examples
    --------
    >>> Batch([[0.0], [1.0]], [2.0, 3.0], None).y
    [2.0, 3.0]
    """

    X: Any
    y: Any
    weight: Any


class Batches:
    """An iterable of batches that can be read several times.

    Parameters
    ----------
    source : iterable of (X, y) or (X, y, sample_weight)
        The rows.

    Examples
    --------
    >>> batches = Batches([([[0.0]], [1.0]), ([[2.0]], [3.0])])
    >>> [batch.y for batch in batches]
    [[1.0], [3.0]]
    """

    def __init__(self, source: Iterable[Any]) -> None:
        self._source = source

    @classmethod
    def of(cls, X: Any, y: Any) -> "Batches | None":
        """Return the batches that were given to `fit`, or None if it was given arrays."""
        if isinstance(y, str) and hasattr(X, "batches"):
            if X.waits:
                raise ValueError(
                    "fit reads the rows several times, and a pipe can be read only once"
                )
            return cls(X.batches(y))
        if y is not None or not isinstance(X, Iterable) or hasattr(X, "__array__"):
            return None
        rows = iter(X)
        if rows is X:
            raise TypeError(
                "fit reads the batches several times, and an iterator can be read only once: pass "
                "a list, or an object whose __iter__ begins again"
            )
        first = next(rows, None)
        is_batch = isinstance(first, tuple) and len(first) in (2, 3) and np.ndim(first[0]) == 2
        return cls(X) if is_batch else None

    def __iter__(self) -> Iterator[Batch]:
        for X, y, *weight in self._source:
            yield Batch(X, y, weight[0] if weight else None)


class RowSample:
    """A uniform sample of all rows seen, with at least one row for each label.

    Parameters
    ----------
    random : RandomState
        The random numbers that draw the rows.
    labels : bool
        Whether targets are labels. If the sample lacks a label, its first row is added.

    Examples
    --------
    >>> sample = RowSample(np.random.RandomState(0), labels=False)
    >>> sample.add(np.zeros((3, 2)), np.arange(3.0), np.array([1.0, 0.0, 2.0]))
    >>> sample.n_rows, sample.weight, sample.arrays()[1]
    (2, 3.0, array([0., 2.]))
    """

    def __init__(self, random: np.random.RandomState, labels: bool) -> None:
        self._random, self._labels, self.n_rows, self.weight = random, labels, 0, 0.0
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._firsts: dict[Any, tuple[NDArray[Any], ...]] = {}

    def add(self, X: Array, y: NDArray[Any], weight: Array) -> None:
        """Draw from more rows; rows of weight 0 are ignored.

        Parameters
        ----------
        X, y, weight
            Points, targets and weights.
        """
        kept = weight > 0.0
        X, y, weight = X[kept], y[kept], weight[kept]
        places = np.arange(self.n_rows, self.n_rows + len(X), dtype=np.float64)
        part = (self._random.uniform(size=len(X)), places, X, y, weight)
        if self._labels:
            for label, row in zip(*np.unique(y, return_index=True), strict=True):
                one = tuple(array[row : row + 1].copy() for array in part)
                self._firsts.setdefault(label, one)
        self._parts.append(tuple(array.copy() for array in part))
        self.n_rows += len(X)
        self.weight += float(weight.sum())
        if sum(len(each[0]) for each in self._parts) > 2 * MANY_ROWS:
            self._parts = [self._drawn()]

    def _drawn(self) -> tuple[NDArray[Any], ...]:
        """Return all rows, or a sample if there are many."""
        joined = [np.concatenate(arrays) for arrays in zip(*self._parts, strict=True)]
        if self.n_rows > MANY_ROWS:
            chosen = np.argpartition(joined[0], SAMPLE_SIZE - 1)[:SAMPLE_SIZE]
            joined = [array[chosen] for array in joined]
        return tuple(joined)

    def arrays(self) -> tuple[Array, NDArray[Any], Array]:
        """Return points, targets and weights, in the order in which they were read."""
        if self.n_rows == 0:
            raise ValueError("the batches have no rows with a positive weight")
        drawn = self._drawn()
        lacking = [first for label, first in self._firsts.items() if not (drawn[3] == label).any()]
        parts = [np.concatenate(arrays) for arrays in zip(drawn, *lacking, strict=True)]
        order = np.argsort(parts[1], kind="stable")
        return parts[2][order], parts[3][order], parts[4][order]
