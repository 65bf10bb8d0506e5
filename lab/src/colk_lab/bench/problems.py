"""Batch problems: data sets of scikit-learn and of this package, and generators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)

from colk.data import load_lidar
from colk_lab.arrays import Array

__all__ = ["CLASSIFICATION", "REGRESSION", "Problem", "Split"]

# Rows, and their targets or labels.
Drawn = tuple[Array, Any]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows for training and for testing."""

    X: Array
    y: Any
    X_test: Array
    y_test: Any


@dataclass(frozen=True)
class Problem:
    """A batch problem.

    Parameters
    ----------
    name : str
        Name in the tables.
    draw : callable
        Draws n rows and their targets, or all rows of a data set in a random order.
    n_train : int
        Number of training rows in a full run.
    note : str, default=""
        A fact that a reader must know, for example that a default was chosen on these data.
    cost : float, default=1.0
        Time of a fit, relative to other problems with as many rows.
    """

    name: str
    draw: Callable[[int, np.random.Generator], Drawn]
    n_train: int
    note: str = ""
    cost: float = 1.0

    def split(self, seed: int, n_train: int) -> Split:
        """Return training rows and test rows; the same seed gives the same rows."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        X, y = self.draw(2 * n_train, rng)
        n = min(n_train, int(0.7 * len(X)))
        return Split(X[:n], y[:n], X[n:], y[n:])


def _shuffled(X: Array, y: Any, n: int, rng: np.random.Generator) -> Drawn:
    order = rng.permutation(len(X))[:n]
    return np.asarray(X, dtype=np.float64)[order], np.asarray(y)[order]


def _friedman1(n: int, rng: np.random.Generator, n_features: int = 10) -> Drawn:
    found: Drawn = make_friedman1(
        n, n_features=n_features, noise=1.0, random_state=int(rng.integers(2**31))
    )
    return found


def _friedman1_of_50(n: int, rng: np.random.Generator) -> Drawn:
    return _friedman1(n, rng, n_features=50)


def _friedman2(n: int, rng: np.random.Generator) -> Drawn:
    found: Drawn = make_friedman2(n, noise=125.0, random_state=int(rng.integers(2**31)))
    return found


def _friedman3(n: int, rng: np.random.Generator) -> Drawn:
    found: Drawn = make_friedman3(n, noise=0.1, random_state=int(rng.integers(2**31)))
    return found


def _arm(n: int, rng: np.random.Generator) -> Drawn:
    """Draw the distance of the hand of a plane arm with eight links from the origin."""
    angles = rng.uniform(-np.pi / 4, np.pi / 4, size=(n, 8))
    turned = np.cumsum(angles, axis=1)
    reach = np.hypot(np.cos(turned).sum(axis=1), np.sin(turned).sum(axis=1))
    return angles, reach + 0.05 * rng.normal(size=n)


def _steps(n: int, rng: np.random.Generator) -> Drawn:
    """Draw from boxes along the axes, which suit trees and do not suit smooth functions."""
    X = rng.uniform(size=(n, 6))
    level = (X[:, 0] > 0.4) + 2.0 * ((X[:, 1] > 0.5) & (X[:, 2] < 0.7)) - (X[:, 3] > 0.8)
    return X, level + 0.3 * rng.normal(size=n)


def _linear(n: int, rng: np.random.Generator) -> Drawn:
    X = rng.normal(size=(n, 8))
    return X, X @ np.linspace(1.0, -1.0, 8) + 0.5 * rng.normal(size=n)


def _diabetes(n: int, rng: np.random.Generator) -> Drawn:
    X, y = load_diabetes(return_X_y=True)
    return _shuffled(X, y, n, rng)


def _lidar(n: int, rng: np.random.Generator) -> Drawn:
    distance, log_ratio = load_lidar()
    return _shuffled(distance[:, None], log_ratio, n, rng)


def _gauss(n: int, rng: np.random.Generator) -> Drawn:
    """Draw two overlapping normal classes; the best possible accuracy is about 0.816."""
    y = (rng.random(n) < 0.5).astype(int)
    X = rng.normal(size=(n, 2))
    X[y == 1] = 2.0 * X[y == 1] + [2.0, 0.0]
    return X, y


def _checkerboard(n: int, rng: np.random.Generator) -> Drawn:
    X = rng.uniform(0.0, 4.0, size=(n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


def _waveform(n: int, rng: np.random.Generator) -> Drawn:
    """Draw Breiman's three classes: 21 noisy points on mixtures of two triangles."""
    places = np.arange(1.0, 22.0)
    waves = np.maximum(6.0 - np.abs(places - np.array([[11.0], [15.0], [7.0]])), 0.0)
    label = rng.integers(3, size=n)
    first, second = waves[np.array([0, 0, 1])[label]], waves[np.array([1, 2, 2])[label]]
    share = rng.random((n, 1))
    return share * first + (1.0 - share) * second + rng.normal(size=(n, 21)), label


def _clouds(n: int, rng: np.random.Generator) -> Drawn:
    """Draw six classes, each a mixture of three normal clouds in 16 features."""
    centres = np.random.default_rng(26).normal(scale=1.6, size=(6, 3, 16))
    label = rng.integers(6, size=n)
    return centres[label, rng.integers(3, size=n)] + rng.normal(size=(n, 16)), label


def _bundled(load: Callable[..., Drawn]) -> Callable[..., Drawn]:
    def draw(n: int, rng: np.random.Generator) -> Drawn:
        X, y = load(return_X_y=True)
        return _shuffled(X, y, n, rng)

    return draw


_CHOSEN = "Defaults of colk were chosen on other samples from this generator."

REGRESSION = {
    problem.name: problem
    for problem in (
        Problem("Friedman 1", _friedman1, 1600, _CHOSEN),
        Problem("Friedman 1, 50 features", _friedman1_of_50, 1600, _CHOSEN, 1.3),
        Problem("Friedman 2", _friedman2, 1600, cost=0.7),
        Problem("Friedman 3", _friedman3, 1600, cost=0.9),
        Problem("arm of 8 links", _arm, 1600, _CHOSEN, 0.75),
        Problem("boxes", _steps, 1600, "A piecewise constant function, which suits trees.", 1.2),
        Problem("linear", _linear, 1600, "A linear function, for which simpler models suffice."),
        Problem(
            "diabetes",
            _diabetes,
            442,
            "scikit-learn's data, on which defaults of colk were compared.",
        ),
        Problem(
            "lidar", _lidar, 221, "This package's data, on which defaults of colk were compared."
        ),
    )
}

CLASSIFICATION = {
    problem.name: problem
    for problem in (
        Problem("Gauss", _gauss, 1600, cost=0.4),
        Problem("checkerboard", _checkerboard, 1600, cost=0.4),
        Problem("waveform", _waveform, 1600, cost=1.2),
        Problem("6 classes of clouds", _clouds, 1600, cost=1.8),
        Problem("digits", _bundled(load_digits), 1200, "scikit-learn's data.", cost=4.0),
        Problem("breast cancer", _bundled(load_breast_cancer), 569, "scikit-learn's data."),
        Problem("wine", _bundled(load_wine), 178, "scikit-learn's data."),
    )
}
