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


def weigh_and_square(rows: Array, roots: Array, out: Array) -> None:
    """Multiply each row by its root, in place; write the Gram matrix of the columns, lower half."""
    rows *= roots[:, None]
    out[:] = rows.T @ rows


def ridge_triangle(A: Array, K: Array, ridge: float, jitter: float) -> int:
    """Replace A by L⁻¹, where LLᵀ = A + ridge·K with a diagonal that is larger by a share."""
    A += ridge * K
    A[np.diag_indices_from(A)] *= 1.0 + jitter
    failed = cholesky(A)
    if failed == 0:
        invert_triangle(A)
    return failed


def whiten_and_sum(triangle: Array, rows: Array, targets: Array, out: Array) -> None:
    """Multiply each row by a lower triangle, in place; write rowsᵀ targets."""
    whiten(triangle, rows)
    out[:] = rows.T @ targets


def lengths_and_values(
    rows: Array, size: int, weights: Array, lengths: Array, values: Array
) -> None:
    """Write the squared length of each row and its product with the weights, by `size` entries."""
    part = rows[:, :size]
    lengths[:] = np.einsum("ij,ij->i", part, part)
    values[:] = part @ weights[:size]
