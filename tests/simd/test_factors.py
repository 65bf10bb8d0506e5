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
    "whiten": lapack.whiten,
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
