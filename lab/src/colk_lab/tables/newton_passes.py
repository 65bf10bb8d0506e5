"""One pass of Newton steps, compared with one and five passes of gradient steps.

    python -m colk_lab.tables newton_passes --data FOLDER

The table shows 1 − R² on a held-out fifth of the samples, or the log loss for labels. It is the
mean over ten splits; small data sets have more splits, so that at least 5,000 samples are held out.
All models have the same Laplacian kernel at its standard bandwidth, standardised features and
targets, the Huber or the logistic loss, and the same limit on atoms. Gradient steps have size 1 in
units of the loss, with averaging. Newton steps have the prior λ = 0.3, λ = 0.1, or "auto", whose
constants were chosen on other splits, seeds and generators.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from colk.compressors import KOMP
from colk.kernels import Laplacian
from colk.learners import POLK, NewtonCOLK
from colk.losses import Huber, Logistic, Loss
from colk.losses.scale import loss_scale
from colk.model.defaults import eps_share
from colk.schedules import PolyakRuppert
from colk_lab.tables.data import adult, airfoil, bike
from colk_lab.tables.output import publish

Sample = tuple[np.ndarray, np.ndarray]
FIRST_SPLIT, SPLITS, LEAST = 100, 10, 5000
LARGEST = 8000
PRIORS: tuple[float | Literal["auto"], ...] = (0.3, 0.1, "auto")


def waves(seed: int) -> Sample:
    """A sum of 40 waves in random directions of six features."""
    rng = np.random.default_rng(seed)
    X, directions = rng.normal(size=(5000, 6)), rng.normal(size=(6, 40)) / np.sqrt(6.0)
    f = np.cos(X @ directions + rng.uniform(0.0, 2.0 * np.pi, 40)) @ rng.normal(size=40)
    return X, f + 0.1 * f.std() * rng.normal(size=5000)


def ridges(seed: int) -> Sample:
    """Eight features, a function with kinks, and heavy-tailed noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 8))
    f = np.abs(X[:, 0] - X[:, 1]) + np.maximum(X[:, 2], X[:, 3] * X[:, 4])
    return X, f + 0.3 * rng.standard_t(3, size=5000)


def rentals(folder: Path | None) -> Sample:
    samples = bike(folder)
    return np.array([list(x.values()) for x, _ in samples]), np.array([y for _, y in samples])


def problems(folder: Path | None) -> dict[str, Callable[[], Sample]]:
    return {
        "airfoil": lambda: airfoil(folder),
        "bike_hour": lambda: rentals(folder),
        "Friedman 1": lambda: datasets.make_friedman1(5000, noise=1.0, random_state=3),
        "Friedman 2": lambda: datasets.make_friedman2(5000, noise=100.0, random_state=3),
        "Friedman 3": lambda: datasets.make_friedman3(5000, noise=0.1, random_state=3),
        "waves": lambda: waves(3),
        "kinks": lambda: ridges(3),
        "adult_a1a (log loss)": lambda: adult(folder),
    }


def first_order(kernel: Laplacian, loss: Loss, n_atoms: int) -> POLK:
    rule = KOMP(fraction=eps_share(loss), max_atoms=n_atoms)
    return POLK(
        kernel, loss, step_size=1.0 / loss_scale(loss), compressor=rule,
        gradient_bound=10.0 * loss_scale(loss), averaging=PolyakRuppert(growth=3.0),
    )  # fmt: skip


def errors(X: np.ndarray, y: np.ndarray, labels: bool, n_atoms: int, split: int) -> list[float]:
    parts = train_test_split(X, y, test_size=0.2, random_state=split)
    X_train, X_test, y_train, y_test = (part.astype(float) for part in parts)
    X_train, y_train = X_train[:LARGEST], y_train[:LARGEST]
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    if labels:
        y_train, y_test = 2.0 * y_train - 1.0, 2.0 * y_test - 1.0
    else:
        mean, spread = y_train.mean(), y_train.std()
        y_train, y_test = (y_train - mean) / spread, (y_test - mean) / spread
    loss: Loss = Logistic() if labels else Huber(1.0)
    kernel = Laplacian(X.shape[1] / 2.0)

    def score(learner: POLK | NewtonCOLK) -> float:
        f = learner.predict(X_test)
        if labels:
            return float(np.logaddexp(0.0, -y_test * f).mean())
        return float(((f - y_test) ** 2).mean() / y_test.var())

    first = first_order(kernel, loss, n_atoms).learn(X_train, y_train)
    one, rng = score(first), np.random.default_rng(split)
    for _ in range(4):
        order = rng.permutation(len(X_train))
        first.learn(X_train[order], y_train[order])
    scores, rule = [one, score(first)], KOMP(eps=0.05, max_atoms=n_atoms)
    for prior in PRIORS:
        second = NewtonCOLK(kernel, loss, prior=prior, compressor=rule).learn(X_train, y_train)
        scores.append(score(second))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with the files of data.py")
    rows = []
    for name, load in problems(parser.parse_args().data).items():
        X, y = load()
        for n_atoms in (200, 600):
            splits = FIRST_SPLIT + np.arange(max(SPLITS, -(-5 * LEAST // len(X))))
            runs = [errors(X, y, "log loss" in name, n_atoms, split) for split in splits.tolist()]
            found = np.mean(runs, axis=0)
            numbers = (f"{value:.4f}" for value in found)
            ratios = (f"{found[k] / found[of]:.2f}" for of in (0, 1) for k in (2, 3, 4))
            rows.append([name, str(n_atoms), *numbers, *ratios])
            print(*rows[-1], flush=True)
    columns = ["problem", "atoms", "first order, 1 pass", "5 passes"]
    columns += ["λ = 0.3, 1 pass", "λ = 0.1", "auto"]
    ratios = ["λ = 0.3 to 1 pass", "λ = 0.1", "auto", "λ = 0.3 to 5 passes", "λ = 0.1", "auto"]
    publish("newton_passes", columns + ratios, rows)


if __name__ == "__main__":
    main()
