"""NumPy versions of the factors in lapack.pxd, for the uncompiled package."""

import numpy as np

from colk._validation import Array

__all__: list[str] = []


def cholesky(A: Array) -> int:
    """Write L of A = LLᵀ into the lower triangle; return 0, or another number if A is singular."""
    lower = np.tril(A)
    try:
        found = np.linalg.cholesky(lower + np.tril(A, -1).T)
    except np.linalg.LinAlgError:
        return 1
    A[:] = found + np.triu(A, 1)
    return 0


def invert_triangle(L: Array) -> None:
    """Write L⁻¹ into the lower triangle."""
    L[:] = np.tril(np.linalg.inv(np.tril(L))) + np.triu(L, 1)


def invert(L: Array) -> None:
    """Write the whole inverse of LLᵀ over the lower triangle L."""
    half = np.linalg.inv(np.tril(L))
    L[:] = half.T @ half


def whiten(triangle: Array, rows: Array) -> None:
    """Multiply each row by a lower triangle, in place."""
    rows[:] = rows @ np.tril(triangle).T
