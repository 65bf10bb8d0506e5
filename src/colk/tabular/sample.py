"""A uniform sample of the rows of a table, in bounded memory."""

import numpy as np
from numpy.typing import NDArray

from colk._engine.counter_rng import uniform
from colk._validation import Array

__all__ = ["RowSample"]

# The most rows of a sample, and the most numbers in them.
_ROWS = 20_000
_NUMBERS = 2**22


class RowSample:
    """Rows drawn uniformly, without replacement, from all rows seen.

    A row stays if its random number is among the smallest. This number depends only on the position
    of the row, so that batches of any size and a second pass give the same sample.

    Parameters
    ----------
    most : int, optional
        The most rows to keep; default 20,000, fewer if they are wide.
    seed : int
        Seed of the draw.

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
        self._seed = seed + 1  # the draw of rows that are left out has the seed itself
        self.n_seen = 0
        self._parts: list[tuple[NDArray[np.int64], Array, Array]] = []
        self._kept = 0

    def add(self, X: Array, Y: Array) -> None:
        """Show the sample some rows.

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
        """Whether the sample holds every row."""
        return self.n_seen <= self._capacity

    def _drop(self) -> None:
        """Keep as many rows as there is room for."""
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
        """The places of the rows of `arrays`."""
        self._drop()
        return self._joined()[0]

    def widen(self, X: Array) -> None:
        """Take other points for the rows of `arrays`, with more features.

        Parameters
        ----------
        X : array of shape (n, p)
            The points.
        """
        places, _, targets = self._joined()
        self._parts = [(places, X, targets)]

    def arrays(self) -> tuple[Array, Array]:
        """Return points and targets in the order of the rows; features that came later are 0."""
        self._drop()
        return self._joined()[1:]
