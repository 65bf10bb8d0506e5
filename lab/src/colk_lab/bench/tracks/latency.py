"""Latency: elapsed time to learn and to predict a single sample."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.bench.stream_problems import friedman
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_WARM = 1000


def _median(call: Callable[[Any], object], arguments: list[Any], chunk: int = 100) -> float:
    """Return the median microseconds of a call, over chunks."""
    times = []
    for first in range(0, len(arguments), chunk):
        part = arguments[first : first + chunk]
        start = time.perf_counter()
        for argument in part:
            call(argument)
        times.append((time.perf_counter() - start) / len(part))
    return 1e6 * float(np.median(times))


@guarded
def run(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure a peer after 1000 samples."""
    samples, model = list(friedman(_WARM + size, seed)), STREAM_PEERS[peer].model(False)
    for x, y in samples[:_WARM]:
        model.learn_one(x, y)
    rest = samples[_WARM:]
    return measured(
        learn_one=_median(lambda sample: model.learn_one(*sample), rest),
        predict_one=_median(model.predict_one, [x for x, _ in rest]),
    )


def _cells(plan: BenchPlan) -> list[Cell]:
    size = plan.rows(2000)
    seconds = 1e-3 * (size + _WARM)
    return [
        cell(run, "10 features", name, plan.seed, seconds * peer.cost, peer.uses_package, size=size)
        for name, peer in STREAM_PEERS.items()
        if name != "no change"
    ]


TRACK = Track(
    "latency",
    "One sample",
    "How many microseconds does one sample take, after 1,000 samples?",
    (
        Measure("learn one", "Elapsed microseconds of learn_one, with the scaler.", is_time=True),
        Measure("predict one", "Elapsed microseconds of predict_one.", is_time=True),
    ),
    _cells,
    alone=True,
)
