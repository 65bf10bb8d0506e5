"""Automatic choice of kernel and bandwidth, compared with the fixed default.

The table shows R² or accuracy on a held-out fifth of the samples, as a mean over splits, with at
most 8000 standardised training samples, for 200 and 600 atoms. For streams it shows the mean
absolute error or the accuracy of predictions before each sample is learned. The rules of the race
were made with the data sets in DESIGN only.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets as streams
from river import preprocessing
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from colk import COLKClassifier, COLKRegressor
from colk import river as colk_river
from colk_lab.tables.data import adult, airfoil, bike, table_of
from colk_lab.tables.output import publish

AUTO = {"kernel": "auto", "bandwidth": "auto"}
FIXED = {"kernel": "laplacian", "bandwidth": "scale"}
LARGEST = 8000

Sample = tuple[Any, Any]


def smooth(n: int, p: int, seed: int) -> Sample:
    """A sum of 60 waves in random directions."""
    rng = np.random.default_rng(seed)
    X, directions = rng.normal(size=(n, p)), rng.normal(size=(p, 60)) / np.sqrt(p)
    f = np.cos(X @ directions + rng.uniform(0.0, 2.0 * np.pi, 60)) @ rng.normal(size=60)
    return X, f + 0.1 * f.std() * rng.normal(size=n)


def few_of_32(n: int, seed: int) -> Sample:
    """32 features, of which four are relevant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 32))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    return X, f + 0.3 * rng.normal(size=n)


def heavy_tails(n: int, seed: int) -> Sample:
    """Ten lognormal features."""
    rng = np.random.default_rng(seed)
    X = np.exp(1.2 * rng.normal(size=(n, 10)))
    f = np.log1p(X[:, 0] * X[:, 1]) + np.sqrt(X[:, 2]) / (1.0 + X[:, 3])
    return X, f + 0.1 * rng.normal(size=n)


def steps(n: int, seed: int) -> Sample:
    """Twelve features rounded to few values; the target jumps."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 12)))
    return X, np.floor(X[:, 0]) * (X[:, 1] > 0.0) + np.abs(X[:, 2]) + 0.3 * rng.normal(size=n)


def checkerboard(n: int, seed: int) -> Sample:
    X = np.random.default_rng(seed).uniform(-2.0, 2.0, size=(n, 2))
    return X, np.floor(X).sum(axis=1) % 2 > 0.0


def one_feature(name: str, folder: Path | None) -> Sample:
    table = table_of(name, folder)
    return table[:, :1], table[:, 1]


def design(folder: Path | None) -> dict[str, Callable[[], Sample]]:
    return {
        "airfoil": lambda: airfoil(folder),
        "bike, any order": lambda: bike_table(folder),
        "lidar": lambda: one_feature("lidar.csv", folder),
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "Friedman 1": lambda: datasets.make_friedman1(4000, noise=1.0, random_state=0),
        "smooth, 8 features": lambda: smooth(8000, 8, seed=1),
        "4 of 32 features": lambda: few_of_32(5000, seed=2),
        "heavy tails": lambda: heavy_tails(5000, seed=4),
        "adult_a1a (classes)": lambda: adult(folder),
        "digits (classes)": lambda: datasets.load_digits(return_X_y=True),
        "breast cancer (classes)": lambda: datasets.load_breast_cancer(return_X_y=True),
        "iris (classes)": lambda: datasets.load_iris(return_X_y=True),
        "moons (classes)": lambda: datasets.make_moons(3000, noise=0.3, random_state=0),
        "checkerboard (classes)": lambda: checkerboard(3000, seed=5),
    }


def held_out(folder: Path | None) -> dict[str, Callable[[], Sample]]:
    make = datasets
    return {
        "Friedman 2": lambda: make.make_friedman2(4000, noise=50.0, random_state=1),
        "Friedman 3": lambda: make.make_friedman3(4000, noise=0.1, random_state=1),
        "mcycle": lambda: one_feature("mcycle.csv", folder),
        "linear, 20 features": lambda: make.make_regression(
            3000, 20, n_informative=5, noise=20.0, random_state=1
        ),
        "sparse uncorrelated": lambda: make.make_sparse_uncorrelated(3000, 10, random_state=1),
        "Swiss roll": lambda: make.make_swiss_roll(4000, noise=0.3, random_state=1),
        "S curve": lambda: make.make_s_curve(4000, noise=0.1, random_state=1),
        "steps, 12 features": lambda: steps(5000, seed=11),
        "smooth, 3 features": lambda: smooth(5000, 3, seed=12),
        "smooth, 15 features": lambda: smooth(8000, 15, seed=13),
        "wine (classes)": lambda: make.load_wine(return_X_y=True),
        "blobs (classes)": lambda: make.make_blobs(
            2000, 4, centers=5, cluster_std=4.0, random_state=1
        ),
        "3 of 10 features (classes)": lambda: make.make_classification(
            600, 10, n_informative=3, n_redundant=0, random_state=2
        ),
        "circles (classes)": lambda: make.make_circles(3000, noise=0.2, factor=0.5, random_state=1),
        "Hastie (classes)": lambda: make.make_hastie_10_2(5000, random_state=1),
        "5 of 20 features (classes)": lambda: make.make_classification(
            4000, 20, n_informative=5, n_classes=3, random_state=1
        ),
        "shells (classes)": lambda: make.make_gaussian_quantiles(
            n_samples=4000, n_features=6, n_classes=3, random_state=1
        ),
    }


def bike_table(folder: Path | None) -> Sample:
    rows = bike(folder)
    return np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])


def split(X: Any, y: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return standardised training and test samples."""
    order = np.random.default_rng(seed).permutation(len(X))[: LARGEST * 5 // 4]
    train, test = np.split(order, [len(order) * 4 // 5])
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def scores(kind: type, settings: dict[str, Any], parts: Any, seed: int) -> tuple[list[float], Any]:
    """Return the scores with 200 and 600 atoms, and the last model."""
    X, y, X_test, y_test = parts
    line = []
    for max_atoms in (200, 600):
        model = kind(**settings, max_atoms=max_atoms, random_state=seed).fit(X, y)
        line.append(model.score(X_test, y_test))
    return line, model


def row(name: str, make: Callable[[], Sample]) -> list[str]:
    X, y = make()
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    kind = COLKClassifier if "(classes)" in name else COLKRegressor
    fixed, auto, chosen = [], [], []
    for seed in range(3 if len(X) > 1000 else 10):
        parts = split(X, y, seed)
        fixed.append(scores(kind, FIXED, parts, seed)[0])
        line, model = scores(kind, AUTO, parts, seed)
        auto.append(line)
        winner = model.race_.winner
        chosen.append(f"{winner.name}{', scaled' if winner.scaled else ''}")
    before, after = np.mean(fixed, axis=0), np.mean(auto, axis=0)
    most = max(set(chosen), key=chosen.count)
    cells = [f"{a:.3f} → {b:.3f}" for a, b in zip(before, after, strict=True)]
    return [
        name,
        *cells,
        f"{min(after - before):+.3f}",
        f"{most} ({chosen.count(most)}/{len(chosen)})",
    ]


def prequential(kind: type, settings: dict[str, Any], stream: list[Any]) -> tuple[float, Any]:
    model = kind(**settings)
    pipeline, total = preprocessing.StandardScaler() | model, 0.0
    classifies = kind is colk_river.COLKClassifier
    for x, y in stream:
        found = pipeline.predict_one(x)
        total += found == y if classifies else abs(found - y)
        pipeline.learn_one(x, y)
    return total / len(stream), model


def river_streams(folder: Path | None) -> dict[str, tuple[type, list[Any]]]:
    """Return River's streams; the first two were used to make the rules."""
    regression, classes = colk_river.COLKRegressor, colk_river.COLKClassifier
    bundled = {
        "Bananas": (classes, streams.Bananas()),
        "Phishing": (classes, streams.Phishing()),
        "ImageSegments": (classes, streams.ImageSegments()),
        "TrumpApproval": (regression, streams.TrumpApproval()),
        "ChickWeights": (regression, streams.ChickWeights()),
        "FriedmanDrift": (
            regression,
            streams.synth.FriedmanDrift(position=(2000, 3000, 4000), seed=1).take(5000),
        ),
    }
    numbers = {name: (kind, [_numbers(*s) for s in data]) for name, (kind, data) in bundled.items()}
    return {"bike, in time": (regression, bike(folder)), **numbers}


def _numbers(x: Any, y: Any) -> Sample:
    """Keep the features that are numbers."""
    return {k: float(v) for k, v in x.items() if isinstance(v, (bool, int, float))}, y


def stream_row(name: str, kind: type, stream: list[Any]) -> list[str]:
    (fixed, _), (auto, model) = (prequential(kind, s, stream) for s in (FIXED, AUTO))
    measure = "accuracy" if kind is colk_river.COLKClassifier else "MAE"
    chosen = model.race.winner.name + (", scaled" if model.race.winner.scaled else "")
    return [name, str(len(stream)), f"{measure} {fixed:.4g} → {auto:.4g}", chosen]


def seconds() -> float:
    """Return the processor time of a race of 1000 samples, minus that of a fixed kernel."""
    X, y = few_of_32(1000, seed=0)
    times = []
    for settings in (AUTO, FIXED):
        start = time.process_time()
        COLKRegressor(**settings, epochs=1, random_state=0).fit(X, y)
        times.append(time.process_time() - start)
    return times[0] - times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--sets", nargs="*", default=["design", "held_out", "streams"])
    arguments = parser.parse_args()
    header = ["data set", "200 atoms", "600 atoms", "smallest gain", "chosen"]
    for kind in (design, held_out):
        if kind.__name__ in arguments.sets:
            rows = []
            for name, make in kind(arguments.data).items():
                rows.append(row(name, make))
                print(*rows[-1], flush=True)
            publish(f"race_{kind.__name__}", header, rows)
    if "streams" in arguments.sets:
        entries = river_streams(arguments.data).items()
        rows = [stream_row(name, *case) for name, case in entries]
        publish("race_streams", ["stream", "samples", "fixed → auto", "last choice"], rows)
    print(f"a race of 1000 samples: {seconds():.2f} s of processor time")


if __name__ == "__main__":
    main()
