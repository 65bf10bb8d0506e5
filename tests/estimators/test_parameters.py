"""Kernels by name, and parameters of terms as grid searches set them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk.estimators import COLKClassifier, COLKRegressor, KernelCompressor
from colk.kernels import Constant, Gaussian, Linear, Polynomial
from colk.losses import Huber, Pinball
from colk.risks import CVaR, Variance
from colk.river import COLKRegressor as RiverRegressor
from colk.schedules import PowerDecay

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=400)


def test_kernels_go_by_the_names_of_scikit_learn():
    expected = COLKRegressor(kernel="gaussian", random_state=0).fit(X, Y)
    model = COLKRegressor(kernel="rbf", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert COLKRegressor(kernel="constant", eps=0.001).fit(X, Y).kernel_ == Constant(1.0)
    assert RiverRegressor(kernel="rbf")._make(2, 1).kernel == Gaussian(1.0)


@pytest.mark.parametrize("name", ["polynomial", "poly"])
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_polynomials_learn_by_name(name, n_features):
    points = RNG.normal(size=(1000, n_features))
    y = np.sin(points[:, 0])
    model = COLKRegressor(kernel=name, random_state=0).fit(points, y)
    assert model.kernel_ == Polynomial(3, 1.0)
    assert model.score(points, y) > 0.8
    labels = points[:, 0] ** 2 > 0.6
    assert (
        COLKClassifier(kernel=name, random_state=0).fit(points, labels).score(points, labels) > 0.85
    )


@pytest.mark.parametrize("factor", [2.0**-20, 4.0, 2.0**20])
def test_a_factor_of_the_kernel_changes_nothing(factor):
    settings = {"regularization": 0.0, "polish": False, "random_state": 0}
    expected = COLKRegressor(kernel=Gaussian(1.0), **settings).fit(X, Y)
    model = COLKRegressor(kernel=factor * Gaussian(1.0), **settings)
    np.testing.assert_allclose(model.fit(X, Y).predict(X), expected.predict(X), rtol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.3, "median", np.array([1.0, 2.0])])
def test_a_bandwidth_beside_a_kernel_is_refused(bandwidth):
    with pytest.raises(ValueError, match="would be ignored beside kernel=Gaussian"):
        COLKRegressor(kernel=Gaussian(0.5), bandwidth=bandwidth).fit(X, Y)
    with pytest.raises(ValueError, match="would be ignored beside kernel=Gaussian"):
        RiverRegressor(kernel=Gaussian(0.5), bandwidth=bandwidth)


def test_a_bandwidth_beside_the_name_of_a_kernel_without_one_is_refused():
    with pytest.raises(ValueError, match=r"bandwidth=0\.3 would be ignored beside kernel='poly"):
        COLKRegressor(kernel="polynomial", bandwidth=0.3).fit(X, Y)
    with pytest.raises(ValueError, match=r"bandwidth=0\.3 would be ignored beside kernel='lin"):
        RiverRegressor(kernel="linear", bandwidth=0.3)


def test_terms_tell_their_parameters():
    term = CVaR(tail_fraction=0.4)
    assert term.get_params() == {"tail_fraction": 0.4, "weight": 1.0, "smoothing": 0.0}
    kernel = 2.0 * (Gaussian((0.5, 1.0)) + Linear())
    assert kernel.get_params(deep=False).keys() == {"kernel", "factor"}
    assert kernel.get_params()["kernel__parts__0__bandwidth__1"] == 1.0


def test_other_parameters_make_another_term():
    kernel = 2.0 * (Gaussian((0.5, 1.0)) + Linear())
    changed = kernel.set_params(kernel__parts__0__bandwidth__1=3.0, factor=4.0)
    assert changed == 4.0 * (Gaussian((0.5, 3.0)) + Linear())
    assert kernel == 2.0 * (Gaussian((0.5, 1.0)) + Linear())
    with pytest.raises(ValueError, match="Linear\\(\\) has no parameter 'bandwidth'; it has: none"):
        kernel.set_params(kernel__parts__1__bandwidth=1.0)


def test_estimators_replace_their_terms():
    shared = Gaussian(0.5)
    model = COLKRegressor(kernel=shared, loss=Pinball(0.3), step_size=PowerDecay(0.5))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    model.set_params(kernel__bandwidth=2.0, loss__quantile=0.7, step_size__power=1.0, epochs=2)
    assert model.kernel == Gaussian(2.0)
    assert model.loss == Pinball(0.7)
    assert model.step_size == PowerDecay(0.5, power=1.0)
    assert shared == copy.kernel == Gaussian(0.5)
    named = COLKClassifier(risk="variance").set_params(risk__weight=0.7)
    assert named.risk == Variance(0.7)
    both = COLKRegressor().set_params(loss__threshold=0.3, loss=Huber(2.0))
    assert both.loss == Huber(0.3)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("loss__nothing", ValueError, "Pinball.*has no parameter 'nothing'; it has: quantile"),
        ("epochs__more", TypeError, "epochs=5 of COLKRegressor has no parameters"),
        ("kernel__bandwidth", TypeError, "kernel='laplacian' of COLKRegressor has no parameters"),
        ("nothing__more", ValueError, "Invalid parameter 'nothing'"),
        ("nothing", ValueError, "Invalid parameter 'nothing'"),
    ],
)
def test_unknown_parameters_are_refused(name, kind, message):
    model = COLKRegressor(kernel="laplacian", loss=Pinball(0.3), epochs=5)
    with pytest.raises(kind, match=message):
        model.set_params(**{name: 1.0})
    assert clone(model).loss == Pinball(0.3)


def test_searches_reach_into_terms():
    pipeline = make_pipeline(
        StandardScaler(), COLKRegressor(kernel=Gaussian(1.0), loss="pinball", random_state=0)
    )
    grid = {
        "colkregressor__loss__quantile": [0.05, 0.5],
        "colkregressor__kernel__bandwidth": [0.01, 1.0],
    }
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert set(search.best_params_.values()) == {0.5, 1.0}
    best = search.best_estimator_[-1]
    assert (best.loss_, best.kernel_) == (Pinball(0.5), Gaussian(1.0))
    small = KernelCompressor(COLKRegressor(loss=Pinball(0.3)))
    assert small.set_params(estimator__loss__quantile=0.9).estimator.loss == Pinball(0.9)
