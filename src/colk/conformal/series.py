"""Forecast the next errors of a model from its past errors, so that intervals move beforehand."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.compressors import KOMP
from colk.conformal.lags import find_lags
from colk.conformal.tails import RecentValues
from colk.errors import DivergenceError, FileFormatError
from colk.kernels import Gaussian
from colk.kernels.bandwidth import standard_bandwidth
from colk.learners import NewtonCOLK

__all__ = ["SERIES_VIEWS", "ErrorForecast"]

# Offsets: none, the linear forecast, and the linear forecast corrected by the kernel model.
SERIES_VIEWS = 3

# Lags are searched in the latest _KEPT errors when _FIRST are known, and each time the number of
# errors has grown by _GROWTH. Models with new lags start from the latest _REPLAYED errors.
_KEPT, _FIRST, _GROWTH, _REPLAYED = 2000, 60, 1.3, 1500

# The linear model: forgetting, the first variance of its weights, and the largest one.
_FORGETTING, _VARIANCE, _LARGEST = 0.998, 100.0, 1e8

# The kernel model has few atoms and learns residuals of at most _FAR units.
_ATOMS, _FAR = 150, 10.0


class _Linear:
    """Recursive least squares with forgetting on scaled lags and a constant."""

    def __init__(self, n_inputs: int) -> None:
        self.weights = np.zeros(n_inputs + 1)
        self.variance = _VARIANCE * np.eye(n_inputs + 1)

    def predict(self, x: Array) -> float:
        return float(self.weights[0] + x @ self.weights[1:])

    def learn(self, x: Array, error: float) -> None:
        """Learn from the error of the prediction at x."""
        row = np.concatenate([[1.0], x])
        gain = self.variance @ row
        total = _FORGETTING + float(row @ gain)
        self.weights = self.weights + gain / total * error
        self.variance = (self.variance - np.outer(gain, gain) / total) / _FORGETTING
        if not np.trace(self.variance) < _LARGEST * len(row):  # directions without signal
            self.variance = _VARIANCE * np.eye(len(row))


@stored.stores(
    errors=stored.Array("n_errors"),
    n_seen=stored.Count(),
    next_search=stored.Count(),
    lags=stored.ListOf(stored.Count(1), size="n_lags"),
    center=stored.Number(),
    unit=stored.Number(above=0.0),
    left=stored.Number(above=0.0),
    weights=stored.Array("n_weights"),
    variance=stored.Array("n_weights", "n_weights"),
    learner=stored.Optional(stored.Object(NewtonCOLK)),
    sizes=stored.Array("n_sizes", at_least=0.0),
)
class ErrorForecast:
    """Forecasts of the next errors from the past ones: a linear and a kernel model of their lags.

    The lags, and so the seasons, are found in the errors (`find_lags`), again and again as their
    number grows. The linear model is recursive least squares with forgetting. The kernel model,
    `colk.learners.NewtonCOLK` with forgetting="auto", learns what the linear one leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.conformal.series import ErrorForecast
    >>> season = np.sin(2.0 * np.pi * np.arange(400) / 24)
    >>> forecast = ErrorForecast()
    >>> forecast.update(season + 0.01 * np.random.default_rng(0).normal(size=400))
    >>> none, linear, kernel = forecast.predict(6).T
    >>> bool(np.abs(kernel - np.sin(2.0 * np.pi * np.arange(400, 406) / 24)).max() < 0.1)
    True
    """

    def __init__(self) -> None:
        self._errors: list[float] = []  # the latest _KEPT, and up to as many older ones
        self._sizes = RecentValues((200,))
        self._n_seen, self._next_search = 0, _FIRST
        self.lags: list[int] = []
        self._center, self._unit, self._left = 0.0, 1.0, 1.0
        self._linear, self._kernel = _Linear(0), None

    _kernel: NewtonCOLK | None

    def _to_file(self) -> dict[str, Any]:
        return {
            "errors": np.array(self._errors, dtype=np.float64),
            "n_seen": self._n_seen, "next_search": self._next_search, "lags": self.lags,
            "center": self._center, "unit": self._unit, "left": self._left,
            "weights": self._linear.weights, "variance": self._linear.variance,
            "learner": self._kernel,
            "sizes": self._sizes.rows()[:, 0],
        }  # fmt: skip

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ErrorForecast":
        found, lags, kernel = cls(), values["lags"], values["learner"]
        deepest = max(lags, default=0)
        if len(values["errors"]) < deepest or len(values["weights"]) != len(lags) + 1:
            raise FileFormatError("the lags of the errors do not fit the errors or the weights")
        if kernel is not None and kernel.n_features != len(lags):
            raise FileFormatError("the kernel model of the errors has other lags")
        if len(values["errors"]) > 2 * _KEPT or len(values["sizes"]) > 200:
            raise FileFormatError("too many errors are stored")
        budget(32.0 * len(values["errors"]), "the errors of an ErrorForecast")
        found._errors, found.lags = values["errors"].tolist(), list(lags)
        found._n_seen, found._next_search = values["n_seen"], values["next_search"]
        found._center, found._unit, found._left = (values[k] for k in ("center", "unit", "left"))
        found._linear = _Linear(len(lags))
        found._linear.weights, found._linear.variance = values["weights"], values["variance"]
        found._kernel = kernel
        for size in values["sizes"].tolist():
            found._sizes.add(size)
        return found

    def _inputs(self, errors: list[float]) -> Array:
        """Return the scaled lags of the next error."""
        n = len(errors)
        return (np.array([errors[n - lag] for lag in self.lags]) - self._center) / self._unit

    def _offsets(self, errors: list[float]) -> tuple[float, float]:
        """Return the linear and the corrected forecast of the next error."""
        x = self._inputs(errors)
        linear = self._linear.predict(x)
        beyond = (
            0.0 if self._kernel is None else self._left * float(self._kernel.predict(x[None])[0])
        )
        return self._unit * linear, self._unit * (linear + beyond)

    def predict(self, n: int) -> Array:
        """Return the forecasts of the next n errors, of shape (n, 3); those of each view feed it.

        Parameters
        ----------
        n : int
            Number of errors.
        """
        found = np.zeros((n, SERIES_VIEWS))
        if not self.lags:
            return found
        found[0, 1:] = self._offsets(self._errors)
        for view in range(1, SERIES_VIEWS if n > 1 else 1):
            path = [*self._errors[-max(self.lags) :], found[0, view]]
            for step in range(1, n):
                found[step, view] = self._offsets(path)[view - 1]
                path.append(found[step, view])
        return found

    def update(self, errors: Array) -> None:
        """Learn the next errors in their order.

        Parameters
        ----------
        errors : array of shape (n,)
            Targets minus predictions.
        """
        for error in errors.tolist():
            if self._sizes.count >= 20:  # one gross error must not move the models far
                most = _FAR * self._sizes.quantile(0, 0, 0.1)
                self._sizes.add(abs(error))
                error = min(max(error, -most), most)
            else:
                self._sizes.add(abs(error))
            if self.lags:
                self._learn(self._inputs(self._errors), error)
            self._errors.append(error)
            self._n_seen += 1
            if len(self._errors) == 2 * _KEPT:
                del self._errors[:_KEPT]
            if self._n_seen >= self._next_search:
                self._next_search = int(_GROWTH * self._n_seen) + 1
                self._search()

    def _learn(self, x: Array, error: float) -> None:
        left = error / self._unit - self._linear.predict(x)
        if self._kernel is not None:
            try:
                self._kernel.learn(x[None], [left / self._left])
            except DivergenceError:
                self._kernel = None
        self._linear.learn(x, left)

    def _search(self) -> None:
        """Search the lags; if they are new, start models from the latest errors."""
        errors = np.array(self._errors[-_KEPT:])
        lags, deviation = find_lags(errors), float(errors.std())
        if not lags or lags == self.lags or deviation == 0.0:
            return
        self.lags, self._center, self._unit = lags, float(errors.mean()), deviation
        self._linear = _Linear(len(lags))
        first = max(max(lags), len(errors) - _REPLAYED)
        rows = np.arange(first, len(errors))[:, None] - np.array(lags)
        X = (errors[rows] - self._center) / self._unit
        left = np.empty(len(X))
        for k, x in enumerate(X):
            left[k] = errors[first + k] / self._unit - self._linear.predict(x)
            self._linear.learn(x, left[k])
        self._left = float(np.abs(left).mean()) or 1.0
        bandwidth = standard_bandwidth("gaussian", len(lags))
        self._kernel = NewtonCOLK(
            Gaussian(bandwidth), forgetting="auto", compressor=KOMP(eps=0.05, max_atoms=_ATOMS)
        )
        try:
            self._kernel.learn(X, left / self._left)
        except DivergenceError:
            self._kernel = None
