"""Baselines for comparison: a constant and a linear model, computed from sums over rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from colk._validation import Array

__all__ = ["Baselines", "LinearBaseline"]

# Largest number of values per category that get an indicator.
_MOST_VALUES = 64
# Largest number of columns; wider tables have no linear baseline.
_WIDEST = 512
# Ridge penalty, as a share of the variance of a column.
_RIDGE = 1e-6


class _Design:
    """Design matrix: each number, an indicator of its gaps, and one for each category value."""

    def __init__(
        self, centers: Mapping[str, float], categorical: Sequence[str], values: Sequence[Any] = ()
    ) -> None:
        self.centers, self.categorical = dict(centers), list(categorical)
        self.values: list[tuple[str, str]] = [(str(name), str(value)) for name, value in values]
        self._places = {pair: place for place, pair in enumerate(self.values)}

    @property
    def width(self) -> int:
        return 2 * len(self.centers) + len(self.values)

    def admit(self, columns: Mapping[str, Any]) -> None:
        """Add an indicator for each new value."""
        for name in self.categorical:
            known = sum(column == name for column, _ in self.values)
            for value in dict.fromkeys(str(each) for each in columns[name]):
                if (name, value) not in self._places and known < _MOST_VALUES:
                    known += 1
                    self._places[name, value] = len(self.values)
                    self.values.append((name, value))

    def matrix(self, columns: Mapping[str, Any]) -> Array:
        n = len(next(iter(columns.values())))
        X = np.zeros((n, self.width))
        for place, (name, center) in enumerate(self.centers.items()):
            numbers = np.asarray(columns[name], dtype=np.float64)
            missing = np.isnan(numbers)
            X[:, 2 * place] = np.where(missing, 0.0, numbers - center)
            X[:, 2 * place + 1] = missing
        for name in self.categorical:
            for row, value in enumerate(columns[name]):
                found = self._places.get((name, str(value)))
                if found is not None:
                    X[row, 2 * len(self.centers) + found] = 1.0
        return X


class LinearBaseline:
    """A constant and a linear model: least squares for numbers, discriminant analysis for classes.

    Parameters
    ----------
    state : mapping
        The `state` of a baseline, made of numbers, text and lists.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> sums = Baselines(["x"], [], is_classification=False)
    >>> sums.add({"x": x}, 2.0 * x)
    >>> baseline = sums.fitted()
    >>> baseline.scores({"x": [20.0]}).round(3)
    array([[40.]])
    >>> baseline.constant
    array([9.])
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = dict(state)
        self.labels = [str(label) for label in state["labels"]]
        self.constant = np.array(state["constant"], dtype=np.float64)
        self._design = _Design(state["centers"], state["categorical"], state["values"])
        self._weights: Array | None = None
        if state["weights"] is not None:
            self._weights = np.array(state["weights"], dtype=np.float64)
            self._intercept = np.array(state["intercept"], dtype=np.float64)
            if self._weights.shape != (self._design.width, len(self.constant)):
                raise ValueError("the linear baseline does not fit its columns")

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Self | None:
        """Return the baseline in the notes of a model; None if there is none."""
        try:
            return cls(notes["baselines"])
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    @property
    def is_linear(self) -> bool:
        """Whether there is a linear model beside the constant."""
        return self._weights is not None

    def scores(self, columns: Mapping[str, Any]) -> Array:
        """Return predicted numbers of shape (n, 1), or probabilities of shape (n, labels).

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        if self._weights is None:
            raise ValueError("the table is too wide for a linear baseline")
        scores: Array = self._design.matrix(columns) @ self._weights + self._intercept
        if not self.labels:
            return scores
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


class Baselines:
    """Sums over rows that determine the baselines; batches may have any size.

    Parameters
    ----------
    numbers, categorical : sequence of str
        Names of the columns with numbers, which may be missing, and of those with text.
    is_classification : bool
        Whether targets are labels.

    Examples
    --------
    >>> sums = Baselines(["x"], [], is_classification=True)
    >>> sums.add({"x": [0.0, 1.0, 2.0, 3.0]}, ["a", "a", "b", "b"])
    >>> sums.fitted().scores({"x": [-5.0]}).round(2)
    array([[1., 0.]])
    """

    def __init__(
        self, numbers: Sequence[str], categorical: Sequence[str], is_classification: bool
    ) -> None:
        self._numbers, self._categorical = list(numbers), list(categorical)
        self._has_labels = is_classification
        self._labels: dict[str, int] = {}
        self._design: _Design | None = None
        self._n = 0
        self._is_wide = 2 * len(self._numbers) > _WIDEST
        self._means = (np.zeros(0), np.zeros(0))
        self._scatter, self._shared = np.zeros((0, 0)), np.zeros((0, 0))

    def add(self, columns: Mapping[str, Any], y: Any) -> None:
        """Add rows.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        y : array of shape (n,)
            Numbers or labels.
        """
        if len(y) == 0:
            return
        if self._design is None:
            self._design = _Design(self._centers(columns), self._categorical)
        self._design.admit(columns)
        self._is_wide = self._is_wide or self._design.width > _WIDEST
        X = np.zeros((len(y), 0)) if self._is_wide else self._design.matrix(columns)
        self._merge(X, self._targets(y))

    def _centers(self, columns: Mapping[str, Any]) -> dict[str, float]:
        """Return numbers near the means, because sums of small numbers lose fewer digits."""
        centers = {}
        for name in self._numbers:
            numbers = np.asarray(columns[name], dtype=np.float64)
            there = numbers[~np.isnan(numbers)]
            centers[name] = float(there.mean()) if len(there) else 0.0
        return centers

    def _targets(self, y: Any) -> Array:
        if not self._has_labels:
            return np.asarray(y, dtype=np.float64)[:, None]
        places = [self._labels.setdefault(str(label), len(self._labels)) for label in y]
        return np.eye(len(self._labels))[places]

    def _merge(self, X: Array, Y: Array) -> None:
        """Add the means and the scatter of a batch; new columns count as 0 in earlier rows."""
        p, q = X.shape[1], Y.shape[1]
        mean_x, mean_y = (_padded(m, size) for m, size in zip(self._means, (p, q), strict=True))
        scatter, shared = _padded(self._scatter, p, p), _padded(self._shared, p, q)
        new_x, new_y, total = X.mean(axis=0), Y.mean(axis=0), self._n + len(X)
        Xc, Yc = X - new_x, Y - new_y
        dx, dy, weight = new_x - mean_x, new_y - mean_y, self._n * len(X) / total
        self._scatter = scatter + Xc.T @ Xc + weight * np.outer(dx, dx)
        self._shared = shared + Xc.T @ Yc + weight * np.outer(dx, dy)
        self._means = (mean_x + dx * len(X) / total, mean_y + dy * len(X) / total)
        self._n = total

    def fitted(self) -> LinearBaseline | None:
        """Return the baselines; None before the first row."""
        if self._design is None:
            return None
        weights = intercept = None
        design = _Design({}, ())  # a wide table needs no columns, whose names would fill a file
        if not self._is_wide:
            design = self._design
            weights, intercept = self._discriminant() if self._has_labels else self._regression()
        return LinearBaseline(
            {
                "labels": list(self._labels),
                "constant": self._means[1].tolist(),
                "centers": design.centers,
                "categorical": design.categorical,
                "values": [list(pair) for pair in design.values],
                "weights": None if weights is None else weights.tolist(),
                "intercept": None if intercept is None else intercept.tolist(),
            }
        )

    def _regression(self) -> tuple[Array, Array]:
        weights = _solve(self._scatter, self._shared)
        return weights, self._means[1] - self._means[0] @ weights

    def _discriminant(self) -> tuple[Array, Array]:
        """Linear discriminant analysis: all classes share the covariance within classes."""
        shares = self._means[1]
        offsets = self._shared / (self._n * shares)  # means of the classes − mean of all rows
        within = self._scatter - (offsets * (self._n * shares)) @ offsets.T
        centers = self._means[0][:, None] + offsets
        weights = _solve(within / self._n, centers)
        return weights, np.log(shares) - 0.5 * np.einsum("pk,pk->k", centers, weights)


def _solve(scatter: Array, right: Array) -> Array:
    """Solve with a small ridge; columns that do not vary get weight 0."""
    sizes = np.sqrt(np.maximum(scatter.diagonal(), 0.0))
    varies = sizes > 1e-12 * max(sizes.max(initial=0.0), 1e-300)
    weights = np.zeros_like(right)
    if varies.any():
        unit = sizes[varies]
        scaled = scatter[np.ix_(varies, varies)] / np.outer(unit, unit)
        scaled += _RIDGE * np.eye(len(unit))
        weights[varies] = np.linalg.solve(scaled, right[varies] / unit[:, None]) / unit[:, None]
    return weights


def _padded(values: Array, *shape: int) -> Array:
    """Return the array enlarged to a shape, with zeros in the new places."""
    grown = np.zeros(shape)
    # The array shrinks if the table became too wide, which drops all columns.
    kept = tuple(slice(0, min(a, b)) for a, b in zip(values.shape, shape, strict=True))
    grown[kept] = values[kept]
    return grown
