"""The estimators with their defaults against what users know: accuracy, size, time.

Prints the tables of docs/defaults.md; with --write, writes them there.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from data import airfoil, bike
from river import datasets, linear_model, preprocessing, tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from colk import COLKRegressor
from colk import river as colk_river
from colk.kernels import Gaussian

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "defaults.md"
SEEDS = range(10)

Row = list[str]


def table(title: str, header: Row, rows: Iterable[Row]) -> str:
    lines = [f"### {title}", "", "| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def svr_like(model: COLKRegressor) -> SVR:
    """SVR with C = 10 and the kernel of a fitted model, bandwidth and all."""
    kernel = model.kernel_
    if isinstance(kernel, Gaussian):
        return SVR(C=10, gamma=1 / (2 * kernel.bandwidth**2))
    return SVR(C=10, kernel=lambda A, B: kernel(A, B))


def airfoil_scores(settings: dict[str, Any], folder: Path | None) -> Row:
    """Mean R² and size of our model, of SVR with its kernel, and of SVR as it comes."""
    X, y = airfoil(folder)
    results = []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = np.split(order, [int(0.8 * len(X))])
        center, scale = y[train].mean(), y[train].std()
        targets, truth = (y[train] - center) / scale, (y[test] - center) / scale
        ours = make_pipeline(StandardScaler(), COLKRegressor(random_state=seed, **settings))
        ours.fit(X[train], targets)
        line = [ours.score(X[test], truth), ours[-1].n_atoms_]
        for peer in (svr_like(ours[-1]), SVR(C=10)):
            svr = make_pipeline(StandardScaler(), peer).fit(X[train], targets)
            line += [svr.score(X[test], truth), len(svr[-1].support_)]
        results.append(line)
    r2, atoms, *peers = np.mean(results, axis=0)
    shown = [f"{r2:.3f} with {atoms:.0f} atoms"]
    return shown + [f"{peers[i]:.3f} with {peers[i + 1]:.0f}" for i in (0, 2)]


def airfoil_table(folder: Path | None) -> str:
    cases: dict[str, dict[str, Any]] = {
        "default": {},
        "kernel='gaussian'": {"kernel": "gaussian"},
        "max_atoms=500": {"max_atoms": 500},
        "averaging=False": {"averaging": False},
    }
    header = ["COLKRegressor", "R²", "SVR(C=10), same kernel and bandwidth", "SVR(C=10)"]
    rows = [[name, *airfoil_scores(settings, folder)] for name, settings in cases.items()]
    return table("Airfoil, 80/20, standardised, mean of ten seeds", header, rows)


def prequential(model: Any, stream: list[tuple[dict[str, Any], Any]], error: Callable) -> Row:
    """Mean error of predictions before each sample is learned, and µs a sample."""
    total, start = 0.0, time.perf_counter()
    for x, y in stream:
        total += error(model.predict_one(x), y)
        model.learn_one(x, y)
    seconds = time.perf_counter() - start
    return [f"{total / len(stream):.4g}", f"{1e6 * seconds / len(stream):.0f}"]


def scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


def bike_table(folder: Path | None) -> str:
    models = {
        "HoeffdingAdaptiveTreeRegressor": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
        "LinearRegression": linear_model.LinearRegression(),
        "COLKRegressor, default": colk_river.COLKRegressor(),
        "max_atoms=500": colk_river.COLKRegressor(max_atoms=500),
        "max_atoms=1000": colk_river.COLKRegressor(max_atoms=1000),
        "kernel='gaussian'": colk_river.COLKRegressor(kernel="gaussian"),
        "averaging=True": colk_river.COLKRegressor(averaging=True),
        "step_size=0.5": colk_river.COLKRegressor(step_size=0.5),
    }
    stream = bike(folder)
    rows = [
        [name, *prequential(scaled(model), stream, lambda f, y: abs(f - y))]
        for name, model in models.items()
    ]
    header = ["behind a StandardScaler", "prequential MAE", "µs a sample"]
    return table("Bike rentals in the order of time", header, rows)


def classification_table() -> str:
    rows = []
    for data in (datasets.Bananas(), datasets.Phishing(), datasets.ImageSegments()):
        stream = list(data)
        for name, model in (
            ("HoeffdingAdaptiveTreeClassifier", tree.HoeffdingAdaptiveTreeClassifier(seed=1)),
            ("COLKClassifier, default", colk_river.COLKClassifier()),
            ("kernel='gaussian'", colk_river.COLKClassifier(kernel="gaussian")),
        ):
            figures = prequential(scaled(model), stream, lambda label, y: label == y)
            rows.append([type(data).__name__, name, *figures])
    header = ["stream", "behind a StandardScaler", "prequential accuracy", "µs a sample"]
    return table("River's own streams", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of airfoil.csv and bike_hour.csv")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {DOCUMENT}")
    arguments = parser.parse_args()
    parts = [
        airfoil_table(arguments.data),
        bike_table(arguments.data),
        classification_table(),
    ]
    tables = "\n".join(parts)
    print(tables)
    if arguments.write:
        prose = DOCUMENT.read_text().split("## Measurements")[0]
        DOCUMENT.write_text(f"{prose}## Measurements\n\n{tables}")


if __name__ == "__main__":
    main()
