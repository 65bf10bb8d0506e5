"""Feature maps and their random numbers against their definitions."""

import pickle

import numpy as np
import pytest
from every_kernel import EVERY_KERNEL, missing
from scipy import stats

from colk._engine import counter_rng
from colk._engine.buffers import aligned
from colk._engine.fourier import Spectrum, fourier_rows
from colk.kernels import (
    Constant,
    Gaussian,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    Product,
    RationalQuadratic,
)
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork, apply_map

SPECTRAL = {
    "gaussian": Gaussian(0.7),
    "anisotropic": Gaussian((0.5, 2.0)),
    "laplacian": Laplacian(1.2),
    "matern-1/2": Matern(0.9, 0.5),
    "matern-3/2": Matern(0.9, 1.5),
    "matern-5/2": Matern((0.9, 1.5), 2.5),
    "rational": RationalQuadratic(0.8, 1.7),
    "rational-small": RationalQuadratic(0.8, 0.4),
    "sum": 0.5 * Gaussian(0.4) + 2.0 * Laplacian(1.0) + Constant(0.3),
    "product": 1.5 * Gaussian(1.0) * Matern(2.0, 1.5),
    "in a metric": Mahalanobis(
        0.5 * Matern((0.9, 1.5, 2.0), 1.5), [[1.0, 0.3, 0.0], [0.5, -1.0, 2.0]]
    ),
}


def has_frequencies(kind):
    [kernel, *_] = (kernel for kernel in EVERY_KERNEL if type(kernel) is kind)
    try:
        RandomFourierFeatures(kernel, 2, 0).transform(np.zeros((1, 3)))
    except TypeError:
        return False
    return True


def test_every_kernel_with_frequencies_is_here():
    assert missing(SPECTRAL.values(), has_frequencies) == ["constant"]  # it is in the sum


@pytest.mark.parametrize("name", SPECTRAL)
def test_fourier_features_approach_the_kernel_as_one_over_root_d(name):
    kernel = SPECTRAL[name]
    X = np.random.default_rng(0).normal(size=(12, 2))
    K = kernel.gram(X)
    n = 16_000
    F = RandomFourierFeatures(kernel, n, seed=1).transform(X) * np.sqrt(n)
    products = F[:, None, :] * F[None, :, :]
    deviation = products.std(axis=2)
    # Means of D independent products: within 4.5 standard errors of κ, for every D.
    for D in (250, 1000, 4000, n):
        error = np.abs(products[:, :, :D].mean(axis=2) - K)
        assert (error <= 4.5 * deviation / np.sqrt(D)).all()
    assert deviation.max() <= 2.0 * K.max()


def test_fourier_features_are_a_prefix_of_more():
    X = np.random.default_rng(0).normal(size=(5, 3))
    few, many = (RandomFourierFeatures(Matern(1.0), D, 3).transform(X) for D in (10, 40))
    np.testing.assert_allclose(few, 2.0 * many[:, :10], rtol=1e-12)
    other = RandomFourierFeatures(Matern(1.0), 10, 4).transform(X)
    assert not np.isclose(few, other).any()


def test_the_cosine_of_fourier_features_is_exact_at_any_size():
    angles = np.concatenate([np.linspace(-3.0, 3.0, 1201), [1e6 + 0.125, -1e9 - 0.25]])
    n = angles.size
    waves, out = aligned(2, n), aligned(1, n)
    waves[1, :n] = angles
    fourier_rows(waves, n, 1.0, np.zeros((1, 1)), aligned(1, n), out)
    exact = np.cos(2.0 * np.pi * (angles - np.round(angles)))
    np.testing.assert_allclose(out[0, :n], exact, atol=1e-15)


def test_rbf_network_is_the_papers():
    X = np.random.default_rng(0).random((20, 1))
    network = RBFNetwork(50, 0.06, 0.0, 2.0)
    centres = np.linspace(0.0, 2.0, 50)
    np.testing.assert_allclose(
        network.transform(X), np.exp(-((X - centres) ** 2) / 0.06**2), rtol=1e-12, atol=1e-300
    )
    box = RBFNetwork(40, 0.3, (0.0, -1.0), (1.0, 3.0)).centres
    assert box.shape == (40, 2)
    assert (box >= [0.0, -1.0]).all()
    assert (box <= [1.0, 3.0]).all()
    halves = (box > [0.5, 1.0]).mean(axis=0)
    np.testing.assert_allclose(halves, 0.5, atol=0.1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RBFNetwork(0), ValueError, "n_centres"),
        (lambda: RBFNetwork(radius=0.0), ValueError, "radius"),
        (lambda: RBFNetwork(low=1.0, high=0.0), ValueError, "low must lie below high"),
        (lambda: RBFNetwork().transform([[0.0, 1.0]]), ValueError, "2 features, expected 1"),
        (lambda: RandomFourierFeatures(Linear()), TypeError, "Linear is not one"),
        (lambda: RandomFourierFeatures(Gaussian(1.0), seed=-1), ValueError, "seed"),
    ],
)
def test_maps_that_make_no_sense_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("n_rows", [0, 2, 4])
def test_a_transformer_that_loses_or_adds_rows_is_refused(n_rows):
    class Wrong:
        def transform(self, X):
            return np.zeros((n_rows, 5))

    with pytest.raises(ValueError, match=f"Wrong.transform returned {n_rows} rows for 3 points"):
        apply_map(Wrong(), np.zeros((3, 1)))
    assert apply_map(Wrong(), np.zeros((n_rows, 1))).shape == (n_rows, 5)


def test_features_of_any_memory_layout_are_the_same():
    X = np.random.default_rng(0).normal(size=(5, 3))
    read_only = X.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.float64, offset=1).reshape(5, 3)
    transform = RandomFourierFeatures(Laplacian(1.0), 13).transform
    for same in (read_only, unaligned, np.asfortranarray(X)):
        np.testing.assert_array_equal(transform(same), transform(X))
    assert transform(X).flags.c_contiguous


@pytest.mark.parametrize("name", SPECTRAL)
def test_features_that_are_drawn_again_are_those_of_the_map(name):
    kernel, X = SPECTRAL[name], np.random.default_rng(0).normal(size=(7, 2))
    F = RandomFourierFeatures(kernel, 19, seed=5).transform(X) * np.sqrt(19)
    spectrum = pickle.loads(pickle.dumps(Spectrum(kernel, 5, 2)))
    weights, out = aligned(3, 19), np.empty((7, 2))
    weights[:, :19] = np.random.default_rng(1).normal(size=(3, 19))
    spectrum.evaluate(weights, 1, 19, X, out)
    np.testing.assert_allclose(out, F @ weights[1:, :19].T, rtol=1e-12, atol=1e-12)


def test_sums_within_products_are_drawn_independently():
    """Were both sums decided by one number, the mean of the products would be another kernel."""
    pair = Gaussian(0.1) + Gaussian(10.0)
    kernel, X = Product((pair, 3.0 * pair)), np.random.default_rng(0).normal(size=(6, 1))
    n = 100_000
    F = RandomFourierFeatures(kernel, n, seed=3).transform(X)
    np.testing.assert_allclose(F @ F.T, kernel.gram(X), atol=5.0 * 2.0 * kernel.peak / np.sqrt(n))


# -- random numbers from counters ----------------------------------------------------------------


def test_draws_are_splitmix():
    def step(state):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return state, z ^ (z >> 31)

    # Published first numbers of the seed 1234567.
    assert step(1234567)[1] == 6457827717110365317
    for seed in (0, 1, 2**64 - 1):
        state = step(seed)[1]
        for counter in range(5):
            state, expected = step(state)
            assert counter_rng.mixed(seed, counter) == expected
            assert counter_rng.uniform(seed, counter) == ((expected >> 11) + 0.5) * 2.0**-53


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda t: counter_rng.uniform(7, t), stats.uniform()),
        (lambda t: counter_rng.normal(7, t), stats.norm()),
        (lambda t: counter_rng.gamma(t, 0.4), stats.gamma(0.4)),
        (lambda t: counter_rng.gamma(t, 2.5), stats.gamma(2.5)),
    ],
)
def test_draws_follow_their_law(draw, law):
    sample = [draw(t) for t in range(4000)]
    assert stats.kstest(sample, law.cdf).pvalue > 1e-3
