"""The estimators at their defaults, compared with tuned support vector machines and ridges.

Inputs are standardised. A quarter of the samples is held out, in splits that were not used to
choose any default. SVR, KernelRidge and SVC with Gaussian kernels are tuned by a five-fold search
on part of the training samples and fitted to all of them (the ridge to at most 8000). Times are
processor seconds of one fit, the minimum of up to three; limit BLAS to one thread. The script
writes docs/tables/defaults_regression.md and docs/tables/defaults_classification.md. With --units
it writes docs/tables/defaults_units.md, the effect of the units of loss, targets and features.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from colk import COLKClassifier, COLKRegressor
from colk.losses import CustomLoss
from colk_lab.tables.data import adult, airfoil, bike
from colk_lab.tables.output import publish

Sample = tuple[Any, Any]
MOST_OF_RIDGE = 8000
FITS, LONG = 3, 2.0  # fits that are timed, and seconds after which there are no more
SEED = 500  # of generated data and of the first split


def bike_table(folder: Path | None) -> Sample:
    rows = bike(folder)
    return np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])


def checkerboard(n: int) -> Sample:
    X = np.random.default_rng(SEED).uniform(-2.0, 2.0, size=(n, 2))
    return X, np.floor(X).sum(axis=1) % 2 > 0.0


def regressions(folder: Path | None) -> dict[str, Callable[[], Sample]]:
    return {
        "airfoil": lambda: airfoil(folder),
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "bike, any order": lambda: bike_table(folder),
        "Friedman 1": lambda: datasets.make_friedman1(5000, noise=1.0, random_state=SEED),
        "Friedman 2": lambda: datasets.make_friedman2(5000, noise=50.0, random_state=SEED),
        "Friedman 3": lambda: datasets.make_friedman3(5000, noise=0.1, random_state=SEED),
    }


def classifications(folder: Path | None) -> dict[str, Callable[[], Sample]]:
    return {
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "adult_a1a": lambda: adult(folder),
        "moons": lambda: datasets.make_moons(6000, noise=0.25, random_state=SEED),
        "checkerboard": lambda: checkerboard(6000),
        "four classes": lambda: datasets.make_classification(
            6000, 12, n_informative=6, n_classes=4, random_state=SEED
        ),
    }


def split(X: Any, y: Any, seed: int, largest: int) -> tuple[Any, Any, Any, Any]:
    """Return standardised training samples, at most the given number, and test samples."""
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = np.split(order, [len(order) // 4])
    train = train[:largest]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def grid(n_features: int, **others: list[float]) -> dict[str, list[float]]:
    return {"gamma": [factor / n_features for factor in (0.2, 0.6, 2.0, 6.0, 20.0)], **others}


def tuned(peer: Any, settings: dict[str, list[float]], X: Any, y: Any, n_search: int) -> Any:
    """Return an estimator with the best settings of a five-fold search on the first samples."""
    return GridSearchCV(peer, settings, cv=5).fit(X[:n_search], y[:n_search]).best_estimator_


def measured(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float]:
    """Return the score, and the processor seconds of a fit: the minimum of three if it is short."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < FITS and sum(seconds) < LONG):
        start = time.process_time()
        model.fit(X, y)
        seconds.append(time.process_time() - start)
    return float(model.score(X_test, y_test)), min(seconds)


def row(name: str, X: Any, y: Any, arguments: argparse.Namespace, is_regression: bool) -> list[str]:
    """Return the means over splits of our model at two sizes and of the compared estimators."""
    runs = []
    for seed in range(SEED, SEED + arguments.splits):
        parts = split(X, y, seed, arguments.largest)
        p = X.shape[1]
        if is_regression:
            center, unit = parts[1].mean(), parts[1].std()
            parts = parts[0], (parts[1] - center) / unit, parts[2], (parts[3] - center) / unit
            ours = [COLKRegressor, COLKRegressor]
            peers = [
                (SVR(), grid(p, C=[1.0, 10.0, 100.0], epsilon=[0.02, 0.1])),
                (KernelRidge(kernel="rbf"), grid(p, alpha=[1e-3, 1e-2, 0.1, 1.0])),
            ]
        else:
            ours = [COLKClassifier, COLKClassifier]
            peers = [(SVC(), grid(p, C=[1.0, 10.0, 100.0]))]
        models = [kind(random_state=seed, **more) for kind, more in zip(ours, ATOMS, strict=True)]
        models += [tuned(peer, settings, *parts[:2], arguments.search) for peer, settings in peers]
        found = []
        for model in models:
            most = MOST_OF_RIDGE if isinstance(model, KernelRidge) else None
            found.append(measured(model, parts[0][:most], parts[1][:most], *parts[2:]))
        runs.append(found)
    means = np.mean(runs, axis=0)
    shown = [f"{score:.3f} ({seconds:.2g} s)" for score, seconds in means]
    return [name, str(len(parts[0])), *shown]


ATOMS: tuple[dict[str, int], ...] = ({}, {"max_atoms": 600})


def times(factor: float) -> CustomLoss:
    """Return the Huber loss times a factor."""
    return CustomLoss(
        lambda f, y: factor * min((f - y) ** 2 / 2, abs(f - y) - 0.5),
        lambda f, y: factor * max(-1.0, min(1.0, f - y)),
        is_convex=True,
    )


def unit_rows(sets: dict[str, Callable[[], Sample]], largest: int) -> list[list[str]]:
    """Return R² with changed units, with and without the polish."""
    rows = []
    for name, make in sets.items():
        X, y, X_test, y_test = split(*make(), SEED, largest)
        for polish in (True, False):
            settings = {"polish": polish, "random_state": 0}
            found = [
                measured(COLKRegressor(loss=times(c), **settings), X, y, X_test, y_test)[0]
                for c in (1.0, 1e-3, 0.1, 10.0, 1e3)
            ]
            found += [
                measured(COLKRegressor(**settings), X, c * y, X_test, c * y_test)[0]
                for c in (1e-6, 1e6)
            ]
            rows.append([name, "yes" if polish else "no", *(f"{score:.4f}" for score in found)])
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of airfoil.csv and bike_hour.csv")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--search", type=int, default=1500, help="samples for the search")
    parser.add_argument(
        "--largest", type=int, default=20_000, help="largest number of training samples"
    )
    parser.add_argument("--only", nargs="*", help="names of data sets")
    parser.add_argument(
        "--units", action="store_true", help="vary units instead of comparing estimators"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    sets = {True: regressions(arguments.data), False: classifications(arguments.data)}
    if arguments.units:
        rows = unit_rows(sets[True], min(arguments.largest, 4000))
        losses = [f"loss × {c:g}" for c in (1.0, 1e-3, 0.1, 10.0, 1e3)]
        columns = ["data set", "polished", *losses, "targets × 1e-6", "targets × 1e6"]
        publish("defaults_units", columns, rows)
        return
    for is_regression, makers in sets.items():
        rows = []
        for name, make in makers.items():
            if not arguments.only or name in arguments.only:
                rows.append(row(name, *make(), arguments, is_regression))
                print(rows[-1], flush=True)
        kind = "regression" if is_regression else "classification"
        peers = ["SVR, tuned", "KernelRidge, tuned"] if is_regression else ["SVC, tuned"]
        columns = ["data set", "training samples", "default", "max_atoms=600", *peers]
        if rows:
            publish(f"defaults_{kind}", columns, rows)


if __name__ == "__main__":
    main()
