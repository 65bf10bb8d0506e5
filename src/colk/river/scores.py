"""Scores of quantiles and intervals, as metrics for River."""

import math
from collections.abc import Mapping
from typing import Any

from river import metrics

from colk.conformal.levels import check_coverage
from colk.conformal.scores import interval_score, quantile_crps
from colk.losses import Pinball

__all__ = [
    "CRPS",
    "InfiniteShare",
    "IntervalCoverage",
    "IntervalScore",
    "LongestMissRun",
    "PinballLoss",
]


class _MeanScore(metrics.base.RegressionMetric):
    """A metric that is the weighted mean of a score."""

    _total = 0.0
    _weight = 0.0

    def _score(self, y_true: float, y_pred: Any) -> float:
        raise NotImplementedError

    def update(self, y_true: float, y_pred: Any, w: float = 1.0) -> None:
        """Add a prediction."""
        self._total += w * self._score(y_true, y_pred)
        self._weight += w

    def revert(self, y_true: float, y_pred: Any, w: float = 1.0) -> None:
        """Remove a prediction."""
        self._total -= w * self._score(y_true, y_pred)
        self._weight -= w

    def get(self) -> float:
        """Return the mean score; 0 before the first prediction."""
        return self._total / self._weight if self._weight > 0.0 else 0.0

    @property
    def bigger_is_better(self) -> bool:
        """Return False, because a smaller score is better."""
        return False


class PinballLoss(_MeanScore):
    """Mean pinball loss of a quantile.

    Parameters
    ----------
    quantile : float, default=0.5
        The level. A prediction is a number, or a dict from levels to numbers that has this level.

    Examples
    --------
    >>> from colk.river import PinballLoss
    >>> metric = PinballLoss(0.9)
    >>> metric.update(y_true=1.0, y_pred=0.0)
    >>> metric.get()
    0.9
    """

    def __init__(self, quantile: float = 0.5) -> None:
        self.quantile = quantile
        self._loss = Pinball(quantile)

    def _score(self, y_true: float, y_pred: Any) -> float:
        value = y_pred[self.quantile] if isinstance(y_pred, Mapping) else y_pred
        return float(self._loss.value([float(value)], [float(y_true)])[0])


class IntervalScore(_MeanScore):
    """Mean interval score, see `colk.conformal.interval_score`.

    Parameters
    ----------
    coverage : float, default=0.9
        Nominal coverage. A prediction is a `river.conf.Interval`, as `predict_interval` returns it;
        a number counts as an interval of width 0.

    Examples
    --------
    >>> from river import conf
    >>> from colk.river import IntervalScore
    >>> metric = IntervalScore(coverage=0.5)
    >>> metric.update(y_true=3.0, y_pred=conf.interval.Interval(0.0, 2.0))
    >>> metric.get()
    6.0
    """

    def __init__(self, coverage: float = 0.9) -> None:
        self.coverage = check_coverage(coverage)

    def _score(self, y_true: float, y_pred: Any) -> float:
        low, high = getattr(y_pred, "lower", y_pred), getattr(y_pred, "upper", y_pred)
        return interval_score([float(y_true)], [low], [high], self.coverage)


class IntervalCoverage(_MeanScore):
    """Share of targets inside their intervals.

    A prediction is a `river.conf.Interval`, as `predict_interval` returns it.

    Examples
    --------
    >>> from river import conf
    >>> from colk.river import IntervalCoverage
    >>> metric = IntervalCoverage()
    >>> metric.update(y_true=3.0, y_pred=conf.interval.Interval(0.0, 2.0))
    >>> metric.update(y_true=1.0, y_pred=conf.interval.Interval(0.0, 2.0))
    >>> metric.get()
    0.5
    """

    def _score(self, y_true: float, y_pred: Any) -> float:
        return float(y_true in y_pred)

    @property
    def bigger_is_better(self) -> bool:
        """Return True; a coverage above the nominal one is no merit."""
        return True


class InfiniteShare(_MeanScore):
    """Share of intervals with an infinite end.

    A prediction is a `river.conf.Interval`, as `predict_interval` returns it.

    Examples
    --------
    >>> from river import conf
    >>> from colk.river import InfiniteShare
    >>> metric = InfiniteShare()
    >>> metric.update(y_true=3.0, y_pred=conf.interval.Interval(0.0, float("inf")))
    >>> metric.get()
    1.0
    """

    def _score(self, y_true: float, y_pred: Any) -> float:
        return float(math.isinf(y_pred.lower) or math.isinf(y_pred.upper))


class LongestMissRun(metrics.base.RegressionMetric):
    """Largest number of consecutive targets outside their intervals.

    A prediction is a `river.conf.Interval`, as `predict_interval` returns it.

    Examples
    --------
    >>> from river import conf
    >>> from colk.river import LongestMissRun
    >>> metric = LongestMissRun()
    >>> for y in (3.0, 1.0, 3.0, 4.0):
    ...     metric.update(y_true=y, y_pred=conf.interval.Interval(0.0, 2.0))
    >>> metric.get()
    2.0
    """

    _longest, _run = 0, 0

    def update(self, y_true: float, y_pred: Any, w: float = 1.0) -> None:
        """Add a prediction."""
        self._run = 0 if y_true in y_pred else self._run + 1
        self._longest = max(self._longest, self._run)

    def revert(self, y_true: float, y_pred: Any, w: float = 1.0) -> None:
        """Raise an error, because runs do not show what was before them."""
        raise NotImplementedError("LongestMissRun cannot remove a prediction")

    def get(self) -> float:
        """Return the length of the longest run."""
        return float(self._longest)

    @property
    def bigger_is_better(self) -> bool:
        """Return False, because shorter runs are better."""
        return False


class CRPS(_MeanScore):
    """Mean continuous ranked probability score of quantiles, see `colk.conformal.quantile_crps`.

    A prediction is a dict from levels to numbers, as `COLKQuantileRegressor.predict_quantiles`
    returns it; a number counts as the median.

    Examples
    --------
    >>> from colk.river import CRPS
    >>> metric = CRPS()
    >>> metric.update(y_true=1.0, y_pred={0.25: 0.0, 0.75: 1.0})
    >>> metric.get()
    0.25
    """

    def _score(self, y_true: float, y_pred: Any) -> float:
        known = y_pred if isinstance(y_pred, Mapping) else {0.5: y_pred}
        levels = sorted(known)
        values = [[float(known[level]) for level in levels]]
        return quantile_crps([float(y_true)], values, levels)
