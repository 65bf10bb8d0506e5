"""The triangular factor U with K⁻¹ = U Uᵀ: solving with it, and dropping an atom from it.

`factor` stores Uᵀ, row by row: row i is column i of U, of length i + 1. With it

- v = K⁻¹k is one pass over the rows;
- appending a point adds one row, [−v, 1]/√s, where s = κ(x, x) − kᵀv is its novelty;
- dropping atom j is a sweep of Givens rotations that gathers row j of U in one column, which then
  leaves; being orthogonal, the sweep does not amplify rounding errors.

`diagonal` holds (K⁻¹)_jj, the sums of squares of the columns of `factor`. The price of dropping
atom j with the other weights re-fitted is ‖w_j‖²/(K⁻¹)_jj, a squared H-norm; prices add up over
successive drops by Pythagoras, since the subspaces are nested.
"""

import numpy as np

from colk._core.buffers import CARRY, GHOSTS, LANE, SIZE, Buffers
from colk._core.jit import call_trmm, inner, once, piece, stepper
from colk._validation import Array

__all__ = ["drop", "solve", "solve_by_blas", "take_out"]


@once
def solve(factor: Array, n: int, k: Array, z: Array, v: Array, size: int) -> None:
    """Halves z = Uᵀk and solutions v = Uz = K⁻¹k of `size` new points, two in each pass.

    Rows are read to the next multiple of LANE: what lies beyond the diagonal is zero, and loops
    of few different lengths cost less than the branches that they spare would.
    """
    for b in range(size):
        for j in range((n + LANE - 1) & -LANE):
            v[b, j] = 0.0
    for b in range(0, size - 1, 2):
        for i in range(n):
            length = (i + LANE) & -LANE
            first, second = 0.0, 0.0
            for j in range(length):
                first += factor[i, j] * k[b, j]
                second += factor[i, j] * k[b + 1, j]
            z[b, i] = first
            z[b + 1, i] = second
            for j in range(length):
                v[b, j] += first * factor[i, j]
                v[b + 1, j] += second * factor[i, j]
    if size & 1:
        b = size - 1
        for i in range(n):
            length = (i + LANE) & -LANE
            total = 0.0
            for j in range(length):
                total += factor[i, j] * k[b, j]
            z[b, i] = total
            for j in range(length):
                v[b, j] += total * factor[i, j]


@inner
def solve_by_blas(
    factor: Array, n: int, k: Array, z: Array, v: Array, size: int, trmm: int
) -> None:
    """Do as `solve` does, for blocks that are worth the call."""
    stride = factor.shape[1]
    triangle = np.int64(factor.ctypes.data)
    for b in range(size):
        for j in range(n):
            z[b, j] = k[b, j]
    call_trmm(trmm, 1, n, size, triangle, stride, np.int64(z.ctypes.data))
    for b in range(size):
        for j in range(n):
            v[b, j] = z[b, j]
    call_trmm(trmm, 0, n, size, triangle, stride, np.int64(v.ctypes.data))


@piece
def _rotate_out(factor: Array, n: int, j: int, carry: Array) -> None:
    """Givens sweep: gather row j of U in the carried column, which leaves.

    The carry ends as K⁻¹[:, j]/√(K⁻¹)_jj.
    """
    for k in range(n):
        carry[k] = factor[j, k] if k <= j else 0.0
    for i in range(j, n - 1):
        top, side = carry[j], factor[i + 1, j]
        length = np.sqrt(top * top + side * side)
        c, s = side / length, top / length
        for k in range(j):
            p, q = carry[k], factor[i + 1, k]
            factor[i, k] = c * p - s * q
            carry[k] = s * p + c * q
        carry[j] = length
        for k in range(j + 1, i + 2):
            p, q = carry[k], factor[i + 1, k]
            factor[i, k - 1] = c * p - s * q
            carry[k] = s * p + c * q


@piece
def _refresh_diagonal(factor: Array, n: int, diagonal: Array) -> None:
    """Sums of squares anew: subtracting what left would cancel."""
    for k in range(n):
        diagonal[k] = 0.0
    for i in range(n):
        for k in range(i + 1):
            diagonal[k] += factor[i, k] * factor[i, k]


@inner
def take_out(rows: Array, n: int, j: int, ghosts: Array, ghost: int) -> None:
    """Move entry j of each row to the ghosts, where they have room, and close the gap."""
    for row in range(rows.shape[0]):
        if ghost < ghosts.shape[1]:
            ghosts[row, ghost] = rows[row, j]
        for k in range(j, n - 1):
            rows[row, k] = rows[row, k + 1]


@piece
def _refit(weights: Array, n_fitted: int, n: int, j: int, carry: Array, spent: Array) -> None:
    """W ← w − K⁻¹[:, j] w_j/(K⁻¹)_jj; entry j stays, as the ghost's weight."""
    for row in range(n_fitted):
        amount = weights[row, j]
        share = amount / carry[j]
        spent[row] += share * share
        for k in range(n):
            weights[row, k] -= share * carry[k]
        weights[row, j] = amount


@stepper
def drop(d: Buffers, j: int) -> None:
    """Drop atom j and re-fit the other weights. f of the last step finds it among the ghosts."""
    n, ghost = d.counters[SIZE], d.counters[GHOSTS]
    carry = d.work[CARRY]
    _rotate_out(d.factor, n, j, carry)
    _refit(d.weights, d.n_fitted, n, j, carry, d.spent)
    take_out(d.atoms, n, j, d.ghosts[: d.atoms.shape[0]], ghost)
    take_out(d.weights, n, j, d.ghosts[d.atoms.shape[0] :], ghost)
    _refresh_diagonal(d.factor, n - 1, d.diagonal)
    d.counters[SIZE] = n - 1
    d.counters[GHOSTS] = min(ghost + 1, d.ghosts.shape[1])
