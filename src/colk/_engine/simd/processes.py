"""NumPy versions of the functions in processes.pxd, for the uncompiled package."""

import numpy as np

from colk._engine.simd import lapack
from colk._validation import Array

__all__: list[str] = []


def matern_tables(Z: Array, table: Array, slopes: Array) -> None:
    """Write Matérn 5/2 of all pairs of rows, and its derivatives by the squared distances."""
    squares = np.einsum("ij,ij->i", Z, Z)
    r = np.sqrt(5.0 * np.maximum(squares[:, None] + squares - 2.0 * (Z @ Z.T), 0.0))
    np.fill_diagonal(r, 0.0)
    tail = np.exp(-r)
    table[:] = (r * r / 3.0 + (1.0 + r)) * tail
    slopes[:] = -5.0 / 6.0 * (1.0 + r) * tail


def matern_gradient(
    Z: Array, outer: Array, slopes: Array, product: Array, sums: Array, out: Array
) -> None:
    """Write 2 Σ_ab outer_ab slopes_ab (z_a − z_b)² of each column; the slopes are overwritten."""
    slopes *= outer
    sums[:] = slopes.sum(axis=1)
    product[:] = slopes @ Z
    out[:] = 4.0 * np.einsum("ij,ij->j", Z, sums[:, None] * Z - product)


def likelihood(
    table: Array,
    Y: Array,
    weight: Array,
    variance: float,
    noise: float,
    outer: Array,
    solved: Array,
    out: Array,
) -> int:
    """Write −log p(Y), and its derivatives by the logarithms of variance and noise, and by κ.

    Return 0, or another number if the covariance is singular.
    """
    outer[:] = variance * table
    outer[np.diag_indices_from(outer)] += noise / weight
    if lapack.cholesky(outer) != 0:
        return 1
    out[0] = Y.shape[1] * np.log(outer.diagonal()).sum()
    lapack.invert(outer)
    solved[:] = outer @ Y
    out[0] += 0.5 * np.vdot(Y, solved)
    outer[:] = 0.5 * variance * (Y.shape[1] * outer - solved @ solved.T)
    out[1] = np.vdot(outer, table)
    out[2] = noise / variance * (outer.diagonal() / weight).sum()
    return 0
