"""Final sets, which chose nothing: colk and boosted trees at their defaults, on left-out rows.

R² or accuracy on a fifth of the rows, and seconds of processor time of a fit. Every set of
`colk_lab.data` that is kept for final tables and has at most 10,000 rows is in the table. Methods
whose library is missing are left out. The last lines are the mean scores, and on how many sets a
method is within .003 of the best.

    OMP_NUM_THREADS=1 python -m colk_lab.tables final_sets --results FOLDER
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from colk import COLKClassifier, COLKRegressor
from colk_lab.bench.peers.base import present
from colk_lab.bench.peers.trees import PEERS
from colk_lab.data import CLASSIFICATION_SETS, REGRESSION_SETS, SETS, final_run, load
from colk_lab.tables.choice import rows_of
from colk_lab.tables.output import kept, publish

MOST_ROWS = 10_000
# Scores that differ by less are equal.
TIE = 0.003


def measured(name: str, seeds: int) -> dict[str, Any]:
    """Return the mean score and the mean seconds of each method on a set."""
    with final_run():
        X, y = load(name)
    is_classifier = name in CLASSIFICATION_SETS
    scores: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        held, train = order[: len(y) // 5], order[len(y) // 5 :]
        for method, make in methods(is_classifier, X, seed).items():
            model, start = make(), time.process_time()
            model.fit(rows_of(X, train), y[train])
            seconds.setdefault(method, []).append(time.process_time() - start)
            predicted = np.ravel(model.predict(rows_of(X, held)))
            wrong = predicted != y[held] if is_classifier else (predicted - y[held]) ** 2
            worst = 1.0 if is_classifier else np.var(y[held])
            scores.setdefault(method, []).append(1.0 - np.mean(wrong) / worst)
    means = {method: float(np.mean(found)) for method, found in scores.items()}
    times = {method: float(np.mean(found)) for method, found in seconds.items()}
    return {"shape": f"{len(train):,} × {X.shape[1]}", "scores": means, "seconds": times}


def methods(is_classifier: bool, X: Any, seed: int) -> dict[str, Any]:
    """Return functions that make the models, by method."""
    colk = COLKClassifier if is_classifier else COLKRegressor
    peers = {
        name: partial(peer.model, None, is_classifier, X) for name, peer in present(PEERS).items()
    }
    return {"colk": partial(colk, random_state=seed), **peers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, required=True, help="folder that keeps results")
    final = [n for n, one in SETS.items() if one.part == "final" and one.rows <= MOST_ROWS]
    parser.add_argument("--sets", nargs="*", default=final)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.results.mkdir(parents=True, exist_ok=True)
    results = {
        name: kept(arguments.results / f"{name}.json", partial(measured, name, arguments.seeds))
        for name in arguments.sets
    }
    names = ["colk", *present(PEERS)]
    rows = [
        [name, each["shape"], *(f"{each['scores'][m]:.3f}" for m in names)]
        + [f"{each['seconds'][m]:.2f}" for m in names]
        for name, each in results.items()
    ]
    for label, sets in (("numbers", REGRESSION_SETS), ("classes", CLASSIFICATION_SETS)):
        table = np.array([[r["scores"][m] for m in names] for n, r in results.items() if n in sets])
        if len(table):
            best = (table >= table.max(axis=1, keepdims=True) - TIE).sum(axis=0)
            blank = [""] * len(names)
            means = [f"{v:.3f}" for v in table.mean(axis=0)]
            rows.append([f"**{label}: mean**", f"{len(table)} sets", *means, *blank])
            rows.append([f"**{label}: best or equal**", "", *(str(v) for v in best), *blank])
    header = ["set", "rows × features", *names, *(f"{name}, s" for name in names)]
    publish("final_sets", header, rows)


if __name__ == "__main__":
    main()
