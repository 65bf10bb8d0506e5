"""Unusable data give an error or a warning: lazy, tiny, heavy, or of different scales."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from colk import (
    COLK,
    COLKClassifier,
    COLKQuantileRegressor,
    COLKRegressor,
    KernelCompressor,
    river,
)
from colk.kernels import Gaussian
from colk.model.feature_scales import unseen_features
from colk.tabular import TableModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.sin(2.0 * X[:, 0])


class Lazy:
    """A collection with Dask's protocol; loading it is an error."""

    shape, ndim, dtype = (60, 2), 2, np.dtype(float)

    def __init__(self, graph):
        self.graph = graph

    def __dask_graph__(self):
        return self.graph

    def __len__(self):
        return 60

    def __array__(self, dtype=None, copy=None):
        if self.graph is None:
            return X
        raise AssertionError("it was loaded into memory")


LAZY = Lazy({"key": 1})


@pytest.mark.parametrize(
    "use",
    [
        lambda: COLKRegressor().fit(LAZY, Y),
        lambda: COLKRegressor().fit(X, LAZY),
        lambda: COLKRegressor().fit(X, Y, sample_weight=LAZY),
        lambda: COLKRegressor().partial_fit(LAZY, Y),
        lambda: COLKClassifier().fit(LAZY, Y > 0.0),
        lambda: COLKClassifier().partial_fit(LAZY, Y > 0.0, classes=[False, True]),
        lambda: COLKQuantileRegressor().fit(LAZY, Y),
        lambda: COLKRegressor(kernel="gaussian").fit(X, Y).predict(LAZY),
        lambda: KernelCompressor(COLKRegressor(kernel="gaussian")).fit(X, Y).predict(LAZY),
        lambda: COLK(Gaussian(1.0)).learn(LAZY, Y),
        lambda: TableModel("y", ["x"]).learn({"x": LAZY}, Y),
        lambda: river.COLKRegressor().learn_many(LAZY, Y),
        lambda: river.COLKClassifier().learn_many(LAZY, Y),
    ],
)
def test_a_dask_collection_is_not_loaded(use):
    with pytest.raises(TypeError, match=r"is a Dask collection.*one chunk after another"):
        use()


def test_what_only_looks_like_dask_is_used():
    """Objects of xarray have the method of the protocol, and return None."""
    COLK(Gaussian(1.0)).learn(Lazy(None), Y)


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("kernel", ["auto", "laplacian"])
@pytest.mark.parametrize("bandwidth", ["scale", "median"])
def test_features_whose_squares_are_out_of_range_are_refused(factor, kernel, bandwidth):
    with pytest.raises(ValueError, match="the largest difference between features is"):
        COLKRegressor(kernel=kernel, bandwidth=bandwidth).fit(factor * X, Y)


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_features_are_learned_at_the_ends_of_the_range(factor):
    assert COLKRegressor(random_state=0).fit(factor * X, Y).score(factor * X, Y) > 0.9


def test_a_weight_that_overflows_is_named():
    weight = np.ones(60)
    weight[3] = 1e300
    message = "has a weight of 1e\\+300, and weights above 1e\\+100 overflow"
    for use in (
        lambda: COLKRegressor().fit(X, Y, sample_weight=weight),
        lambda: COLKRegressor().partial_fit(X, Y, sample_weight=weight),
        lambda: COLKClassifier().fit(X, Y > 0.0, sample_weight=weight),
        lambda: COLKQuantileRegressor().fit(X, Y, sample_weight=weight),
        lambda: COLK(Gaussian(1.0)).learn(X, Y, sample_weight=weight),
        lambda: river.COLKRegressor().learn_one({"x": 1.0}, 1.0, w=1e300),
        lambda: river.COLKClassifier().learn_one({"x": 1.0}, "a", w=1e300),
    ):
        with pytest.raises(ValueError, match=message):
            use()


@pytest.mark.parametrize("scale_targets", [True, False])
def test_one_sample_says_nothing_of_the_deviation(scale_targets):
    settings = {"solver": "newton", "kernel": "gaussian", "scale_targets": scale_targets}
    model = COLKRegressor(**settings).fit(X[:1], Y[:1] + 5.0)
    values, std = model.predict(X[:3], return_std=True)
    assert np.isfinite(values).all()
    assert (std == np.inf).all()
    _, std = model.partial_fit(X[1:2], Y[1:2] + 5.0).predict(X[:3], return_std=True)
    assert (np.isfinite(std) & (std > 0.0)).all()


# -- features of different scales ------------------------------------------------------------------


def table(n=400):
    """Two features that matter, and one a ten-thousandfold larger."""
    points = np.random.default_rng(1).uniform(size=(n, 3)) * [1.0, 1.0, 1e4]
    return points, np.sin(6.0 * points[:, 0]) + points[:, 1]


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern", Gaussian(1.0)])
def test_features_that_the_kernel_does_not_see_are_named(kernel):
    points, y = table(100)
    chosen = {"kernel": kernel, "standardize": False}
    for model in (COLKRegressor(**chosen), COLKQuantileRegressor(**chosen)):
        with pytest.warns(ConvergenceWarning, match="does not see the features 0, 1:"):
            model.fit(points, y)
    with pytest.warns(ConvergenceWarning, match="does not see the features 0, 1:"):
        COLKClassifier(**chosen).fit(points, y > 1.0)


def test_a_kernel_object_has_the_units_of_the_features():
    points, y = table()
    with pytest.warns(ConvergenceWarning, match="does not see the features 0, 1:"):
        COLKRegressor(kernel=Gaussian(1.0)).fit(points, y)


def test_scaled_features_raise_no_alarm():
    points, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        COLKRegressor(kernel="gaussian").fit(StandardScaler().fit_transform(points), y)
        COLKRegressor(random_state=0).fit(points, y)  # the data choose a scale for each feature
        COLKRegressor(kernel=Gaussian((0.5, 0.5, 5e3))).fit(points, y)


def test_comparable_features_raise_no_alarm():
    rng = np.random.default_rng(2)
    n = 2000
    rare = (rng.uniform(size=(n, 5)) < 2e-3).astype(float)  # indicators beside a number
    blank = np.where(rng.uniform(size=(n, 64)) < np.linspace(0.0005, 0.9, 64), 255.0, 0.0)
    heavy = StandardScaler().fit_transform(rng.standard_cauchy(size=(n, 3)))
    for points in (
        rng.normal(size=(n, 4)) * [1.0, 10.0, 30.0, 50.0],
        np.column_stack([rng.normal(size=n), rare]),
        blank * rng.uniform(size=(n, 64)),
        np.column_stack([heavy, rng.choice([-1.0, 1.0], n)]),
        np.column_stack([rng.normal(size=n), np.ones(n)]),  # a constant has no scale
    ):
        assert len(unseen_features(points)[0]) == 0
    digits = np.column_stack([16.0 * rng.uniform(size=(n, 60)), 0.1 * rng.uniform(size=(n, 4))])
    assert len(unseen_features(digits)[0]) == 0
    assert len(unseen_features(0.01 * digits * np.r_[np.ones(60), 1e-2, 1, 1, 1])[0]) == 1
