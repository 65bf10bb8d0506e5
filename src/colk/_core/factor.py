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

from colk._core.buffers import CARRY, GHOSTS, SIZE, Buffers, buffers_at, padded
from colk._core.jit import apart, call_trmm, data_of, inner, merged, piece, stepper
from colk._validation import Array

__all__ = ["drop", "drop_at", "solve", "solve_by_blas", "take_out"]


@merged
def _solve_two(
    factor: Array,
    n: int,
    k_p: Array,
    k_q: Array,
    z_p: Array,
    z_q: Array,
    v_p: Array,
    v_q: Array,
) -> None:
    """`solve` for two points, four rows in each turn.

    Rows are read in whole vectors: what lies beyond the diagonal is zero. The last turn may read
    up to three rows that are not in use; what they give is replaced by zero.
    """
    apart()
    for j in range(padded(n)):
        v_p[j], v_q[j] = 0.0, 0.0
        z_p[j], z_q[j] = 0.0, 0.0
    for i in range(0, n, 4):
        length = (i + 4) & -4
        row_0, row_1, row_2, row_3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        p_0, p_1, p_2, p_3 = 0.0, 0.0, 0.0, 0.0
        q_0, q_1, q_2, q_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(length):
            p_0 += row_0[j] * k_p[j]
            p_1 += row_1[j] * k_p[j]
            p_2 += row_2[j] * k_p[j]
            p_3 += row_3[j] * k_p[j]
            q_0 += row_0[j] * k_q[j]
            q_1 += row_1[j] * k_q[j]
            q_2 += row_2[j] * k_q[j]
            q_3 += row_3[j] * k_q[j]
        if i + 4 > n:
            p_3, q_3 = 0.0, 0.0
            p_2, q_2 = (p_2, q_2) if i + 2 < n else (0.0, 0.0)
            p_1, q_1 = (p_1, q_1) if i + 1 < n else (0.0, 0.0)
        z_p[i], z_p[i + 1], z_p[i + 2], z_p[i + 3] = p_0, p_1, p_2, p_3
        z_q[i], z_q[i + 1], z_q[i + 2], z_q[i + 3] = q_0, q_1, q_2, q_3
        for j in range(length):
            r_0, r_1, r_2, r_3 = row_0[j], row_1[j], row_2[j], row_3[j]
            v_p[j] += (p_0 * r_0 + p_1 * r_1) + (p_2 * r_2 + p_3 * r_3)
            v_q[j] += (q_0 * r_0 + q_1 * r_1) + (q_2 * r_2 + q_3 * r_3)


@merged
def _solve_one(factor: Array, n: int, k: Array, z: Array, v: Array) -> None:
    """`solve` for one point, as `_solve_two`."""
    apart()
    for j in range(padded(n)):
        v[j], z[j] = 0.0, 0.0
    for i in range(0, n, 4):
        length = (i + 4) & -4
        row_0, row_1, row_2, row_3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        p_0, p_1, p_2, p_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(length):
            p_0 += row_0[j] * k[j]
            p_1 += row_1[j] * k[j]
            p_2 += row_2[j] * k[j]
            p_3 += row_3[j] * k[j]
        if i + 4 > n:
            p_3 = 0.0
            p_2 = p_2 if i + 2 < n else 0.0
            p_1 = p_1 if i + 1 < n else 0.0
        z[i], z[i + 1], z[i + 2], z[i + 3] = p_0, p_1, p_2, p_3
        for j in range(length):
            head = p_0 * row_0[j] + p_1 * row_1[j]
            v[j] += head + (p_2 * row_2[j] + p_3 * row_3[j])


@piece
def solve(factor: Array, n: int, k: Array, z: Array, v: Array, size: int) -> None:
    """Halves z = Uᵀk and solutions v = Uz = K⁻¹k of `size` new points, two in each pass."""
    for b in range(0, size - 1, 2):
        _solve_two(factor, n, k[b], k[b + 1], z[b], z[b + 1], v[b], v[b + 1])
    if size & 1:
        b = size - 1
        _solve_one(factor, n, k[b], z[b], v[b])


@piece
def solve_by_blas(
    factor: Array, n: int, k: Array, z: Array, v: Array, size: int, trmm: int
) -> None:
    """Do as `solve` does, for blocks that are worth the call."""
    stride = factor.shape[1]
    triangle = data_of(factor)
    for b in range(size):
        for j in range(n):
            z[b, j] = k[b, j]
    call_trmm(trmm, 1, n, size, triangle, stride, data_of(z))
    for b in range(size):
        for j in range(n):
            v[b, j] = z[b, j]
    call_trmm(trmm, 0, n, size, triangle, stride, data_of(v))


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


@piece
def _close_gap(row: Array, j: int, n: int) -> None:
    for k in range(j, n - 1):
        row[k] = row[k + 1]


@inner
def take_out(d: Buffers, j: int) -> None:
    """Move atom j with its weights to the ghosts, where they have room, and close the gap."""
    atoms, weights, ghosts, counters = d.atoms, d.weights, d.ghosts, d.counters
    n, ghost, features = counters[SIZE], counters[GHOSTS], atoms.shape[0]
    if ghost < ghosts.shape[1]:
        for feature in range(features):
            ghosts[feature, ghost] = atoms[feature, j]
        for row in range(weights.shape[0]):
            ghosts[features + row, ghost] = weights[row, j]
        counters[GHOSTS] = ghost + 1
    for feature in range(features):
        _close_gap(atoms[feature], j, n)
    for row in range(weights.shape[0]):
        _close_gap(weights[row], j, n)
        weights[row, n - 1] = 0.0
    _close_gap(d.own, j, n)
    counters[SIZE] = n - 1


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


@inner
def drop(d: Buffers, j: int) -> None:
    """Drop atom j and re-fit the other weights. f of the last step finds it among the ghosts."""
    n, carry = d.counters[SIZE], d.work[CARRY]
    _rotate_out(d.factor, n, j, carry)
    _refit(d.weights, d.n_fitted, n, j, carry, d.spent)
    take_out(d, j)
    _refresh_diagonal(d.factor, n - 1, d.diagonal)
    d.diagonal[n - 1] = np.nan


@stepper
def drop_at(address: int, j: int) -> None:
    """`drop` for Python."""
    drop(buffers_at(address), j)
