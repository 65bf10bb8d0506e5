"""Scaling: elapsed time of fits and predictions as rows, features, atoms and threads grow."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from colk.estimators import COLKRegressor
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.bench.peers import absence
from colk_lab.tasks import Result

__all__ = ["TRACK"]

# SVR is left out above these numbers of rows, in a full and in a quick run. A quick run leaves out
# all problems above the first number.
_MANY, _MANY_QUICK = 20_000, 5000

# Rows, features, and settings of colk, which other peers use if they have the same setting.
PROBLEMS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "1,000 rows × 10": (1000, 10, {}),
    "10,000 rows × 10": (10_000, 10, {}),
    "100,000 rows × 10": (100_000, 10, {}),
    "10,000 rows × 100": (10_000, 100, {}),
    "10,000 rows × 10, 1,000 atoms": (10_000, 10, {"max_atoms": 1000}),
    "10,000 rows × 10, 1 thread": (10_000, 10, {"n_jobs": 1}),
}
PEERS: dict[str, Callable[..., Any]] = {
    "colk": lambda **settings: COLKRegressor(random_state=0, **settings),
    "HistGradientBoosting": lambda **settings: HistGradientBoostingRegressor(random_state=0),
    "Nystroem + ridge": lambda **settings: make_pipeline(
        Nystroem(gamma=0.3, n_components=settings.get("max_atoms", 400), random_state=0),
        Ridge(1e-3),
    ),
    "SVR": lambda **settings: SVR(),
}


def _faster_svr(**settings: Any) -> Any:
    from sklearnex import svm

    return svm.SVR()


if not absence("sklearnex"):
    PEERS["SVR of scikit-learn-intelex"] = _faster_svr


@guarded
def run(problem: str, peer: str, seed: int) -> Result:
    """Measure elapsed times; the problem may limit the number of threads."""
    n_rows, n_features, settings = PROBLEMS[problem]
    X, y = make_friedman1(n_rows + 2000, n_features=n_features, noise=1.0, random_state=seed)
    with threadpool_limits(settings.get("n_jobs")):
        start = time.perf_counter()
        model = PEERS[peer](**settings).fit(X[:n_rows], y[:n_rows])
        middle = time.perf_counter()
        error = model.predict(X[n_rows:]) - y[n_rows:]
        end = time.perf_counter()
    return measured(
        fit_time=middle - start,
        predict_time=1e6 * (end - middle) / len(error),
        rmse=np.mean(error**2) ** 0.5,
    )


def _cells(plan: BenchPlan) -> list[Cell]:
    found = []
    for name, (n_rows, _, _) in PROBLEMS.items():
        if plan.quick and n_rows > _MANY:
            continue
        for peer in PEERS:
            if not peer.startswith("SVR") or n_rows <= (_MANY_QUICK if plan.quick else _MANY):
                seconds = 5e-8 * n_rows**2 if peer.startswith("SVR") else 0.3 + n_rows / 4e4
                found.append(cell(run, name, peer, plan.seed, seconds))
    return found


TRACK = Track(
    "scaling",
    "Scaling",
    "How long does a fit take with more rows, features and atoms?",
    (
        Measure("fit time", "Elapsed seconds of a fit.", is_time=True),
        Measure("predict time", "Elapsed microseconds to predict one row.", is_time=True),
        Measure("rmse", "Root mean squared error on new rows; that of the noise is 1."),
    ),
    _cells,
    {
        "10,000 rows × 10, 1,000 atoms": "At most 1,000 atoms for colk and 1,000 components for "
        "Nystroem; the limit does not affect the other methods.",
        "10,000 rows × 10, 1 thread": "One thread for every method; in the other problems, each "
        "method uses its default number of threads.",
    },
    alone=True,
)
