"""Batch regression and classification: error, time and size of the model."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from colk_lab.arrays import Array
from colk_lab.bench.batch_peers import BATCH_PEERS
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track, cell, measured
from colk_lab.bench.problems import CLASSIFICATION, REGRESSION, Problem
from colk_lab.bench.tuning import tuned
from colk_lab.tasks import Result

__all__ = ["CLASSIFICATION_TRACK", "REGRESSION_TRACK"]

# Approximate processor seconds of a fit to 2000 rows, for regression and for classification.
_SECONDS = {
    "colk": (0.35, 0.8), "colk, tuned": (0.8, 1.4), "SVR / SVC": (0.6, 0.1),
    "KernelRidge": (0.25, 0.0), "GaussianProcess, 500 rows": (0.9, 4.0),
    "Nystroem + ridge": (0.15, 0.25), "RBFSampler + SGD": (0.2, 0.2),
    "HistGradientBoosting": (0.55, 1.2), "LightGBM": (0.3, 0.8), "MLP": (0.75, 0.3),
    "linear": (0.02, 0.02),
}  # fmt: skip

_SIZES = (
    Measure("fit time", "Processor seconds of one fit, on one thread.", is_time=True),
    Measure("tuning time", "Processor seconds of all fits.", is_time=True),
    Measure("predict time", "Processor microseconds to predict one row.", is_time=True),
    Measure("bytes", "Size of the pickled model in bytes."),
)


def _squares(model: Any, X: Array, y: Array) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def _mistakes(model: Any, X: Array, y: Array) -> float:
    return float(np.mean(model.predict(X) != y))


def run_regression(problem: str, peer: str, seed: int, n_train: int, n_trials: int) -> Result:
    """Measure a peer on a regression problem."""
    rows = REGRESSION[problem].split(seed, n_train)
    fitted = tuned(BATCH_PEERS[peer], rows.X, rows.y, _squares, n_trials, seed)
    start = time.process_time()
    error = _squares(fitted.model, rows.X_test, rows.y_test)
    spent = time.process_time() - start
    return measured(
        rmse=error**0.5,
        r2=1.0 - error / rows.y_test.var(),
        fit_time=fitted.seconds,
        tuning_time=fitted.tuning,
        predict_time=1e6 * spent / len(rows.y_test),
        bytes=fitted.n_bytes,
    )


def run_classification(problem: str, peer: str, seed: int, n_train: int, n_trials: int) -> Result:
    """Measure a peer on a classification problem."""
    rows = CLASSIFICATION[problem].split(seed, n_train)
    fitted = tuned(BATCH_PEERS[peer], rows.X, rows.y, _mistakes, n_trials, seed, True)
    start = time.process_time()
    mistakes = _mistakes(fitted.model, rows.X_test, rows.y_test)
    spent = time.process_time() - start
    return measured(
        mistakes=100.0 * mistakes,
        fit_time=fitted.seconds,
        tuning_time=fitted.tuning,
        predict_time=1e6 * spent / len(rows.y_test),
        bytes=fitted.n_bytes,
    )


def _cells(problems: Mapping[str, Problem], plan: BenchPlan, is_classifier: bool) -> list[Cell]:
    run = run_classification if is_classifier else run_regression
    found = []
    for problem in problems.values():
        n = min(problem.n_train, plan.rows(max(problem.n_train, 800)))
        for name, peer in BATCH_PEERS.items():
            if peer.fits(is_classifier):
                trials = plan.n_trials if peer.is_tuned else 1
                fit = _SECONDS.get(name, (0.3, 0.3))[is_classifier]
                rows = 2000 if "500 rows" in name else n  # its number of rows is fixed
                seconds = (0.25 + 0.75 * trials) * fit * problem.cost * rows / 2000
                sizes = {"n_train": n, "n_trials": plan.n_trials}
                found += [
                    cell(run, problem.name, name, seed, seconds, peer.uses_package, **sizes)
                    for seed in plan.seeds
                ]
    return found


REGRESSION_TRACK = Track(
    "regression",
    "Batch regression",
    "How small is the error on new rows, and what do the fit and the model cost?",
    (
        Measure("rmse", "Root mean squared error on new rows."),
        Measure("r2", "R² on new rows.", better="higher"),
        *_SIZES,
    ),
    lambda plan: _cells(REGRESSION, plan, is_classifier=False),
    {problem.name: problem.note for problem in REGRESSION.values() if problem.note},
)

CLASSIFICATION_TRACK = Track(
    "classification",
    "Batch classification",
    "How many labels of new rows are wrong, and what do the fit and the model cost?",
    (Measure("mistakes", "Wrong labels per 100 new rows."), *_SIZES),
    lambda plan: _cells(CLASSIFICATION, plan, is_classifier=True),
    {problem.name: problem.note for problem in CLASSIFICATION.values() if problem.note},
)
