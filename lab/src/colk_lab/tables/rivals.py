"""A rival kernel beside the model, for tables that are learned in one pass and streams after `fit`.

    python -m colk_lab.tables rivals tables        `TableModel.learn`, from the first row on
    python -m colk_lab.tables rivals after_fit     `fit` on the first 1,000 rows, then `partial_fit`
    python -m colk_lab.tables rivals time          `TableModel.learn` on tables without a change

The first two have 1,000 rows of one relationship and 4,000 rows after a change; some have no
change. Three of eight features matter. Each row is predicted before it is learned. The error is
that of the last 2,000 rows: the mean absolute error divided by the standard deviation of the
targets, or the share of wrong labels. It is a mean over seeds that were used for no choice. "Fixed"
keeps the kernel that the first rows chose; "Laplacian" keeps this kernel with its standard
bandwidth. "Ratio" is the error of the default divided by the smallest of the others, for the worst
seed; for labels it is the best accuracy of the others divided by that of the default. "Time" is the
processor time of the default divided by that of "fixed", both without the first race. The last part
shows the time on longer tables.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from colk import COLKClassifier, COLKRegressor
from colk.tabular import TableModel
from colk_lab.tables.output import publish

SEEDS = (31, 32)
BEFORE, AFTER, JUDGED, CHUNK = 1000, 4000, 2000, 50
LENGTHS = (5000, 20_000, 100_000)
SOLVERS = ("gradient", "newton")
N_FEATURES = 8
NAMES = [f"x{j}" for j in range(N_FEATURES)]

Array = np.ndarray
Learn = Callable[[Array, Array], Any]
Predict = Callable[[Array], Array]


def relation(X: Array, first: int) -> Array:
    """Three features matter, from the first one on."""
    return np.sin(2.0 * X[:, first]) + X[:, first + 1] * X[:, first + 2]


def stream(change: str, are_labels: bool, seed: int) -> tuple[Array, Array]:
    """Draw points and noisy targets, with a change after the first rows."""
    rng, n = np.random.default_rng(seed), BEFORE + AFTER
    X, is_new = rng.normal(size=(n, N_FEATURES)), np.arange(n) >= BEFORE
    if change == "moved inputs":
        X[is_new] += 1.5
    other = {"other features": relation(X, 3), "reversal": -relation(X, 0)}
    y = np.where(is_new, other.get(change, relation(X, 0)), relation(X, 0))
    y = y + 0.2 * rng.normal(size=n)
    return X, (y > 0.0).astype(int) if are_labels else y


CHANGES = ("none", "other features", "reversal", "moved inputs")


def late_error(learn: Learn, predict: Predict, X: Array, y: Array, start: int) -> float:
    """Learn from a row on; return the mean error of the last rows before they are learned."""
    errors = []
    for here in range(start, len(X), CHUNK):
        rows = slice(here, here + CHUNK)
        if here >= len(X) - JUDGED:
            found = predict(X[rows])
            is_number = y.dtype == np.float64
            errors.append(np.abs(found - y[rows]) / y.std() if is_number else found != y[rows])
        learn(X[rows], y[rows])
    return float(np.mean(errors))


# -- tables learned in one pass ------------------------------------------------------------------


def columns_of(X: Array) -> dict[str, Array]:
    return dict(zip(NAMES, X.T, strict=True))


def table_run(X: Array, y: Array, kernel: Any, solver: Any) -> tuple[float, float, Any]:
    """Return the error, the time after the warm-up, and the kernel that the first rows chose."""
    are_labels = y.dtype != np.float64
    task: Any = "classification" if are_labels else "regression"
    model = TableModel("y", NAMES, task=task, kernel=kernel, solver=solver)

    def learn(points: Array, targets: Array) -> None:
        model.learn(columns_of(points), targets.astype(str) if are_labels else targets)

    def predict(points: Array) -> Array:
        found = model.predict(columns_of(points))
        return found.astype(int) if are_labels else found

    learn(X[:500], y[:500])
    chosen, begin = model.kernel, time.process_time()
    error = late_error(learn, predict, X, y, 500)
    return error, time.process_time() - begin, chosen


def time_row(n_rows: int, solver: Any) -> list[str]:
    """Return µs per row of a table without a change, after the first 500 rows."""
    rng = np.random.default_rng(SEEDS[0])
    X = rng.normal(size=(n_rows, N_FEATURES))
    y = relation(X, 0) + 0.2 * rng.normal(size=n_rows)
    _, default, chosen = table_run(X, y, "auto", solver)
    _, fixed, _ = table_run(X, y, chosen, solver)
    paces = [f"{seconds / (n_rows - 500) * 1e6:.0f}" for seconds in (fixed, default)]
    return [f"{n_rows:,}", solver, *paces, f"{default / fixed:.2f}"]


# -- streams after a fit -------------------------------------------------------------------------


def fitted_run(X: Array, y: Array, kernel: Any, solver: Any) -> tuple[float, float, Any]:
    """Return the error, the time of `partial_fit`, and the kernel of the fit."""
    kind = COLKClassifier if y.dtype != np.float64 else COLKRegressor
    model = kind(kernel=kernel, solver=solver, random_state=0).fit(X[:BEFORE], y[:BEFORE])
    chosen, begin = model.kernel_, time.process_time()
    error = late_error(model.partial_fit, model.predict, X, y, BEFORE)
    return error, time.process_time() - begin, chosen


RUNS = {"tables": table_run, "after_fit": fitted_run}


def row(part: str, change: str, are_labels: bool, solver: str) -> list[str]:
    run, lines = RUNS[part], []
    for seed in SEEDS:
        X, y = stream(change, are_labels, seed)
        default, time_default, chosen = run(X, y, "auto", solver)
        fixed, time_fixed, _ = run(X, y, chosen, solver)
        laplacian, _, _ = run(X, y, "laplacian", solver)
        best = min(fixed, laplacian)
        ratio = (1.0 - best) / (1.0 - default) if are_labels else default / best
        lines.append([fixed, laplacian, default, time_default / time_fixed, ratio])
    *means, _ = np.mean(lines, axis=0)
    worst = max(line[-1] for line in lines)
    kind = "labels" if are_labels else "numbers"
    *errors, pace = [f"{value:.3f}" for value in means[:3]] + [f"{means[3]:.2f}"]
    return [change, kind, solver, *errors, f"{worst:.3f}", pace]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=(*RUNS, "time"))
    part, rows = parser.parse_args().part, []
    if part == "time":
        rows = [time_row(n, solver) for n in LENGTHS for solver in SOLVERS]
        publish("rivals_time", ["rows", "solver", "fixed, µs", "default, µs", "ratio"], rows)
        return
    for change in CHANGES:
        for are_labels in (False, True):
            for solver in SOLVERS:
                rows.append(row(part, change, are_labels, solver))
                print(*rows[-1], sep=" | ", flush=True)
    columns = [
        "change", "targets", "solver", "fixed", "Laplacian", "default", "ratio", "time",
    ]  # fmt: skip
    publish(f"rivals_{part}", columns, rows)


if __name__ == "__main__":
    main()
