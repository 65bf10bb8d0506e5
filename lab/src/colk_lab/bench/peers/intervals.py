"""Methods that give intervals for the rows of a data frame."""

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from colk import ConformalRegressor
from colk.estimators import COLKQuantileRegressor, COLKRegressor
from colk_lab.arrays import Array
from colk_lab.bench.peers.base import Peer, present
from colk_lab.bench.peers.encoding import numbers

__all__ = ["INTERVAL_PEERS"]


class IntervalPeer(Peer):
    """A method that gives intervals at its defaults."""

    # Approximate processor seconds of a fit to 1000 rows of 10 columns.
    seconds = 1.0

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        """Fit rows, and return the ends of the intervals of new rows, of shape (n, 2)."""
        raise NotImplementedError


class QuantileEnds(IntervalPeer):
    """colk's quantile regression."""

    name = "colk"
    uses_package = True

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        tail = 0.5 * (1.0 - coverage)
        model = COLKQuantileRegressor(quantiles=(tail, 1.0 - tail), random_state=0).fit(X, y)
        return np.asarray(model.predict(X_new))


class ConformalEnds(IntervalPeer):
    """colk's conformal intervals around its regression."""

    name = "colk, conformal"
    uses_package = True

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        model = ConformalRegressor(COLKRegressor(random_state=0), coverage=coverage).fit(X, y)
        return np.asarray(model.predict_interval(X_new))


class QuantilePair(IntervalPeer):
    """Two models of scikit-learn's gradient boosting, one for each end."""

    name = "HistGradientBoosting, two quantiles"

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        tail = 0.5 * (1.0 - coverage)
        models = [
            HistGradientBoostingRegressor(
                loss="quantile",
                quantile=level,
                categorical_features="from_dtype",
                random_state=0,
            )
            for level in (tail, 1.0 - tail)
        ]
        return np.column_stack([model.fit(X, y).predict(X_new) for model in models])


class MapieSplit(IntervalPeer):
    """MAPIE's split conformal intervals: four fifths of the rows fit, the others calibrate."""

    name = "MAPIE around HistGradientBoosting"
    needs = "mapie"
    seconds = 0.5

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        from mapie.regression import SplitConformalRegressor

        # MAPIE tries the model on numbers, so it gets no data frames.
        columns, n = numbers(X), int(0.8 * len(X))
        rows = columns.fit_transform(X)
        fitted = HistGradientBoostingRegressor(random_state=0).fit(rows[:n], y[:n])
        model = SplitConformalRegressor(fitted, confidence_level=coverage, prefit=True)
        model.conformalize(rows[n:], y[n:])
        ends: Array = model.predict_interval(columns.transform(X_new))[1][:, :, 0]
        return ends


class NaturalBoosting(IntervalPeer):
    """NGBoost, which boosts the mean and the spread of a normal distribution."""

    name = "NGBoost"
    needs = "ngboost"
    seconds = 6.5

    def intervals(self, X: Any, y: Array, X_new: Any, coverage: float) -> Array:
        from ngboost import NGBRegressor

        columns = numbers(X)
        model = NGBRegressor(verbose=False, random_state=0)
        model.fit(columns.fit_transform(X), y)
        normal = model.pred_dist(columns.transform(X_new))
        return np.column_stack(normal.dist.interval(coverage))


INTERVAL_PEERS: dict[str, IntervalPeer] = present(
    [QuantileEnds(), ConformalEnds(), QuantilePair(), MapieSplit(), NaturalBoosting()]
)
