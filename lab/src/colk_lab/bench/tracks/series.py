"""Series of numbers: the next value is forecast from the values so far."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from river import datasets

from colk.data import load_bike_rentals
from colk_lab.arrays import Array
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.bench.peers import absence
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.tasks import Result

__all__ = ["TRACK"]


def _of_river(name: str) -> Callable[[], Array]:
    return lambda: np.array([float(y) for _, y in getattr(datasets, name)()])


def _bikes() -> Array:
    return np.array([y for _, y in load_bike_rentals()[:1500]])


# Series, and the length of their season.
SERIES: dict[str, tuple[Callable[[], Array], int]] = {
    "AirlinePassengers": (_of_river("AirlinePassengers"), 12),
    "WaterFlow": (_of_river("WaterFlow"), 24),
    "TrumpApproval": (_of_river("TrumpApproval"), 7),
    "bike rentals": (_bikes, 24),
}


def _follow(name: str) -> Callable[[Array, int, int], list[float]]:
    """Give a model for streams the latest values: one season and one more."""

    def forecast(y: Array, start: int, season: int) -> list[float]:
        model, found = STREAM_PEERS[name].model(is_classifier=False), []
        for k in range(season + 1, len(y)):
            x = {f"lag {j}": float(y[k - j]) for j in range(1, season + 2)}
            if k >= start:
                found.append(float(model.predict_one(x)))
            model.learn_one(x, float(y[k]))
        return found

    return forecast


def _last(y: Array, start: int, season: int) -> list[float]:
    return [float(value) for value in y[start - 1 : -1]]


def _season(y: Array, start: int, season: int) -> list[float]:
    return [float(value) for value in y[start - season : len(y) - season]]


def _automatic(name: str) -> Callable[[Array, int, int], list[float]]:
    """Fit a model of StatsForecast to the first two thirds, and update it with each value."""

    def forecast(y: Array, start: int, season: int) -> list[float]:
        from statsforecast import models

        model: Any = getattr(models, name)(season_length=season).fit(y[:start])
        return [float(model.forward(y=y[:k], h=1)["mean"][0]) for k in range(start, len(y))]

    return forecast


PEERS: dict[str, tuple[Callable[[Array, int, int], list[float]], float]] = {
    "colk": (_follow("colk"), 0.5),
    "linear": (_follow("linear"), 0.2),
    "last value": (_last, 0.0),
    "last season": (_season, 0.0),
}  # peer: forecasts, approximate processor seconds
if not absence("statsforecast"):
    PEERS |= {"AutoARIMA": (_automatic("AutoARIMA"), 8.0), "Theta": (_automatic("AutoTheta"), 0.5)}


@guarded
def run(problem: str, peer: str, seed: int) -> Result:
    """Measure the forecasts of the last third of a series."""
    read, season = SERIES[problem]
    y = read()
    start = 2 * len(y) // 3
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PEERS[peer][0](y, start, season)
    spent = time.process_time() - begun
    naive = np.abs(np.diff(y[:start])).mean()
    return measured(error=np.abs(found - y[start:]).mean() / naive, time=1e6 * spent / len(y))


def _cells(plan: BenchPlan) -> list[Cell]:
    return [
        cell(run, problem, peer, plan.seed, seconds, peer in ("colk", "linear"))
        for problem in SERIES
        for peer, (_, seconds) in PEERS.items()
        if not plan.quick or seconds < 1.0
    ]


TRACK = Track(
    "series",
    "Series",
    "How good are forecasts of the next value?",
    (
        Measure(
            "error",
            "Mean absolute error on the last third, divided by the mean absolute change in the "
            "first two thirds.",
        ),
        Measure("time", "Processor microseconds per value, for all fits.", is_time=True),
    ),
    _cells,
    {
        name: f"Season of {season}. colk and the linear model get the latest {season + 1} values, "
        "and learn each value after its forecast."
        for name, (_, season) in SERIES.items()
    },
    parts=dict.fromkeys(SERIES, "development"),
)
