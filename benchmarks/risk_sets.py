"""Data sets on which risks are compared, each with what a risk can gain on it, and why.

Under noise that is the same everywhere and has no long tail on one side, the model of the mean has
the smallest tail as well. A risk can gain where the noise is skewed: moving f towards the long tail
makes its losses smaller, at the price of the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import data
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

Array = NDArray[np.float64]
Samples = tuple[Array, Array]

N_TRAIN, N_TEST = 1500, 5000


@dataclass(frozen=True)
class RiskSet:
    """A data set: how to draw it, whether the tail can gain, and why."""

    name: str
    draw: Callable[[np.random.Generator, Path | None], tuple[Samples, Samples]]
    pays: bool
    why: str


def _standardized(train: Samples, test: Samples) -> tuple[Samples, Samples]:
    center, unit = train[0].mean(axis=0), train[0].std(axis=0)
    unit[unit == 0.0] = 1.0
    return ((train[0] - center) / unit, train[1]), ((test[0] - center) / unit, test[1])


def _generated(
    make: Callable[[int, np.random.Generator], Samples],
) -> Callable[[np.random.Generator, Path | None], tuple[Samples, Samples]]:
    def draw(rng: np.random.Generator, folder: Path | None) -> tuple[Samples, Samples]:
        return _standardized(make(N_TRAIN, rng), make(N_TEST, rng))

    return draw


def _split(
    load: Callable[[Path | None], Samples],
) -> Callable[[np.random.Generator, Path | None], tuple[Samples, Samples]]:
    def draw(rng: np.random.Generator, folder: Path | None) -> tuple[Samples, Samples]:
        X, y = load(folder)
        order = rng.permutation(len(y))
        size = min(int(0.7 * len(y)), N_TRAIN)
        train, test = order[:size], order[size : size + N_TEST]
        return _standardized((X[train], y[train]), (X[test], y[test]))

    return draw


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _wave(X: Array) -> Array:
    """A smooth function of three features."""
    return np.asarray(np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2])


def _points(n: int, rng: np.random.Generator) -> Array:
    return np.asarray(rng.uniform(-1.0, 1.0, size=(n, 3)))


def _skewed(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, _wave(X) + (1.2 + X[:, 0]) * rng.exponential(size=n)


def _lognormal(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, _wave(X) + 0.5 * rng.lognormal(size=n)


def _heavy_one_sided(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, _wave(X) + 0.5 * np.abs(rng.standard_t(3, size=n))


def _gamma(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, np.exp(0.5 * _wave(X)) * rng.gamma(0.7, size=n)


def _rare_regime(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    rare = rng.uniform(size=n) < 0.05 + 0.15 * (X[:, 1] > 0.0)
    return X, _wave(X) + 0.2 * rng.normal(size=n) + rare * rng.exponential(2.0, size=n)


def _hidden_group(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    hidden = rng.uniform(size=n) < 0.1
    return X, _wave(X) + 0.3 * rng.normal(size=n) + 1.5 * hidden


def _fans_out(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, _wave(X) + 0.4 * (1.1 + X[:, 0]) * rng.normal(size=n)


def _step(n: int, rng: np.random.Generator) -> Samples:
    X = _points(n, rng)
    return X, np.sign(X[:, 0] + 0.5 * X[:, 1]) + 0.3 * rng.normal(size=n)


def _friedman(make: Callable[..., Samples], noise: float) -> Callable[..., Samples]:
    def draw(n: int, rng: np.random.Generator) -> Samples:
        X, y = make(n, noise=noise, random_state=_seed(rng))
        return X, y

    return draw


def _bike(folder: Path | None) -> Samples:
    rows = data.bike(folder)
    return np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])


def _columns(name: str) -> Callable[[Path | None], Samples]:
    def load(folder: Path | None) -> Samples:
        table = data.table_of(name, folder)
        return table[:, :-1], table[:, -1]

    return load


_EVEN = "the noise is normal and the same everywhere"
_REAL = "no long tail on one side is known"

SETS = (
    RiskSet("Friedman 1", _generated(_friedman(make_friedman1, 1.0)), False, _EVEN),
    RiskSet("Friedman 2", _generated(_friedman(make_friedman2, 125.0)), False, _EVEN),
    RiskSet("Friedman 3", _generated(_friedman(make_friedman3, 0.1)), False, _EVEN),
    RiskSet("step", _generated(_step), False, _EVEN),
    RiskSet("fans out", _generated(_fans_out), False, "the noise grows along x₁, on both sides"),
    RiskSet("airfoil", _split(data.airfoil), False, _REAL),
    RiskSet("diabetes", _split(lambda _: load_diabetes(return_X_y=True)), False, _REAL),
    RiskSet("lidar", _split(_columns("lidar.csv")), False, "221 rows; the noise is on both sides"),
    RiskSet("mcycle", _split(_columns("mcycle.csv")), False, "133 rows; the noise is on both sides"),
    RiskSet("bike", _split(_bike), True, "counts: busy hours vary more, and mostly upwards"),
    RiskSet("skewed", _generated(_skewed), True, "exponential noise that grows along x₁"),
    RiskSet("lognormal", _generated(_lognormal), True, "lognormal noise on one side"),
    RiskSet("heavy, one side", _generated(_heavy_one_sided), True, "|t₃| noise on one side"),
    RiskSet("gamma", _generated(_gamma), True, "multiplicative gamma noise, skewed"),
    RiskSet("rare regime", _generated(_rare_regime), True, "5 to 20 % of the rows jump upwards"),
    RiskSet("hidden group", _generated(_hidden_group), True, "a tenth of the rows is shifted"),
)
