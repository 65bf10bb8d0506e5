"""Running means and standard deviations that standardise targets and columns."""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array

__all__ = ["RunningScale"]

# A deviation below this share of the mean is a rounding error; the values are equal.
ROUNDING = 1e-10


def unit_of(mean: float, deviation: float) -> float:
    """Return the divisor of a column: the deviation; |mean| if that is 0; 1 if both are 0."""
    if deviation > ROUNDING * abs(mean):
        return deviation
    return abs(mean) if mean != 0.0 else 1.0


class RunningScale:
    """Weighted means and standard deviations of columns, updated as rows arrive.

    There are three ways to update: `update` takes one value, `absorb` takes rows one by one,
    `merged` takes all rows at once. No square is formed, so that large values do not overflow.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    total : float
        Sum of the weights so far.
    means, deviations : arrays of shape (n_columns,), optional
        Means and standard deviations so far; 0 by default.

    Examples
    --------
    >>> import numpy as np
    >>> scale = RunningScale(1)
    >>> scale.update(1.0, 1.0), round(scale.update(4.0, 2.0), 3)
    (0.0, 0.707)
    >>> scale.means, scale.deviations.round(3)
    (array([3.]), array([1.414]))
    >>> y = np.array([1e6, 3e6])
    >>> RunningScale(1).merged(y, np.ones(2)).scaled(y)
    array([-1.,  1.])
    """

    total: float
    _means: Array
    _deviations: Array
    _units: Array  # divisor of each column

    def __init__(
        self,
        n_columns: int = 1,
        total: float = 0.0,
        means: Array | None = None,
        deviations: Array | None = None,
    ) -> None:
        self.total = total
        self._means = np.zeros(n_columns) if means is None else np.array(means)
        self._deviations = np.zeros(n_columns) if deviations is None else np.array(deviations)
        self._units = np.ones(n_columns)
        for j in range(n_columns):
            self._units[j] = unit_of(self._means[j], self._deviations[j])
        self._total_before, self._mean_before, self._deviation_before = total, 0.0, 0.0
        self._unit_before = 1.0

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self._means)

    @property
    def means(self) -> Array:
        """Means of the columns."""
        return np.array(self._means)

    @property
    def deviations(self) -> Array:
        """Standard deviations of the columns."""
        return np.array(self._deviations)

    @property
    def units(self) -> Array:
        """Standard deviations; if all values are equal, |mean|, and 1 if that is 0."""
        return np.array(self._units)

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
        self._total_before, self._mean_before = self.total, self._means[0]
        self._deviation_before, self._unit_before = self._deviations[0], self._units[0]
        total = self.total + weight
        gap, share = value - self._means[0], weight / total
        # The variance is (1 − s)σ² + s(1 − s)(y − mean)², where s is the share of y.
        mean = self._means[0] + share * gap
        deviation = math.hypot(
            math.sqrt(1.0 - share) * self._deviations[0], math.sqrt(share * (1.0 - share)) * gap
        )
        unit = unit_of(mean, deviation)
        if not (math.isfinite(total) and math.isfinite(mean + unit)):
            raise ValueError(
                f"{value:g} with weight {weight:g} is too large to be scaled; scale y first"
            )
        self.total, self._means[0] = total, mean
        self._deviations[0], self._units[0] = deviation, unit
        return float((value - mean) / unit)

    def undo(self) -> int:
        """Undo the last `update`."""
        self.total, self._means[0] = self._total_before, self._mean_before
        self._deviations[0], self._units[0] = self._deviation_before, self._unit_before
        return 0

    def unscaled_one(self, score: float) -> float:
        """Return a scaled value of the first column in its original units."""
        return float(self._means[0] + self._units[0] * score)

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
            self.total += weight
            share = weight / self.total
            kept, moved = math.sqrt(1.0 - share), math.sqrt(share * (1.0 - share))
            for j in range(width):
                gap = X[i, j] - self._means[j]
                self._means[j] += share * gap
                self._deviations[j] = math.hypot(kept * self._deviations[j], moved * gap)
                self._units[j] = unit_of(self._means[j], self._deviations[j])
                if not math.isfinite(self._means[j] + self._units[j]):
                    raise ValueError(f"{X[i, j]:g} is too large to be scaled; scale it first")
                X[i, j] = (X[i, j] - self._means[j]) / self._units[j]
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
                X[i, j] = (X[i, j] - self._means[j]) / self._units[j]
        return n

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
        added = float(weight.sum())
        if added == 0.0:
            return self
        center, spread = self.means, self.deviations
        share = (weight if Y.ndim == 1 else weight[:, None]) / added
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (share * Y).sum(axis=0)
            deviation = _root_mean_square(Y - mean, share)
            total = self.total + added
            old, new = self.total / total, added / total
            gap = mean - center
            center = center + gap * new
            spread = np.hypot(np.sqrt(old) * spread, np.sqrt(new) * deviation)
            spread = np.hypot(spread, np.sqrt(old * new) * gap)
        if not (np.isfinite(total) and np.isfinite(center).all() and np.isfinite(spread).all()):
            raise ValueError("y is too large to be scaled: its spread overflows; scale it first")
        return RunningScale(len(self._means), total, center, spread)

    def scaled(self, Y: Array) -> Array:
        """Return values of shape (n,) or (n, n_columns) scaled."""
        if Y.ndim == 1:
            return np.asarray((Y - self._means[0]) / self._units[0])
        return np.asarray((Y - self.means) / self.units)

    def unscaled(self, F: Array) -> Array:
        """Return scaled values of shape (n,) or (n, n_columns) in their original units."""
        if F.ndim == 1:
            return np.asarray(F * self._units[0] + self._means[0])
        return np.asarray(F * self.units + self.means)

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "RunningScale":
        return cls(len(values["means"]), **values)

    def __reduce__(self) -> tuple[type["RunningScale"], tuple[int, float, Array, Array]]:
        return RunningScale, (len(self._means), self.total, self.means, self.deviations)


# Compiled classes take no decorators.
stored.stores(
    total=stored.Number(at_least=0.0),
    means=stored.Array("n_columns"),
    deviations=stored.Array("n_columns", at_least=0.0),
)(RunningScale)


def _root_mean_square(y: Array, share: Array) -> Array:
    """√Σ share·y² of each column; entries are divided by the largest before they are squared."""
    largest = np.abs(y).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.sqrt((share * (y / unit) ** 2).sum(axis=0)))
