"""Prediction intervals around any regressor, online or fitted once."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._frames import as_rows, is_frame, n_rows_of
from colk._validation import Array, check_points, check_vector
from colk.conformal.adaptive import AdaptiveInterval, check_coverage, check_method
from colk.conformal.left_out import has_closed_form, left_out_residuals
from colk.conformal.local import ResidualQuantiles
from colk.errors import FileFormatError

__all__ = ["ConformalRegressor"]

# Largest number of samples in a round; longer calls are split. As long as intervals are infinite,
# rounds have the second, smaller size.
_ROUND, _FIRST_ROUND = 500, 10


@stored.stores(
    model=stored.Anything(),
    coverage=stored.Number(),
    interval=stored.Object(AdaptiveInterval),
    local=stored.Optional(stored.Object(ResidualQuantiles)),
    has_learned=stored.Flag(),
)
class ConformalRegressor(Guarded):
    """Prediction intervals that keep their coverage on any stream.

    The class applies adaptive conformal inference to the predictions of a model. If each target is
    learned after its interval was made, the intervals cover the nominal share of targets, even if
    the data drift or jump and even if the model is poor. A good model gives narrow intervals.
    `AdaptiveInterval` states the guarantee.

    For data that are not a stream, `fit` fits the model and calibrates the intervals with the
    leave-one-out residuals of the same samples; `calibrate` uses samples that the model has not
    seen. Intervals are then finite from the first prediction on. The coverage holds for new samples
    that are exchangeable with these, such as rows drawn at random. If the data change over time,
    pass later rows to `learn` as soon as their targets are known, so that the intervals adapt.

    Parameters
    ----------
    model : OnlineLearner or estimator
        A learner, an estimator with `partial_fit`, or a fitted estimator that does not learn any
        more. It is not copied: `learn` updates it. If it has `quantiles` and predicts one column
        for each, the class corrects the interval between the outermost columns.
    coverage : float, default=0.9
        Nominal coverage.
    rate : float, default=0.01
        Step size of the adaptation, see `AdaptiveInterval`. Raise it to recover sooner from a jump.
    window : int, default=500
        Number of recent residuals that determine the width.
    local : bool, default=False
        Whether the width depends on x. The quantiles of the residuals are then learned as functions
        of x (`ResidualQuantiles`), and the adaptive intervals correct them. Set it if the noise is
        larger in some regions than in others; X must be an array of numbers.

    Attributes
    ----------
    model
        The model, which `learn` updates.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLK
    >>> from colk.conformal import ConformalRegressor
    >>> from colk.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((3000, 1))
    >>> jump = np.where(np.arange(3000) < 1500, 1.0, -3.0)
    >>> y = jump * np.sin(6 * X[:, 0]) + 0.2 * rng.exponential(size=3000)
    >>> model = ConformalRegressor(COLK(Gaussian(0.2)), coverage=0.9)
    >>> covered = []
    >>> for x, target in zip(X, y):
    ...     lower, upper = model.predict_interval([x])[0]
    ...     covered.append(lower <= target <= upper)
    ...     model = model.learn_one(x, target)
    >>> bool(abs(np.mean(covered) - 0.9) < 0.01)
    True
    """

    _changing = ("_interval", "model")

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        rate: float = 0.01,
        window: int = 500,
        local: bool = False,
    ) -> None:
        check_method(model, "predict", "ConformalRegressor")
        self.model = model
        self.coverage = check_coverage(coverage)
        self._interval = AdaptiveInterval(rate, window)
        self._interval.follow(self.coverage)
        self._local = ResidualQuantiles(self.coverage) if local else None
        self._has_learned = _has_learned(model)

    def _to_file(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "coverage": self.coverage,
            "interval": self._interval,
            "local": self._local,
            "has_learned": self._has_learned,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        interval = values["interval"]
        model = cls(values["model"], values["coverage"], interval.rate, interval.window)
        if values["has_learned"] and not model._has_learned:
            raise FileFormatError(
                "has_learned is True, but the model of the intervals is not fitted"
            )
        if model.coverage not in interval.coverages:
            raise FileFormatError(f"no intervals of coverage {model.coverage} are stored")
        model._interval, model._has_learned = interval, values["has_learned"]
        model._local = values["local"]
        return model

    @property
    def _learns(self) -> Callable[..., Any] | None:
        """The method that updates the model; None if it does not learn."""
        return getattr(self.model, "learn", None) or getattr(self.model, "partial_fit", None)

    def __repr__(self) -> str:
        rate, window = self._interval.rate, self._interval.window
        return (
            f"ConformalRegressor(model={self.model!r}, coverage={self.coverage}, rate={rate}, "
            f"window={window}, local={self._local is not None})"
        )

    @locked
    def learn(self, X: Any, y: ArrayLike) -> Self:
        """Learn from samples in order: update the intervals, then the model.

        Up to 500 samples form one round, whose intervals are those of `predict_interval` just
        before the call. More samples are split into rounds of 500. With fewer samples per call, the
        intervals adapt sooner to a jump, and fewer of them are infinite after it.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        """
        if self._learns is None and not self._has_learned:
            raise ValueError(
                f"{type(self.model).__name__} is not fitted and has neither learn nor partial_fit; "
                "fit it first, on samples that are not in the stream"
            )
        rows = as_rows(X)
        n = n_rows_of(X) if _is_table(X) else len(check_points(np.asarray(X), None))
        targets = check_vector(y, n, "y")
        start = 0
        while start < n:
            known = self._interval.is_known(self.coverage)
            part = slice(start, start + (_ROUND if known else _FIRST_ROUND))
            self._learn_round(rows[part], targets[part])
            start = part.stop
        return self

    def _learn_round(self, X: Any, y: Array) -> None:
        ends = self._ends(X) if self._has_learned else None
        if self._learns is not None:
            self._learns(X, y)
            self._has_learned = True
        if ends is not None:
            points = self._points(X)
            shifts = self._shifts(points)
            below, above = (y - ends[:, c] - shifts[:, c] for c in range(2))
            if self._local is not None:
                self._local.update(points, y - ends.mean(axis=1))
            self._interval.update(below.tolist(), above.tolist())

    def _points(self, X: Any) -> Array:
        """Return X as numbers; without `local` only their count matters."""
        if self._local is None:
            return np.zeros((n_rows_of(X), 0))
        encode = getattr(self.model, "encode_points", None) if _is_table(X) else None
        return np.asarray(X) if encode is None else encode(X)

    def _shifts(self, X: Array) -> Array:
        """Return the residual quantiles, which are added to the ends, of shape (n, 2)."""
        return np.zeros((len(X), 2)) if self._local is None else self._local.predict(X)

    @locked
    def calibrate(self, X: Any, y: ArrayLike) -> Self:
        """Calibrate by samples that a fitted model has not seen: split conformal prediction.

        If new samples are exchangeable with these, their targets lie in the intervals with the
        constructor's `coverage` as probability, or more. With `local`, the quantiles of the
        residuals are learned from every second sample, and the others calibrate. `learn` continues
        from here.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        """
        if not self._has_learned:
            raise ValueError("the model is not fitted; use fit, or fit the model first")
        targets = check_vector(y, n_rows_of(X), "y")
        ends = self._ends(X)
        self._set(self._points(X), targets[:, None] - ends)
        return self

    @locked
    def fit(self, X: Any, y: ArrayLike, random_state: Any = None) -> Self:
        """Fit the model and calibrate the intervals.

        A polished `colk.COLKRegressor` with one output is calibrated by leave-one-out residuals in
        closed form, so all samples serve both to fit and to calibrate. Any other model, and a model
        of a table with a category of more than 150 values, is fitted to three quarters of the
        samples, drawn at random, and calibrated by the others.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        random_state : int, RandomState or None
            Seed for drawing the samples of the fit.
        """
        n, rows = n_rows_of(X), as_rows(X)
        targets = check_vector(y, n, "y")
        is_fitted = has_closed_form(self.model)
        if is_fitted:
            self.model.fit(X, targets)
        if is_fitted and not self.model.encoder_.effects:
            residuals = left_out_residuals(self.model, X, targets)
            self._set(self._points(X), np.column_stack([residuals, residuals]))
        else:
            order = np.random.default_rng(random_state).permutation(n)
            size = max(1, 3 * n // 4)
            self.model.fit(rows[order[:size]], targets[order[:size]])
            rest = rows[order[size:]]
            self._set(self._points(rest), targets[order[size:], None] - self._ends(rest))
        self._has_learned = True
        return self

    def _set(self, points: Array, residuals: Array) -> None:
        """Calibrate by the residuals of the lower and upper ends, of shape (n, 2)."""
        if self._local is not None:
            self._local = ResidualQuantiles(self.coverage)
            self._local.update(points[::2], residuals[::2].mean(axis=1))
            points, residuals = points[1::2], residuals[1::2]
        residuals = residuals - self._shifts(points)
        self._interval.calibrate(residuals[:, 0].tolist(), residuals[:, 1].tolist())

    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Same as `learn`, under scikit-learn's name.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        """
        return self.learn(X, y)

    def learn_one(self, x: ArrayLike, y: float) -> Self:
        """Learn from one sample.

        Parameters
        ----------
        x : array of shape (p,)
            The point.
        y : float
            Its target.
        """
        return self.learn(np.asarray(x)[None], [y])

    def predict(self, X: Any) -> Array:
        """Return the predictions of the model.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        return np.asarray(self.model.predict(X))

    @locked
    def predict_interval(self, X: Any, coverage: float | None = None) -> Array:
        """Return the lower and upper ends of the intervals, of shape (n, 2).

        They are infinite until the model has learned and 2/(1 − coverage) residuals are known.
        Later, intervals are infinite for a short time if too many recent samples were outside, for
        example after a jump.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        coverage : float, optional
            Nominal coverage. Default: that of the constructor. Intervals of another coverage adapt
            from their first use on.
        """
        level = self.coverage if coverage is None else check_coverage(coverage)
        reach = self._interval.reach(level)
        if not self._has_learned:
            return np.tile(np.array(reach), (n_rows_of(X), 1))
        interval: Array = self._ends(X) + self._shifts(self._points(X)) + np.array(reach)
        return interval

    def observed_coverage(self, coverage: float | None = None) -> float:
        """Return the share of targets inside their intervals so far; NaN before the first.

        Parameters
        ----------
        coverage : float, optional
            Nominal coverage. Default: that of the constructor.
        """
        return self._interval.observed_coverage(self.coverage if coverage is None else coverage)

    def _ends(self, X: Any) -> Array:
        """Lower and upper ends of the model's predictions, of shape (n, 2)."""
        points = X if hasattr(X, "shape") else np.asarray(X)
        values = np.asarray(self.model.predict(points), dtype=np.float64)
        if values.ndim == 1 or values.shape[1] == 1:
            return np.column_stack([values, values])
        levels = getattr(self.model, "quantiles", None)
        if levels is None:
            raise ValueError(
                f"{type(self.model).__name__} has {values.shape[1]} outputs, but intervals need "
                "one: use one model per output"
            )
        return values[:, [int(np.argmin(levels)), int(np.argmax(levels))]]


def _is_table(X: Any) -> bool:
    return is_frame(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "OUS")


def _has_learned(model: Any) -> bool:
    """Return whether a model is ready to predict."""
    if not hasattr(model, "fit"):
        return getattr(model, "_n_features", None) is not None
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
