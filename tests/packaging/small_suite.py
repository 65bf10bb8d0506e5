"""A short test of everything, for an installed package, compiled or not.

It needs only the dependencies of the package. Its name keeps it out of the whole test suite, which
covers the same in more detail.
"""

import pickle

import numpy as np
import pytest

from colk import COLK, COLKRegressor, DivergenceError, KernelExpansion, compress, reference
from colk.compressors import KOMP
from colk.kernels import Gaussian, Polynomial
from colk.learners import BSGD, NORMA, POLK, SCGD
from colk.losses import Huber, Logistic, Loss
from colk.risks import CVaR, Mean, Variance
from colk.rkhs.features import RBFNetwork


def waves(n, seed=0):
    X = np.random.default_rng(seed).uniform(size=(n, 1))
    return X, np.sin(6.0 * X[:, 0])


@pytest.mark.parametrize(
    "risk", [Mean(), Variance(weight=0.2), CVaR(tail_fraction=0.2, weight=0.5)]
)
def test_a_stream_equals_its_specification(risk):
    X, y = waves(40)
    settings = {
        "step_size": 0.2,
        "tracking_rate": 0.5,
        "regularization": 1e-3,
        "gradient_bound": 5.0,
        "averaging": None,
    }
    learner = COLK(Gaussian(0.3), Huber(1.0), risk, compressor=KOMP(eps=0.01), **settings)
    twin = reference.COLK(
        Gaussian(0.3), Huber(1.0), risk, n_features=1, n_outputs=1, eps=0.01, **settings
    )
    learner.learn(X, y)
    twin.learn(X, y[:, None], pairing=learner.pairing)
    np.testing.assert_allclose(learner.predict(X), twin.predict(X)[:, 0], atol=1e-9)
    assert learner.n_atoms == len(twin.atoms)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_pickles_go_on(batch_size):
    X, y = waves(64)
    learner = COLK(Gaussian(0.2), step_size=0.3, batch_size=batch_size).learn(X[:32], y[:32])
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(
        learner.learn(X[32:], y[32:]).predict(X), again.learn(X[32:], y[32:]).predict(X)
    )


@pytest.mark.parametrize(
    "learner",
    [
        POLK(Gaussian(0.2)),
        NORMA(Gaussian(0.2), max_atoms=20),
        BSGD(Gaussian(0.2), max_atoms=10),
        SCGD(RBFNetwork(20, 0.1)),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_methods_learn(learner):
    X, y = waves(60)
    assert np.isfinite(learner.learn(X, y).predict(X)).all()
    assert learner.steps == 60


def test_terms_of_a_user():
    class Cubed(Loss):
        def loss_at(self, f, y):
            return abs(f - y) ** 3

        def slope_at(self, f, y):
            return 3.0 * (f - y) * abs(f - y)

    assert Cubed().value([2.0], [0.0]) == pytest.approx(8.0)
    X, y = waves(20)
    assert np.isfinite(COLK(Gaussian(0.2), Cubed()).learn(X, y).predict(X)).all()


def test_functions():
    rng = np.random.default_rng(0)
    f = KernelExpansion(Gaussian(0.4), rng.uniform(size=(30, 1)), rng.normal(size=30))
    smaller = compress(f, max_atoms=8)
    assert smaller.function.n_atoms == 8
    assert (f - smaller.function).norm() <= smaller.error * (1.0 + 1e-9)


def test_divergence_is_said():
    with pytest.raises(DivergenceError):
        COLK(Polynomial(degree=3), step_size=0.5).learn([[1e30], [2e30]], [1.0, 2.0])


def test_classes_for_scikit_learn():
    X, y = waves(120)
    assert COLKRegressor(random_state=0).fit(X, y).score(X, y) > 0.0


def test_probabilities():
    np.testing.assert_allclose(Logistic().probability([0.0]), 0.5)
