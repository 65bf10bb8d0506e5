"""Parts of the marginal likelihood, compiled and by NumPy."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from colk._engine import gaussian_process
from colk._engine.simd import processes
from colk.kernels import Matern


@pytest.fixture(params=[gaussian_process, processes], ids=["engine", "twin"])
def parts(request: pytest.FixtureRequest) -> Any:
    return request.param


def has_succeeded(parts: Any, answer: Any) -> bool:
    return bool(answer) if parts is gaussian_process else answer == 0


def tables(parts: Any, Z: Any) -> Any:
    table, slopes = np.empty((len(Z), len(Z))), np.empty((len(Z), len(Z)))
    parts.matern_tables(Z, table, slopes)
    return table, slopes


def objective(parts: Any, Z: Any, Y: Any, weight: Any, variance: float, noise: float) -> Any:
    """Return the value, all derivatives, and whether the covariance is positive definite."""
    table, slopes = tables(parts, Z)
    outer, solved, out = np.empty_like(table), np.empty_like(Y), np.empty(3)
    answer = parts.likelihood(table, Y, weight, variance, noise, outer, solved, out)
    along = np.empty(Z.shape[1])
    parts.matern_gradient(Z, outer, slopes, np.empty_like(Z), np.empty(len(Z)), along)
    return out[0], np.append(along, out[1:]), has_succeeded(parts, answer)


def test_the_table_is_the_kernel(parts: Any) -> None:
    Z = np.random.default_rng(0).normal(size=(30, 4))
    Z[1] = Z[0]
    table, _ = tables(parts, Z)
    # A squared distance is a difference of numbers near 4, so its root has half of the digits.
    assert np.allclose(table, Matern(1.0, nu=2.5).gram(Z), atol=1e-12)
    assert np.array_equal(table, table.T)


@pytest.mark.parametrize("q", [1, 2])
def test_the_value_is_the_density_and_the_gradient_its_derivative(parts: Any, q: int) -> None:
    rng = np.random.default_rng(q)
    X, Y, weight = rng.normal(size=(25, 3)), rng.normal(size=(25, q)), rng.uniform(0.5, 2.0, 25)

    def value(logarithms: Any) -> Any:
        numbers = np.exp(logarithms)
        return objective(parts, X * numbers[:3], Y, weight, numbers[3], numbers[4])

    at = np.log([0.5, 1.2, 0.3, 1.5, 0.2])
    found, gradient, is_sound = value(at)
    K = 1.5 * Matern(1.0, nu=2.5).gram(X * np.exp(at[:3])) + np.diag(0.2 / weight)
    density = sum(multivariate_normal(np.zeros(25), K).logpdf(y) for y in Y.T)
    assert is_sound
    assert np.isclose(found, -density - 0.5 * q * 25 * np.log(2.0 * np.pi))
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-5
        slope = (value(at + step)[0] - value(at - step)[0]) / 2e-5
        assert np.isclose(gradient[k], slope, rtol=1e-5, atol=1e-7)


def test_a_singular_covariance_is_told(parts: Any) -> None:
    one = np.ones((2, 2))
    outer, solved, out = np.empty((2, 2)), np.empty((2, 1)), np.empty(3)
    answer = parts.likelihood(one, np.ones((2, 1)), np.ones(2), 1.0, -0.5, outer, solved, out)
    assert not has_succeeded(parts, answer)
