"""The live dictionary: atoms, weights and the triangular factor U with K⁻¹ = U Uᵀ.

`factor` stores Uᵀ, row by row: row i is column i of U, of length i + 1. With it

- v = K⁻¹k is one pass over the rows;
- appending a point adds one row, [−v, 1]/√s, where s = κ(x, x) − kᵀv is its novelty;
- dropping atom j is a sweep of Givens rotations that gathers row j of U in one column, which then
  leaves; being orthogonal, the sweep does not amplify rounding errors.

`diagonal` holds (K⁻¹)_jj, the sums of squares of the columns of `factor`. The price of dropping
atom j with the other weights re-fitted is ‖w_j‖²/(K⁻¹)_jj, a squared H-norm; prices add up over
successive drops by Pythagoras, since the subspaces are nested.
"""

from typing import NamedTuple

import numpy as np

from colk._core.jit import jit, piece
from colk._core.kernels import column, pair
from colk._validation import Array

__all__ = [
    "NOVELTY_FLOOR",
    "Buffers",
    "absorb",
    "drop",
    "evaluate_columns",
    "prune",
    "solve",
]

# A point whose squared distance to the span is below this share of κ(x, x) counts as inside it:
# its projection is stored and the rest charged to the certificate.
NOVELTY_FLOOR = 1e-9

# Panels: one row for each new point of a block.
COLUMN, HALF, SOLUTION, INFLUENCE = 0, 1, 2, 3
# Small matrices over the new points of a block.
GRAM, SCHUR, INVERSE = 0, 1, 2
# Work rows; the first three are the kernel's scratch.
CARRY, ENLARGED = 3, 4
WORK_ROWS = 5
# Counters.
SIZE, GHOSTS = 0, 1


class Buffers(NamedTuple):
    """Buffers of the live state; the first `counters[SIZE]` entries of each are in use.

    Rows of `weights` below `n_fitted` belong to functions that are re-fitted when an atom leaves
    (the iterate and its averages); the first `n_priced` of them decide which atom leaves. The
    other rows are kept as they are: a dropped atom takes its entry along to `ghosts`.
    """

    program: Array  # the kernel
    atoms: Array  # (features, capacity)
    weights: Array  # (rows, capacity)
    factor: Array  # (capacity, capacity)
    diagonal: Array  # (capacity,)
    points: Array  # (block, features): the new points
    amounts: Array  # (block, rows): their weights
    panels: Array  # (4, block, capacity)
    small: Array  # (3, block, block)
    order: Array  # (block,) int64: the new points still in play
    marked: Array  # (block,) bool: those in the span of what came before
    work: Array  # (5, capacity or more)
    ghosts: Array  # (features + rows, capacity): atoms that the last step dropped
    counters: Array  # int64
    n_priced: int
    n_fitted: int


@piece
def solve(d, size):
    """Panels of the new points: half = Uᵀk and solution = K⁻¹k, in one pass over the factor.

    Rows are read to the next multiple of four: what lies beyond the diagonal is zero, and loops
    of whole vectors are worth more than the few products with it.
    """
    n = d.counters[SIZE]
    k, z, v = d.panels[COLUMN], d.panels[HALF], d.panels[SOLUTION]
    for b in range(size):
        for j in range((n + 3) & ~3):
            v[b, j] = 0.0
    for i in range(n):
        row = d.factor[i]
        for b in range(size):
            total = 0.0
            for j in range((i + 4) & ~3):
                total += row[j] * k[b, j]
            z[b, i] = total
            for j in range((i + 4) & ~3):
                v[b, j] += total * row[j]


@piece
def _rotate_out(d, j):
    """Givens sweep: gather row j of U in the carried column, which leaves.

    The carry ends as K⁻¹[:, j]/√(K⁻¹)_jj.
    """
    n = d.counters[SIZE]
    carry = d.work[CARRY]
    for k in range(j + 1):
        carry[k] = d.factor[j, k]
    for k in range(j + 1, n):
        carry[k] = 0.0
    for i in range(j, n - 1):
        above, below = d.factor[i], d.factor[i + 1]
        length = np.sqrt(carry[j] * carry[j] + below[j] * below[j])
        c, s = below[j] / length, carry[j] / length
        for k in range(j):
            p, q = carry[k], below[k]
            above[k] = c * p - s * q
            carry[k] = s * p + c * q
        carry[j] = length
        for k in range(j + 1, i + 2):
            p, q = carry[k], below[k]
            above[k - 1] = c * p - s * q
            carry[k] = s * p + c * q


@piece
def _refresh_diagonal(d):
    """Sums of squares anew: subtracting what left would cancel."""
    n = d.counters[SIZE]
    for k in range(n):
        d.diagonal[k] = 0.0
    for i in range(n):
        for k in range(i + 1):
            d.diagonal[k] += d.factor[i, k] * d.factor[i, k]


@piece
def _remember(d, j):
    """Keep atom j and its weights among the ghosts: f of the last step still needs them."""
    ghost = d.counters[GHOSTS]
    if ghost < d.ghosts.shape[1]:
        features = d.atoms.shape[0]
        for feature in range(features):
            d.ghosts[feature, ghost] = d.atoms[feature, j]
        for row in range(d.weights.shape[0]):
            d.ghosts[features + row, ghost] = d.weights[row, j]
        d.counters[GHOSTS] = ghost + 1


@jit
def drop(d, j):
    """Drop atom j and re-fit the other weights: w ← w − K⁻¹[:, j] w_j/(K⁻¹)_jj."""
    _rotate_out(d, j)
    _remember(d, j)
    n = d.counters[SIZE]
    carry = d.work[CARRY]
    for row in range(d.n_fitted):
        share = d.weights[row, j] / carry[j]
        for k in range(n):
            d.weights[row, k] -= share * carry[k]
    for row in range(d.weights.shape[0]):
        for k in range(j, n - 1):
            d.weights[row, k] = d.weights[row, k + 1]
    for feature in range(d.atoms.shape[0]):
        for k in range(j, n - 1):
            d.atoms[feature, k] = d.atoms[feature, k + 1]
    d.counters[SIZE] = n - 1
    _refresh_diagonal(d)


@piece
def _any_within(d, diagonal, price):
    """Whether some atom costs at most `price`: no division, no index, so that it vectorises."""
    count = 0
    if d.n_priced == 1:
        for j in range(d.counters[SIZE]):
            count += d.weights[0, j] * d.weights[0, j] <= price * diagonal[j]
    else:
        for j in range(d.counters[SIZE]):
            squares = 0.0
            for row in range(d.n_priced):
                squares += d.weights[row, j] * d.weights[row, j]
            count += squares <= price * diagonal[j]
    return count > 0


@piece
def _cheapest(d):
    """The atom that costs least to drop, the newest of equals, and its price ‖w_j‖²/(K⁻¹)_jj."""
    best, price = d.counters[SIZE] - 1, np.inf
    for j in range(d.counters[SIZE]):
        squares = 0.0
        for row in range(d.n_priced):
            squares += d.weights[row, j] * d.weights[row, j]
        cost = squares / d.diagonal[j]
        if cost <= price:
            best, price = j, cost
    return best, price


@jit
def prune(d, budget, spent, stop_at, at_most):
    """Drop the cheapest atom while `spent` + its price ≤ `budget`, all of them squared H-norms.

    Never below `stop_at` atoms; above `at_most` atoms whatever it costs. Returns what is spent.
    """
    while d.counters[SIZE] > stop_at:
        forced = d.counters[SIZE] > at_most
        if not forced and not _any_within(d, d.diagonal, budget - spent):
            break
        j, price = _cheapest(d)
        if not forced and spent + price > budget:
            break
        drop(d, j)
        spent += price
    return spent


@piece
def evaluate_columns(d, size):
    """Kernel columns κ(D, x) of the new points, and their own Gram matrix."""
    for b in range(size):
        column(d.program, d.atoms, d.counters[SIZE], d.points[b], d.panels[COLUMN, b], d.work)
        for a in range(b + 1):
            d.small[GRAM, b, a] = pair(d.program, d.points[b], d.points[a], d.work)


@piece
def _invert_schur(d, size):
    """S = K_BB − K_BD K⁻¹ K_DB by the halves, and T = S⁻¹ by Gauss and Jordan.

    A pivot is a novelty, given all that came before. One below the floor means that the point
    lies in their span: it is lifted to the floor and the point marked, to be dropped first. What
    a dropped point leaves to the others does not depend on its own pivot.
    """
    n = d.counters[SIZE]
    schur, inverse = d.small[SCHUR], d.small[INVERSE]
    for a in range(size):
        d.order[a] = a
        for b in range(a + 1):
            total = d.small[GRAM, a, b]
            for i in range(n):
                total -= d.panels[HALF, a, i] * d.panels[HALF, b, i]
            schur[a, b] = total
            inverse[a, b] = total
            inverse[b, a] = total
    for p in range(size):
        floor = NOVELTY_FLOOR * d.small[GRAM, p, p]
        d.marked[p] = inverse[p, p] <= floor
        pivot = max(inverse[p, p], floor)
        inverse[p, p] = 1.0
        for b in range(size):
            inverse[p, b] /= pivot
        for a in range(size):
            if a != p:
                ratio = inverse[a, p]
                inverse[a, p] = 0.0
                for b in range(size):
                    inverse[a, b] -= ratio * inverse[p, b]


@piece
def _influence(d, size):
    """G = T V: the enlarged inverse has (K⁻¹)_jp = −G_pj for an old atom j and a new point p.

    Also the enlarged diagonal of the old atoms, d_j + V_jᵀ T V_j.
    """
    n = d.counters[SIZE]
    solution, influence = d.panels[SOLUTION], d.panels[INFLUENCE]
    enlarged = d.work[ENLARGED]
    for i in range(n):
        enlarged[i] = d.diagonal[i]
    for a in range(size):
        share = d.small[INVERSE, a, 0]
        for i in range(n):
            influence[a, i] = share * solution[0, i]
        for b in range(1, size):
            share = d.small[INVERSE, a, b]
            for i in range(n):
                influence[a, i] += share * solution[b, i]
        for i in range(n):
            enlarged[i] += influence[a, i] * solution[a, i]


@piece
def _cheapest_new(d, size):
    """Place in `order` of the new point that costs least to drop, and its price ‖w_p‖²/T_pp."""
    best, price = size - 1, np.inf
    for place in range(size):
        p = d.order[place]
        squares = 0.0
        for row in range(d.n_priced):
            squares += d.amounts[p, row] * d.amounts[p, row]
        cost = squares / d.small[INVERSE, p, p]
        if d.marked[p]:
            return place, cost
        if cost <= price:
            best, price = place, cost
    return best, price


@piece
def _drop_new(d, place, size):
    """Drop a new point: the factor is not touched, the others inherit its weight."""
    n = d.counters[SIZE]
    p = d.order[place]
    for later in range(place, size - 1):
        d.order[later] = d.order[later + 1]
    inverse, influence = d.small[INVERSE], d.panels[INFLUENCE]
    enlarged = d.work[ENLARGED]
    pivot = inverse[p, p]
    for row in range(d.n_fitted):
        share = d.amounts[p, row] / pivot
        if share == 0.0:
            continue
        for i in range(n):
            d.weights[row, i] += share * influence[p, i]
        for other in range(size - 1):
            d.amounts[d.order[other], row] -= share * inverse[d.order[other], p]
    for other in range(size - 1):
        a = d.order[other]
        ratio = inverse[a, p] / pivot
        for i in range(n):
            influence[a, i] -= ratio * influence[p, i]
        for b in range(inverse.shape[0]):
            inverse[a, b] -= ratio * inverse[p, b]
    for i in range(n):
        enlarged[i] -= influence[p, i] * influence[p, i] / pivot


@piece
def _attach(d, size):
    """Append the new points that stay, with their weights.

    The new rows of the factor are X [−V, 1] with X = L⁻¹ for the Cholesky factor L of S; row a
    of X [−V, 1] is ([−V_a, e_a] − Σ_b L_ab row b)/L_aa.
    """
    old = d.counters[SIZE]
    schur = d.small[SCHUR]
    for place in range(size):
        a, n = d.order[place], old + place
        novelty = schur[a, a]
        for j in range(old):
            d.factor[n, j] = -d.panels[SOLUTION, a, j]
        for j in range(old, n):
            d.factor[n, j] = 0.0
        for earlier in range(place):
            b = d.order[earlier]
            entry = schur[a, b]
            for c in range(earlier):
                entry -= schur[d.order[c], a] * schur[d.order[c], b]
            entry *= d.factor[old + earlier, old + earlier]
            schur[b, a] = entry  # L_ab, kept in the upper triangle
            novelty -= entry * entry
            for j in range(old + earlier + 1):
                d.factor[n, j] -= entry * d.factor[old + earlier, j]
        scale = 1.0 / np.sqrt(novelty)
        d.factor[n, n] = 1.0
        d.diagonal[n] = 0.0
        for j in range(n + 1):
            d.factor[n, j] *= scale
            d.diagonal[j] += d.factor[n, j] * d.factor[n, j]
        for feature in range(d.atoms.shape[0]):
            d.atoms[feature, n] = d.points[a, feature]
        for row in range(d.weights.shape[0]):
            d.weights[row, n] = d.amounts[a, row]
    d.counters[SIZE] = old + size


@piece
def absorb(d, size, eps, stop_at, at_most):
    """KOMP of f + Σ_b amounts_b κ(points_b, ·): keep the function within eps in H-norm.

    The panels COLUMN, HALF and SOLUTION of the new points must be in place. New points are
    priced by the Schur complement alone; the factor is touched only for those that stay.
    Returns the H-norm of the error, and how many points of the block were appended.
    """
    budget, spent = eps * eps, 0.0
    _invert_schur(d, size)
    _influence(d, size)
    while size > 0:
        place, price = _cheapest_new(d, size)
        if not d.marked[d.order[place]]:
            atoms = d.counters[SIZE] + size
            if atoms <= stop_at or (spent + price > budget and atoms <= at_most):
                break
            if _any_within(d, d.work[ENLARGED], price):
                break
        _drop_new(d, place, size)
        size -= 1
        spent += price
    _attach(d, size)
    spent = prune(d, budget, spent, stop_at, at_most)
    return np.sqrt(spent), size


@jit
def absorb_points(d, size, eps, stop_at, at_most):
    """Absorb the points in the block from nothing but themselves; returns the H-norm lost."""
    evaluate_columns(d, size)
    solve(d, size)
    error, _ = absorb(d, size, eps, stop_at, at_most)
    return error
