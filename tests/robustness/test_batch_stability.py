"""Mini-batches are as stable as single samples, and their certificate is valid."""

import numpy as np
import pytest
from exact_norm import follow, gaussian, polynomial

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Polynomial
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Variance

REGULARIZATION = 1e-6


def wave(seed, n):
    X = np.random.default_rng(seed).random((n, 1))
    return X, np.sin(6.0 * X[:, 0])


def uncompressed(kernel, X, y, step_size, batch_size):
    """Weights over all of X of the same method without compression."""
    K, w = kernel.gram(X, X), np.zeros(len(X))
    for start in range(0, len(X), batch_size):
        batch = slice(start, start + batch_size)
        slopes = Squared().slope(K[batch, :start] @ w[:start], y[batch])
        w[:start] *= 1.0 - step_size * REGULARIZATION
        w[batch] = -step_size * slopes / batch_size
    return w


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("batch_size", "tolerance"), [(8, 0.12), (32, 0.3), (64, 0.4)])
def test_batches_learn_a_wave(batch_size, tolerance, seed):
    X, y = wave(seed, 8192)
    learner = COLK(Gaussian(0.2), compressor=KOMP(eps=1e-3), batch_size=batch_size).learn(X, y)
    predictions = learner.predict(X)
    assert np.isfinite(predictions).all()
    assert np.abs(predictions - y).max() < tolerance
    assert learner.n_atoms < 30


@pytest.mark.each_pair
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch_size", [4, 8, 32])
@pytest.mark.parametrize("degree", [2, 3, 5])
def test_batches_with_few_dimensions(degree, batch_size, seed):
    """A polynomial kernel has degree + 1 dimensions on a line: most of a batch is in the span."""
    X, y = wave(seed, 2048)
    kernel, step_size = Polynomial(degree, 1.0), 0.9 / 2.0**degree
    learner = COLK(
        kernel, step_size=step_size, compressor=KOMP(eps=1e-3), batch_size=batch_size
    ).learn(X, y)
    predictions = learner.predict(X)
    assert np.isfinite(predictions).all()
    assert np.abs(predictions).max() < 3.0
    assert learner.n_atoms <= degree + 1


@pytest.mark.parametrize("batch_size", [2, 32, 64])
@pytest.mark.parametrize(
    ("kernel", "step_size"),
    [(Gaussian(0.2), 0.1), (Laplacian(0.3), 0.1), (Polynomial(3, 1.0), 0.1)],
    ids=str,
)
def test_the_certificate_bounds_the_distance_from_an_uncompressed_twin(
    kernel, step_size, batch_size
):
    """A step of least squares does not expand, so only the cost of compression differs."""
    X, y = wave(7, 1024)
    learner = COLK(
        kernel,
        step_size=step_size,
        regularization=REGULARIZATION,
        gradient_bound=np.inf,
        averaging=None,
        batch_size=batch_size,
    ).learn(X, y)
    w = uncompressed(kernel, X, y, step_size, batch_size)
    f = learner.last_function
    points = np.concatenate([f.atoms, X])
    gap = np.concatenate([f.weights, -w])
    apart = np.sqrt(max(gap @ kernel.gram(points, points) @ gap, 0.0))
    assert apart <= learner.error_spent + 1e-6
    assert learner.error_spent <= 1024 / batch_size * 0.005 * (1.0 + 1e-9)


CASES = {
    "gaussian": (Gaussian(0.2), gaussian(0.2), 1e-2, 0.1),
    "gaussian, tiny eps": (Gaussian(0.2), gaussian(0.2), 1e-5, 0.1),
    "parabolas": (Polynomial(2, 1.0), polynomial(2, 1.0), 5e-3, 0.01),
    "cubics": (Polynomial(3, 1.0), polynomial(3, 1.0), 5e-3, 1e-3),
}


@pytest.mark.each_value
@pytest.mark.parametrize("batch_size", [3, 8, 32])
@pytest.mark.parametrize(("kernel", "exact", "eps", "step_size"), CASES.values(), ids=CASES)
def test_no_step_costs_more_than_it_says(kernel, exact, eps, step_size, batch_size):
    X = np.random.default_rng(0).normal(size=(12 * batch_size, 1))
    y = np.sin(2.0 * X[:, 0])
    learner = COLK(
        kernel,
        step_size=step_size,
        regularization=REGULARIZATION,
        compressor=KOMP(eps=eps),
        gradient_bound=np.inf,
        averaging=None,
        batch_size=batch_size,
    )
    lost, said = follow(learner, exact, X, y)
    assert (lost <= said * (1.0 + 1e-5) + 1e-8).all()


@pytest.mark.parametrize(("n_features", "degree", "batch_size"), [(3, 4, 8), (3, 3, 32), (2, 4, 4)])
def test_batches_of_large_kernel_values_keep_to_eps(n_features, degree, batch_size):
    """Kernel values up to 10⁵, and a gradient that is bounded: every step is a moderate one."""
    X = np.random.default_rng(0).normal(size=(4096, n_features))
    learner = COLK(Polynomial(degree, 1.0), batch_size=batch_size).learn(X, np.sin(2.0 * X[:, 0]))
    assert np.isfinite(learner.predict(X)).all()
    assert learner.error_spent <= 2.0 * learner.steps * 0.005


@pytest.mark.parametrize("batch_size", [16, 32])
def test_batches_of_pairs(batch_size):
    X, y = wave(5, 8192)
    learner = COLK(Gaussian(0.2), risk=Variance(0.1), batch_size=batch_size).learn(X, y)
    predictions = learner.predict(X)
    assert np.isfinite(predictions).all()
    assert np.abs(predictions - y).max() < 0.5
    assert np.isfinite(learner.inner_estimate).all()


def test_a_batch_of_equal_points():
    """All of a batch but its first point lies in the span: only one atom can come of it."""
    X, y = np.full((64, 2), 0.3), np.linspace(0.0, 1.0, 64)
    learner = COLK(Gaussian(0.2), batch_size=32, averaging=None).learn(X, y)
    assert learner.n_atoms == 1
    single = COLK(Gaussian(0.2), averaging=None).learn(X[:1], y[:32].mean(keepdims=True))
    single.learn(X[:1], y[32:].mean(keepdims=True))
    np.testing.assert_allclose(learner.predict(X), single.predict(X), rtol=1e-9)
