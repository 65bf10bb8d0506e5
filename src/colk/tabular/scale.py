"""Running means and standard deviations of columns (Welford, 1962)."""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array

__all__ = ["LARGEST", "MOST_ROWS", "RunningScales"]

# Squares of larger numbers, summed over a stream, would overflow.
LARGEST = 1e140

# Rows that a stored scale may have seen.
MOST_ROWS = 2**62


class RunningScales:
    """Means and standard deviations of the first columns of matrices, over all rows seen so far.

    A row is standardised by the rows up to it, so that the size of the batches does not change the
    numbers.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    count, means, squares : float and arrays of shape (n_columns,)
        Number of rows seen, their means and sums of squared deviations. Default: no rows.

    Examples
    --------
    >>> import numpy as np
    >>> scales = RunningScales(1)
    >>> X = np.array([[1.0], [3.0]])
    >>> scales.absorb(X)
    2
    >>> X
    array([[0.],
           [1.]])
    >>> scales.means, scales.units
    (array([2.]), array([1.]))
    """

    count: float
    _means: Array
    _squares: Array

    def __init__(
        self,
        n_columns: int,
        count: float = 0.0,
        means: Array | None = None,
        squares: Array | None = None,
    ) -> None:
        self.count = count
        self._means = np.zeros(n_columns) if means is None else np.array(means)
        self._squares = np.zeros(n_columns) if squares is None else np.array(squares)

    @property
    def means(self) -> Array:
        """Means of the columns."""
        return np.array(self._means)

    @property
    def squares(self) -> Array:
        """Sums of squared deviations from the means."""
        return np.array(self._squares)

    @property
    def units(self) -> Array:
        """Standard deviations; 1 for a constant column, and before the first row."""
        deviations = np.sqrt(self.squares / max(self.count, 1.0))
        return np.where(deviations > 0.0, deviations, 1.0)

    def absorb(self, X: Array) -> int:
        """Add rows in their order, and standardise them in place.

        Parameters
        ----------
        X : array of shape (n, p)
            Finite, with at least as many columns as there are scales.

        Returns
        -------
        int
            Number of rows.
        """
        n, width = len(X), len(self._means)
        for i in range(n):
            self.count += 1.0
            share = 1.0 / self.count
            for j in range(width):
                gap = X[i, j] - self._means[j]
                self._means[j] += gap * share
                left = X[i, j] - self._means[j]
                self._squares[j] += gap * left
                unit = math.sqrt(self._squares[j] * share)
                X[i, j] = left / unit if unit > 0.0 else left
        return n

    def scale(self, X: Array) -> int:
        """Standardise rows in place, without adding them.

        Parameters
        ----------
        X : array of shape (n, p)
            With at least as many columns as there are scales.

        Returns
        -------
        int
            Number of rows.
        """
        n, width, units = len(X), len(self._means), self.units
        for i in range(n):
            for j in range(width):
                X[i, j] = (X[i, j] - self._means[j]) / units[j]
        return n

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "RunningScales":
        return cls(len(values["means"]), **values)

    def __reduce__(self) -> tuple[type["RunningScales"], tuple[int, float, Array, Array]]:
        return RunningScales, (len(self._means), self.count, self.means, self.squares)


# Compiled classes take no decorators.
stored.stores(
    count=stored.Number(at_least=0.0, at_most=float(MOST_ROWS)),
    means=stored.Array("n_columns"),
    squares=stored.Array("n_columns", at_least=0.0),
)(RunningScales)
