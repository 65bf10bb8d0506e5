"""Fill gaps in a row with their expected values, given the other cells of the row."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["FARTHEST", "FEWEST_ROWS", "MOST_COLUMNS", "GapFiller"]

# Wider rows are not filled this way, because each pattern of gaps needs a solve of this size.
MOST_COLUMNS = 60

# With fewer rows, correlations of the columns are not reliable.
FEWEST_ROWS = 30

# Number of rows that estimate the moments, rounds of EM, and the ridge that is added to the
# variances, because columns may be collinear.
_ROWS = 1000
_ROUNDS = 5
_RIDGE = 1e-3

# Number of rows whose equations are in memory at a time.
_BLOCK = 256

# Filled values are clipped at this many standard deviations from the mean.
FARTHEST = 4.0


@stored.stores(
    center=stored.Array("n_cells"),
    unit=stored.Array("n_cells", above=0.0),
    correlations=stored.Array("n_cells", "n_cells"),
)
class GapFiller:
    """Fills the gaps of a row with their expected values, given the other cells.

    The rows are assumed to be normally distributed. The EM algorithm estimates their means and
    correlations from rows with gaps.

    Parameters
    ----------
    center, unit : array of shape (p,)
        Means and standard deviations of the columns.
    correlations : array of shape (p, p)
        Correlations of the columns.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ [[1.0, 2.0], [0.0, 0.1]]
    >>> GapFiller.of(X).filled(np.array([[1.0, np.nan]])).round(1)
    array([[1., 2.]])
    """

    def __init__(self, center: Array, unit: Array, correlations: Array) -> None:
        self.center, self.unit, self.correlations = center, unit, correlations

    @classmethod
    def of(cls, X: Array) -> "GapFiller":
        """Estimate the filler from rows.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows, with NaN for gaps. At most 1000 evenly spaced rows are used.
        """
        X = X[:: -(-len(X) // _ROWS) or 1]
        known = ~np.isnan(X)
        counts = np.maximum(known.sum(axis=0), 1)
        center = np.where(known, X, 0.0).sum(axis=0) / counts
        squares = np.where(known, X - center, 0.0) ** 2
        unit = np.sqrt(squares.sum(axis=0) / counts)
        unit = np.where(unit > 0.0, unit, 1.0)
        p = X.shape[1]
        filler = cls(np.zeros(p), np.ones(p), np.eye(p))
        scaled = (X - center) / unit
        for _ in range(_ROUNDS):
            full = filler._expected(scaled)
            mean = full.mean(axis=0)
            covariance = ((full - mean).T @ (full - mean) + filler._doubt(scaled)) / len(X)
            covariance = 0.5 * (covariance + covariance.T)
            covariance[np.diag_indices(p)] += _RIDGE
            filler = cls(mean, np.ones(p), covariance)
        return cls(center + unit * filler.center, unit, filler.correlations)

    def widened(self, n_new: int) -> "GapFiller | None":
        """Return a filler of more columns, which do not depend on others; None if too many.

        Parameters
        ----------
        n_new : int
            Number of new columns; their gaps are filled with 0.
        """
        p = len(self.unit)
        if p + n_new > MOST_COLUMNS:
            return None
        correlations = np.eye(p + n_new)
        correlations[:p, :p] = self.correlations
        center = np.append(self.center, np.zeros(n_new))
        return GapFiller(center, np.append(self.unit, np.ones(n_new)), correlations)

    def filled(self, X: Array) -> Array:
        """Return the rows without gaps.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows, with NaN for gaps.
        """
        standard = GapFiller(np.zeros(len(self.unit)), np.ones(len(self.unit)), self.correlations)
        full = standard._expected((X - self.center) / self.unit)
        bounded = self.center + self.unit * np.clip(full, -FARTHEST, FARTHEST)
        return np.where(np.isnan(X), bounded, X)

    def _expected(self, X: Array) -> Array:
        """Return standardised rows with expected values in their gaps."""
        full = X.copy()
        for rows in _blocks(X):
            is_known = ~np.isnan(X[rows])
            deviations = np.where(is_known, X[rows] - self.center, 0.0)
            weights = np.linalg.solve(self._between(is_known), deviations[:, :, None])
            # einsum, because the rounding of a matrix product depends on the number of rows
            values = self.center + np.einsum("ij,nj->ni", self.correlations, weights[:, :, 0])
            full[rows] = np.where(is_known, X[rows], values)
        return full

    def _doubt(self, X: Array) -> Array:
        """Return the sum of the covariances of gaps, given the other cells of their rows."""
        C, doubt = self.correlations, np.zeros_like(self.correlations)
        for rows in _blocks(X):
            is_known = ~np.isnan(X[rows])
            inverse = np.linalg.inv(self._between(is_known))
            inverse *= is_known[:, :, None] & is_known[:, None, :]
            both_gaps = ~(is_known[:, :, None] | is_known[:, None, :])
            doubt += ((C - C @ inverse @ C) * both_gaps).sum(axis=0)
        return doubt

    def _between(self, is_known: NDArray[np.bool_]) -> Array:
        """Return the correlations between the known cells of each row, and 0 for gaps."""
        both = is_known[:, :, None] & is_known[:, None, :]
        return np.where(both, self.correlations, np.eye(len(self.unit)))

    @classmethod
    def _from_file(cls, values: dict[str, Array], budget: stored.Budget) -> "GapFiller":
        filler = cls(**values)
        C = filler.correlations
        if len(C) > MOST_COLUMNS or not (C == C.T).all() or np.linalg.eigvalsh(C).min() <= 0.0:
            raise FileFormatError("correlations of columns must be positive definite")
        return filler


def _blocks(X: Array) -> Iterator[NDArray[np.intp]]:
    """Yield the indices of rows with gaps, 256 at a time."""
    rows = np.flatnonzero(np.isnan(X).any(axis=1))
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]
