"""Running means and standard deviations, without outliers, of targets and columns."""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.scale_changes import change_of, merged
from colk._engine.scale_changes import check_places as check_places
from colk._engine.sorted_sample import BLOCK, COLUMNS, TARGETS, LatestRows, SortedSample
from colk._engine.sorted_sample import without_outliers as without_outliers
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["COLUMNS", "TARGETS", "RunningScale", "without_outliers"]

# Rows of a full sample, in a file.
_SAMPLE_ROWS = 256
# A deviation below this share of the mean is a rounding error; see `check_places`.
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

    A model must be moved with its scale: if it `holds`, only `follow` changes the scale in use.

    The moments of all rows follow a change slowly. `is_stale` says that the latest 200 targets have
    a scale that differs by more than a factor of 30; `renew` then begins again with these rows.

    No square is formed, so that large values do not overflow.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    level : float
        Share of the values that are assumed to contain no outliers: `TARGETS` (the default) or
        `COLUMNS`.
    total, means, deviations, n_seen, rows, latest, n_latest, held
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
    _centers: Array  # of all rows, without outliers
    _units: Array  # their divisors
    _held: Array  # (2, columns): centers and units in use
    sample: SortedSample

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
        held: Array | None = None,
    ) -> None:
        self.total, self.level = 0.0, level
        self._means, self._deviations = np.zeros(n_columns), np.zeros(n_columns)
        self._centers, self._units = np.zeros(n_columns), np.ones(n_columns)
        self.sample = SortedSample(n_columns, level)
        self._sample_before = SortedSample(n_columns, level)
        self._before, self._was_kept = np.zeros(1 + 4 * n_columns), False
        self.latest, self.is_stale = LatestRows(n_columns, latest, n_latest), False
        self._watches, self.holds = level == TARGETS, False
        self._held = np.array([self._centers, self._units])
        if means is not None and deviations is not None and rows is not None:
            self.sample.restore(n_seen, rows)
            self.restore(total, means, deviations)
        if held is not None:
            self._held, self.holds = np.array(held), True

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self._means)

    @property
    def averages(self) -> Array:
        """Means of all rows so far, without outliers."""
        return np.array(self._centers)

    @property
    def means(self) -> Array:
        """Numbers that are subtracted: means without outliers."""
        return np.array(self._held[0])

    @property
    def deviations(self) -> Array:
        """Standard deviations of all rows; beyond the first 256, of rows without outliers."""
        return np.array(self._deviations)

    @property
    def units(self) -> Array:
        """Divisors: standard deviations without outliers; if all values are equal, |mean|, or 1."""
        return np.array(self._held[1])

    def moments(self) -> tuple[Array, Array]:
        """Return means and deviations; beyond the first 256 rows, of rows without outliers."""
        return np.array(self._means), np.array(self._deviations)

    # -- the scale in use --------------------------------------------------------------------

    @property
    def until_due(self) -> int:
        """Number of rows up to the next comparison."""
        return self._interval() - self.sample.n_seen % self._interval()

    @property
    def is_due(self) -> bool:
        """Whether `follow` must be called, because a comparison follows this row."""
        return bool(self.holds) and self.until_due == self._interval()

    def _interval(self) -> int:
        """Rows between comparisons, which follow 1, 2, 3, 4, 6, 8, 12, … and then every 64 rows."""
        return min(1 << max(int(self.sample.n_seen).bit_length() - 2, 0), 64)

    def follow(self) -> tuple[Array, Array] | None:
        """Use the scale of all rows, if that in use is far from it; see `change_of`."""
        found = np.array([self._centers, self._units])
        change = change_of(np.array(self._held), found)
        if change is not None:
            self._held = found
        return change

    def update(self, value: float, weight: float) -> float:
        """Update the first column with a value, and return the value scaled.

        Parameters
        ----------
        value : float
            A finite number.
        weight : float
            Its weight, above 0.
        """
        is_kept = self.sample.takes_next()
        self._remember(is_kept)
        self.total += weight
        self._begin_row()
        self._update_column(0, value, weight, is_kept)
        if not (math.isfinite(self.total) and math.isfinite(self._centers[0] + self._units[0])):
            raise ValueError(
                f"{value:g} with weight {weight:g} is too large to be scaled; scale y first"
            )
        if self._deviations[0] <= ROUNDING * abs(self._centers[0]):
            self.check_places()
        return float((value - self._held[0, 0]) / self._held[1, 0])

    def check_places(self) -> None:
        """Raise ValueError if differences of these targets are rounding errors."""
        check_places(self, ROUNDING)

    def _remember(self, is_kept: bool) -> None:
        """Save the values that `undo` restores; the sample has already counted the row."""
        before = self._before
        before[0] = self.total
        for j in range(len(self._means)):
            before[4 * j + 1], before[4 * j + 2] = self._means[j], self._deviations[j]
            before[4 * j + 3], before[4 * j + 4] = self._centers[j], self._units[j]
        self._was_kept = is_kept
        if is_kept:
            self._sample_before.copy_from(self.sample)

    def undo(self) -> int:
        """Undo the last `update`, or an `absorb` of one row."""
        before = self._before
        self.total = before[0]
        for j in range(len(self._means)):
            self._means[j], self._deviations[j] = before[4 * j + 1], before[4 * j + 2]
            self._centers[j], self._units[j] = before[4 * j + 3], before[4 * j + 4]
            if not self.holds:
                self._held[0, j], self._held[1, j] = self._centers[j], self._units[j]
        if self._watches:
            self.latest.undo()
        self.is_stale = False
        if self._was_kept:
            self.sample.copy_from(self._sample_before)
        self.sample.uncount()
        return 0

    def _update_column(self, j: int, value: float, weight: float, is_kept: bool) -> int:
        """Update a column with a value; `total` includes its weight, the sample counts its row."""
        moved = value
        if not self.sample.is_complete(self.sample.n_seen):
            moved = min(max(value, self.sample.low(j)), self.sample.high(j))
        share, gap = weight / self.total, moved - self._means[j]
        # The variance is (1 − s)σ² + s(1 − s)(y − mean)², where s is the share of y.
        self._means[j] += share * gap
        self._deviations[j] = math.hypot(
            math.sqrt(1.0 - share) * self._deviations[j], math.sqrt(share * (1.0 - share)) * gap
        )
        if is_kept:
            self.sample.insert(j, value, weight)
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
        self.sample, self.latest = SortedSample(n_columns, self.level), LatestRows(n_columns)
        self.restore(0.0, np.zeros(n_columns), np.zeros(n_columns))
        self.absorb(rows.copy())
        self._held = np.array([self._centers, self._units])
        return self.scaled(rows)

    def _use(self, j: int) -> int:
        """Set the center and the unit of a column."""
        mean, deviation, n_seen = self._means[j], self._deviations[j], self.sample.n_seen
        if n_seen > 0 and self.sample.is_complete(n_seen) and self.sample.has_outliers(j):
            mean = self.sample.mean(j)
            deviation = self.sample.deviation(j, mean)
            if not self.sample.is_complete(n_seen + 1):
                self._means[j], self._deviations[j] = mean, deviation
        self._centers[j] = mean
        self._units[j] = unit_of(mean, min(deviation, self.sample.widest(j)))
        if not self.holds or n_seen <= 1:
            self._held[0, j], self._held[1, j] = self._centers[j], self._units[j]
        return 0

    def unscaled_one(self, score: float) -> float:
        """Return a scaled value of the first column in its original units."""
        return float(self._held[0, 0] + self._held[1, 0] * score)

    def absorb(self, X: Array, weights: Array | None = None) -> int:
        """Update the scale with each row, and scale the row in place with the scale in use.

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
            is_kept = self.sample.takes_next()
            if n == 1:
                self._remember(is_kept)
            self.total += weight
            self._begin_row()
            for j in range(width):
                self._update_column(j, X[i, j], weight, is_kept)
                if not math.isfinite(self._centers[j] + self._units[j]):
                    raise ValueError(f"{X[i, j]:g} is too large to be scaled; scale it first")
                X[i, j] = (X[i, j] - self._held[0, j]) / self._held[1, j]
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
                X[i, j] = (X[i, j] - self._held[0, j]) / self._held[1, j]
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
        rows = [self.sample.rows(), added.sample.rows()]
        found.sample.restore(n_rows, np.concatenate(rows, axis=1))
        means = np.append(self._means, added._means)
        found.restore(added.total, means, np.append(self._deviations, added._deviations))
        if self.holds:
            found._held, found.holds = np.append(self._held, added._held, axis=1), True
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
        found: RunningScale = merged(self, Y, weight)
        return found

    def restore(self, total: float, means: Array, deviations: Array) -> None:
        """Set sum of weights and moments; the sample has the rows."""
        self.total = total
        for j in range(len(means)):
            self._means[j], self._deviations[j] = means[j], deviations[j]
            self._use(j)

    def scaled(self, Y: Array) -> Array:
        """Return values of shape (n,), if there is one column, or (n, n_columns), scaled."""
        return np.asarray((Y - self.means) / self.units)

    def unscaled(self, F: Array) -> Array:
        """Return scaled values of shape (n,) or (n, n_columns) in their original units."""
        return np.asarray(F * self.units + self.means)

    # -- files and pickles -------------------------------------------------------------------

    def _to_file(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "total": self.total,
            "means": np.array(self._means),
            "deviations": np.array(self._deviations),
            "n_seen": self.sample.n_seen,
            "rows": self.sample.rows(),
            "latest": self.latest.values,
            "n_latest": self.latest.count,
            "held": np.array(self._held) if self.holds else None,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "RunningScale":
        rows, n_seen = values["rows"], values["n_seen"]
        if rows.shape[2] != min(n_seen, _SAMPLE_ROWS) or (np.diff(rows[0], axis=1) < 0.0).any():
            raise FileFormatError("the rows of a scale must be sorted, and match the rows seen")
        if not (rows[1] > 0.0).all() or not ((rows[2] > 0.0) & (rows[2] < 1.0)).all():
            raise FileFormatError("the rows of a scale need weights above 0 and keys in (0, 1)")
        if values["held"] is not None and not (values["held"][1] > 0.0).all():
            raise FileFormatError("the units of a scale must be above 0")
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
    held=stored.Optional(stored.Array(2, "n_columns")),
)(RunningScale)
