"""`colk fit` on a CSV file, compared with `COLKRegressor().fit` on the same rows in memory.

The rows are those of scikit-learn's Friedman 1 with noise 1. Each variant ("door") runs in its own
process with one BLAS thread. The table shows R² on 5,000 other rows, processor seconds (of the
command with reading, but without imports), and the largest resident memory. The estimator gets the
features as they are, and standardised as in the command. The last line only reads the file.

    python -m colk_lab.tables doors                     20,000 and 200,000 rows
    python -m colk_lab.tables doors --rows 20000
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from colk_lab.tables.output import publish

N_TEST = 5000


def write(path: Path, n_rows: int, seed: int) -> None:
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n_rows, noise=1.0, random_state=seed)
    names = [*(f"x{i}" for i in range(X.shape[1])), "y"]
    table = np.column_stack([X, y])
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="", fmt="%.12g")


def load(path: Path) -> tuple[Any, Any]:
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def command(train: Path, test: Path) -> tuple[float, float]:
    import colk
    from colk.cli import main

    few, model = train.with_suffix(".few.csv"), train.with_suffix(".colk")
    with train.open() as file:
        few.write_text("".join(islice(file, 61)))
    for rows in (few, train):  # the first run imports what the command needs
        began = time.process_time()
        if main(["fit", str(rows), "--target", "y", "--model", str(model), "--overwrite"]) != 0:
            raise SystemExit("colk fit failed")
        seconds = time.process_time() - began
    X, y = load(test)
    predicted = colk.load(model).predict({f"x{i}": X[:, i] for i in range(X.shape[1])})
    return seconds, 1.0 - float(np.mean((y - predicted) ** 2) / y.var())


def estimator(train: Path, test: Path) -> tuple[float, float]:
    from colk import COLKRegressor

    X, y = load(train)
    began = time.process_time()
    model = COLKRegressor(random_state=0).fit(X, y)
    return time.process_time() - began, model.score(*load(test))


def standardised(train: Path, test: Path) -> tuple[float, float]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from colk import COLKRegressor

    X, y = load(train)
    began = time.process_time()
    model = make_pipeline(StandardScaler(), COLKRegressor(random_state=0)).fit(X, y)
    return time.process_time() - began, model.score(*load(test))


def reading(train: Path, test: Path) -> tuple[float, float]:
    from colk.tabular.reading import Columns, Source

    source = Source([str(train)])
    began = time.process_time()
    for _ in source.rows(Columns(tuple(source.kinds))):
        pass
    return time.process_time() - began, float("nan")


DOORS = {
    "colk fit": command,
    "COLKRegressor().fit": estimator,
    "COLKRegressor().fit, standardised": standardised,
    "reading the file once": reading,
}


def measured(door: str, train: Path, test: Path) -> list[float]:
    """Run a variant in its own process: seconds, R², megabytes."""
    run = subprocess.run(
        [sys.executable, "-m", "colk_lab.tables.doors", "--measure", door, str(train), str(test)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    found: list[float] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--measure", nargs=3)
    arguments = parser.parse_args()
    if arguments.measure:
        door, train, test = arguments.measure
        found = DOORS[door](Path(train), Path(test))
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        print(json.dumps([*found, megabytes]))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder, "test.csv")
        write(test, N_TEST, seed=1)
        for n_rows in arguments.rows:
            train = Path(folder, f"train{n_rows}.csv")
            write(train, n_rows, seed=0)
            for door in DOORS:
                seconds, score, megabytes = measured(door, train, test)
                shown = "" if np.isnan(score) else f"{score:.4f}"
                lines.append([f"{n_rows:,}", door, shown, f"{seconds:.2f}", f"{megabytes:,.0f}"])
    publish("doors", ["rows", "door", "test R²", "seconds of one core", "MB"], lines)


if __name__ == "__main__":
    main()
