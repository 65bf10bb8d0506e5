"""Prediction intervals for River's regressors."""

from collections.abc import Hashable, Iterator
from numbers import Real
from typing import Any

import numpy as np
from river import base, compose, conf

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._validation import Array, check_number
from colk.conformal import AdaptiveInterval, ResidualQuantiles
from colk.conformal.adaptive import check_coverage
from colk.errors import FileFormatError
from colk.learners import DriftEvent
from colk.river.features import Features
from colk.river.regressor import COLKRegressor

__all__ = ["ConformalRegressor"]


@stored.stores(
    regressor=stored.Object(base.Regressor),
    coverage=stored.Number(),
    interval=stored.Object(AdaptiveInterval),
    local=stored.Optional(stored.Object(ResidualQuantiles)),
    names=stored.ListOf(stored.Anything(), size="n_names"),
    has_learned=stored.Flag(),
)
class ConformalRegressor(Guarded, base.Wrapper, base.Regressor):  # type: ignore[type-arg,unused-ignore]
    """Prediction intervals that keep their coverage on any stream.

    The class applies adaptive conformal inference to the predictions of any regressor or pipeline
    of River. `colk.conformal.AdaptiveInterval` states the guarantee.

    Parameters
    ----------
    regressor : river.base.Regressor
        The regressor or pipeline that predicts.
    coverage : float, default=0.9
        Nominal coverage.
    rate : float, default=0.01
        Step size of the adaptation. Raise it to recover sooner from a jump.
    window : int, default=500
        Number of recent residuals that determine the width.
    local : bool, default=False
        Whether the width depends on the features that are numbers in the first sample, as in
        `colk.conformal.ConformalRegressor`. Set it if the noise depends on the features.

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

    _changing = ("_interval", "_local", "regressor")

    def __init__(
        self,
        regressor: Any,
        coverage: float = 0.9,
        rate: float = 0.01,
        window: int = 500,
        local: bool = False,
    ) -> None:
        self.regressor = regressor
        self.coverage = check_coverage(coverage)
        self.rate = rate
        self.window = window
        self.local = local
        self._local = ResidualQuantiles(self.coverage) if local else None
        self._names: list[Hashable] = []
        self._interval = AdaptiveInterval(rate, window)
        self._interval.follow(self.coverage)
        self._has_learned = False

    def _to_file(self) -> dict[str, Any]:
        return {
            "regressor": self.regressor,
            "coverage": self.coverage,
            "interval": self._interval,
            "local": self._local,
            "names": self._names,
            "has_learned": self._has_learned,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ConformalRegressor":
        interval, local = values["interval"], values["local"]
        model = cls(
            values["regressor"],
            values["coverage"],
            interval.rate,
            interval.window,
            local is not None,
        )
        if model.coverage not in interval.coverages:
            raise FileFormatError(f"no intervals of coverage {model.coverage} are stored")
        model._interval, model._has_learned = interval, values["has_learned"]
        model._local, model._names = local, values["names"]
        if local is not None and local.n_features != len(values["names"]):
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
            residual = target - self.regressor.predict_one(x) if self._has_learned else None
            self.regressor.learn_one(x, y, **settings)
            self._has_learned = True
            if residual is not None:
                low, high = self._shifts(x)
                self._interval.update([residual - low], [residual - high])
                self._learn_width(x, residual)

    def _learn_width(self, x: Features, residual: float) -> None:
        """Learn the quantiles of the residuals; the first sample names their features."""
        if self._local is None:
            return
        if not self._names:
            numbers = (name for name, value in x.items() if isinstance(value, Real))
            self._names = sorted(numbers, key=str)
        if self._names:
            self._local.update(self._row(x), np.array([residual]))

    def _row(self, x: Features) -> Array:
        """Return the features that determine the width, with NaN for gaps."""
        values = (x.get(name) for name in self._names)
        return np.array([[float(v) if isinstance(v, Real) else np.nan for v in values]])

    def _shifts(self, x: Features) -> tuple[float, float]:
        """Return the residual quantiles at x, which are added to the two ends."""
        if self._local is None or not self._names:
            return 0.0, 0.0
        low, high = self._local.predict(self._row(x))[0].tolist()
        return low, high

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
        """Return the interval of one sample, infinite until 2/(1 − coverage) samples are known.

        Parameters
        ----------
        x : dict
            Features.
        coverage : float, optional
            Nominal coverage. Default: that of the constructor. Intervals of another coverage adapt
            from their first use on.
        """
        level = self.coverage if coverage is None else check_coverage(coverage)
        low, high = self._interval.reach(level)
        centre, shifts = self.regressor.predict_one(x), self._shifts(x)
        return conf.interval.Interval(centre + shifts[0] + low, centre + shifts[1] + high)

    def observed_coverage(self, coverage: float | None = None) -> float:
        """Return the share of targets that lay in their intervals so far; NaN before the first.

        Parameters
        ----------
        coverage : float, optional
            The nominal coverage. Default: that of the constructor.
        """
        return self._interval.observed_coverage(self.coverage if coverage is None else coverage)
