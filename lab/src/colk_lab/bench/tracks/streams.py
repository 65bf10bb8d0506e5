"""Streams: each sample is predicted before it is learned."""

import time
from typing import Any

import numpy as np

from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.bench.peers import absence
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.bench.stream_problems import Sample
from colk_lab.data import STREAMS, RealStream
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


@guarded
def run(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure a peer on a real stream."""
    stream = STREAMS[problem]
    samples = stream.samples(seed, size)
    found, microseconds = prequential(STREAM_PEERS[peer].model(stream.is_classifier), samples)
    y = np.array([target for _, target in samples])
    if stream.is_classifier:
        wrong = [label != target for label, target in zip(found, y, strict=True)]
        return measured(mistakes=100.0 * np.mean(wrong), time=microseconds)
    predicted = np.array([0.0 if value is None else float(value) for value in found])
    return measured(error=np.abs(predicted - y).mean() / y.std(), time=microseconds)


# Samples in a full and in a quick run, and the number of streams of a quick run.
_SIZE, _SIZE_QUICK, _STREAMS_QUICK = 2000, 400, 3


def _chosen(is_classifier: bool, plan: BenchPlan) -> list[tuple[RealStream, range]]:
    """Return the streams of a run with their seeds: the final ones, or the development ones."""
    is_final = plan.final and not plan.quick
    found = [
        (each, plan.seeds if each.is_drawn else plan.seeds[:1])
        for each in STREAMS.values()
        if each.is_classifier is is_classifier
        and (each.part == "final") is is_final
        and not absence(each.source)
    ]
    return found[:_STREAMS_QUICK] if plan.quick else found


def _cells(plan: BenchPlan, is_classifier: bool) -> list[Cell]:
    found = list[Cell]()
    for stream, seeds in _chosen(is_classifier, plan):
        size = min(stream.rows, _SIZE_QUICK if plan.quick else _SIZE)
        for name, peer in STREAM_PEERS.items():
            seconds = 1e-3 * size * peer.cost
            found += [
                cell(run, stream.name, name, seed, seconds, peer.uses_package, size=size)
                for seed in seeds
            ]
    return found


def _track(key: str, title: str, question: str, is_classifier: bool, measure: Measure) -> Track:
    own = [each for each in STREAMS.values() if each.is_classifier is is_classifier]
    return Track(
        key,
        title,
        question,
        (measure, _TIME),
        lambda plan: _cells(plan, is_classifier),
        {each.name: _told(each) for each in own},
        parts={each.name: each.part for each in own},
        chosen={each.name: each.chosen for each in own},
    )


def _told(each: RealStream) -> str:
    return f"{each.rows:,} samples, {each.source}. {each.note}"


REGRESSION_TRACK = _track(
    "streams",
    "Streams of numbers",
    "How large is the error of predictions before each sample is learned?",
    False,
    Measure(
        "error",
        "Mean absolute error of predictions before learning, divided by the standard deviation of "
        "the targets.",
    ),
)

CLASSIFICATION_TRACK = _track(
    "label_streams",
    "Streams of labels",
    "How many labels are wrong if each is predicted before it is learned?",
    True,
    Measure("mistakes", "Wrong predictions per 100, before learning.", floor=0.1),
)
