"""KOMP of three or more new points at once, the block of a mini-batch, by matrix products.

Let V = K⁻¹ K_DB and S = K_BB − K_BD V. A Cholesky factorisation of S, with pivots chosen by their
relative novelty, finds the points that span the block. The others are projected on them, so that no
pivot is close to a rounding error. The spanning points have a small factor of their own, L⁻¹, from
which they are dropped like atoms from the dictionary, cheapest first. The effect of each drop on
the atoms is one row of a product with V. Only this product shows whether an atom was cheaper than a
new point; if so, the later drops are undone.
"""

import math

from colk._engine.dictionary import Dictionary
from colk._engine.simd import blas, loops
from colk.compressors.scratch import PursuitScratch

__all__ = ["drop_block"]


def drop_block(
    d: Dictionary, s: PursuitScratch, size: int, allowed: float, stop_at: int, at_most: int
) -> tuple[float, int]:  # cdef
    """Drop new points while they are cheapest, append the rest; return cost and number left."""
    form_schur(d, s, size)
    rank = choose_pivots(d, s, size)
    invert_lower(d, s, rank)
    merged = merge_spanned(d, s, rank, size)
    drops, spent = plan(d, s, rank, rank, allowed, merged, stop_at, at_most)
    lift(d, s, drops, rank)
    enlarge(d, s, drops, rank)
    valid = apply(d, s, drops)
    if valid < drops:
        drops, spent = plan(d, s, rank, valid, allowed, merged, stop_at, at_most)
        lift(d, s, drops, rank)
    append_block(d, s, drops, rank)
    return spent, rank - drops


def form_schur(d: Dictionary, s: PursuitScratch, size: int) -> None:  # cdef
    """Compute V and the lower half of S."""
    blas.solve_block(d.factor, d.size, d.columns, size, s.whitened, s.solutions)
    for a in range(size):
        for b in range(a + 1):
            s.schur[a, b] = d.gram[a, b]
    blas.subtract_squares(s.whitened, d.size, size, s.schur)


def choose_pivots(d: Dictionary, s: PursuitScratch, size: int) -> int:  # cdef noexcept
    """Find the points that span the block, by Cholesky of S; return their number.

    They come first in `order`. Pivots are chosen by the largest relative novelty; the points left
    without novelty are spanned. The pivots are then put back in their original order, and S is
    factorised again.
    """
    rank = size
    for b in range(size):
        s.order[b], s.novelty[b] = b, s.schur[b, b]
    for k in range(size):
        best, top = k, -math.inf
        for i in range(k, size):
            p = s.order[i]
            relative: float = s.novelty[p] / max(d.gram[p, p], loops.SMALLEST_PIVOT)
            if relative > top:
                best, top = i, relative
        if not top > loops.NOVELTY_FLOOR:
            rank = k
            break
        s.order[k], s.order[best] = s.order[best], s.order[k]
        eliminate(d, s, k, size)
    for k in range(rank):
        least = k
        for i in range(k + 1, rank):
            if s.order[i] < s.order[least]:
                least = i
        s.order[k], s.order[least] = s.order[least], s.order[k]
    for b in range(size):
        s.novelty[b] = s.schur[b, b]
    for k in range(rank):
        eliminate(d, s, k, size)
    return rank


def eliminate(d: Dictionary, s: PursuitScratch, k: int, size: int) -> None:  # cdef
    """Compute column k of L with the k-th point of the order as pivot; row p is point p."""
    p = s.order[k]
    pivot: float = math.sqrt(max(s.novelty[p], loops.ROUNDING * d.gram[p, p]))
    s.lower[p, k] = pivot
    for i in range(k + 1, size):
        q = s.order[i]
        entry: float = s.schur[max(p, q), min(p, q)]
        for j in range(k):
            entry -= s.lower[q, j] * s.lower[p, j]
        entry /= pivot
        s.lower[q, k] = entry
        s.novelty[q] -= entry * entry


def invert_lower(d: Dictionary, s: PursuitScratch, rank: int) -> None:  # cdef
    """Compute L⁻¹ of the pivots, row by row."""
    for k in range(rank):
        p = s.order[k]
        for j in range(k):
            entry = 0.0
            for i in range(j, k):
                entry -= s.lower[p, i] * s.inverse[i, j]
            s.inverse[k, j] = entry / s.lower[p, k]
        s.inverse[k, k] = 1.0 / s.lower[p, k]


def merge_spanned(d: Dictionary, s: PursuitScratch, rank: int, size: int) -> float:  # cdef noexcept
    """Project the spanned points on the pivots and on the atoms; return the cost.

    Point p = Σ_j c_j pivot_j up to a rest of squared norm `novelty`, with c = L_p L⁻¹; the atoms
    get the part outside the pivots. By the triangle inequality the rests of all points together
    cost at most (Σ_p |a_p| √novelty_p)².
    """
    spent = 0.0
    for b in range(size):
        for row in range(d.n_rows):
            s.given[b, row] = d.amounts[b, row]
    for row in range(d.n_fitted):
        length = 0.0
        for i in range(rank, size):
            p = s.order[i]
            rest: float = max(s.novelty[p], loops.ROUNDING * d.gram[p, p])
            length += abs(s.given[p, row]) * math.sqrt(rest)
            d.amounts[p, row] = 0.0
            for j in range(rank):
                share = 0.0
                for k in range(j, rank):
                    share += s.lower[p, k] * s.inverse[k, j]
                d.amounts[s.order[j], row] += share * s.given[p, row]
        d.spent[row] += length * length
        if row < d.n_priced:
            spent += length * length
        for b in range(size):
            share = s.given[b, row] - d.amounts[b, row]
            if share != 0.0:
                loops.add(d.weights_t, row, s.solutions, b, share, d.size)
            s.given[b, row] = d.amounts[b, row]
    return spent


def cheapest_new(d: Dictionary, s: PursuitScratch, staying: int) -> int:  # cdef noexcept
    """Return the index of the cheapest new point (ties go to the last one); store its cost."""
    best, least = staying - 1, math.inf
    for place in range(staying):
        p, squares = s.labels[place], 0.0
        for row in range(d.n_priced):
            squares += d.amounts[p, row] * d.amounts[p, row]
        if squares / s.small_diagonal[place] <= least:
            best, least = place, squares / s.small_diagonal[place]
    s.least = least
    return best


def plan(
    d: Dictionary,
    s: PursuitScratch,
    rank: int,
    limit: int,
    allowed: float,
    spent: float,
    stop_at: int,
    at_most: int,
) -> tuple[int, float]:  # cdef
    """Drop up to `limit` new points from the small factor; return their number and the cost.

    For each drop, the carry T_p/√T_pp, the share a_p/√T_pp of each function and the cost are
    stored.
    """
    for k in range(rank):
        s.labels[k] = s.order[k]
        s.small_diagonal[k] = 0.0
        for row in range(d.n_rows):
            d.amounts[s.order[k], row] = s.given[s.order[k], row]
        for j in range(k + 1):
            s.small_factor[k, j] = s.inverse[k, j]
            s.small_diagonal[j] += s.inverse[k, j] * s.inverse[k, j]
    drops = 0
    while drops < limit:
        staying = rank - drops
        place, atoms = cheapest_new(d, s, staying), d.size + staying
        price: float = s.least
        if atoms <= stop_at or (spent + price > allowed and atoms <= at_most):
            break
        p = s.labels[place]
        loops.rotate_out(s.small_factor, staying, place, s.small_carry, s.small_diagonal)
        for b in range(d.block):
            s.carries[drops, b] = 0.0
        for i in range(staying):
            s.carries[drops, s.labels[i]] = s.small_carry[i]
        for row in range(d.n_fitted):
            share: float = d.amounts[p, row] / s.small_carry[place]
            s.shares[drops, row] = share
            for i in range(staying):
                d.amounts[s.labels[i], row] -= share * s.small_carry[i]
        s.prices[drops] = price
        s.charges[drops] = 1.0 + loops.ROUNDING * d.gram[p, p] * s.small_carry[place] ** 2
        for i in range(place, staying - 1):
            s.labels[i] = s.labels[i + 1]
        spent += price * s.charges[drops]
        drops += 1
    return drops, spent


def lift(d: Dictionary, s: PursuitScratch, drops: int, rank: int) -> None:  # cdef
    """Multiply V by the carries and by the remaining rows of the small factor."""
    for i in range(rank - drops):
        for b in range(d.block):
            s.carries[drops + i, b] = 0.0
        for j in range(i + 1):
            s.carries[drops + i, s.labels[j]] = s.small_factor[i, j]
    blas.product(s.carries, rank, d.block, s.solutions, d.size, s.whitened)


def enlarge(d: Dictionary, s: PursuitScratch, drops: int, rank: int) -> None:  # cdef
    """Overwrite the columns with the diagonals of K⁻¹ at the atoms before each drop.

    They are summed from the last drop to the first, so that nothing cancels.
    """
    for j in range(d.size):
        d.carry[j] = d.diagonal[j]
    for i in range(rank):
        k = rank - 1 - i
        for j in range(d.size):
            d.carry[j] += s.whitened[k, j] * s.whitened[k, j]
        if k < drops:
            for j in range(d.size):
                d.columns[k, j] = d.carry[j]


def apply(d: Dictionary, s: PursuitScratch, drops: int) -> int:  # cdef noexcept
    """Add the dropped points' parts to the atoms until an atom is cheaper; return their number."""
    for k in range(drops):
        for j in range(d.size):
            d.carry[j] = d.weights_t[0, j] * d.weights_t[0, j]
            for row in range(1, d.n_priced):
                d.carry[j] += d.weights_t[row, j] * d.weights_t[row, j]
        for j in range(d.size):
            if d.carry[j] <= s.prices[k] * d.columns[k, j]:
                return k
        for row in range(d.n_fitted):
            d.spent[row] += s.shares[k, row] * s.shares[k, row] * s.charges[k]
            loops.add(d.weights_t, row, s.whitened, k, s.shares[k, row], d.size)
    return drops


def append_block(d: Dictionary, s: PursuitScratch, drops: int, rank: int) -> None:  # cdef
    """Append the remaining new points: rows [−L⁻¹V, L⁻¹] of the factor."""
    n = d.size
    for i in range(rank - drops):
        for j in range(n):
            d.factor[n + i, j] = -s.whitened[drops + i, j]
        for j in range(i + 1):
            d.factor[n + i, n + j] = s.small_factor[i, j]
        d.append(s.labels[i])
