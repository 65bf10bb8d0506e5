"""Streams: each sample is predicted before it is learned."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, measured
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.bench.stream_problems import (
    CLASSIFICATION_STREAMS,
    REGRESSION_STREAMS,
    Sample,
    StreamProblem,
)
from colk_lab.tasks import Result

__all__ = ["CLASSIFICATION_TRACK", "REGRESSION_TRACK", "prequential"]

_TIME = Measure("time", "Processor microseconds to predict and learn one sample.", is_time=True)


def prequential(model: Any, samples: list[Sample]) -> tuple[list[Any], float]:
    """Predict and then learn each sample.

    Returns
    -------
    predictions : list
        Predictions before learning.
    microseconds : float
        Processor time per sample.
    """
    predictions, start = [], time.process_time()
    for x, y in samples:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    return predictions, 1e6 * (time.process_time() - start) / len(samples)


def run_regression(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure a peer on a stream of numbers."""
    samples = REGRESSION_STREAMS[problem].samples(seed, size)
    found, microseconds = prequential(STREAM_PEERS[peer].model(is_classifier=False), samples)
    predicted = np.array([0.0 if value is None else float(value) for value in found])
    error = np.abs(predicted - [y for _, y in samples])
    return measured(mae=error.mean(), time=microseconds)


def run_classification(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure a peer on a stream of labels."""
    samples = CLASSIFICATION_STREAMS[problem].samples(seed, size)
    found, microseconds = prequential(STREAM_PEERS[peer].model(is_classifier=True), samples)
    wrong = [label != y for label, (_, y) in zip(found, samples, strict=True)]
    return measured(mistakes=100.0 * np.mean(wrong), time=microseconds)


def _cells(
    problems: Mapping[str, StreamProblem], plan: BenchPlan, is_classifier: bool
) -> list[Cell]:
    run = run_classification if is_classifier else run_regression
    found = []
    for problem in problems.values():
        size = plan.rows(problem.size)
        for name, peer in STREAM_PEERS.items():
            seeds = plan.seeds if problem.is_drawn else plan.seeds[:1]
            seconds = 1e-3 * size * peer.cost * problem.cost
            found += [
                cell(run, problem.name, name, seed, seconds, peer.uses_package, size=size)
                for seed in seeds
            ]
    return found


REGRESSION_TRACK = Track(
    "streams",
    "Streams of numbers",
    "How large is the error of predictions before each sample is learned?",
    (Measure("mae", "Mean absolute error of predictions before learning."), _TIME),
    lambda plan: _cells(REGRESSION_STREAMS, plan, is_classifier=False),
    {each.name: each.note for each in REGRESSION_STREAMS.values() if each.note},
)

CLASSIFICATION_TRACK = Track(
    "label_streams",
    "Streams of labels",
    "How many labels are wrong if each is predicted before it is learned?",
    (Measure("mistakes", "Wrong predictions per 100, before learning."), _TIME),
    lambda plan: _cells(CLASSIFICATION_STREAMS, plan, is_classifier=True),
    {each.name: each.note for each in CLASSIFICATION_STREAMS.values() if each.note},
)
