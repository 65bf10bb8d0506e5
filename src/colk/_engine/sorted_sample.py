"""A uniform sample of a stream of rows, sorted by column, for robust locations and spreads."""

import math
from statistics import NormalDist

import numpy as np

from colk._engine.counter_rng import uniform
from colk._validation import Array

__all__ = ["BLOCK", "COLUMNS", "TARGETS", "LatestRows", "SortedSample", "without_outliers"]

# Share of the values that are assumed to contain no outliers. Up to half of the targets may be
# outliers. A column may consist of groups, so at most a twentieth of its values may be outliers.
TARGETS = 0.5
COLUMNS = 0.95

# Largest number of rows in a sample. With fewer rows than FEWEST, no value is an outlier.
CAPACITY = 256
FEWEST = 20

# Values further from the median than this many spreads are outliers.
FAR = 5.0

# The standard deviation of a column is at most this many spreads.
WIDEST = 1.5

_SEED = 2

# A scale is stale if the deviations in two blocks of BLOCK rows, one after the other, are below the
# unit divided by CHANGED, or above the unit times CHANGED. They must be within a factor of ALIKE of
# each other, and the means must differ by less than the deviations, so that the values do not move
# on. Up to 0.4 of the rows may be outliers, so deviations above the unit are those of the fifth of
# the values in the middle: CENTRAL is the deviation of a normal variable in units of its width.
BLOCK = 100
CHANGED = 30.0
TINY = 1e-300
ALIKE = 2.0
CENTRAL = 1.0 / (2.0 * NormalDist().inv_cdf(0.6))


class SortedSample:
    """Rows drawn uniformly from all rows of a stream, and the limits of ordinary values.

    The spread of a column is the `level`-quantile of |y − median|, divided by that of a standard
    normal variable. If it is 0, as with many zeros, the spread is √share × that of the values that
    differ from the median. A row stays if its random number, which depends only on its place in the
    stream, is among the smallest.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    level : float
        Share of the rows that are assumed to contain no outliers, in (0, 1).

    Examples
    --------
    >>> sample = SortedSample(1, level=0.5)
    >>> y = np.append(np.arange(99.0), 1e6)
    >>> for value in y:
    ...     if sample.takes_next():
    ...         sample.insert(0, value, 1.0)
    >>> sample.low(0), sample.high(0) < 300.0
    (-136.3..., True)
    """

    n_seen: int
    size: int

    def __init__(self, n_columns: int, level: float) -> None:
        self.level = level
        self.n_seen, self.size = 0, 0
        self.values = np.zeros((n_columns, CAPACITY))
        self.weights = np.zeros((n_columns, CAPACITY))
        self.keys = np.zeros((n_columns, CAPACITY))
        self.limits = np.tile([[-np.inf], [np.inf], [np.inf]], n_columns)
        self._normal = NormalDist().inv_cdf(0.5 + 0.5 * level)
        self._half = NormalDist().inv_cdf(0.75)
        self._key, self._largest, self._is_full = 0.0, 0.0, False

    # -- rows --------------------------------------------------------------------------------

    def takes_next(self) -> bool:
        """Count a row; return whether it belongs to the sample, so that it must be inserted."""
        self._key = uniform(_SEED, self.n_seen)
        self.n_seen += 1
        self._is_full = self.size == CAPACITY
        if not self._is_full:
            self.size += 1
            return True
        return self._key < self._largest

    def insert(self, column: int, value: float, weight: float) -> None:
        """Insert the value of the row that was taken, and remove that of the row that leaves.

        The free place moves to the position of the new value, after any equal values.
        """
        place = self._leaving(column) if self._is_full else self.size - 1
        while place > 0 and self.values[column, place - 1] > value:
            self._move(column, place - 1, place)
            place -= 1
        while place < self.size - 1 and self.values[column, place + 1] <= value:
            self._move(column, place + 1, place)
            place += 1
        self.values[column, place], self.weights[column, place] = value, weight
        self.keys[column, place] = self._key
        self._limit(column)
        if column == self.values.shape[0] - 1:
            self._find_largest()

    def add_rows(self, Y: Array, weight: Array) -> None:
        """Add many rows at once; the result is that of `takes_next` and `insert` row by row.

        Parameters
        ----------
        Y : array of shape (n, n_columns)
            The rows.
        weight : array of shape (n,)
            Their weights.
        """
        keys, before = np.empty(len(Y)), self.rows()
        self._draw_keys(keys)
        near = np.arange(len(keys))
        if len(keys) > CAPACITY:
            near = np.sort(np.argpartition(keys, CAPACITY)[:CAPACITY])
        added = np.empty((3, Y.shape[1], len(near)))
        added[0], added[1], added[2] = Y[near].T, weight[near], keys[near]
        rows = np.concatenate([before, added], axis=2)
        order = np.argsort(rows[2], axis=1, kind="stable")[:, :CAPACITY]
        rows = np.take_along_axis(rows, np.sort(order, axis=1)[None], axis=2)
        order = np.argsort(rows[0], axis=1, kind="stable")
        self.restore(self.n_seen + len(Y), np.take_along_axis(rows, order[None], axis=2))

    def _draw_keys(self, keys: Array) -> None:
        """Write the random numbers of the next rows."""
        for i in range(keys.shape[0]):
            keys[i] = uniform(_SEED, self.n_seen + i)

    def uncount(self) -> None:
        """Undo `takes_next`; the row is not in the sample."""
        self.n_seen -= 1
        if not self._is_full:
            self.size -= 1

    def _leaving(self, column: int) -> int:
        """Return the place of the value with the largest key."""
        place = 0
        while self.keys[column, place] != self._largest:
            place += 1
        return place

    def _find_largest(self) -> None:
        """Find the key of the row that leaves next."""
        largest = 0.0
        for i in range(self.size):
            largest = max(largest, self.keys[0, i])
        self._largest = largest

    def _move(self, column: int, source: int, target: int) -> None:
        self.values[column, target] = self.values[column, source]
        self.weights[column, target] = self.weights[column, source]
        self.keys[column, target] = self.keys[column, source]

    def is_complete(self, n_seen: int) -> bool:
        """Whether a sample of `n_seen` rows contains all of them."""
        return n_seen <= CAPACITY

    # -- limits ------------------------------------------------------------------------------

    def low(self, column: int) -> float:
        """Smallest value that is no outlier."""
        return float(self.limits[0, column])

    def high(self, column: int) -> float:
        """Largest value that is no outlier."""
        return float(self.limits[1, column])

    def widest(self, column: int) -> float:
        """Largest standard deviation."""
        return float(self.limits[2, column])

    def has_outliers(self, column: int) -> bool:
        """Whether a value of the sample is outside the limits."""
        is_low = self.values[column, 0] < self.limits[0, column]
        return bool(is_low or self.values[column, self.size - 1] > self.limits[1, column])

    def _limit(self, column: int) -> None:
        """Find the limits of a column."""
        self.limits[0, column], self.limits[1, column] = -math.inf, math.inf
        self.limits[2, column] = math.inf
        if self.size < FEWEST:
            return
        total = 0.0
        for i in range(self.size):
            total += self.weights[column, i]
        middle, below = 0, self.weights[column, 0]
        while below < 0.5 * total and middle < self.size - 1:
            middle += 1
            below += self.weights[column, middle]
        median = self.values[column, middle]
        spread = self._deviation(column, middle, self.level * total, 0.0) / self._normal
        typical = spread
        if spread == 0.0:
            apart = total - self._weight_at(column, median)
            if apart <= 0.0:
                return
            typical = self._deviation(column, middle, 0.5 * apart, total - apart) / self._half
            spread = math.sqrt(apart / total) * typical
        self.limits[0, column], self.limits[1, column] = (
            median - FAR * typical,
            median + FAR * typical,
        )
        self.limits[2, column] = WIDEST * spread

    def _weight_at(self, column: int, value: float) -> float:
        """Weight of the values that are equal to this one."""
        total = 0.0
        for i in range(self.size):
            if self.values[column, i] == value:
                total += self.weights[column, i]
        return total

    def _deviation(self, column: int, middle: int, wanted: float, skipped: float) -> float:
        """Return the smallest d such that `wanted` of the weight beyond `skipped` is within d."""
        left, right, median = middle, middle + 1, self.values[column, middle]
        reached, found = -skipped, 0.0
        while reached < wanted and (left >= 0 or right < self.size):
            below = median - self.values[column, left] if left >= 0 else math.inf
            above = self.values[column, right] - median if right < self.size else math.inf
            if below <= above:
                found = below
                reached += self.weights[column, left]
                left -= 1
            else:
                found = above
                reached += self.weights[column, right]
                right += 1
        return found

    # -- copies ------------------------------------------------------------------------------

    def mean(self, column: int) -> float:
        """Mean of the values after clipping them to the limits."""
        total, mean = 0.0, 0.0
        for i in range(self.size):
            total += self.weights[column, i]
            mean += (self.weights[column, i] / total) * (self._clipped(column, i) - mean)
        return mean

    def deviation(self, column: int, mean: float) -> float:
        """Standard deviation of the clipped values."""
        total, deviation = 0.0, 0.0
        for i in range(self.size):
            total += self.weights[column, i]
            share = self.weights[column, i] / total
            gap = self._clipped(column, i) - mean
            deviation = math.hypot(math.sqrt(1.0 - share) * deviation, math.sqrt(share) * gap)
        return deviation

    def _clipped(self, column: int, i: int) -> float:
        value = max(self.values[column, i], self.limits[0, column])
        return float(min(value, self.limits[1, column]))

    def copy_from(self, other: "SortedSample") -> None:
        """Take over the rows of a sample of the same shape."""
        self.n_seen, self.size = other.n_seen, other.size
        self.values[:], self.weights[:] = other.values, other.weights
        self.keys[:], self.limits[:] = other.keys, other.limits
        self._largest, self._is_full = other._largest, other._is_full

    def rows(self) -> Array:
        """Return values, weights and keys, of shape (3, n_columns, size)."""
        table = np.empty((3, len(self.values), self.size))
        table[0] = np.asarray(self.values)[:, : self.size]
        table[1] = np.asarray(self.weights)[:, : self.size]
        table[2] = np.asarray(self.keys)[:, : self.size]
        return table

    def restore(self, n_seen: int, rows: Array) -> None:
        """Restore the sample from the result of `rows`."""
        self.n_seen, self.size = n_seen, rows.shape[2]
        np.asarray(self.values)[:, : self.size] = rows[0]
        np.asarray(self.weights)[:, : self.size] = rows[1]
        np.asarray(self.keys)[:, : self.size] = rows[2]
        for column in range(rows.shape[1]):
            self._limit(column)
        if rows.shape[1] > 0:
            self._find_largest()


class LatestRows:
    """The latest 200 rows of a stream, in two blocks.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    values : array of shape (n_columns, 200), optional
        A ring of the rows.
    count : int
        Number of rows so far.

    Examples
    --------
    >>> latest = LatestRows(1)
    >>> for value in range(250):
    ...     _ = latest.begin_row(), latest.set(0, float(value))
    >>> latest.rows()[[0, -1]].tolist(), latest.until_full, latest.is_off(0, 1e6, 0.0)
    ([[50.0], [249.0]], 50, False)
    """

    def __init__(self, n_columns: int, values: Array | None = None, count: int = 0) -> None:
        self._values = np.zeros((n_columns, 2 * BLOCK)) if values is None else np.array(values)
        self._replaced, self.count, self._block = np.zeros(n_columns), count, BLOCK

    @property
    def values(self) -> Array:
        """The ring."""
        return np.array(self._values)

    @property
    def until_full(self) -> int:
        """Number of rows after which a block is full, so that the blocks are compared."""
        return self._block - self.count % self._block

    def rows(self) -> Array:
        """Return the latest 200 rows, the oldest first."""
        return np.roll(np.asarray(self._values).T, -self.count, axis=0)

    def begin_row(self) -> int:
        """Count a row, whose values follow."""
        self.count += 1
        return 0

    def set(self, j: int, value: float) -> int:
        """Set the value of a column in this row."""
        place = (self.count - 1) % (2 * self._block)
        self._replaced[j], self._values[j, place] = self._values[j, place], value
        return 0

    def undo(self) -> int:
        """Undo the last row."""
        place = (self.count - 1) % (2 * self._block)
        for j in range(len(self._replaced)):
            self._values[j, place] = self._replaced[j]
        self.count -= 1
        return 0

    def is_off(self, j: int, unit: float, rounding: float) -> bool:
        """Return whether both blocks are full, and their deviations are far from the unit.

        Parameters
        ----------
        j : int
            The column.
        unit : float
            Its unit.
        rounding : float
            A deviation below this share of the mean is that of a constant.
        """
        if self.count % self._block > 0 or self.count < 2 * self._block:
            return False
        with np.errstate(over="ignore"):  # in units, because squares of the numbers may overflow
            values = np.asarray(self._values)[j] / max(unit, TINY)
        blocks = np.clip(values, -1e100, 1e100).reshape(2, BLOCK)
        low, middle, high = np.quantile(blocks, [0.4, 0.5, 0.6], axis=1)
        for places, deviations, has_grown in (
            (blocks.mean(axis=1), blocks.std(axis=1), False),
            (middle, CENTRAL * (high - low), True),
        ):
            least, most = deviations.min(), deviations.max()
            steady = abs(places[1] - places[0]) < least and most < ALIKE * least
            is_far = least > CHANGED if has_grown else most < 1.0 / CHANGED
            if steady and is_far and least > rounding * abs(places[0]):
                return True
        return False


def without_outliers(X: Array, weight: Array | None = None) -> Array:
    """Return the columns of X with outliers moved to the limits of ordinary values.

    Examples
    --------
    >>> bool(without_outliers(np.append(np.arange(99.0), 1e9)[:, None]).max() < 300.0)
    True
    """
    rows, counts = X, np.ones(len(X)) if weight is None else weight
    if not (counts > 0.0).all():
        rows, counts = X[counts > 0.0], counts[counts > 0.0]
    sample, columns = SortedSample(X.shape[1], COLUMNS), range(X.shape[1])
    sample.add_rows(rows, counts)
    low, high = [sample.low(j) for j in columns], [sample.high(j) for j in columns]
    return np.clip(X, low, high)
