"""The kernel of numbers and categories: its definition, laws, gradient, exports and files."""

import pickle

import numpy as np
import pytest

import colk
from colk.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Mixed,
    OneHotPolynomial,
    Polynomial,
    RationalQuadratic,
)
from colk.kernels.mixed import with_categories
from colk.learners import COLK, NewtonCOLK
from colk.reference import gram
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.features import RandomFourierFeatures
from colk.tabular import Column, TableEncoder
from colk.testing import check_kernel, check_learner

NUMBERS = [
    Gaussian(0.9),
    Laplacian((0.5, 1.0)),
    Matern(1.3, nu=0.5),
    Matern((0.5, 2.0), nu=1.5),
    Matern(1.3, nu=2.5),
    RationalQuadratic(0.8, shape=0.6),
]


def points(n, seed=0):
    """Two numbers around two categories, which hold codes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, size=(n, 2)).astype(float)
    numbers = rng.normal(size=(n, 2))
    return np.column_stack([codes[:, 0], numbers[:, 0], codes[:, 1], numbers[:, 1]])


@pytest.mark.parametrize("kernel", NUMBERS, ids=repr)
@pytest.mark.parametrize("n", [1, 7, 40])
def test_it_is_its_definition(kernel, n):
    mixed = Mixed(kernel, categorical=(0, 2), weights=(0.3, 1.7))
    U, V = points(n), points(19, seed=1)
    K = kernel.gram(U[:, [1, 3]], V[:, [1, 3]])
    expected = np.empty_like(K)
    for i, u in enumerate(U):
        for j, v in enumerate(V):
            expected[i, j] = K[i, j] * np.exp(-0.3 * (u[0] != v[0]) - 1.7 * (u[2] != v[2]))
    np.testing.assert_allclose(mixed.gram(U, V), expected, rtol=1e-14)
    np.testing.assert_allclose(gram(mixed, U, V), expected, rtol=1e-13)
    np.testing.assert_array_equal(mixed.diagonal(U), np.ones(n))


@pytest.mark.parametrize("kernel", NUMBERS, ids=repr)
def test_its_gradient_is_the_derivative_by_numbers_and_0_by_categories(kernel):
    mixed, X = Mixed(kernel, (0, 2), (0.3, 1.7)), points(30)
    f = KernelExpansion(mixed, X[:12], np.random.default_rng(2).normal(size=12))
    found, at = f.gradient(X[12:]), X[12:]
    assert (found[:, [0, 2]] == 0.0).all()
    for k in (1, 3):
        step = np.where(np.arange(4) == k, 1e-6, 0.0)
        slope = (f(at + step) - f(at - step)) / 2e-6
        np.testing.assert_allclose(found[:, k], slope, rtol=1e-6, atol=1e-7)


def random_table(rng):
    """A table of up to 20 rows, with columns of any kind and any share of gaps."""
    n, kinds = int(rng.integers(1, 21)), ("number", "category", "date", "flag")
    chosen = [kinds[i] for i in rng.integers(0, 4, size=int(rng.integers(1, 6)))]
    columns, table = [], {}
    for k, kind in enumerate(chosen):
        gaps = rng.random(n) < rng.random()
        if kind == "category":
            texts = rng.choice(["a", "b", "c", "d"], n).astype(object)
            texts[gaps] = None
            values = texts
        else:
            scale = {"number": 10.0 ** rng.integers(-3, 4), "date": 1e8, "flag": 1.0}[kind]
            values = rng.normal(size=n) * scale
            values = np.where(gaps, np.nan, values > 0.0 if kind == "flag" else values)
        columns.append(Column(f"c{k}", "number" if kind == "flag" else kind))
        table[f"c{k}"] = values
    return columns, table


def check_random_tables(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        columns, table = random_table(rng)
        encoder = TableEncoder.of(columns, table)
        X = encoder.encode(table)
        measured = X[:, : encoder.n_measured]
        measured /= np.maximum(np.abs(measured).max(axis=0, initial=0.0), 1e-300)
        kernel = [Gaussian, Laplacian, Matern, RationalQuadratic][seed % 4](rng.uniform(0.05, 3.0))
        if encoder.categorical:
            kernel = Mixed(kernel, encoder.categorical, rng.uniform(0, 3, len(encoder.categorical)))
        K = kernel.gram(X)
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() >= -1e-13 * len(K), (seed, columns)


def test_gram_matrices_of_random_tables_are_positive_semidefinite():
    check_random_tables(range(300))


@pytest.mark.slow
def test_gram_matrices_of_ten_thousand_random_tables_are_positive_semidefinite():
    check_random_tables(range(300, 10_300))


def test_fourier_features_approach_it():
    kernel, X = Mixed(Gaussian(1.0), (0, 2), (0.3, 1.0)), points(15)
    F = RandomFourierFeatures(kernel, 40_000, seed=1).transform(X)
    assert np.abs(F @ F.T - kernel.gram(X)).max() < 0.03


@pytest.mark.parametrize("kind", [COLK, NewtonCOLK])
def test_learners_keep_their_guarantees_with_it(kind):
    check_learner(lambda: kind(Mixed(Laplacian(1.0), (1,), 0.5)))


def test_a_function_with_it_can_be_saved_and_pickled(tmp_path):
    f = KernelExpansion(Mixed(Matern((1.0, 2.0)), (0, 2), (0.3, 1.7)), points(5), np.ones(5))
    f.save(tmp_path / "f.colk")
    for loaded in (colk.load(tmp_path / "f.colk"), pickle.loads(pickle.dumps(f))):
        assert loaded.kernel == f.kernel
        np.testing.assert_array_equal(loaded(points(9, 1)), f(points(9, 1)))


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="sum of Mixed kernels"):
        Mixed(Gaussian(1.0) + Linear(), (0,))
    with pytest.raises(ValueError, match="different columns"):
        Mixed(Gaussian(1.0), (0, 0))
    with pytest.raises(ValueError, match="a weight for each of 2"):
        Mixed(Gaussian(1.0), (0, 1), (1.0,))
    with pytest.raises(ValueError, match="at least 0"):
        Mixed(Gaussian(1.0), (0,), -1.0)
    with pytest.raises(ValueError, match="column 4 is categorical"):
        Mixed(Gaussian(1.0), (4,)).gram(points(3))
    with pytest.raises(TypeError, match="Sum cannot compare categories"):
        with_categories(Gaussian(1.0) + Linear(), (0,))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.5)], ids=repr)
def test_a_kernel_of_inner_products_is_that_of_one_hot_categories(kernel):
    mixed, U, V = with_categories(kernel, (0, 2)), points(30), points(19, seed=1)

    def one_hot(X):
        indicators = [X[:, [k]] == np.arange(-1.0, 3.0) for k in (0, 2)]
        return np.column_stack([X[:, [1, 3]], *indicators])

    assert isinstance(mixed, OneHotPolynomial)
    expected = kernel.gram(one_hot(U), one_hot(V))
    np.testing.assert_allclose(mixed.gram(U, V), expected, rtol=1e-12, atol=1e-12)
    slopes = mixed.slopes(U, V)
    assert (slopes[:, :, [0, 2]] == 0.0).all()
    ours = kernel.slopes(one_hot(U), one_hot(V))[:, :, :2]
    np.testing.assert_allclose(slopes[:, :, [1, 3]], ours, rtol=1e-12, atol=1e-12)


def test_a_kernel_of_one_hot_categories_keeps_the_contract():
    check_kernel(OneHotPolynomial((1,), degree=2, offset=1.0))
    with pytest.raises(ValueError, match="different columns"):
        OneHotPolynomial(())
    with pytest.raises(ValueError, match="is categorical, but the points have"):
        OneHotPolynomial((4,)).gram(np.zeros((2, 3)))
