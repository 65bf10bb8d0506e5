"""Memory: size of a model and of its process while a long stream is learned."""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor

from colk.estimators import COLKRegressor
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_SAMPLES, _QUICK, _BATCH = 10_000_000, 500_000, 10_000

PEERS: dict[str, Callable[[], Any]] = {
    "colk": lambda: COLKRegressor(kernel="laplacian", max_atoms=50, random_state=0),
    "SGDRegressor": lambda: SGDRegressor(random_state=0),
    "MLP": lambda: MLPRegressor(hidden_layer_sizes=(50,), random_state=0),
}
# Approximate processor seconds per sample.
_COST = {"colk": 7e-7, "SGDRegressor": 2e-7, "MLP": 2.3e-6}


def _resident() -> float:
    """Return the resident memory of this process in megabytes; nan if it is not Linux."""
    if not sys.platform.startswith("linux"):
        return float("nan")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


@guarded
def run(problem: str, peer: str, seed: int, size: int) -> Result:
    """Learn a stream in batches; compare the model and the process early and at the end."""
    model, rng = PEERS[peer](), np.random.default_rng(seed)
    early = size // 10
    for first in range(0, size, _BATCH):
        X = rng.uniform(-1.0, 1.0, size=(_BATCH, 4))
        model.partial_fit(X, np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=_BATCH))
        if first == early:
            before = _resident()
    X = rng.uniform(-1.0, 1.0, size=(_BATCH, 4))
    error = model.predict(X) - np.sin(3.0 * X[:, 0]) - X[:, 1]
    return measured(
        growth=_resident() - before,
        bytes=len(pickle.dumps(model)),
        rmse=np.mean(error**2) ** 0.5,
    )


def _cells(plan: BenchPlan) -> list[Cell]:
    size = _QUICK if plan.quick else _SAMPLES
    name = f"{size:,} samples"
    return [cell(run, name, peer, plan.seed, _COST[peer] * size, size=size) for peer in PEERS]


TRACK = Track(
    "memory",
    "Memory over a long stream",
    "Does a model grow while it learns, and is it still accurate at the end?",
    (
        Measure("rmse", "Root mean squared distance from the true function at the end."),
        Measure(
            "growth",
            "Growth of the process in megabytes after the first tenth of the stream.",
            is_memory=True,
        ),
        Measure("bytes", "Size of the pickled model in bytes."),
    ),
    _cells,
)
