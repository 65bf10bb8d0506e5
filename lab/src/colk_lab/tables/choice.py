"""The automatic choice of kernel and metric: R² or accuracy on a fifth of the rows, and time.

Development sets of `colk_lab.data`, which chose the rules, and functions whose truth is known:
Friedman 1, plain, with rotated features, and with 200 features; and features that act only
together. The peers are the same estimator with the fixed Laplacian, and `HistGradientBoosting` at
its defaults. Times are seconds of processor time; set OMP_NUM_THREADS=1, as BLAS may spin.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from colk import COLKClassifier, COLKRegressor
from colk_lab.data import CLASSIFICATION_SETS, REGRESSION_SETS, load
from colk_lab.tables.output import kept, publish

REGRESSION = [
    "airfoil",
    "boom_bikes",
    "concrete",
    "laser",
    "mortgage",
    "qsar_fish_toxicity",
    "residential_building",
    "wizmir",
    "yacht_hydrodynamics",
    "electrical_grid_stability",
    "quake",
    "diabetes",
    "bike_2011",
    "casp",
    "medical_cost",
]
CLASSIFICATION = ["segment", "satimage", "phoneme", "vehicle", "yeast", "german"]
FUNCTIONS = ("friedman 1", "friedman 1, rotated", "friedman 1 of 200", "only together")
MOST = 25_000


def function(name: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    if name == "only together":
        X = rng.normal(size=(7500, 32))
        y = np.sin(2.5 * X[:, 3]) * X[:, 17] + 0.8 * np.cos(3.0 * X[:, 22])
        return X, y + 0.1 * rng.normal(size=7500)
    X, y = make_friedman1(12_500, 200 if "200" in name else 10, noise=1.0, random_state=7)
    if "rotated" in name:
        X = (X - 0.5) @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    return X, y


def rows_of(X: Any, places: Any) -> Any:
    return X.iloc[places].reset_index(drop=True) if hasattr(X, "iloc") else X[places]


def result(model: Any, parts: tuple[Any, ...]) -> tuple[float, float]:
    start = time.process_time()
    model.fit(*parts[:2])
    spent = time.process_time() - start
    return model.score(*parts[2:]), spent


def line(name: str, seeds: int) -> list[str]:
    X, y = function(name) if name in FUNCTIONS else load(name)
    are_labels = name in CLASSIFICATION_SETS
    found = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))[:MOST]
        held, train = order[: len(order) // 5], order[len(order) // 5 :]
        parts = rows_of(X, train), y[train], rows_of(X, held), y[held]
        colk: Any = COLKClassifier if are_labels else COLKRegressor
        boosting: Any = (
            HistGradientBoostingClassifier if are_labels else HistGradientBoostingRegressor
        )
        models = (
            colk(random_state=seed),
            colk(kernel="laplacian", random_state=seed),
            boosting(random_state=seed, categorical_features="from_dtype"),
        )
        found.append([result(model, parts) for model in models])
        chosen = models[0].race_.winner
    scores, times = np.moveaxis(np.mean(found, axis=0), 1, 0)
    kernel = chosen.name + (f", {chosen.metric}" if chosen.scaled else "")
    print(name, scores.round(3), times.round(2), kernel, flush=True)
    shape = f"{len(train):,} × {X.shape[1]}"
    return [name, shape, *(f"{v:.3f}" for v in scores), *(f"{v:.2f}" for v in times), kernel]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, required=True, help="folder that keeps results")
    parser.add_argument("--sets", nargs="*", default=[*REGRESSION, *CLASSIFICATION, *FUNCTIONS])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    known = {**REGRESSION_SETS, **CLASSIFICATION_SETS}
    assert all(known[name].part == "development" for name in arguments.sets if name in known)
    header = ["set", "rows × features", "auto", "Laplacian", "boosting"]
    header += ["auto, s", "Laplacian, s", "boosting, s", "chosen (last seed)"]
    arguments.results.mkdir(parents=True, exist_ok=True)
    paths = {name: arguments.results / f"{name}.json" for name in arguments.sets}
    rows = [
        kept(path, lambda name=name: {"line": line(name, arguments.seeds)})["line"]
        for name, path in paths.items()
    ]
    publish("choice", header, rows)


if __name__ == "__main__":
    main()
