"""Three or more new points at once: the block of a mini-batch, by products of whole panels.

With V = K⁻¹ K_DB and S = K_BB − K_BD V, a Cholesky factorisation of S with pivots chosen by their
relative novelty tells which points span the block. The others are projected on them: no pivot is
ever lifted, so that nothing is divided by what rounding left. The points that span it have a small
factor of their own, L⁻¹, from which they are dropped as atoms are from the dictionary's, cheapest
first. What each drop does to the atoms is one row of a product with V: only with it is it known
whether an atom was cheaper than a new point, and then the drops that came after are taken back.
"""

import math

from colk._engine.dictionary import Dictionary
from colk._engine.simd import blas, loops

__all__ = ["drop_block"]


def drop_block(
    d: Dictionary, size: int, allowed: float, stop_at: int, at_most: int
) -> tuple[float, int]:
    """Drop new points while they are cheapest, append the others: what is spent, how many stay."""
    lay_schur(d, size)
    rank = choose_pivots(d, size)
    invert_lower(d, rank)
    merged = merge_spanned(d, rank, size)
    drops, spent = plan(d, rank, rank, allowed, merged, stop_at, at_most)
    lift(d, drops, rank)
    enlarge(d, drops, rank)
    valid = apply(d, drops)
    if valid < drops:
        drops, spent = plan(d, rank, valid, allowed, merged, stop_at, at_most)
        lift(d, drops, rank)
    append_block(d, drops, rank)
    return spent, rank - drops


def lay_schur(d: Dictionary, size: int) -> None:
    """V, and the lower half of S."""
    blas.solve_block(d.factor, d.size, d.columns, size, d.halves, d.solutions)
    for a in range(size):
        for b in range(a + 1):
            d.schur[a, b] = d.gram[a, b]
    blas.subtract_squares(d.halves, d.size, size, d.schur)


def choose_pivots(d: Dictionary, size: int) -> int:
    """Which points span the block, by Cholesky of S; returns how many, first in `order`.

    The point of largest relative novelty comes first: what is left when none has any is spanned.
    Those that stay in play are put back in the order in which they came, and S factorised anew.
    """
    rank = size
    for b in range(size):
        d.order[b], d.novelty[b] = b, d.schur[b, b]
    for k in range(size):
        best, top = k, -math.inf
        for i in range(k, size):
            p = d.order[i]
            relative = d.novelty[p] / max(d.gram[p, p], loops.SMALLEST_PIVOT)
            if relative > top:
                best, top = i, relative
        if not top > loops.NOVELTY_FLOOR:
            rank = k
            break
        d.order[k], d.order[best] = d.order[best], d.order[k]
        eliminate(d, k, size)
    for k in range(rank):
        least = k
        for i in range(k + 1, rank):
            if d.order[i] < d.order[least]:
                least = i
        d.order[k], d.order[least] = d.order[least], d.order[k]
    for b in range(size):
        d.novelty[b] = d.schur[b, b]
    for k in range(rank):
        eliminate(d, k, size)
    return rank


def eliminate(d: Dictionary, k: int, size: int) -> None:
    """Column k of L, with the point at place k of the order as pivot; row p is new point p's."""
    p = d.order[k]
    pivot = math.sqrt(max(d.novelty[p], loops.ROUNDING * d.gram[p, p]))
    d.lower[p, k] = pivot
    for i in range(k + 1, size):
        q = d.order[i]
        entry = d.schur[max(p, q), min(p, q)]
        for j in range(k):
            entry -= d.lower[q, j] * d.lower[p, j]
        entry /= pivot
        d.lower[q, k] = entry
        d.novelty[q] -= entry * entry


def invert_lower(d: Dictionary, rank: int) -> None:
    """L⁻¹ of the pivots, row by row."""
    for k in range(rank):
        p = d.order[k]
        for j in range(k):
            entry = 0.0
            for i in range(j, k):
                entry -= d.lower[p, i] * d.inverse[i, j]
            d.inverse[k, j] = entry / d.lower[p, k]
        d.inverse[k, k] = 1.0 / d.lower[p, k]


def merge_spanned(d: Dictionary, rank: int, size: int) -> float:
    """Project the points that the pivots span on them and on the atoms; returns what it costs.

    Point p = Σ_j c_j pivot_j up to a rest of squared norm `novelty`, with c = L_p L⁻¹; the atoms
    get what the pivots do not stand for. By the triangle inequality the rests of all points
    together cost at most (Σ_p |a_p| √novelty_p)².
    """
    spent = 0.0
    for b in range(size):
        for row in range(d.n_rows):
            d.given[b, row] = d.amounts[b, row]
    for row in range(d.n_fitted):
        length = 0.0
        for i in range(rank, size):
            p = d.order[i]
            rest = max(d.novelty[p], loops.ROUNDING * d.gram[p, p])
            length += abs(d.given[p, row]) * math.sqrt(rest)
            d.amounts[p, row] = 0.0
            for j in range(rank):
                share = 0.0
                for k in range(j, rank):
                    share += d.lower[p, k] * d.inverse[k, j]
                d.amounts[d.order[j], row] += share * d.given[p, row]
        d.spent[row] += length * length
        if row < d.n_priced:
            spent += length * length
        for b in range(size):
            share = d.given[b, row] - d.amounts[b, row]
            if share != 0.0:
                loops.add(d.weights_t, row, d.solutions, b, share, d.size)
            d.given[b, row] = d.amounts[b, row]
    return spent


def cheapest_new(d: Dictionary, staying: int) -> int:
    """Place of the new point that costs least to drop, the last of equals; its price is noted."""
    best, least = staying - 1, math.inf
    for place in range(staying):
        p, squares = d.labels[place], 0.0
        for row in range(d.n_priced):
            squares += d.amounts[p, row] * d.amounts[p, row]
        if squares / d.small_diagonal[place] <= least:
            best, least = place, squares / d.small_diagonal[place]
    d.least = least
    return best


def plan(
    d: Dictionary, rank: int, limit: int, allowed: float, spent: float, stop_at: int, at_most: int
) -> tuple[int, float]:
    """Drop up to `limit` new points from the small factor; returns how many, and what is spent.

    Of each drop the carry T_p/√T_pp, the share a_p/√T_pp of each function and the price are kept.
    """
    for k in range(rank):
        d.labels[k] = d.order[k]
        d.small_diagonal[k] = 0.0
        for row in range(d.n_rows):
            d.amounts[d.order[k], row] = d.given[d.order[k], row]
        for j in range(k + 1):
            d.small_factor[k, j] = d.inverse[k, j]
            d.small_diagonal[j] += d.inverse[k, j] * d.inverse[k, j]
    drops = 0
    while drops < limit:
        staying = rank - drops
        place, atoms = cheapest_new(d, staying), d.size + staying
        price = d.least
        if atoms <= stop_at or (spent + price > allowed and atoms <= at_most):
            break
        p = d.labels[place]
        loops.rotate_out(d.small_factor, staying, place, d.small_carry, d.small_diagonal)
        for b in range(d.block):
            d.carries[drops, b] = 0.0
        for i in range(staying):
            d.carries[drops, d.labels[i]] = d.small_carry[i]
        for row in range(d.n_fitted):
            share = d.amounts[p, row] / d.small_carry[place]
            d.shares[drops, row] = share
            for i in range(staying):
                d.amounts[d.labels[i], row] -= share * d.small_carry[i]
        d.prices[drops] = price
        d.charges[drops] = 1.0 + loops.ROUNDING * d.gram[p, p] * d.small_carry[place] ** 2
        for i in range(place, staying - 1):
            d.labels[i] = d.labels[i + 1]
        spent += price * d.charges[drops]
        drops += 1
    return drops, spent


def lift(d: Dictionary, drops: int, rank: int) -> None:
    """Products with V of the carries, and of the rows of the small factor that stay."""
    for i in range(rank - drops):
        for b in range(d.block):
            d.carries[drops + i, b] = 0.0
        for j in range(i + 1):
            d.carries[drops + i, d.labels[j]] = d.small_factor[i, j]
    blas.product(d.carries, rank, d.block, d.solutions, d.size, d.halves)


def enlarge(d: Dictionary, drops: int, rank: int) -> None:
    """Diagonals of K⁻¹ at the atoms before each drop, which take the place of the columns.

    They are summed up from the last drop to the first: nothing cancels.
    """
    for j in range(d.size):
        d.carry[j] = d.diagonal[j]
    for i in range(rank):
        k = rank - 1 - i
        for j in range(d.size):
            d.carry[j] += d.halves[k, j] * d.halves[k, j]
        if k < drops:
            for j in range(d.size):
                d.columns[k, j] = d.carry[j]


def apply(d: Dictionary, drops: int) -> int:
    """Give the atoms what each dropped point leaves; returns how many drops before an atom's."""
    for k in range(drops):
        for j in range(d.size):
            d.carry[j] = d.weights_t[0, j] * d.weights_t[0, j]
            for row in range(1, d.n_priced):
                d.carry[j] += d.weights_t[row, j] * d.weights_t[row, j]
        for j in range(d.size):
            if d.carry[j] <= d.prices[k] * d.columns[k, j]:
                return k
        for row in range(d.n_fitted):
            d.spent[row] += d.shares[k, row] * d.shares[k, row] * d.charges[k]
            loops.add(d.weights_t, row, d.halves, k, d.shares[k, row], d.size)
    return drops


def append_block(d: Dictionary, drops: int, rank: int) -> None:
    """Append the new points that stay: rows [−L⁻¹V, L⁻¹] of the factor."""
    n = d.size
    for i in range(rank - drops):
        for j in range(n):
            d.factor[n + i, j] = -d.halves[drops + i, j]
        for j in range(i + 1):
            d.factor[n + i, n + j] = d.small_factor[i, j]
        d.take_in(d.labels[i])
