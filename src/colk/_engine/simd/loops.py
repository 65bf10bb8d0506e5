"""What the loops of loops.h and triangles.h mean: NumPy twins, used where nothing is compiled.

Matrices come with the number of a row, and n says how many entries of it count.
"""

from collections.abc import Callable

import numpy as np

from colk._validation import Array

__all__ = ["CROWDING_FLOOR", "LARGEST", "NOVELTY_FLOOR", "ROUNDING", "SMALLEST_PIVOT"]

# A point whose squared distance to the span is below this share of κ(x, x) counts as inside it.
NOVELTY_FLOOR = 1e-9
# An atom whose novelty, given all the others, would sink below this share makes way.
CROWDING_FLOOR = 1e-10
# What the pivot of a point with κ(x, x) = 0 is lifted to.
SMALLEST_PIVOT = 1e-290
# Novelties are known to this share of κ(x, x): as much is charged beside them.
ROUNDING = 2e-14
# Coefficients and kernel values below this have products and squares that are finite.
LARGEST = 1e75


Loop = Callable[..., None]
columns: Loop  # compiled only: the columns of a kernel by its loop


def kernel_loop(name: str) -> Loop | None:
    """Return None: only compiled code has loops, and NumPy evaluates the formulas of kernels."""
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
    """Set w ← u_i, n numbers and no more."""
    w[row, :n] = u[i, :n]


def approach(w: Array, row: int, u: Array, i: int, rate: float, n: int) -> None:
    """Set w ← w + rate (u_i − w)."""
    w[row, :n] += rate * (u[i, :n] - w[row, :n])


def multiply(w: Array, row: int, u: Array, i: int, n: int) -> None:
    """Set w ← w u_i, entry by entry."""
    w[row, :n] *= u[i, :n]


def scale(w: Array, row: int, factor: float, n: int) -> None:
    """Set w ← factor·w."""
    w[row, :n] *= factor


def keep_and_scale(w: Array, kept: int, row: int, factor: float, n: int) -> None:
    """Copy a row to another, and multiply it by the factor."""
    w[kept, :n] = w[row, :n]
    w[row, :n] *= factor


def solve(factor: Array, n: int, columns: Array, size: int, solutions: Array, sums: Array) -> None:
    """v_b = K⁻¹k_b by z_b = Uᵀk_b, for one or two columns; sums = (z_0ᵀz_0, z_0ᵀz_1, z_1ᵀz_1)."""
    u_t = np.tril(factor[:n, :n])
    z = columns[:size, :n] @ u_t.T
    solutions[:size, :n] = z @ u_t
    sums[:] = z[0] @ z[0], z[0] @ z[-1], z[-1] @ z[-1]


def rotate_out(factor: Array, n: int, j: int, carry: Array, diagonal: Array) -> None:
    """Rotate row j of U into `carry` = K⁻¹[:, j]/√(K⁻¹)_jj, which leaves; renew the diagonal."""
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


def halve(
    factor: Array, n: int, columns: Array, first: int, count: int, rows: Array, z: int
) -> None:
    """Write z = Uᵀk of so many columns, a multiple of four, from the first on."""
    rows[z : z + count] = 0.0
    for k in range(count):  # one by one: a result must not depend on how many there are
        rows[z + k, :n] = np.tril(factor[:n, :n]) @ columns[first + k, :n]


def spread(factor: Array, n: int, rows: Array, h: int, out: Array, v: int) -> None:
    """Write v = Uh."""
    out[v] = 0.0
    out[v, :n] = rows[h, :n] @ np.tril(factor[:n, :n])


def halve_and_spread(
    factor: Array, n: int, columns: Array, b: int, rows: Array, z: int, h: int, out: Array, v: int
) -> None:
    """Write z = Uᵀk of column b, and v = Uh."""
    halve(factor, n, columns, b, 1, rows, z)
    spread(factor, n, rows, h, out, v)


def settle_and_multiply(
    P: Array, n: int, rows: Array, first: int, amounts: Array, count: int,
    z: int, h: int, columns: int,
) -> None:  # fmt: skip
    """Set P ← P − Σ_r m_r g_r g_rᵀ for so many rows g from the first on, and write h = Pz.

    For one z, or a multiple of four in a row. Only the lower half of P counts.
    """
    g = rows[first : first + count, :n]
    P[:n, :n] -= g.T @ (amounts[:count, None] * g)
    lower = np.tril(P[:n, :n])
    full = lower + np.tril(lower, -1).T
    rows[h : h + columns] = 0.0
    for k in range(columns):
        rows[h + k, :n] = full @ rows[z + k, :n]


def turn_out(P: Array, n: int, j: int, turns: Array, carry: Array) -> None:
    """Turn the symmetric P from both sides as `rotate_out` turns Uᵀ; what leaves is lost.

    Its lower half counts, and is what is written, with the blocks of eight on the diagonal.
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
    """1 if an atom costs at most `price`; 2 if `later` when p is gone; 4 if `rest` without both."""
    u, v, w, d = solutions[p, :n], solutions[q, :n], weights[:n_priced, :n], diagonal[:n]
    a_p, a_q = amounts[p, :n_priced, None], amounts[q, :n_priced, None]
    own, beside_q = u - c * v, d + t_q * v**2
    now = (w**2).sum(axis=0) <= price * (beside_q + t_p * own**2)
    then = ((w + a_p * own) ** 2).sum(axis=0) <= later * beside_q
    last = ((w + a_p * u + a_q * v) ** 2).sum(axis=0) <= rest * d
    return int(now.any()) | int(then.any()) << 1 | int(last.any()) << 2


def atoms_within_one(
    weights: Array, diagonal: Array, n: int, solutions: Array, amount: float, s: float,
    price: float, rest: float,
) -> int:  # fmt: skip
    """1 if an atom costs at most `price` beside a point of novelty s; 2 if `rest` without it."""
    v, w, d = solutions[0, :n], weights[0, :n], diagonal[:n]
    now, then = s * w**2 <= price * (s * d + v * v), (w + amount * v) ** 2 <= rest * d
    return int(now.any()) | int(then.any()) << 1


def any_within(weights: Array, n_priced: int, diagonal: Array, n: int, price: float) -> bool:
    """Whether some atom costs at most `price`."""
    return bool(((weights[:n_priced, :n] ** 2).sum(axis=0) <= price * diagonal[:n]).any())


def price_mergers(
    weights: Array, columns: Array, light: float, own: float,
    out: Array, decays: int, places: int, losses: int, n: int,
) -> None:  # fmt: skip
    """What merging an atom of weight `light` with each other loses, and −log of its column."""
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
    """Return the numbers of a vector as compiled functions hand them on, without a count."""
    return values


def data_of_rows(values: Array) -> Array:
    """Return the numbers of a matrix likewise, row after row."""
    return values.reshape(-1)


def numbers(values: Array, n: int) -> Array:
    """Return the first n numbers of what `data` returned."""
    return values[:n]
