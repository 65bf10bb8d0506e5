"""Running means and standard deviations, without outliers, of targets and columns."""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.sorted_sample import BLOCK, COLUMNS, TARGETS, LatestRows, SortedSample
from colk._engine.sorted_sample import without_outliers as without_outliers
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["COLUMNS", "TARGETS", "RunningScale", "without_outliers"]

# Rows of a full sample, in a file.
_SAMPLE_ROWS = 256

# A deviation below this share of the mean is a rounding error; the values are equal.
ROUNDING = 5e-15


def unit_of(mean: float, deviation: float) -> float:
    """Return the divisor: the deviation; |mean| if that is 0; 1 if both are 0."""
    if deviation > ROUNDING * abs(mean):
        return deviation
    return abs(mean) if mean != 0.0 else 1.0


class RunningScale:
    """Weighted means and standard deviations of columns, updated as rows arrive.

    Outliers are moved to the limits that a sample of the rows gives (`SortedSample`): five robust
    spreads from the median. The standard deviation is at most 1.5 spreads. Without outliers the
    results are the plain mean and standard deviation. The first 256 rows are all in the sample, so
    that an early outlier is recognised later.

    The moments of all rows follow a change slowly. `is_stale` says that the latest 200 targets have
    a scale that differs by more than a factor of 30; `renew` then begins again with these rows.

    `update` takes one value, `absorb` rows one by one, `merged` all rows at once. No square is
    formed, so that large values do not overflow.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    level : float
        Share of the values that are assumed to contain no outliers: `TARGETS` (the default) or
        `COLUMNS`.
    total, means, deviations, n_seen, rows, latest, n_latest
        The state of another scale, to continue from.

    Examples
    --------
    >>> import numpy as np
    >>> scale = RunningScale(1)
    >>> scale.update(1.0, 1.0), round(scale.update(4.0, 2.0), 3)
    (0.0, 0.707)
    >>> scale.means, scale.units.round(3)
    (array([3.]), array([1.414]))
    >>> y = np.append(np.arange(99.0), 1e9)
    >>> RunningScale(1).merged(y, np.ones(100)).units.round()
    array([34.])
    """

    total: float
    level: float
    _means: Array  # of all rows; beyond the first 256, of rows without outliers
    _deviations: Array
    _centers: Array  # in use
    _units: Array  # in use: divisor of each column
    _sample: SortedSample

    def __init__(
        self,
        n_columns: int = 1,
        level: float = TARGETS,
        total: float = 0.0,
        means: Array | None = None,
        deviations: Array | None = None,
        n_seen: int = 0,
        rows: Array | None = None,
        latest: Array | None = None,
        n_latest: int = 0,
    ) -> None:
        self.total, self.level = 0.0, level
        self._means, self._deviations = np.zeros(n_columns), np.zeros(n_columns)
        self._centers, self._units = np.zeros(n_columns), np.ones(n_columns)
        self._sample = SortedSample(n_columns, level)
        self._sample_before = SortedSample(n_columns, level)
        self._before, self._was_kept = np.zeros(1 + 4 * n_columns), False
        self.latest, self.is_stale = LatestRows(n_columns, latest, n_latest), False
        self._watches = level == TARGETS
        if means is not None and deviations is not None and rows is not None:
            self._sample.restore(n_seen, rows)
            self._set(total, means, deviations)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self._means)

    @property
    def means(self) -> Array:
        """Means of the columns, without outliers."""
        return np.array(self._centers)

    @property
    def deviations(self) -> Array:
        """Standard deviations of all rows; beyond the first 256, of rows without outliers."""
        return np.array(self._deviations)

    @property
    def units(self) -> Array:
        """Standard deviations without outliers; if all values are equal, |mean|, or 1."""
        return np.array(self._units)

    def limits(self) -> tuple[Array, Array]:
        """Return the smallest and the largest value of each column that is no outlier."""
        sample, j = self._sample, range(len(self._means))
        return np.array([sample.low(i) for i in j]), np.array([sample.high(i) for i in j])

    # -- one value ---------------------------------------------------------------------------

    def update(self, value: float, weight: float) -> float:
        """Update the first column with a value, and return the value scaled.

        Parameters
        ----------
        value : float
            A finite number.
        weight : float
            Its weight, above 0.
        """
        is_kept = self._sample.takes_next()
        self._remember(is_kept)
        self.total += weight
        self._begin_row()
        self._update_column(0, value, weight, is_kept)
        if not (math.isfinite(self.total) and math.isfinite(self._centers[0] + self._units[0])):
            raise ValueError(
                f"{value:g} with weight {weight:g} is too large to be scaled; scale y first"
            )
        return float((value - self._centers[0]) / self._units[0])

    def _remember(self, is_kept: bool) -> None:
        """Save the values that `undo` restores; the sample has already counted the row."""
        before = self._before
        before[0] = self.total
        for j in range(len(self._means)):
            before[4 * j + 1], before[4 * j + 2] = self._means[j], self._deviations[j]
            before[4 * j + 3], before[4 * j + 4] = self._centers[j], self._units[j]
        self._was_kept = is_kept
        if is_kept:
            self._sample_before.copy_from(self._sample)

    def undo(self) -> int:
        """Undo the last `update`, or an `absorb` of one row."""
        before = self._before
        self.total = before[0]
        for j in range(len(self._means)):
            self._means[j], self._deviations[j] = before[4 * j + 1], before[4 * j + 2]
            self._centers[j], self._units[j] = before[4 * j + 3], before[4 * j + 4]
        if self._watches:
            self.latest.undo()
        self.is_stale = False
        if self._was_kept:
            self._sample.copy_from(self._sample_before)
        self._sample.uncount()
        return 0

    def _update_column(self, j: int, value: float, weight: float, is_kept: bool) -> int:
        """Update a column with a value; `total` includes its weight, the sample counts its row."""
        moved = value
        if not self._sample.is_complete(self._sample.n_seen):
            moved = min(max(value, self._sample.low(j)), self._sample.high(j))
        share, gap = weight / self.total, moved - self._means[j]
        # The variance is (1 − s)σ² + s(1 − s)(y − mean)², where s is the share of y.
        self._means[j] += share * gap
        self._deviations[j] = math.hypot(
            math.sqrt(1.0 - share) * self._deviations[j], math.sqrt(share * (1.0 - share)) * gap
        )
        if is_kept:
            self._sample.insert(j, value, weight)
        self._use(j)
        if self._watches:
            self.latest.set(j, value)
            if not self.is_stale:
                self.is_stale = self.latest.is_off(j, self._units[j], ROUNDING)
        return 0

    def _begin_row(self) -> int:
        """Count a row in its block."""
        self.is_stale = False
        return self.latest.begin_row() if self._watches else 0

    def renew(self) -> Array:
        """Begin again with the latest 200 rows; return them scaled, of shape (200, n_columns)."""
        rows, n_columns = self.latest.rows(), len(self._means)
        self._sample, self.latest = SortedSample(n_columns, self.level), LatestRows(n_columns)
        self._set(0.0, np.zeros(n_columns), np.zeros(n_columns))
        self.absorb(rows.copy())
        return self.scaled(rows)

    def _use(self, j: int) -> int:
        """Set the center and the unit of a column."""
        mean, deviation, n_seen = self._means[j], self._deviations[j], self._sample.n_seen
        if n_seen > 0 and self._sample.is_complete(n_seen) and self._sample.has_outliers(j):
            mean = self._sample.mean(j)
            deviation = self._sample.deviation(j, mean)
            if not self._sample.is_complete(n_seen + 1):
                self._means[j], self._deviations[j] = mean, deviation
        self._centers[j] = mean
        self._units[j] = unit_of(mean, min(deviation, self._sample.widest(j)))
        return 0

    def unscaled_one(self, score: float) -> float:
        """Return a scaled value of the first column in its original units."""
        return float(self._centers[0] + self._units[0] * score)

    # -- rows in their order -----------------------------------------------------------------

    def absorb(self, X: Array, weights: Array | None = None) -> int:
        """Update the scale with each row, and scale the row in place with the updated scale.

        The split of rows into batches does not change the result. Returns the number of rows.

        Parameters
        ----------
        X : array of shape (n, p)
            Finite numbers; the first n_columns columns are used.
        weights : array of shape (n,), optional
            Weights of the rows, above 0; 1 by default.
        """
        n, width = len(X), len(self._means)
        for i in range(n):
            weight = 1.0
            if weights is not None:
                weight = weights[i]
            is_kept = self._sample.takes_next()
            if n == 1:
                self._remember(is_kept)
            self.total += weight
            self._begin_row()
            for j in range(width):
                self._update_column(j, X[i, j], weight, is_kept)
                if not math.isfinite(self._centers[j] + self._units[j]):
                    raise ValueError(f"{X[i, j]:g} is too large to be scaled; scale it first")
                X[i, j] = (X[i, j] - self._centers[j]) / self._units[j]
        return n

    def scale(self, X: Array) -> int:
        """Scale rows in place with the current scale; return their number.

        Parameters
        ----------
        X : array of shape (n, p)
            Numbers; the first n_columns columns are scaled.
        """
        n, width = len(X), len(self._means)
        for i in range(n):
            for j in range(width):
                X[i, j] = (X[i, j] - self._centers[j]) / self._units[j]
        return n

    def widened(self, n_new: int, n_rows: int) -> "RunningScale":
        """Return a scale with more columns, which were 0 in all rows so far.

        Parameters
        ----------
        n_new : int
            Number of new columns.
        n_rows : int
            Number of rows so far, each of weight 1.
        """
        added = RunningScale(n_new, self.level)
        added.absorb(np.zeros((n_rows, n_new)))
        found = RunningScale(len(self._means) + n_new, self.level)
        rows = [self._sample.rows(), added._sample.rows()]
        found._sample.restore(n_rows, np.concatenate(rows, axis=1))
        means = np.append(self._means, added._means)
        found._set(added.total, means, np.append(self._deviations, added._deviations))
        return found

    # -- all rows at once --------------------------------------------------------------------

    def merged(self, Y: Array, weight: Array) -> "RunningScale":
        """Return a new scale of all values so far and of these; this object does not change.

        Parameters
        ----------
        Y : array of shape (n,) or (n, n_columns)
            Finite numbers.
        weight : array of shape (n,)
            Weights of the rows, at least 0.
        """
        counted = weight > 0.0
        Y, weight = Y.reshape(len(Y), -1)[counted], np.ascontiguousarray(weight[counted])
        if len(Y) == 0:
            return self
        found = RunningScale(len(self._means), self.level)
        found._sample.copy_from(self._sample)
        found._sample.add_rows(Y, weight)
        center, spread = self._moments(found._sample.n_seen)
        if not found._sample.is_complete(found._sample.n_seen):
            Y = np.clip(Y, *found.limits())
        added = float(weight.sum())
        share = weight[:, None] / added
        with np.errstate(over="ignore", invalid="ignore"):
            # A sum of shares of equal values would differ from them by rounding errors.
            mean = np.where((Y[0] == Y).all(axis=0), Y[0], (share * Y).sum(axis=0))
            deviation = _root_mean_square(Y - mean, share)
            total = self.total + added
            old, new = self.total / total, added / total
            gap = mean - center
            center = center + gap * new
            spread = np.hypot(np.sqrt(old) * spread, np.sqrt(new) * deviation)
            spread = np.hypot(spread, np.sqrt(old * new) * gap)
        if not (np.isfinite(total) and np.isfinite(center).all() and np.isfinite(spread).all()):
            raise ValueError("y is too large to be scaled: its spread overflows; scale it first")
        found._set(total, center, spread)
        return found

    def _moments(self, n_seen: int) -> tuple[Array, Array]:
        """Return means and deviations of the rows so far, without outliers if `n_seen` is large."""
        means, deviations = np.array(self._means), np.array(self._deviations)
        sample = self._sample
        is_left = sample.is_complete(sample.n_seen) and not sample.is_complete(n_seen)
        if is_left and self.total > 0.0:
            for j in range(len(means)):
                means[j] = sample.mean(j)
                deviations[j] = sample.deviation(j, means[j])
        return means, deviations

    def _set(self, total: float, means: Array, deviations: Array) -> None:
        """Set sum of weights and moments; the sample has the rows."""
        self.total = total
        for j in range(len(means)):
            self._means[j], self._deviations[j] = means[j], deviations[j]
            self._use(j)

    def scaled(self, Y: Array) -> Array:
        """Return values of shape (n,) or (n, n_columns) scaled."""
        if Y.ndim == 1:
            return np.asarray((Y - self._centers[0]) / self._units[0])
        return np.asarray((Y - self.means) / self.units)

    def unscaled(self, F: Array) -> Array:
        """Return scaled values of shape (n,) or (n, n_columns) in their original units."""
        if F.ndim == 1:
            return np.asarray(F * self._units[0] + self._centers[0])
        return np.asarray(F * self.units + self.means)

    # -- files and pickles -------------------------------------------------------------------

    def _to_file(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "total": self.total,
            "means": np.array(self._means),
            "deviations": np.array(self._deviations),
            "n_seen": self._sample.n_seen,
            "rows": self._sample.rows(),
            "latest": self.latest.values,
            "n_latest": self.latest.count,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "RunningScale":
        rows, n_seen = values["rows"], values["n_seen"]
        if rows.shape[2] != min(n_seen, _SAMPLE_ROWS) or (np.diff(rows[0], axis=1) < 0.0).any():
            raise FileFormatError("the rows of a scale must be sorted, and match the rows seen")
        if not (rows[1] > 0.0).all() or not ((rows[2] > 0.0) & (rows[2] < 1.0)).all():
            raise FileFormatError("the rows of a scale need weights above 0 and keys in (0, 1)")
        return cls(len(values["means"]), **values)

    def __reduce__(self) -> tuple[type["RunningScale"], tuple[Any, ...]]:
        return RunningScale, (len(self._means), *self._to_file().values())


# Compiled classes take no decorators.
stored.stores(
    level=stored.OneOf(TARGETS, COLUMNS),
    total=stored.Number(at_least=0.0),
    means=stored.Array("n_columns"),
    deviations=stored.Array("n_columns", at_least=0.0),
    n_seen=stored.Count(),
    rows=stored.Array(3, "n_columns", stored.Size("n_rows", at_most=_SAMPLE_ROWS)),
    latest=stored.Array("n_columns", 2 * BLOCK),
    n_latest=stored.Count(),
)(RunningScale)


def _root_mean_square(y: Array, share: Array) -> Array:
    """√Σ share·y² of each column; entries are divided by the largest before they are squared."""
    largest = np.abs(y).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.sqrt((share * (y / unit) ** 2).sum(axis=0)))
