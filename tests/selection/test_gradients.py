"""The mean outer product of gradients, against the gradients of the function itself."""

import numpy as np
import pytest

from colk.kernels import Gaussian, Laplacian, Matern, Mixed, RationalQuadratic
from colk.rkhs import KernelExpansion
from colk.selection.gradients import category_moments, moments

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 3))
WEIGHTS = RNG.normal(size=(60, 2))
KERNELS = [
    Gaussian(0.8),
    Matern(1.2, nu=0.5),
    Matern(1.2, nu=1.5),
    Matern(0.7, nu=2.5),
    RationalQuadratic(0.9, shape=0.7),
    Laplacian(1.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_moments_are_those_of_the_gradients(kernel):
    gradients = KernelExpansion(kernel, Z, WEIGHTS).gradient(Z)
    expected = np.einsum("nqi,nqj->ij", gradients, gradients) / len(Z)
    found = moments(kernel, Z, Z, kernel.gram(Z), WEIGHTS, is_full=False)
    np.testing.assert_allclose(found, np.diag(expected), rtol=1e-9)
    if not isinstance(kernel, Laplacian):
        matrix = moments(kernel, Z, Z, kernel.gram(Z), WEIGHTS, is_full=True)
        np.testing.assert_allclose(matrix, expected, rtol=1e-9, atol=1e-12)


def test_a_category_moves_the_function():
    codes = RNG.integers(3, size=(60, 1)).astype(float)
    kernel = Mixed(Gaussian(1.0), (3,), (0.7,))
    X = np.column_stack([Z, codes])
    f = KernelExpansion(kernel, X, WEIGHTS)
    other = np.roll(codes, 1, axis=0)
    changes = f(np.column_stack([Z, other])) - f(X)
    differs = (other != codes)[:, 0]
    expected = 0.5 * (changes[differs] ** 2).sum() / differs.sum()
    found = category_moments(codes, codes, np.array([0.7]), kernel.gram(X), WEIGHTS)
    np.testing.assert_allclose(found, [expected], rtol=1e-9)
    zeros = np.zeros((60, 1))
    same = category_moments(zeros, zeros, np.array([0.7]), kernel.gram(X), WEIGHTS)
    np.testing.assert_array_equal(same, [0.0])
