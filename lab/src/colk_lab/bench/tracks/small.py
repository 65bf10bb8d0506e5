"""Small models: error against the number of points in a model, with outliers."""

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.svm import SVR

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, NewtonCOLK
from colk.losses import Huber
from colk.schedules import PolyakRuppert, PowerDecay
from colk_lab.arrays import Array
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_N, _BANDWIDTH = 24_000, 0.06
# A fitted model, and the number of its points.
Fitted = tuple[Any, float]


def _newton(X: Array, y: Array) -> Fitted:
    """Fit NewtonCOLK, whose prior and eps were chosen on other seeds."""
    learner = NewtonCOLK(Gaussian(_BANDWIDTH), Huber(0.25), prior=0.05, compressor=KOMP(eps=0.1))
    return learner.learn(X, y), learner.n_atoms


def _gradient(X: Array, y: Array) -> Fitted:
    """Fit COLK. Steps were chosen on other seeds, loss and range of steps on seeds 0 to 3."""
    learner = COLK(
        Gaussian(_BANDWIDTH),
        Huber(0.25),
        step_size=PowerDecay(2.0, power=0.6, scale=1000.0),
        regularization=3e-5,
        compressor=KOMP(eps=1e-3),
        averaging=PolyakRuppert(growth=0.5),
    )
    return learner.learn(X, y), learner.n_atoms


def _support_vectors(X: Array, y: Array) -> Fitted:
    model = SVR(gamma=1.0 / (2.0 * _BANDWIDTH**2), C=1.0, epsilon=0.1, cache_size=1000).fit(X, y)
    return model, len(model.support_)


def _boosting(X: Array, y: Array) -> Fitted:
    model = HistGradientBoostingRegressor(loss="absolute_error", random_state=0).fit(X, y)
    return model, float("nan")


PEERS: dict[str, tuple[Callable[[Array, Array], Fitted], float]] = {
    "colk": (_newton, 0.1),
    "colk, gradient steps": (_gradient, 0.1),
    "SVR": (_support_vectors, 20.0),
    "HistGradientBoosting, absolute": (_boosting, 0.5),
}  # peer: fit, approximate processor seconds


def _truth(x: Array) -> Array:
    return np.asarray(2.0 * x + 3.0 * np.sin(6.0 * x))


@guarded
def run(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure the distance from the true function on a grid."""
    rng = np.random.default_rng(seed)
    X = rng.random((size, 1))
    noise = rng.normal(size=size) * np.where(rng.random(size) < 0.1, 3.0, 0.2)
    start = time.process_time()
    model, n_points = PEERS[peer][0](X, _truth(X[:, 0]) + noise)
    spent = time.process_time() - start
    grid = np.linspace(0.0, 1.0, 2001)
    error = model.predict(grid[:, None]) - _truth(grid)
    return measured(
        mse=np.mean(error**2),
        points=n_points,
        time=1e6 * spent / size,
        bytes=len(pickle.dumps(model)),
    )


def _cells(plan: BenchPlan) -> list[Cell]:
    size = plan.rows(_N)
    return [
        cell(run, f"{size:,} samples", peer, seed, seconds * (size / _N) ** 2, size=size)
        for peer, (_, seconds) in PEERS.items()
        for seed in plan.seeds
    ]


TRACK = Track(
    "small",
    "Small models",
    "How many points does a model need if a tenth of the samples has large noise?",
    (
        Measure("mse", "Mean squared distance from the true function."),
        Measure("points", "Number of atoms or support vectors."),
        Measure("time", "Processor microseconds to learn one sample.", is_time=True),
        Measure("bytes", "Size of the pickled model in bytes."),
    ),
    _cells,
    {
        "24,000 samples": "colk makes one pass. SVR has the same bandwidth. Settings of colk were "
        "chosen on other samples."
    },
)
