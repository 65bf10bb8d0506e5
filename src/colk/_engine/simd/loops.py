"""NumPy versions of the loops in loops.h and triangles.h, for the uncompiled package.

Matrices are passed with the index of a row; n is the number of entries used.
"""

from collections.abc import Callable

import numpy as np

from colk._validation import Array

__all__ = ["DEPENDENCE_FLOOR", "LARGEST", "NOVELTY_FLOOR", "ROUNDING", "SMALLEST_PIVOT"]

# A point counts as inside the span if its squared distance is below this share of κ(x, x).
NOVELTY_FLOOR = 1e-9
# An atom is dropped if its novelty, given all the others, would fall below this share.
DEPENDENCE_FLOOR = 1e-10
# Least pivot, for a point with κ(x, x) = 0.
SMALLEST_PIVOT = 1e-290
# Rounding error of novelties as a share of κ(x, x); it is added to their cost.
ROUNDING = 2e-14
# Products and squares of coefficients and kernel values below this are finite.
LARGEST = 1e75


Loop = Callable[..., None]
columns: Loop  # compiled package only: the columns of a kernel by its loop


def kernel_loop(name: str) -> Loop | None:
    """Return None, because the uncompiled package evaluates kernels by their NumPy formulas."""
    return None


def cosines(turns: Array, row: int, scale: float, n: int) -> None:
    """Set turns ← scale·cos(2π·turns)."""
    turns[row, :n] = scale * np.cos(2.0 * np.pi * (turns[row, :n] - np.round(turns[row, :n])))


def dot(a: Array, i: int, b: Array, j: int, n: int) -> float:
    """Σ_k a[i, k] b[j, k]."""
    return float(a[i, :n] @ b[j, :n])


def add(w: Array, row: int, u: Array, i: int, a: float, n: int) -> None:
    """Set w ← w + a u_i."""
    w[row, :n] += a * u[i, :n]


def add_two(w: Array, row: int, u: Array, p: int, q: int, a: float, b: float, n: int) -> None:
    """Set w ← w + a u_p + b u_q."""
    w[row, :n] += a * u[p, :n] + b * u[q, :n]


def copy(w: Array, row: int, u: Array, i: int, n: int) -> None:
    """Set the first n numbers of w to those of u_i."""
    w[row, :n] = u[i, :n]


def close_gap(w: Array, j: int, n: int) -> None:
    """Close the gap that number j leaves in a row of n others."""
    w[j:n] = w[j + 1 : n + 1].copy()


def approach(w: Array, row: int, u: Array, i: int, rate: float, n: int) -> None:
    """Set w ← w + rate (u_i − w)."""
    w[row, :n] += rate * (u[i, :n] - w[row, :n])


def multiply(w: Array, row: int, u: Array, i: int, n: int) -> None:
    """Set w ← w u_i, entry by entry."""
    w[row, :n] *= u[i, :n]


def scale(w: Array, row: int, factor: float, n: int) -> None:
    """Set w ← factor·w."""
    w[row, :n] *= factor


def overlap(w: Array, row: int, atoms: Array, k: int, code: float, factor: float, n: int) -> None:
    """Multiply w by `factor` where feature k of the atoms is not `code`."""
    w[row, :n] *= np.where(atoms[k, :n] == code, 1.0, factor)


def transform(X: Array, row: int, matrix: Array, out: Array, place: int) -> None:
    """Set out_place ← x A for row x of X, as a sum over the rows of A in their order."""
    total = np.zeros(matrix.shape[1])
    for k in range(X.shape[1]):
        total += X[row, k] * matrix[k]
    out[place] = total[: out.shape[1]]


def keep_and_scale(w: Array, kept: int, row: int, factor: float, n: int) -> None:
    """Copy a row to another row, and multiply the original by the factor."""
    w[kept, :n] = w[row, :n]
    w[row, :n] *= factor


def solve(factor: Array, n: int, columns: Array, size: int, solutions: Array, sums: Array) -> None:
    """v_b = K⁻¹k_b by z_b = Uᵀk_b, for one or two columns; sums = (z_0ᵀz_0, z_0ᵀz_1, z_1ᵀz_1).

    For one column only the first sum is computed.
    """
    u_t = np.tril(factor[:n, :n])
    z = columns[:size, :n] @ u_t.T
    solutions[:size, :n] = z @ u_t
    sums[0] = z[0] @ z[0]
    if size == 2:
        sums[1:] = z[0] @ z[1], z[1] @ z[1]


def rotate_out(factor: Array, n: int, j: int, carry: Array, diagonal: Array) -> None:
    """Rotate row j of U into `carry` = K⁻¹[:, j]/√(K⁻¹)_jj and remove it; update the diagonal."""
    carry[:n] = 0.0
    carry[: j + 1] = factor[j, : j + 1]
    for i in range(j, n - 1):
        below = factor[i + 1, : i + 2].copy()
        length = np.hypot(carry[j], below[j])
        c, s = below[j] / length, carry[j] / length
        rotated = c * carry[: i + 2] - s * below
        carry[: i + 2] = s * carry[: i + 2] + c * below
        factor[i, : i + 1] = np.delete(rotated, j)
    diagonal[: n - 1] = (np.tril(factor[: n - 1, : n - 1]) ** 2).sum(axis=0)


def whiten(
    factor: Array, n: int, columns: Array, first: int, count: int, rows: Array, z: int
) -> None:
    """Write z = Uᵀk of `count` columns, a multiple of four, from the first on."""
    rows[z : z + count] = 0.0
    for k in range(count):  # one by one, so that a result does not depend on their number
        rows[z + k, :n] = np.tril(factor[:n, :n]) @ columns[first + k, :n]


def spread(factor: Array, n: int, rows: Array, h: int, out: Array, v: int) -> None:
    """Write v = Uh."""
    out[v] = 0.0
    out[v, :n] = rows[h, :n] @ np.tril(factor[:n, :n])


def whiten_and_spread(
    factor: Array, n: int, columns: Array, b: int, rows: Array, z: int, h: int, out: Array, v: int
) -> None:
    """Write z = Uᵀk of column b, and v = Uh."""
    whiten(factor, n, columns, b, 1, rows, z)
    spread(factor, n, rows, h, out, v)


def settle_and_multiply(
    P: Array, n: int, rows: Array, first: int, amounts: Array, count: int,
    z: int, h: int, columns: int,
) -> None:  # fmt: skip
    """Set P ← P − Σ_r m_r g_r g_rᵀ for `count` rows g from the first on, and write h = Pz.

    Takes one z or a multiple of four consecutive ones. Only the lower half of P is used.
    """
    g = rows[first : first + count, :n]
    P[:n, :n] -= g.T @ (amounts[:count, None] * g)
    lower = np.tril(P[:n, :n])
    full = lower + np.tril(lower, -1).T
    rows[h : h + columns] = 0.0
    for k in range(columns):
        rows[h + k, :n] = full @ rows[z + k, :n]


def rotate_out_symmetric(P: Array, n: int, j: int, turns: Array, carry: Array) -> None:
    """Rotate the symmetric P from both sides as `rotate_out` rotates Uᵀ; drop the last coordinate.

    Only the lower half and the 8 × 8 blocks on the diagonal are read and written.
    """
    lower = np.tril(P[:n, :n])
    full = lower + np.tril(lower, -1).T
    for _ in range(2):
        leaving = full[j].copy()
        for i in range(j, n - 1):
            c, s, below = turns[0, i], turns[1, i], full[i + 1].copy()
            full[i] = c * leaving - s * below
            leaving = s * leaving + c * below
        full = full.T.copy()
    stored = np.arange(n - 1)[None, :] <= np.arange(n - 1)[:, None] | 7
    P[: n - 1, : n - 1][stored] = full[: n - 1, : n - 1][stored]


def atoms_within(
    weights: Array, n_priced: int, amounts: Array, diagonal: Array, n: int, solutions: Array,
    p: int, q: int, c: float, t_p: float, t_q: float, price: float, later: float, rest: float,
) -> int:  # fmt: skip
    """Return bits: 1: an atom costs ≤ `price`; 2: ≤ `later` without p; 4: ≤ `rest` without both."""
    u, v, w, d = solutions[p, :n], solutions[q, :n], weights[:n_priced, :n], diagonal[:n]
    a_p, a_q = amounts[p, :n_priced, None], amounts[q, :n_priced, None]
    own, beside_q = u - c * v, d + t_q * v**2
    now = (w**2).sum(axis=0) <= price * (beside_q + t_p * own**2)
    then = ((w + a_p * own) ** 2).sum(axis=0) <= later * beside_q
    last = ((w + a_p * u + a_q * v) ** 2).sum(axis=0) <= rest * d
    return int(now.any()) | int(then.any()) << 1 | int(last.any()) << 2


def atoms_within_one(
    weights: Array, n_priced: int, amounts: Array, diagonal: Array, n: int, solutions: Array,
    s: float, price: float, rest: float,
) -> int:  # fmt: skip
    """Return bits: 1: an atom costs ≤ `price` with a point of novelty s; 2: ≤ `rest` without it."""
    v, w, d, a = solutions[0, :n], weights[:n_priced, :n], diagonal[:n], amounts[0, :n_priced, None]
    now = s * (w**2).sum(axis=0) <= price * (s * d + v * v)
    then = ((w + a * v) ** 2).sum(axis=0) <= rest * d
    return int(now.any()) | int(then.any()) << 1


def any_within(weights: Array, n_priced: int, diagonal: Array, n: int, price: float) -> bool:
    """Whether some atom costs at most `price`."""
    return bool(((weights[:n_priced, :n] ** 2).sum(axis=0) <= price * diagonal[:n]).any())


def price_mergers(
    weights: Array, columns: Array, light: float, own: float,
    out: Array, decays: int, places: int, losses: int, n: int,
) -> None:  # fmt: skip
    """Write the costs of merging an atom of weight `light` with others, and −log of its column."""
    heavy, share = weights[0, :n], columns[0, :n] / own
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, decay = np.fmin(light / heavy, 1.0), -np.log(np.fmax(share, 1e-304))
    h = np.zeros(n)
    for _ in range(3):
        pull = ratio * np.exp(-decay * (1.0 - 2.0 * h))
        h -= (h - (1.0 - h) * pull) / (1.0 + pull - 2.0 * decay * (1.0 - h) * pull)
        h = np.clip(h, -1.0, 0.5)
    merged = light * np.exp(-decay * (1.0 - h) ** 2) + heavy * np.exp(-decay * h * h)
    out[decays, :n], out[places, :n] = decay, h
    out[losses, :n] = light**2 + heavy**2 + 2.0 * light * heavy * share - merged**2


def data(values: Array) -> Array:
    """Return the numbers of a vector, as compiled functions pass them, without their count."""
    return values


def data_of_row(values: Array, row: int) -> Array:
    """Return the numbers of one row of a matrix in the same way."""
    return np.asarray(values[row])


def data_of_rows(values: Array) -> Array:
    """Return the numbers of a matrix in the same way, row by row."""
    return values.reshape(-1)


def numbers(values: Array, n: int) -> Array:
    """Return the first n numbers of a result of `data`."""
    return values[:n]
