"""Prediction intervals for River's regressors."""

from collections.abc import Hashable, Iterator
from copy import deepcopy
from numbers import Real
from typing import Any

import numpy as np
from river import base, compose, conf

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._validation import Array, check_number
from colk.conformal import AdaptiveInterval
from colk.conformal.levels import check_coverage
from colk.conformal.rule import IntervalRule
from colk.errors import FileFormatError
from colk.learners import DriftEvent
from colk.river.features import Features
from colk.river.regressor import COLKRegressor

__all__ = ["ConformalRegressor"]


@stored.stores(
    regressor=stored.Object(base.Regressor),
    rule=stored.Object(IntervalRule),
    names=stored.ListOf(stored.Anything(), size="n_names"),
    has_learned=stored.Flag(),
)
class ConformalRegressor(Guarded, base.Wrapper, base.Regressor):  # type: ignore[type-arg,unused-ignore]
    """Prediction intervals that keep their coverage on any stream.

    The class tracks the quantiles of the errors of any regressor or pipeline of River.
    `colk.conformal.TrackedInterval` describes the rule and states the guarantee.

    Parameters
    ----------
    regressor : river.base.Regressor
        The regressor or pipeline that predicts.
    coverage : float, default=0.9
        Nominal coverage.
    local : bool, default=False
        Whether the width depends on the features that are numbers in the first sample, as in
        `colk.conformal.ConformalRegressor`. Set it if the noise depends on the features.
    series : bool, default=False
        Whether the samples are consecutive times, whose past errors forecast the next one, as in
        `colk.conformal.ConformalRegressor`.
    rule : AdaptiveInterval, optional
        `colk.conformal.AdaptiveInterval()` applies adaptive conformal inference instead.

    Examples
    --------
    >>> from colk.river import COLKRegressor, ConformalRegressor
    >>> from river import datasets, preprocessing, stats
    >>> model = ConformalRegressor(preprocessing.StandardScaler() | COLKRegressor(), coverage=0.8)
    >>> covered = stats.Mean()
    >>> for x, y in datasets.TrumpApproval():
    ...     covered.update(y in model.predict_interval(x))
    ...     model.learn_one(x, y)
    >>> abs(covered.get() - 0.8) < 0.02
    True
    """

    _changing = ("_rule", "regressor")

    def __init__(
        self,
        regressor: Any,
        coverage: float = 0.9,
        local: bool = False,
        series: bool = False,
        rule: AdaptiveInterval | None = None,
    ) -> None:
        self.regressor = regressor
        self.coverage = check_coverage(coverage)
        self.local = local
        self.series = series
        self.rule = rule
        self._names: list[Hashable] = []
        self._rule = IntervalRule(self.coverage, local, series, rule)
        self._has_learned = False

    def _to_file(self) -> dict[str, Any]:
        return {
            "regressor": deepcopy(self.regressor),
            "rule": self._rule,
            "names": self._names,
            "has_learned": self._has_learned,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ConformalRegressor":
        rule = values["rule"]
        local, series = rule.local is not None, rule.series is not None
        model = cls(values["regressor"], rule.coverage, local, series, rule.adaptive)
        model._rule, model._has_learned = rule, values["has_learned"]
        model._names = values["names"]
        if local and rule.local.n_features != len(values["names"]):
            raise FileFormatError("the quantiles of the residuals have other features")
        return model

    @property
    def drifts(self) -> list[DriftEvent]:
        """The drifts that the regressor has found, the oldest first."""
        found = self.regressor
        if isinstance(found, compose.Pipeline):
            found = found[-1]
        return list(getattr(found, "drifts", []))

    @property
    def _wrapped_model(self) -> Any:
        return self.regressor

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"regressor": COLKRegressor()}

    def learn_one(self, x: Features, y: float, **settings: Any) -> None:
        """Learn from one sample: update the intervals first, then the regressor.

        Parameters
        ----------
        x : dict
            Features.
        y : float
            The target.
        **settings : dict
            Passed to the regressor, such as a weight.
        """
        target = check_number(y, "y")
        with self._lock:
            predicted = self.regressor.predict_one(x) if self._has_learned else None
            self.regressor.learn_one(x, y, **settings)
            self._has_learned = True
            if predicted is not None:
                if not self._names and self.local:
                    numbers = (name for name, value in x.items() if isinstance(value, Real))
                    self._names = sorted(numbers, key=str)
                self._rule.learn(self._row(x), np.full((1, 2), predicted), np.array([target]))

    def _row(self, x: Features) -> Array:
        """Return the features that determine the width, with NaN for gaps."""
        values = (x.get(name) for name in self._names)
        return np.array([[float(v) if isinstance(v, Real) else np.nan for v in values]])

    def predict_one(self, x: Features, with_interval: bool = False, **settings: Any) -> Any:
        """Return the prediction for one sample, or its interval.

        Parameters
        ----------
        x : dict
            Features.
        with_interval : bool
            Return a `river.conf.Interval`, as River's own wrappers do.
        **settings : dict
            Passed to the regressor.
        """
        if with_interval:
            return self.predict_interval(x)
        return self.regressor.predict_one(x, **settings)

    @locked
    def predict_interval(
        self, x: Features, coverage: float | None = None
    ) -> conf.interval.Interval:
        """Return the interval of one sample, which is infinite at first.

        It is finite when 2/(1 − coverage) samples are known, or 30 if that is less.

        Parameters
        ----------
        x : dict
            Features.
        coverage : float, optional
            Nominal coverage. Default: that of the constructor. Intervals of another coverage adapt
            from their first use on.
        """
        level = self.coverage if coverage is None else check_coverage(coverage)
        predicted = np.full((1, 2), self.regressor.predict_one(x), dtype=np.float64)
        low, high = self._rule.ends(level, self._row(x), predicted)[0].tolist()
        return conf.interval.Interval(low, high)

    def observed_coverage(self, coverage: float | None = None) -> float:
        """Return the share of targets that lay in their intervals so far; NaN before the first.

        Parameters
        ----------
        coverage : float, optional
            The nominal coverage. Default: that of the constructor.
        """
        return self._rule.interval.observed_coverage(
            self.coverage if coverage is None else coverage
        )
