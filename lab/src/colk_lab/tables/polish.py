"""Effect of the polish and of more atoms on accuracy and time, on data not used for any default.

The table shows R² for Friedman 2 and 3 and two generated regression problems, and the accuracy for
generated classification problems, with new seeds. Writes docs/tables/polish.md.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    make_classification,
    make_friedman2,
    make_friedman3,
    make_moons,
    make_sparse_uncorrelated,
)
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from colk import COLKClassifier, COLKRegressor
from colk_lab.tables.output import publish

Data = tuple[NDArray[np.float64], NDArray[Any]]


def waves(size: int, seed: int) -> Data:
    """Products of waves of four features, a fifth of noise, and two irrelevant features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(size, 6))
    signal = np.sin(3.0 * X[:, 0]) * np.cos(2.0 * X[:, 1]) + X[:, 2] * np.sin(4.0 * X[:, 3])
    return X, signal + 0.2 * signal.std() * rng.normal(size=size)


def moons(size: int, seed: int) -> Data:
    return make_moons(size, noise=0.25, random_state=seed)


def classes(size: int, seed: int) -> Data:
    return make_classification(
        size, 12, n_informative=6, n_classes=4, n_clusters_per_class=2, random_state=seed
    )


PROBLEMS: dict[str, tuple[Callable[[int, int], Data], bool]] = {
    "Friedman 2": (lambda n, s: make_friedman2(n, noise=50.0, random_state=s), True),
    "Friedman 3": (lambda n, s: make_friedman3(n, noise=0.1, random_state=s), True),
    "waves": (waves, True),
    "mostly noise": (lambda n, s: make_sparse_uncorrelated(n, random_state=s), True),
    "moons": (moons, False),
    "four classes": (classes, False),
}
MODELS: dict[str, dict[str, Any]] = {
    "200 atoms, not polished": {"max_atoms": 200, "polish": False},
    "200 atoms, five epochs": {"max_atoms": 200, "epochs": 5},
    "200 atoms": {"max_atoms": 200},
    "default": {},
    "600 atoms": {"max_atoms": 600},
}


def scores(name: str, seed: int, size: int) -> list[tuple[float, float]]:
    """Return score and seconds of each model, and of a support vector machine with C = 10."""
    make, is_regression = PROBLEMS[name]
    X, y = make(size, seed)
    half = size // 2
    scaler = StandardScaler().fit(X[:half])
    train, test = scaler.transform(X[:half]), scaler.transform(X[half:])
    if is_regression:
        y = (y - y[:half].mean()) / y[:half].std()
    ours = COLKRegressor if is_regression else COLKClassifier
    models = [ours(random_state=seed, **settings) for settings in MODELS.values()]
    found = []
    for model in [*models, SVR(C=10) if is_regression else SVC(C=10)]:
        start = time.perf_counter()
        model.fit(train, y[:half])
        seconds = time.perf_counter() - start
        found.append((model.score(test, y[half:]), seconds))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--size", type=int, default=8000, help="number of samples; half of them are for testing"
    )
    arguments = parser.parse_args()
    rows = []
    for name in PROBLEMS:
        runs = [scores(name, 2000 + k, arguments.size) for k in range(arguments.seeds)]
        means = np.mean(runs, axis=0)
        rows.append([name, *(f"{score:.3f} ({seconds:.1f} s)" for score, seconds in means)])
        print(rows[-1], flush=True)
    publish("polish", ["problem", *MODELS, "SVM, C = 10"], rows)


if __name__ == "__main__":
    main()
