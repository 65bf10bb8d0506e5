"""Outliers: distance from the true function if some training targets are outliers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from colk.estimators import COLKRegressor
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.tasks import Result

__all__ = ["TRACK"]

SHARES = {"no outliers": 0.0, "1 %": 0.01, "10 %": 0.1, "30 %": 0.3}
_N_TRAIN, _N_TEST = 1000, 2000


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


PEERS: dict[str, Callable[[], Any]] = {
    "colk": lambda: _scaled(COLKRegressor(random_state=0)),
    "SVR": lambda: _scaled(SVR()),
    "KernelRidge": lambda: _scaled(KernelRidge(kernel="rbf")),
    "HistGradientBoosting, squares": lambda: HistGradientBoostingRegressor(random_state=0),
    "HistGradientBoosting, absolute": lambda: HistGradientBoostingRegressor(
        loss="absolute_error", random_state=0
    ),
}


@guarded
def run(problem: str, peer: str, seed: int) -> Result:
    """Measure a peer if a share of the targets is moved by 5 to 15, up or down."""
    rng = np.random.default_rng([seed, 7])
    X = rng.uniform(-1.0, 1.0, size=(_N_TRAIN + _N_TEST, 3))
    truth = np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = truth + 0.1 * rng.normal(size=len(X))
    wild = rng.random(len(X)) < SHARES[problem]
    y[wild] += rng.choice([-1.0, 1.0], wild.sum()) * rng.uniform(5.0, 15.0, wild.sum())
    model = PEERS[peer]().fit(X[:_N_TRAIN], y[:_N_TRAIN])
    error = model.predict(X[_N_TRAIN:]) - truth[_N_TRAIN:]
    return measured(rmse=np.mean(error**2) ** 0.5)


def _cells(plan: BenchPlan) -> list[Cell]:
    return [cell(run, name, peer, s, 0.2) for name in SHARES for peer in PEERS for s in plan.seeds]


TRACK = Track(
    "outliers",
    "Outliers",
    "How far is the model from the true function if some targets are outliers?",
    (Measure("rmse", "Root mean squared distance from the true function, on new rows."),),
    _cells,
)
