"""NumPy versions of the products in blas.pxd, for the uncompiled package."""

import numpy as np

from colk._validation import Array

__all__: list[str] = []


def solve_block(
    factor: Array, n: int, columns: Array, size: int, halves: Array, solutions: Array
) -> None:
    """Compute z = Uᵀk and the solutions v = Uz = K⁻¹k for `size` columns k, row by row."""
    u_t = np.tril(factor[:n, :n])
    halves[:size, :n] = columns[:size, :n] @ u_t.T
    solutions[:size, :n] = halves[:size, :n] @ u_t


def subtract_squares(halves: Array, n: int, size: int, out: Array) -> None:
    """Set out ← out − Z Zᵀ, at least its lower half."""
    z = halves[:size, :n]
    out[:size, :size] -= z @ z.T


def product(left: Array, rows: int, size: int, right: Array, n: int, out: Array) -> None:
    """Set out ← left·right for the first `rows` of left, of length `size`."""
    out[:rows, :n] = left[:rows, :size] @ right[:size, :n]
