"""A uniform sample of the rows of a table, in bounded memory."""

import numpy as np
from numpy.typing import NDArray

from colk._engine.counter_rng import uniform
from colk._validation import Array

__all__ = ["RowSample"]

# Largest number of rows in a sample, and of numbers in these rows.
_ROWS = 20_000
_NUMBERS = 2**22


class RowSample:
    """Rows drawn uniformly, without replacement, from all rows seen.

    The sample keeps the rows with the smallest random numbers. The number of a row depends only on
    its position, so batches of any size and a second pass give the same sample.

    Parameters
    ----------
    most : int, optional
        Largest number of rows to keep. Default: 20,000, or fewer if rows are wide.
    seed : int, default=0
        Seed of the random numbers.

    Examples
    --------
    >>> sample = RowSample(most=3)
    >>> for start in range(0, 100, 10):
    ...     sample.add(np.arange(start, start + 10.0)[:, None], np.zeros((10, 1)))
    >>> X, Y = sample.arrays()
    >>> X.shape, sample.n_seen, sample.is_complete
    ((3, 1), 100, False)
    """

    def __init__(self, most: int | None = None, seed: int = 0) -> None:
        self._most = _ROWS if most is None else most
        self._seed = seed + 1  # `seed` itself draws the held-out rows
        self.n_seen = 0
        self._parts: list[tuple[NDArray[np.int64], Array, Array]] = []
        self._kept = 0

    def add(self, X: Array, Y: Array) -> None:
        """Draw from more rows.

        Parameters
        ----------
        X : array of shape (n, p)
            Points; there may be more features than before.
        Y : array of shape (n, r)
            Targets.
        """
        places = np.arange(self.n_seen, self.n_seen + len(X), dtype=np.int64)
        self._parts.append((places, X.copy(), Y.copy()))
        self.n_seen += len(X)
        self._kept += len(X)
        if self._kept > 2 * self._capacity:
            self._drop()

    @property
    def _capacity(self) -> int:
        width = max((X.shape[1] for _, X, _ in self._parts), default=1)
        return min(self._most, max(_NUMBERS // max(width, 1), 1))

    @property
    def is_complete(self) -> bool:
        """Whether the sample has every row."""
        return self.n_seen <= self._capacity

    def _drop(self) -> None:
        """Drop rows beyond the capacity."""
        capacity = self._capacity
        if self._kept <= capacity:
            return
        places, X, Y = self._joined()
        numbers = (uniform(self._seed, place) for place in places.tolist())
        keys = np.fromiter(numbers, float, len(places))
        chosen = np.sort(np.argpartition(keys, capacity - 1)[:capacity])
        self._parts, self._kept = [(places[chosen], X[chosen], Y[chosen])], capacity

    def _joined(self) -> tuple[NDArray[np.int64], Array, Array]:
        width = max(X.shape[1] for _, X, _ in self._parts)
        points = [np.pad(X, ((0, 0), (0, width - X.shape[1]))) for _, X, _ in self._parts]
        places, targets = ([part[i] for part in self._parts] for i in (0, 2))
        return np.concatenate(places), np.concatenate(points), np.concatenate(targets)

    @property
    def places(self) -> NDArray[np.int64]:
        """The indices of the rows of `arrays` among all rows."""
        self._drop()
        return self._joined()[0]

    def widen(self, X: Array) -> None:
        """Replace the points of `arrays` by points with more features.

        Parameters
        ----------
        X : array of shape (n, p)
            The points.
        """
        places, _, targets = self._joined()
        self._parts = [(places, X, targets)]

    def arrays(self) -> tuple[Array, Array]:
        """Return points and targets in the order of the rows, with 0 for features added later."""
        self._drop()
        return self._joined()[1:]
