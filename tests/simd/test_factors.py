"""Cholesky factors in place, compiled and by NumPy."""

from typing import Any

import numpy as np
import pytest

from colk._engine import factors
from colk._engine.simd import lapack

# The twin has the same functions by other names.
TWIN = {
    "factorise": lambda A: lapack.cholesky(A) == 0,
    "invert_factor": lapack.invert,
    "invert_triangle": lapack.invert_triangle,
    "lengths_and_values": lapack.lengths_and_values,
    "ridge_triangle": lambda *arrays: lapack.ridge_triangle(*arrays) == 0,
    "weigh_and_square": lapack.weigh_and_square,
    "whiten": lapack.whiten,
    "whiten_and_sum": lapack.whiten_and_sum,
}


@pytest.fixture(params=["engine", "twin"])
def run(request: pytest.FixtureRequest) -> Any:
    def call(name: str, *arrays: Any) -> Any:
        return (TWIN[name] if request.param == "twin" else getattr(factors, name))(*arrays)

    return call


def positive(n: int) -> Any:
    B = np.random.default_rng(n).normal(size=(n, n + 3))
    return B @ B.T + np.eye(n)


@pytest.mark.parametrize("n", [0, 1, 2, 33, 130])
def test_factors_agree_with_numpy(run: Any, n: int) -> None:
    A = positive(n)
    L = A.copy()
    L[np.triu_indices(n, 1)] = np.nan  # what is above the diagonal is not read
    expected = np.linalg.cholesky(A)
    assert run("factorise", L)
    assert np.allclose(np.tril(L), expected, rtol=1e-12)
    whole = np.tril(L)
    run("invert_factor", whole)
    assert np.allclose(whole, np.linalg.inv(A), atol=1e-12)
    run("invert_triangle", L)
    inverse = np.tril(L)
    assert np.allclose(inverse @ expected, np.eye(n), atol=1e-12)
    rows = np.random.default_rng(1).normal(size=(5, n))
    again = rows.copy()
    run("whiten", L, again)
    assert np.allclose(again, rows @ inverse.T, atol=1e-12)


def test_a_matrix_that_is_not_positive_definite_is_told(run: Any) -> None:
    assert not run("factorise", np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("q", [1, 3])
def test_parts_of_a_ridge_regression(run: Any, q: int) -> None:
    rng = np.random.default_rng(q)
    rows, targets, roots = rng.normal(size=(40, 7)), rng.normal(size=(40, q)), rng.uniform(size=40)
    table, square, K = rows.copy(), np.empty((7, 7)), positive(7)
    run("weigh_and_square", table, roots, square)
    assert np.allclose(table, rows * roots[:, None])
    assert np.allclose(np.tril(square), np.tril(table.T @ table))
    A = table.T @ table + 0.3 * K
    A[np.diag_indices(7)] *= 1.0 + 1e-3
    assert run("ridge_triangle", square, K, 0.3, 1e-3)
    inverse = np.tril(square)
    assert np.allclose(inverse.T @ inverse, np.linalg.inv(A))
    white, sums = table.copy(), np.empty((7, q))
    run("whiten_and_sum", square, white, targets, sums)
    assert np.allclose(white, table @ inverse.T)
    assert np.allclose(sums, white.T @ targets)
    for size in (4, 7):
        lengths, values = np.empty(40), np.empty((40, q))
        run("lengths_and_values", white, size, sums, lengths, values)
        assert np.allclose(lengths, (white[:, :size] ** 2).sum(axis=1))
        assert np.allclose(values, white[:, :size] @ sums[:size])


def test_a_ridge_that_is_not_positive_definite_is_told(run: Any) -> None:
    assert not run("ridge_triangle", np.eye(2), np.eye(2), -2.0, 0.0)
