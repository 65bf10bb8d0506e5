"""The estimators at their defaults, compared with well-known ones: accuracy, size, time.

Writes docs/tables/estimators_airfoil.md, estimators_bike.md and estimators_streams.md.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets, linear_model, preprocessing, tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from colk import COLKRegressor
from colk import river as colk_river
from colk.kernels import Gaussian
from colk_lab.tables.data import airfoil, bike
from colk_lab.tables.output import publish

SEEDS = range(10)

Row = list[str]


def svr_like(model: COLKRegressor) -> SVR:
    """Return an SVR with C = 10 and the kernel and bandwidth of a fitted model."""
    kernel = model.kernel_
    if isinstance(kernel, Gaussian) and isinstance(kernel.bandwidth, float):
        return SVR(C=10, gamma=1 / (2 * kernel.bandwidth**2))
    return SVR(C=10, kernel=lambda A, B: kernel(A, B))


def airfoil_scores(settings: dict[str, Any], folder: Path | None) -> Row:
    """Return mean R² and size of our model, of SVR with its kernel, and of SVR at its defaults."""
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


def airfoil_table(folder: Path | None) -> None:
    cases: dict[str, dict[str, Any]] = {
        "default": {},
        "kernel='gaussian'": {"kernel": "gaussian"},
        "max_atoms=500": {"max_atoms": 500},
        "averaging=False": {"averaging": False},
    }
    header = ["COLKRegressor", "R²", "SVR(C=10), same kernel and bandwidth", "SVR(C=10)"]
    rows = [[name, *airfoil_scores(settings, folder)] for name, settings in cases.items()]
    publish("estimators_airfoil", header, rows)


def prequential(model: Any, stream: list[tuple[dict[str, Any], Any]], error: Callable) -> Row:
    """Return the mean error of predictions before learning, and processor µs per sample."""
    total, start = 0.0, time.process_time()
    for x, y in stream:
        total += error(model.predict_one(x), y)
        model.learn_one(x, y)
    seconds = time.process_time() - start
    return [f"{total / len(stream):.4g}", f"{1e6 * seconds / len(stream):.0f}"]


def scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


def bike_table(folder: Path | None) -> None:
    models = {
        "HoeffdingAdaptiveTreeRegressor": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
        "LinearRegression": linear_model.LinearRegression(),
        "COLKRegressor, default": colk_river.COLKRegressor(),
        "max_atoms=500": colk_river.COLKRegressor(max_atoms=500),
        "max_atoms=1000": colk_river.COLKRegressor(max_atoms=1000),
        "kernel='gaussian'": colk_river.COLKRegressor(kernel="gaussian"),
        "solver='gradient'": colk_river.COLKRegressor(solver="gradient"),
        "averaging=True": colk_river.COLKRegressor(averaging=True),
        "step_size=0.5": colk_river.COLKRegressor(step_size=0.5),
    }
    stream = bike(folder)
    rows = [
        [name, *prequential(scaled(model), stream, lambda f, y: abs(f - y))]
        for name, model in models.items()
    ]
    header = ["model, after a StandardScaler", "prequential MAE", "µs per sample"]
    publish("estimators_bike", header, rows)


def classification_table() -> None:
    rows = []
    for data in (datasets.Bananas(), datasets.Phishing(), datasets.ImageSegments()):
        stream = list(data)
        for name, model in (
            ("HoeffdingAdaptiveTreeClassifier", tree.HoeffdingAdaptiveTreeClassifier(seed=1)),
            ("COLKClassifier, default", colk_river.COLKClassifier()),
            ("solver='gradient'", colk_river.COLKClassifier(solver="gradient")),
            ("kernel='gaussian'", colk_river.COLKClassifier(kernel="gaussian")),
        ):
            figures = prequential(scaled(model), stream, lambda label, y: label == y)
            rows.append([type(data).__name__, name, *figures])
    header = ["stream", "model, after a StandardScaler", "prequential accuracy", "µs per sample"]
    publish("estimators_streams", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of airfoil.csv and bike_hour.csv")
    folder = parser.parse_args().data
    airfoil_table(folder)
    bike_table(folder)
    classification_table()


if __name__ == "__main__":
    main()
