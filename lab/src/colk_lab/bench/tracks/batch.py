"""Regression and classification on real sets: error, calibration, times and size of the model."""

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, guarded, measured
from colk_lab.bench.peers import BATCH_PEERS, absence
from colk_lab.bench.splits import TEST_SHARE, split
from colk_lab.bench.tuning import tuned
from colk_lab.data import CLASSIFICATION_SETS, REGRESSION_SETS, SETS, DataSet
from colk_lab.tasks import Result

__all__ = ["CLASSIFICATION_TRACK", "REGRESSION_TRACK", "chosen_sets", "told"]

# Largest number of rows for training, in a full and in a quick run.
_ROWS, _ROWS_QUICK = 2000, 400
# A quick run has this many sets of each task, with at most 1,500 rows.
_SETS_QUICK = 4
# Processor seconds that the times of a prediction take.
_BASE = 0.2

_COSTS = (
    Measure("fit time", "Processor seconds of one fit, on one thread.", is_time=True),
    Measure("tuning time", "Processor seconds of all fits.", is_time=True),
    Measure("one row", "Processor microseconds to predict one row alone.", is_time=True),
    Measure("many rows", "Processor microseconds per row, for all new rows at once.", is_time=True),
    Measure("bytes", "Size of the pickled model in bytes."),
)


def _squares(model: Any, X: Any, y: Any) -> float:
    return float(np.mean((np.ravel(model.predict(X)) - y) ** 2))


def _mistakes(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(np.ravel(model.predict(X)) != y))


def _microseconds(call: Callable[[], object], at_most: float = 0.2) -> float:
    """Return the median processor time of a call, over up to 20 calls in `at_most` seconds."""
    times, begun = list[float](), time.process_time()
    while len(times) < 20 and (not times or time.process_time() - begun < at_most):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e6 * float(np.median(times))


@guarded
def run(problem: str, peer: str, seed: int, n_train: int, n_trials: int) -> Result:
    """Measure a peer on a split of a real set."""
    rows, is_classifier = split(problem, seed, n_train), SETS[problem].task == "classification"
    loss = _mistakes if is_classifier else _squares
    fitted = tuned(BATCH_PEERS[peer], rows.X, rows.y, loss, n_trials, seed, is_classifier)
    model, X, y = fitted.model, rows.X_test, rows.y_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = loss(model, X, y)
        found = (
            {"mistakes": 100.0 * error, **_calibration(model, X, y, rows.y)}
            if is_classifier
            else {"error": (error / y.var()) ** 0.5, "r2": 1.0 - error / y.var()}
        )
        many = _microseconds(lambda: model.predict(X)) / len(y)
        one = _microseconds(lambda: model.predict(X.iloc[:1]))
    return measured(
        **found,
        fit_time=fitted.seconds,
        tuning_time=fitted.tuning,
        one_row=one,
        many_rows=many,
        bytes=fitted.n_bytes,
    )


def _calibration(model: Any, X: Any, y: Any, labels: Any) -> dict[str, float]:
    """Return the log loss, and the mean gap between confidence and accuracy, in ten bins."""
    if not hasattr(model, "predict_proba"):
        return {}
    shares = np.clip(np.asarray(model.predict_proba(X), dtype=np.float64), 1e-6, 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    known = np.unique(labels)
    # A class that no training row has gets the smallest probability.
    of_class = np.full((len(y), int(max(known.max(), y.max())) + 1), 1e-6)
    of_class[:, known] = shares
    confidence, right = shares.max(axis=1), known[shares.argmax(axis=1)] == y
    edges = np.clip((10.0 * confidence).astype(int), 0, 9)
    gaps = [abs(float((confidence - right)[edges == k].sum())) for k in range(10)]
    return {
        "log_loss": -float(np.mean(np.log(of_class[np.arange(len(y)), y]))),
        "calibration": 100.0 * sum(gaps) / len(y),
    }


def chosen_sets(sets: Mapping[str, DataSet], plan: BenchPlan) -> list[tuple[DataSet, range]]:
    """Return the sets of a run, with the seeds of their splits.

    A final run has one split of each development set, because its headline is computed on the
    final sets. A quick run has a few small development sets. Sets whose package is not installed
    are left out.
    """
    here = [each for each in sets.values() if not absence(each.source)]
    development = [each for each in here if each.part == "development"]
    if plan.quick:
        small = [each for each in development if 200 <= each.rows <= 1500]
        return [(each, plan.seeds) for each in small[:_SETS_QUICK]]
    if not plan.final:
        return [(each, plan.seeds) for each in development]
    final = [each for each in here if each.part == "final"]
    return [(e, plan.seeds) for e in final] + [(e, plan.seeds[:1]) for e in development]


def _cells(sets: Mapping[str, DataSet], plan: BenchPlan) -> list[Cell]:
    found = list[Cell]()
    for each, seeds in chosen_sets(sets, plan):
        n_train = _ROWS_QUICK if plan.quick else _ROWS
        n = min(n_train, each.rows)
        for name, peer in BATCH_PEERS.items():
            trials = plan.n_trials if peer.is_tuned else 1
            fit = peer.seconds[each.task == "classification"]
            columns = (0.5 + each.features / 20.0) * (n / 1000.0)
            seconds = _BASE + (0.25 + 0.75 * trials) * fit * columns
            sizes = {"n_train": n_train, "n_trials": plan.n_trials}
            found += [
                cell(run, each.name, name, seed, seconds, peer.uses_package, **sizes)
                for seed in seeds
            ]
    return found


def told(each: DataSet) -> str:
    """Return what a reader must know of a set."""
    facts = [f"{each.rows:,} rows × {each.features}, {each.source}"]
    facts += [f"with {each.kinds}"] if each.kinds else []
    facts += [f"seen by {each.seen} before"] if each.seen else []
    return "; ".join(facts) + ". " + each.note


def _track(key: str, title: str, sets: Mapping[str, DataSet], *measures: Measure) -> Track:
    return Track(
        key,
        title,
        "How large is the error on new rows of real sets, and what do fit and model cost?",
        (*measures, *_COSTS),
        lambda plan: _cells(sets, plan),
        {each.name: told(each) for each in sets.values()},
        parts={each.name: each.part for each in sets.values()},
        chosen={each.name: each.chosen for each in sets.values()},
        overlap=TEST_SHARE / (1.0 - TEST_SHARE),
    )


REGRESSION_TRACK = _track(
    "regression",
    "Regression on real sets",
    REGRESSION_SETS,
    Measure(
        "error",
        "Root mean squared error on new rows, divided by the standard deviation of their targets.",
    ),
    Measure("r2", "R² on new rows.", better="higher"),
)

CLASSIFICATION_TRACK = _track(
    "classification",
    "Classification on real sets",
    CLASSIFICATION_SETS,
    Measure("mistakes", "Wrong labels per 100 new rows.", floor=0.1),
    Measure("log loss", "Mean negative logarithm of the probability of the right label."),
    Measure(
        "calibration",
        "Mean distance of confidence and share of right labels, in percent, over ten bins.",
    ),
)
