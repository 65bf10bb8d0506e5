"""Prediction intervals around any regressor, online or fitted once."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._frames import as_rows, is_frame, n_rows_of
from colk._validation import Array, check_points, check_vector
from colk.conformal.adaptive import AdaptiveInterval
from colk.conformal.left_out import has_closed_form, left_out_residuals
from colk.conformal.levels import EVERYTHING, check_coverage, check_method
from colk.conformal.rule import IntervalRule
from colk.errors import FileFormatError

__all__ = ["ConformalRegressor"]

# Largest number of samples in a round; longer calls are split. As long as intervals are infinite,
# rounds have the second, smaller size.
_ROUND, _FIRST_ROUND = 500, 10


@stored.stores(
    model=stored.Anything(),
    rule=stored.Object(IntervalRule),
    has_learned=stored.Flag(),
)
class ConformalRegressor(Guarded):
    """Prediction intervals that keep their coverage on any stream.

    The class tracks the quantiles of a model's errors. If each target is learned after its interval
    was made, the intervals cover the nominal share of targets, even if the data drift or jump and
    even if the model is poor. A good model gives narrow intervals. `TrackedInterval` describes the
    rule and states the guarantee.

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
    local : bool, default=False
        Whether the width depends on x. Quantiles of the residuals are then learned as functions of
        x with several bandwidths, and the rule mixes them. After `fit` and `calibrate` they are
        quantiles in an RKHS of the features and the prediction. Set it if the noise is larger in
        some regions than in others.
    series : bool, default=False
        Whether the samples are consecutive times. Models of the past errors then forecast the next
        error, and the rule mixes intervals around the forecasts. The lags and the seasons are found
        in the errors. Row i of `predict_interval` is the i-th time after the last one that was
        learned.
    rule : AdaptiveInterval, optional
        `AdaptiveInterval()` applies adaptive conformal inference instead. Default: None, which is
        `TrackedInterval`.

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

    _changing = ("_rule", "model")

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        local: bool = False,
        series: bool = False,
        rule: AdaptiveInterval | None = None,
    ) -> None:
        check_method(model, "predict", "ConformalRegressor")
        self.model = model
        self._rule = IntervalRule(coverage, local, series, rule)
        self.coverage = self._rule.coverage
        self._has_learned = _has_learned(model)

    def _to_file(self) -> dict[str, Any]:
        return {"model": self.model, "rule": self._rule, "has_learned": self._has_learned}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        rule = values["rule"]
        model = cls(values["model"], rule.coverage)
        if values["has_learned"] and not model._has_learned:
            raise FileFormatError(
                "has_learned is True, but the model of the intervals is not fitted"
            )
        model._rule, model._has_learned = rule, values["has_learned"]
        return model

    @property
    def _learns(self) -> Callable[..., Any] | None:
        """The method that updates the model; None if it does not learn."""
        return getattr(self.model, "learn", None) or getattr(self.model, "partial_fit", None)

    def __repr__(self) -> str:
        local, series = self._rule.local is not None, self._rule.series is not None
        return (
            f"ConformalRegressor(model={self.model!r}, coverage={self.coverage}, local={local}, "
            f"series={series}, rule={self._rule.adaptive!r})"
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
            known = self._rule.interval.is_known(self.coverage)
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
            self._rule.learn(self._points(X), ends, y)

    def _points(self, X: Any) -> Array:
        """Return X as numbers; without `local` only their count matters."""
        if self._rule.local is None:
            return np.zeros((n_rows_of(X), 0))
        encode = getattr(self.model, "encode_points", None) if _is_table(X) else None
        return np.asarray(X) if encode is None else encode(X)

    @locked
    def calibrate(self, X: Any, y: ArrayLike) -> Self:
        """Calibrate by samples that a fitted model has not seen: split conformal prediction.

        If new samples are exchangeable with these, their targets lie in the intervals with the
        constructor's `coverage` as probability, or more. `learn` continues from here.

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
        self._rule.calibrate(self._points(X), self._ends(X), targets)
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
            left_out = targets - residuals
            self._rule.calibrate(self._points(X), np.column_stack([left_out, left_out]), targets)
        else:
            order = np.random.default_rng(random_state).permutation(n)
            size = max(1, 3 * n // 4)
            self.model.fit(rows[order[:size]], targets[order[:size]])
            rest = rows[order[size:]]
            self._rule.calibrate(self._points(rest), self._ends(rest), targets[order[size:]])
        self._has_learned = True
        return self

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

        They are infinite until the model has learned and 2/(1 − coverage) residuals are known, or
        30 if that is less.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        coverage : float, optional
            Nominal coverage. Default: that of the constructor. Intervals of another coverage adapt
            from their first use on.
        """
        level = self.coverage if coverage is None else check_coverage(coverage)
        if not self._has_learned:
            self._rule.interval.follow(level)
            return np.tile(EVERYTHING, (n_rows_of(X), 1))
        return self._rule.ends(level, self._points(X), self._ends(X))

    def observed_coverage(self, coverage: float | None = None) -> float:
        """Return the share of targets inside their intervals so far; NaN before the first.

        Parameters
        ----------
        coverage : float, optional
            Nominal coverage. Default: that of the constructor.
        """
        return self._rule.interval.observed_coverage(
            self.coverage if coverage is None else coverage
        )

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
