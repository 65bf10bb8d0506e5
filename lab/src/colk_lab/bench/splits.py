"""Split a real data set into rows for training and rows for testing."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from colk_lab.data import load

__all__ = ["TEST_SHARE", "Split", "split"]

# Share of the rows of a set that test; at most 5,000 rows.
TEST_SHARE, _MOST_TEST = 0.2, 5000


@dataclass(frozen=True, eq=False)
class Split:
    """Rows for training and for testing."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


@lru_cache(4)
def split(name: str, seed: int, n_train: int) -> Split:
    """Draw rows of a data set.

    Parameters
    ----------
    name : str
        The data set.
    seed : int
        Seed of the draw.
    n_train : int
        Largest number of rows for training.
    """
    X, y = load(name)
    order = np.random.default_rng([seed, *name.encode()]).permutation(len(y))
    n_test = min(round(TEST_SHARE * len(y)), _MOST_TEST)
    test, train = order[:n_test], order[n_test : n_test + n_train]
    return Split(X.iloc[train], y[train], X.iloc[test], y[test])
