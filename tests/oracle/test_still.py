"""The average on a stream without change: it equals its reference, and it does not decay."""

import numpy as np
import pytest

from colk import COLKRegressor, reference
from colk.compressors import KOMP, Removal
from colk.kernels import Gaussian, Laplacian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Mean, Variance
from colk.schedules import PolyakRuppert


def waves(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.sin(9.0 * X[:, 0]), np.sin(9.0 * X[:, 0]) + 0.5 * rng.normal(size=n)


@pytest.mark.compiled
@pytest.mark.parametrize("size", [{"eps": 0.4}, {"eps": 0.3, "max_atoms": 6}])
def test_average_equals_the_reference_beyond_a_review(size):
    """The floor on the rate acts from some step on, at the earliest from step 1,000 on."""
    n = 1500
    X, _, y = waves(n)
    settings = {"step_size": 0.5, "averaging": PolyakRuppert()}
    learner = COLK(Laplacian(0.5), Squared(), compressor=KOMP(**size), **settings)
    twin = reference.COLK(
        Laplacian(0.5), Squared(), Mean(), 1, 1, regularization=1e-6, gradient_bound=10.0,
        **settings, **size,
    )  # fmt: skip
    learner.learn(X, y)
    twin.learn(X, y[:, None])
    grid = np.linspace(0.0, 1.0, 50)[:, None]
    np.testing.assert_allclose(learner.predict(grid), twin.predict(grid)[:, 0], rtol=0, atol=1e-8)
    assert learner.average_error == pytest.approx(twin.average_error, rel=1e-6)
    noise = 2.0 * learner.n_atoms * twin.squared_average
    assert np.sqrt(twin.taken / noise) > 1.0 / n  # else the schedule would decide alone


@pytest.mark.parametrize("eps", [0.1, 0.6])
def test_errors_of_pairs_equal_the_reference(eps):
    """With the larger bound, both samples of a pair leave in most steps.

    The engine adds a bound on rounding errors to what f loses.
    """
    steps = 60
    X, _, y = waves(2 * steps)
    settings = {"step_size": 0.5, "averaging": PolyakRuppert()}
    learner = COLK(
        Gaussian(0.2), Squared(), Variance(0.2), pairing="independent", compressor=KOMP(eps=eps),
        trace=True, **settings,
    )  # fmt: skip
    twin = reference.COLK(
        Gaussian(0.2), Squared(), Variance(0.2), 1, 1, regularization=1e-6, gradient_bound=10.0,
        eps=eps, **settings,
    )  # fmt: skip
    for t in range(0, 2 * steps, 2):
        learner.learn(X[t : t + 2], y[t : t + 2])
        twin.step(X[t], y[t : t + 1], X[t + 1], y[t + 1 : t + 2], 1.0, 1.0)
        assert learner.trace.error[-1] == pytest.approx(twin.error, abs=2e-6)
        assert learner.average_error == pytest.approx(twin.average_error, rel=1e-6)


@pytest.mark.parametrize("size", [{"eps": 0.5}, {"eps": 0.02, "max_atoms": 5}])
def test_error_of_single_samples_equals_the_reference(size):
    X, _, y = waves(80)
    settings = {"step_size": 0.5, "averaging": PolyakRuppert()}
    learner = COLK(Gaussian(0.2), Squared(), compressor=KOMP(**size), trace=True, **settings)
    twin = reference.COLK(
        Gaussian(0.2), Squared(), Mean(), 1, 1, regularization=1e-6, gradient_bound=10.0,
        **settings, **size,
    )  # fmt: skip
    for t in range(80):
        learner.learn(X[t : t + 1], y[t : t + 1])
        twin.learn(X[t : t + 1], y[t : t + 1, None])
        assert learner.trace.error[-1] == pytest.approx(twin.error, abs=2e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_average_does_not_decay(kernel):
    """Without a price and a floor, the Gaussian falls from 0.99 to 0.64 in 50,000 rows."""
    model, scores = COLKRegressor(kernel=kernel, max_atoms=30), []
    X_test, truth, _ = waves(500, seed=1)
    for part in range(20):
        X, _, y = waves(5000, seed=2 + part)
        found = model.partial_fit(X, y).predict(X_test)
        scores.append(1.0 - np.mean((found - truth) ** 2) / np.var(truth))
    assert np.mean(scores[-5:]) > 0.97
    assert np.mean(scores[-5:]) >= np.mean(scores[:5]) - 0.005


def test_average_error_bounds_what_compression_took():
    """ḡ averages the same iterates, and keeps every atom."""
    X, _, y = waves(400)
    learner = COLK(Gaussian(0.2), Squared(), compressor=KOMP(max_atoms=5), step_size=0.5)
    atoms, weights = np.empty((0, 1)), np.empty(0)
    for t in range(400):
        learner.learn(X[t : t + 1], y[t : t + 1])
        f, rate = learner.last_function, 4.0 / (t + 4.0)
        atoms = np.vstack([atoms, f.atoms])
        weights = np.concatenate([(1.0 - rate) * weights, rate * f.weights])
    atoms = np.vstack([atoms, learner.function.atoms])
    weights = np.concatenate([weights, -learner.function.weights])
    apart = np.sqrt(weights @ Gaussian(0.2)(atoms) @ weights)
    assert 0.0 < apart <= learner.average_error < 50.0 * apart


def test_average_error_without_averages_or_projections():
    X, _, y = waves(50)
    assert COLK(Gaussian(0.2), averaging=None).learn(X, y).average_error == 0.0
    assert np.isnan(COLK(Gaussian(0.2), compressor=Removal(5)).learn(X, y).average_error)
