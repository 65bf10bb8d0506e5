"""A year of bike rentals: each hour is forecast with an interval before it is learned."""

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import conf, forest, preprocessing, tree
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from colk import river as colk_river
from colk.data import load_bike_rentals
from colk_lab.arrays import Array
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_COVERAGE = 0.9
# A forecast, and the ends of its interval.
Forecast = tuple[float, float, float]


class Conformal:
    """colk with adaptive conformal intervals."""

    def __init__(self) -> None:
        model = preprocessing.StandardScaler() | colk_river.COLKRegressor()
        self.model = colk_river.ConformalRegressor(model, coverage=_COVERAGE)

    def forecast(self, x: dict[Any, Any]) -> Forecast:
        """Return a forecast and its interval."""
        found = self.model.predict_interval(x)
        return float(self.model.predict_one(x)), found.lower, found.upper

    def learn(self, x: dict[Any, Any], y: float) -> None:
        """Learn an hour."""
        self.model.learn_one(x, y)


class Jackknife:
    """A model of River with River's conformal intervals."""

    def __init__(self, model: Any) -> None:
        scaled = preprocessing.StandardScaler() | model
        self.model = conf.RegressionJackknife(scaled, confidence_level=_COVERAGE)

    def forecast(self, x: dict[Any, Any]) -> Forecast:
        """Return a forecast and its interval."""
        found = self.model.predict_one(x, with_interval=True)
        return self.model.predict_one(x), found.lower, found.upper

    def learn(self, x: dict[Any, Any], y: float) -> None:
        """Learn an hour."""
        self.model.learn_one(x, y)


class Refitted:
    """A batch model that is fitted again to all hours so far, every few weeks.

    The half-width of the interval is the quantile of the absolute errors so far. Before the first
    fit, the forecast is the mean of the hours so far.
    """

    def __init__(self, model: Any, weeks: int) -> None:
        self.period = 168 * weeks
        self.model, self.X, self.y = model, list[list[float]](), list[float]()
        self.errors, self.spread = list[float](), 0.0
        self.value = 0.0

    def forecast(self, x: dict[Any, Any]) -> Forecast:
        """Return a forecast and its interval."""
        if len(self.y) >= self.period:
            self.value = float(self.model.predict([list(x.values())])[0])
        elif self.y:
            self.value = float(np.mean(self.y))
        return self.value, self.value - self.spread, self.value + self.spread

    def learn(self, x: dict[Any, Any], y: float) -> None:
        """Keep an hour; fit the model to all hours at the end of a period."""
        self.X.append(list(x.values()))
        self.y.append(y)
        self.errors.append(abs(y - self.value))
        if len(self.y) % self.period == 0:
            self.model.fit(np.array(self.X), np.array(self.y))
            self.spread = float(np.quantile(self.errors, _COVERAGE))


def _support_vectors() -> Refitted:
    scaled = TransformedTargetRegressor(SVR(C=10.0), transformer=StandardScaler())
    return Refitted(make_pipeline(StandardScaler(), scaled), weeks=1)


PEERS: dict[str, tuple[Callable[[], Any], float]] = {
    "colk": (Conformal, 2.0),
    "HistGradientBoosting, fitted weekly": (
        lambda: Refitted(HistGradientBoostingRegressor(random_state=0), weeks=1),
        30.0,
    ),
    "SVR, fitted weekly": (_support_vectors, 70.0),
    "ARF": (lambda: Jackknife(forest.ARFRegressor(seed=1)), 25.0),
    "HoeffdingAdaptiveTree": (lambda: Jackknife(tree.HoeffdingAdaptiveTreeRegressor(seed=1)), 2.0),
}  # peer: model, approximate processor seconds


def _summary(found: Array, y: Array) -> dict[str, float]:
    value, low, high = found.T
    return {
        "mae": float(np.abs(value - y).mean()),
        "coverage": 100.0 * float(((low <= y) & (y <= high)).mean()),
        "width": float(np.median(high - low)),
    }


@guarded
def run(problem: str, peer: str, seed: int, size: int) -> Result:
    """Forecast and then learn each hour."""
    samples, model = load_bike_rentals()[:size], PEERS[peer][0]()
    found, start = [], time.process_time()
    for x, y in samples:
        found.append(model.forecast(x))
        model.learn(x, y)
    spent = time.process_time() - start
    return measured(
        **_summary(np.array(found), np.array([y for _, y in samples])),
        time=1e6 * spent / size,
        bytes=len(pickle.dumps(model)),
    )


def _cells(plan: BenchPlan) -> list[Cell]:
    size = 1500 if plan.quick else 8645
    return [
        cell(run, f"{size:,} hours", peer, plan.seed, seconds * size / 8645, size=size)
        for peer, (_, seconds) in PEERS.items()
    ]


TRACK = Track(
    "bike",
    "A year of bike rentals",
    "How good is the forecast of each hour, with its interval, and what does it cost?",
    (
        Measure("mae", "Mean absolute error of the forecasts, in rentals."),
        Measure("coverage", "Hours per 100 inside their interval.", better="aim", aim=90.0),
        Measure("width", "Median width of the intervals, in rentals."),
        Measure("time", "Processor microseconds to forecast and learn one hour.", is_time=True),
        Measure("bytes", "Size in bytes of everything that is kept for further learning."),
    ),
    _cells,
    {"8,645 hours": "Hours of 2011 in Washington. Settings of colk were compared on these data."},
)
