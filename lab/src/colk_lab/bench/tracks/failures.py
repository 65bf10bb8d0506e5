"""Difficult tables and streams: what the default does, what baselines do, what the user is told."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from river import dummy, stats

from colk_lab.bench.cells import BenchPlan, Cell, CellScore, Measure, Track, cell
from colk_lab.bench.peers import BATCH_PEERS
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.data.hard_streams import HARD_STREAMS
from colk_lab.data.hard_tables import HARD_TABLES
from colk_lab.tasks import Result

__all__ = ["STREAMS_TRACK", "TABLES_TRACK"]

_N_TEST, _N_STREAM = 1000, 1500
# An exception, and all larger errors, count as this error.
_WORST = 10.0
_TABLE_PEERS = ("colk", "constant", "linear, tuned", "HistGradientBoosting")


def _told(caught: Iterable[Any], error: Exception | None) -> str:
    """Return what the user is told: names and first lines of warnings, and the exception."""
    texts = [f"{each.category.__name__}: {str(each.message).splitlines()[0]}" for each in caught]
    if error is not None:
        texts.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return " | ".join(dict.fromkeys(texts))


def _attempt(call: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of a call, or None if it fails, and what the user is told."""
    found, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as raised:  # what a user would see, whatever it is
            error = raised
    return found, _told(caught, error)


def _result(error: float, told: str) -> Result:
    worst = _WORST if not np.isfinite(error) else min(error, _WORST)
    return {"error": np.asarray(worst), "told": np.asarray(told)}


def run_table(problem: str, peer: str, seed: int) -> Result:
    """Measure the distance of a peer from the truth on new rows."""
    hard, rng = HARD_TABLES[problem], np.random.default_rng([seed, *problem.encode()])
    X, y, truth = hard.draw(hard.n_train + _N_TEST, rng)
    n = hard.n_train
    first, rest = X.iloc[:n], X.iloc[n:]
    method = BATCH_PEERS[peer]
    found, told = _attempt(
        lambda: np.ravel(
            method.model(None, hard.is_classifier, first).fit(first, y[:n]).predict(rest)
        )
    )
    if found is None:
        return _result(np.inf, told)
    if hard.is_classifier:
        values, counts = np.unique(y[:n], return_counts=True)
        reference = np.mean(values[counts.argmax()] != truth[n:])
        return _result(float(np.mean(found != truth[n:]) / reference), told)
    # The truth of "only noise" is constant, so the noise is the unit there.
    reference = np.mean((y[:n].mean() - truth[n:]) ** 2) if truth.any() else np.var(y[n:])
    return _result(float(np.sqrt(np.mean((found - truth[n:]) ** 2) / reference)), told)


STREAM_MODELS: dict[str, Callable[[], Any]] = {
    "mean so far": lambda: dummy.StatisticRegressor(stats.Mean()),
    **{
        name: partial(STREAM_PEERS[name].model, is_classifier=False)
        for name in ("colk", "no change", "linear", "HoeffdingAdaptiveTree")
    },
}


def run_stream(problem: str, peer: str, seed: int) -> Result:
    """Measure the errors of a peer before it learns, against those of the mean so far."""
    rng = np.random.default_rng([seed, *problem.encode()])
    samples = HARD_STREAMS[problem].draw(_N_STREAM, rng)
    model = STREAM_MODELS[peer]()

    def follow() -> list[float]:
        found = []
        for x, y in samples:
            predicted = model.predict_one(dict(x))
            found.append(0.0 if predicted is None else float(predicted))
            model.learn_one(dict(x), y)
        return found

    found, told = _attempt(follow)
    if found is None:
        return _result(np.inf, told)
    y = np.array([target for _, target in samples])
    means = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])
    return _result(float(np.abs(found - y).mean() / np.abs(means - y).mean()), told)


def _cells(
    function: Callable[..., Result], problems: Iterable[str], peers: Iterable[str], seconds: float
) -> Callable[[BenchPlan], list[Cell]]:
    names, methods = list(problems), list(peers)

    def cells(plan: BenchPlan) -> list[Cell]:
        return [
            cell(function, problem, peer, seed, seconds, peer == "colk")
            for problem in names
            for peer in methods
            for seed in plan.seeds
        ]

    return cells


def sentences(scores: Sequence[CellScore]) -> list[str]:
    """Return, for each problem, what colk and the others do, and what the user is told."""
    found = []
    for problem in dict.fromkeys(score.problem for score in scores):
        own = [score for score in scores if score.problem == problem]
        errors: dict[str, list[float]] = {}
        for score in own:
            errors.setdefault(score.peer, []).append(score.values["error"])
        text = ", ".join(f"{peer} {np.mean(values):.2f}" for peer, values in errors.items())
        told = {score.texts.get("told", "") for score in own if score.peer == "colk"} - {""}
        found.append(
            f"{problem}: {text}. colk tells the user: {'; '.join(sorted(told)) or 'nothing'}."
        )
    return found


TABLES_TRACK = Track(
    "hard_tables",
    "Difficult tables",
    "What do the defaults do if a table is difficult, and what is the user told?",
    (
        Measure(
            "error",
            "Distance from the truth on new rows, divided by that of the constant; for classes, "
            "wrong labels. An exception counts as 10.",
            floor=0.01,
        ),
    ),
    _cells(run_table, HARD_TABLES, _TABLE_PEERS, 0.3),
    {each.name: each.why for each in HARD_TABLES.values()},
    remarks=sentences,
)

STREAMS_TRACK = Track(
    "hard_streams",
    "Difficult streams",
    "What do the defaults do if a stream changes, and what is the user told?",
    (
        Measure(
            "error",
            "Mean absolute error before learning, divided by that of the mean so far. An exception "
            "counts as 10.",
            floor=0.01,
        ),
    ),
    _cells(run_stream, HARD_STREAMS, STREAM_MODELS, 0.4),
    {each.name: each.why for each in HARD_STREAMS.values()},
    remarks=sentences,
)
