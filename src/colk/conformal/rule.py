"""The rule behind the intervals of a model: the offsets of its predictions, and their mixture."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.conformal.adaptive import AdaptiveInterval
from colk.conformal.levels import check_coverage
from colk.conformal.local import LocalQuantiles
from colk.conformal.series import SERIES_VIEWS, ErrorForecast
from colk.conformal.tracked import TrackedInterval
from colk.errors import FileFormatError

__all__ = ["IntervalRule"]


@stored.stores(
    coverage=stored.Number(),
    interval=stored.Object(AdaptiveInterval, TrackedInterval),
    local=stored.Optional(stored.Object(LocalQuantiles)),
    series=stored.Optional(stored.Object(ErrorForecast)),
)
class IntervalRule:
    """Intervals around predicted ends, from the errors of earlier predictions.

    Parameters
    ----------
    coverage : float
        Nominal coverage.
    local : bool
        Whether the ends depend on the points, by `LocalQuantiles`.
    series : bool
        Whether past errors predict the next ones, by `ErrorForecast`.
    adaptive : AdaptiveInterval, optional
        Settings of adaptive conformal inference. Default: `TrackedInterval`.

    Examples
    --------
    >>> import numpy as np
    >>> rule = IntervalRule(0.9)
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> rule.learn(np.zeros((500, 0)), np.zeros((500, 2)), y)
    >>> bool(np.ptp(rule.ends(0.9, np.zeros((1, 0)), np.zeros((1, 2)))) < 4.0)
    True
    """

    def __init__(
        self,
        coverage: float,
        local: bool = False,
        series: bool = False,
        adaptive: AdaptiveInterval | None = None,
    ) -> None:
        self.coverage = check_coverage(coverage)
        if adaptive is not None and not isinstance(adaptive, AdaptiveInterval):
            raise TypeError(
                f"rule must be None or an AdaptiveInterval, got {type(adaptive).__name__}"
            )
        if adaptive is not None and (local or series):
            raise ValueError("an AdaptiveInterval has neither local nor series: use rule=None")
        self.local = LocalQuantiles(self.coverage) if local else None
        self.series = ErrorForecast() if series else None
        self.interval: AdaptiveInterval | TrackedInterval
        if adaptive is None:
            self.interval = TrackedInterval(self._n_views)
        else:
            self.interval = AdaptiveInterval(adaptive.rate, adaptive.window)
        self.interval.follow(self.coverage)

    @property
    def _n_views(self) -> int:
        """Number of predictions of each end."""
        local = 0 if self.local is None else self.local.n_views
        return max(local + SERIES_VIEWS * (self.series is not None), 1)

    @property
    def adaptive(self) -> AdaptiveInterval | None:
        """The settings of adaptive conformal inference, if it is the rule."""
        return self.interval if isinstance(self.interval, AdaptiveInterval) else None

    def _to_file(self) -> dict[str, Any]:
        return {
            "coverage": self.coverage, "interval": self.interval, "local": self.local,
            "series": self.series,
        }  # fmt: skip

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "IntervalRule":
        local, series, interval = values["local"], values["series"], values["interval"]
        adaptive = interval if isinstance(interval, AdaptiveInterval) else None
        try:
            rule = cls(values["coverage"], local is not None, series is not None, adaptive)
        except ValueError as error:
            raise FileFormatError(str(error)) from error
        if local is not None and local.coverage != rule.coverage:
            raise FileFormatError("the quantiles of the residuals have another coverage")
        if rule.coverage not in interval.coverages:
            raise FileFormatError(f"no intervals of coverage {rule.coverage} are stored")
        rule.local, rule.series, rule.interval = local, series, interval
        if adaptive is None and interval.n_views != rule._n_views:
            raise FileFormatError("the intervals have another number of views than their rule")
        return rule

    def _views(self, points: Array, predicted: Array) -> Array:
        """Return the predicted ends of each view, of shape (n, views, 2)."""
        offsets = []
        if self.local is not None:
            offsets.append(self.local.predict(self._features(points, predicted)))
        if self.series is not None:
            offsets.append(np.repeat(self.series.predict(len(points))[:, :, None], 2, axis=2))
        if not offsets:
            return predicted[:, None]
        return np.asarray(predicted[:, None] + np.concatenate(offsets, axis=1))

    def _features(self, points: Array, predicted: Array) -> Array:
        return points if self.local is None else self.local.features(points, predicted)

    def ends(self, coverage: float, points: Array, predicted: Array) -> Array:
        """Return the ends of intervals of any nominal coverage, of shape (n, 2).

        With `series`, row i is taken for the i-th sample after the last one that was learned.

        Parameters
        ----------
        coverage : float
            Nominal coverage.
        points : array of shape (n, p)
            The points; only their number matters if not `local`.
        predicted : array of shape (n, 2)
            The predicted ends; equal if the model predicts a point.
        """
        views = self._views(points, predicted)
        return self.interval.ends(coverage, views[:, :, 0], views[:, :, 1])

    def learn(self, points: Array, predicted: Array, y: Array) -> None:
        """Update from a round of samples, whose intervals are those of `ends` before.

        Parameters
        ----------
        points, predicted : array
            As in `ends`.
        y : array of shape (n,)
            Targets.
        """
        residuals = y[:, None, None] - self._views(points, predicted)
        self.interval.update(residuals[:, :, 0], residuals[:, :, 1])
        self._learn_views(self._features(points, predicted), y - predicted.mean(axis=1))

    def _learn_views(self, points: Array, errors: Array) -> None:
        if self.local is not None:
            self.local.update(points, errors)
        if self.series is not None:
            self.series.update(errors)

    def calibrate(self, points: Array, predicted: Array, y: Array) -> None:
        """Start from samples that the model has not seen.

        With `local`, the quantiles of the residuals are fitted to all samples, and the quantiles
        without a sample calibrate it. With `series`, the samples are learned one by one in their
        order, as on a stream.

        Parameters
        ----------
        points, predicted, y : array
            As in `learn`; the model has not seen the samples.
        """
        if self.series is not None:
            for i in range(len(y)):
                self.learn(points[i : i + 1], predicted[i : i + 1], y[i : i + 1])
            return
        left = residuals = y[:, None] - predicted
        if self.local is not None:
            self.local = LocalQuantiles(self.coverage)
            left = residuals - self.local.fit(points, predicted, residuals)
            followed, self.interval = self.interval.coverages, TrackedInterval(self._n_views)
            for coverage in followed:
                self.interval.follow(coverage)
            left = np.repeat(left[:, None], self._n_views, axis=1)
        self.interval.calibrate(left[..., 0], left[..., 1])
