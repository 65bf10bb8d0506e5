"""Parts of the rows of a fit, as they were read: arrays, or columns by name."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import Column, Table, kind_of_objects
from colk._validation import Array

__all__ = ["Part", "Source", "joined", "taken"]

Source = Array | Table


class Part(NamedTuple):
    """Some of the rows, as they were read.

    Examples
    --------
    >>> Part(np.zeros((3, 1)), np.arange(3.0), np.array([1.0, 0.0, 2.0]), 0).counted().y
    array([0., 2.])
    """

    source: Source  # (n, p) numbers with NaN for gaps, or columns by name
    y: NDArray[Any]  # (n,) or (n, q): numbers or labels
    weight: Array  # (n,)
    first: int  # number of the first row, among all rows with a positive weight

    def counted(self) -> "Part":
        """Return the rows with a positive weight."""
        if (self.weight > 0.0).all():
            return self
        return self.at(np.flatnonzero(self.weight > 0.0))

    def at(self, places: NDArray[np.intp]) -> "Part":
        """Return the rows at these places."""
        return Part(taken(self.source, places), self.y[places], self.weight[places], self.first)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the rows."""
        return np.arange(self.first, self.first + len(self.weight))


def taken(source: Source, places: NDArray[np.intp]) -> Source:
    """Return some rows of an array or a table.

    Examples
    --------
    >>> taken(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0]))
    array([[3.],
           [1.]])
    """
    if isinstance(source, tuple):
        columns, table = source
        return columns, {name: np.asarray(table[name])[places] for name, _ in columns}
    return np.ascontiguousarray(source[places])


def joined(sources: Sequence[Source]) -> Source:
    """Return arrays or tables as one.

    A column of objects may have numbers in one part and texts in another: it then holds
    categories.

    Examples
    --------
    >>> joined([np.zeros((2, 1)), np.ones((1, 1))]).shape
    (3, 1)
    """
    first = sources[0]
    if not isinstance(first, tuple):
        return np.concatenate(sources)  # type: ignore[arg-type]  # all of them are arrays
    tables = [source[1] for source in sources]
    found = {name: np.concatenate([table[name] for table in tables]) for name, _ in first[0]}
    kinds = [dict(source[0]) for source in sources]
    columns = [
        Column(name, _kind([each[name] for each in kinds], found[name])) for name, _ in first[0]
    ]
    return columns, found


def _kind(kinds: Sequence[Any], values: Any) -> Any:
    """Return the kind of a column whose parts have these kinds."""
    if len(set(kinds)) > 1 and values.dtype == object:
        return kind_of_objects(values.tolist())
    return kinds[0]
