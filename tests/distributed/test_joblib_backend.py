"""Searches through joblib's Dask backend."""

import joblib
import numpy as np
from sklearn.model_selection import GridSearchCV

from colk import COLKRegressor


def test_a_search_finds_the_same(client):
    X = np.random.default_rng(0).uniform(-1, 1, size=(120, 1))
    model = COLKRegressor(kernel="gaussian", max_atoms=10, random_state=0)
    search = GridSearchCV(model, {"loss": ["huber", "squared"]}, cv=2)
    here = search.fit(X, np.sin(3 * X[:, 0])).cv_results_["mean_test_score"]
    with joblib.parallel_config("dask"):
        there = search.fit(X, np.sin(3 * X[:, 0])).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(here, there)
