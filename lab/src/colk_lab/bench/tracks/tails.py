"""Tails: the mean of the worst tenth of errors on new rows, under several objectives."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from colk.estimators import COLKRegressor
from colk.risks import CVaR
from colk_lab.arrays import Array
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_TAIL = 0.1
_N_TRAIN, _N_TEST = 1500, 4000


def _signal(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2]


def _normal(X: Array, rng: np.random.Generator) -> Array:
    return 0.5 * rng.normal(size=len(X))


def _skewed(X: Array, rng: np.random.Generator) -> Array:
    return np.asarray((1.2 + X[:, 0]) * rng.exponential(size=len(X)))


def _delays(X: Array, rng: np.random.Generator) -> Array:
    late = rng.uniform(size=len(X)) < 0.15
    return np.asarray(0.2 * rng.normal(size=len(X)) + late * rng.uniform(1.0, 2.0, size=len(X)))


NOISES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "normal noise": _normal,
    "skewed noise": _skewed,
    "delays": _delays,
}


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


PEERS: dict[str, Callable[[], Any]] = {
    "colk": lambda: _scaled(COLKRegressor(risk=CVaR(_TAIL), random_state=0)),
    "colk, mean loss": lambda: _scaled(COLKRegressor(random_state=0)),
    "HistGradientBoosting, squares": lambda: HistGradientBoostingRegressor(random_state=0),
    "HistGradientBoosting, quantile .9": lambda: HistGradientBoostingRegressor(
        loss="quantile", quantile=1.0 - _TAIL, random_state=0
    ),
    "SVR": lambda: _scaled(SVR()),
}


@guarded
def run(problem: str, peer: str, seed: int) -> Result:
    """Measure a peer under one kind of noise."""
    rng = np.random.default_rng([seed, *problem.encode()])
    X, mean = _signal(_N_TRAIN + _N_TEST, rng)
    y = mean + NOISES[problem](X, rng)
    model = PEERS[peer]().fit(X[:_N_TRAIN], y[:_N_TRAIN])
    error = np.sort(np.abs(model.predict(X[_N_TRAIN:]) - y[_N_TRAIN:]))
    return measured(tail=error[-int(_TAIL * _N_TEST) :].mean(), mae=error.mean())


def _cells(plan: BenchPlan) -> list[Cell]:
    return [
        cell(run, noise, peer, s, 0.4) for noise in NOISES for peer in PEERS for s in plan.seeds
    ]


TRACK = Track(
    "tails",
    "Tails",
    "How large are the worst errors on new rows, if the objective is a small tail?",
    (
        Measure("tail", "Mean of the worst tenth of absolute errors on new rows."),
        Measure("mae", "Mean absolute error on new rows."),
    ),
    _cells,
    {"normal noise": "The model of the mean has the smallest tail, so nothing can be gained."},
)
