"""Difficult tables, drawn with a known truth; each says what makes it difficult."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from colk_lab.arrays import Array

__all__ = ["HARD_TABLES", "HardTable"]

Random = np.random.Generator
# The features, the targets, and the truth behind them.
Drawn = tuple[Any, Any, Any]


@dataclass(frozen=True)
class HardTable:
    """A table that is difficult for one reason.

    Parameters
    ----------
    name, why : str
        Its name, and what is difficult.
    draw : callable
        Returns n rows: a data frame, the targets, and their values without noise.
    n_train : int, default=400
        Number of rows for training; 1,000 other rows test.
    is_classifier : bool, default=False
        Whether the targets are classes.
    in_order : bool, default=False
        Whether the rows for testing are the last ones instead of random ones.
    """

    name: str
    why: str
    draw: Callable[[int, Random], Drawn]
    n_train: int = 400
    is_classifier: bool = False
    in_order: bool = False


def _frame(X: Array) -> Any:
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})


def _smooth(X: Array) -> Array:
    return np.asarray(np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2])


def _base(n: int, rng: Random, p: int = 3, noise: float = 0.1) -> tuple[Array, Array, Array]:
    X = rng.uniform(-1.0, 1.0, size=(n, p))
    truth = _smooth(X)
    return X, truth + noise * rng.normal(size=n), truth


def _few(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(X), y, truth


def _constant_columns(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(np.column_stack([X, np.ones((n, 5)), np.zeros((n, 5))])), y, truth


def _copies(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng, p=6)
    return _frame(np.column_stack([X, *[X[:, [4]]] * 10])), y, truth


def _heavy_targets(n: int, rng: Random) -> Drawn:
    X, _, truth = _base(n, rng)
    return _frame(X), truth + 0.3 * rng.standard_t(1.5, size=n), truth


def _heavy_features(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(np.sinh(6.0 * X)), y, truth


def _outliers(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    wild = rng.random(n) < 0.1
    y[wild] += rng.choice([-1.0, 1.0], wild.sum()) * rng.uniform(5.0, 15.0, wild.sum())
    return _frame(X), y, truth


def _wild_cells(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    wild = rng.random(X.shape) < 0.01
    return _frame(np.where(wild, 1000.0 * X, X)), y, truth


def _two_modes(n: int, rng: Random) -> Drawn:
    X, _, truth = _base(n, rng)
    side = rng.choice([-1.0, 1.0], n)
    return _frame(X), truth + 2.0 * side + 0.1 * rng.normal(size=n), truth


def _many_columns(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng, p=500)
    return _frame(X), y, truth


def _interactions(n: int, rng: Random) -> Drawn:
    X = rng.normal(size=(n, 10))
    truth = np.sin(2.5 * X[:, 3]) * X[:, 7]
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _parity(n: int, rng: Random) -> Drawn:
    X = rng.uniform(-1.0, 1.0, size=(n, 6))
    truth = (np.sign(X[:, :3]).prod(axis=1) > 0.0).astype(int)
    return _frame(X), truth, truth


def _rotated(n: int, rng: Random) -> Drawn:
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(20, 20)))[0]
    X = rng.normal(size=(n, 20))
    Z = X @ turn
    truth = np.sin(2.0 * Z[:, 0]) + 0.5 * Z[:, 1] ** 2
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _thresholds(n: int, rng: Random) -> Drawn:
    X = rng.uniform(size=(n, 6))
    truth = (X[:, 0] > 0.4) + 2.0 * ((X[:, 1] > 0.5) & (X[:, 2] < 0.7)) - (X[:, 3] > 0.8)
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _many_values(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    effects = np.random.default_rng(6).normal(size=300)
    codes = rng.integers(300, size=n)
    table = _frame(X).assign(shop=pd.Categorical([f"shop {code}" for code in codes]))
    return table, y + effects[codes], truth + effects[codes]


def _new_values(n: int, rng: Random) -> Drawn:
    """The rows for testing, the last 1,000, have categories that no training row has."""
    X, y, truth = _base(n, rng)
    codes = rng.integers(4, size=n) + 2 * (np.arange(n) >= n - 1000)
    effects = np.array([-1.0, -0.5, 0.5, 1.0, 0.0, 0.0])[codes]
    names = pd.Categorical([f"kind {code}" for code in codes])
    return _frame(X).assign(kind=names), y + effects, truth + effects


def _gaps(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(np.where(rng.random(X.shape) < 0.3, np.nan, X)), y, truth


def _telling_gaps(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    missing = rng.random(n) < 0.5
    X[missing, 0] = np.nan
    return _frame(X), y + 2.0 * missing, truth + 2.0 * missing


def _scales(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(X * [1e-6, 1.0, 1e6]), y, truth


def _skewed(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(X), np.exp(3.0 * y), np.exp(3.0 * truth)


def _only_noise(n: int, rng: Random) -> Drawn:
    return _frame(rng.normal(size=(n, 5))), rng.normal(size=n), np.zeros(n)


def _linear(n: int, rng: Random) -> Drawn:
    X = rng.normal(size=(n, 50))
    truth = X @ np.linspace(1.0, -1.0, 50)
    return _frame(X), truth + rng.normal(size=n), truth


def _ties(n: int, rng: Random) -> Drawn:
    X = rng.integers(-1, 2, size=(n, 3)).astype(float)
    truth = _smooth(X)
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _rare(n: int, rng: Random) -> Drawn:
    X = rng.normal(size=(n, 4))
    truth = (X[:, 0] + X[:, 1] > 2.9).astype(int)
    return _frame(X), truth, truth


def _wrong_labels(n: int, rng: Random) -> Drawn:
    X = rng.normal(size=(n, 4))
    truth = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    return _frame(X), np.where(rng.random(n) < 0.3, 1 - truth, truth), truth


def _time(n: int, rng: Random) -> Drawn:
    hour = np.arange(n, dtype=float)
    X = np.column_stack([hour, rng.uniform(-1.0, 1.0, size=n)])
    truth = 0.004 * hour + np.sin(2.0 * np.pi * hour / 24.0) + X[:, 1]
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _beyond(n: int, rng: Random) -> Drawn:
    X = np.sort(rng.uniform(-1.0, 1.0, size=(n, 1)), axis=0)
    truth = 2.0 * X[:, 0] + 0.3 * np.sin(8.0 * X[:, 0])
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _fast(n: int, rng: Random) -> Drawn:
    X = rng.uniform(size=(n, 1))
    truth = np.sin(60.0 * X[:, 0])
    return _frame(X), truth + 0.1 * rng.normal(size=n), truth


def _uneven(n: int, rng: Random) -> Drawn:
    X, _, truth = _base(n, rng)
    return _frame(X), truth + 10.0 ** X[:, 2] * rng.normal(size=n), truth


def _repeated(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    first = rng.integers(n // 10 + 1, size=n)
    return _frame(X[first]), y[first], truth[first]


def _far_away(n: int, rng: Random) -> Drawn:
    X, y, truth = _base(n, rng)
    return _frame(X + 1e7), y + 1e7, truth + 1e7


_ALL = (
    HardTable("constant columns", "Ten of 13 columns are constant.", _constant_columns),
    HardTable("copied columns", "An irrelevant column is there eleven times.", _copies),
    HardTable("heavy-tailed targets", "The noise has no variance.", _heavy_targets),
    HardTable("heavy-tailed features", "Features are hyperbolic sines.", _heavy_features),
    HardTable("outliers", "A tenth of the targets is moved by 5 to 15.", _outliers),
    HardTable("wild cells", "One cell of 100 is multiplied by 1,000.", _wild_cells),
    HardTable("two modes", "Targets lie 2 above or below the mean, at random.", _two_modes),
    HardTable("few rows", "There are 20 rows.", _few, n_train=20),
    HardTable("many columns", "Three of 500 columns matter.", _many_columns),
    HardTable("only interactions", "Two of ten features act only together.", _interactions),
    HardTable("parity", "The class is the product of three signs.", _parity, is_classifier=True),
    HardTable("rotated features", "Two directions in 20 features matter.", _rotated),
    HardTable("thresholds", "The function is constant on boxes.", _thresholds),
    HardTable("many categories", "A category has 300 values.", _many_values),
    HardTable("new categories", "New rows have unknown values.", _new_values, in_order=True),
    HardTable("gaps", "Three cells of ten are missing, at random.", _gaps),
    HardTable("telling gaps", "Targets are larger if a cell is missing.", _telling_gaps),
    HardTable("scales", "Scales of the features differ by 10¹².", _scales),
    HardTable("skewed targets", "Targets are exponentials.", _skewed),
    HardTable("only noise", "No feature matters, so the constant is best.", _only_noise),
    HardTable("linear", "The function of 50 features is linear.", _linear),
    HardTable("few-valued features", "Each feature has three values.", _ties),
    HardTable("rare class", "Two rows of 100 are in the class.", _rare, is_classifier=True),
    HardTable("wrong labels", "Three labels of ten are wrong.", _wrong_labels, is_classifier=True),
    HardTable("time as a feature", "New rows come later; there is a trend.", _time, in_order=True),
    HardTable("beyond the data", "New rows lie outside.", _beyond, 2000, in_order=True),
    HardTable("fast oscillation", "Ten periods in one feature.", _fast),
    HardTable("uneven noise", "The noise grows from 0.1 to 10 along a feature.", _uneven),
    HardTable("repeated rows", "Each row is there about ten times, with its noise.", _repeated),
    HardTable("far away", "Features and targets are near 10⁷, with a spread of 1.", _far_away),
)

HARD_TABLES = {each.name: each for each in _ALL}
