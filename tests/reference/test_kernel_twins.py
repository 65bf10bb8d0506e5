"""The formulas of kernels against high precision, and the engine against the formulas."""

import mpmath
import numpy as np
import pytest
from every_kernel import EVERY_KERNEL, missing

from colk.kernels import (
    CustomKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from colk.reference import gram


def cauchy(u, v):
    return 1.0 / (1.0 + np.sum((u - v) ** 2))


ALL = [*EVERY_KERNEL, CustomKernel(cauchy), CustomKernel(cauchy) * Gaussian(2.0) + Linear()]


def points(n=12, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_every_kernel_is_here():
    assert missing(ALL) == []


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_the_engine_equals_it(kernel):
    U, V = points(), points(7, seed=1)
    np.testing.assert_allclose(kernel.gram(U, V), gram(kernel, U, V), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        kernel.diagonal(U), np.diag(gram(kernel, U, U)), rtol=1e-13, atol=1e-14
    )


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_gram_matrices_are_symmetric_and_positive(kernel):
    K = gram(kernel, points(), points())
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.abs(K).max()


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_no_points_are_no_rows(kernel):
    assert gram(kernel, points(), points(0)).shape == (12, 0)
    assert gram(kernel, points(0), points()).shape == (0, 12)


def matern(bandwidth, nu, distance):
    """The general formula, by the modified Bessel function."""
    s = mpmath.sqrt(2 * nu) * distance / bandwidth
    return 2 ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu) * s**nu * mpmath.besselk(nu, s)


@pytest.mark.parametrize("distance", [1e-3, 0.3, 2.0, 30.0])
def test_formulas_against_high_precision(distance):
    u, v = np.zeros((1, 1)), np.full((1, 1), distance)
    exact = {
        Gaussian(0.7): mpmath.exp(-(mpmath.mpf(distance) ** 2) / (2 * mpmath.mpf(0.7) ** 2)),
        Laplacian(0.7): mpmath.exp(-mpmath.mpf(distance) / mpmath.mpf(0.7)),
        **{Matern(0.7, nu): matern(0.7, nu, distance) for nu in (0.5, 1.5, 2.5)},
        RationalQuadratic(0.7, 1.3): (1 + mpmath.mpf(distance) ** 2 / (2.6 * 0.49)) ** -1.3,
        Polynomial(3): mpmath.mpf(1),
    }
    for kernel, value in exact.items():
        assert gram(kernel, u, v)[0, 0] == pytest.approx(float(value), rel=1e-12, abs=1e-300)


def test_distances_do_not_cancel_far_from_the_origin():
    U = 7e5 + points(5)
    np.testing.assert_allclose(gram(Gaussian(0.7), U, U), gram(Gaussian(0.7), U - 7e5, U - 7e5))


def test_a_bandwidth_for_each_feature_scales_the_features():
    scales = np.array([0.5, 1.0, 2.0])
    for kind in (Gaussian, Laplacian, Matern, RationalQuadratic):
        many = gram(kind(tuple(scales)), points(), points())
        one = gram(kind(1.0), points() / scales, points() / scales)
        np.testing.assert_allclose(many, one, rtol=1e-13)


def test_a_kernel_without_a_formula_is_refused():
    class Mine(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            out[first : first + size, :n] = 1.0

    with pytest.raises(TypeError, match=r"Mine.* has no formula"):
        gram(Mine() + Linear(), points(), points())
