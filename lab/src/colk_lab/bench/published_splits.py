"""A published benchmark of tables, repeated: median errors over ten random splits."""

from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk.estimators import COLKRegressor
from colk_lab.arrays import Array
from colk_lab.data import load

__all__ = ["MODELS", "median_error"]

# A quarter of the rows tests.
_N_SPLITS, _TEST = 10, 0.25


def _boosting() -> Any:
    """Return the settings that the published search chose most often."""
    return GradientBoostingRegressor(n_estimators=100, max_features="log2", random_state=0)


MODELS = {
    "linear regression": LinearRegression,
    "gradient boosting": _boosting,
    "colk": lambda: COLKRegressor(random_state=0),
}


def _rows() -> tuple[Array, Array]:
    """Return the fifteen columns of numbers of the cars, and their prices in thousands."""
    X, y = load("automobile")
    texts = {"Symboling"}
    known = [name for name in X.columns if name in texts or X[name].dtype.kind == "f"]
    return X[known].astype(float).to_numpy(), y / 1000.0


def median_error(name: str, seed: int) -> float:
    """Return the median over ten splits of the mean squared error on new rows."""
    (X, y), errors = _rows(), []
    for k in range(_N_SPLITS):
        order = np.random.default_rng([seed, k]).permutation(len(y))
        n_test = round(_TEST * len(y))
        test, train = order[:n_test], order[n_test:]
        model = make_pipeline(StandardScaler(), MODELS[name]()).fit(X[train], y[train])
        errors.append(float(np.mean((model.predict(X[test]) - y[test]) ** 2)))
    return float(np.median(errors))
