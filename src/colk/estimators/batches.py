"""Batches of rows, which `fit` reads several times."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Batch", "Batches", "are_names"]


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
        if hasattr(X, "batches") and hasattr(X, "waits"):
            if not isinstance(y, str) and not are_names(y):
                raise TypeError(
                    'a table needs the name of its target: fit(source, "target"), or a list of '
                    f"names; got {type(y).__name__}"
                )
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
        is_batch = isinstance(first, tuple) and len(first) in (2, 3) and _is_matrix(first[0])
        return cls(X) if is_batch else None

    def __iter__(self) -> Iterator[Batch]:
        for X, y, *weight in self._source:
            yield Batch(X, y, weight[0] if weight else None)


def are_names(y: Any) -> bool:
    """Return whether targets are a list of names of columns.

    Examples
    --------
    >>> are_names(["price", "rent"]), are_names([1.0, 2.0])
    (True, False)
    """
    return isinstance(y, list | tuple) and len(y) > 0 and all(isinstance(each, str) for each in y)


def _is_matrix(X: Any) -> bool:
    return len(X.shape) == 2 if hasattr(X, "shape") else np.ndim(X) == 2
