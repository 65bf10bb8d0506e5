"""New points, before any of them is an atom: what they cost, and how they join.

For a block of new points S = K_BB − K_BD K⁻¹ K_DB is the Schur complement of the atoms, T its
inverse and V = K⁻¹ K_DB. Points are priced and dropped by these alone; the factor is touched only
for those that stay.
"""

import numpy as np

from colk._core.buffers import (
    COLUMN,
    ENLARGED,
    GRAM,
    HALF,
    INVERSE,
    NOVELTY_FLOOR,
    NOW,
    SCHUR,
    SIZE,
    SMALLEST_PIVOT,
    SOLUTION,
    Buffers,
    padded,
)
from colk._core.factor import solve, solve_by_blas
from colk._core.jit import piece
from colk._core.reference import Counts, Flags
from colk._validation import Array

__all__ = ["attach", "cheapest_new", "drop_new", "prepare"]


@piece
def _schur(gram: Array, halves: Array, n: int, schur: Array, inverse: Array, size: int) -> None:
    """S = K_BB − K_BD K⁻¹ K_DB by the halves: its lower half, and all of it in `inverse`."""
    for a in range(size):
        for b in range(0, a + 1, 2):
            c = min(b + 1, a)
            first, second = 0.0, 0.0
            for i in range(n):
                first += halves[a, i] * halves[b, i]
                second += halves[a, i] * halves[c, i]
            schur[a, b], schur[a, c] = gram[a, b] - first, gram[a, c] - second
        for b in range(a + 1):
            inverse[a, b] = schur[a, b]
            inverse[b, a] = schur[a, b]


@piece
def _invert(inverse: Array, gram: Array, marked: Flags, size: int) -> None:
    """T = S⁻¹ in place, by Gauss and Jordan.

    A pivot is a novelty, given all that came before. One below the floor means that the point
    lies in their span: it is lifted to the floor and the point marked, to be dropped first. What
    a dropped point leaves to the others does not depend on its own pivot.
    """
    for p in range(size):
        floor = NOVELTY_FLOOR * gram[p, p]
        marked[p] = inverse[p, p] <= floor
        pivot = max(inverse[p, p], floor, SMALLEST_PIVOT)
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
def _combine(
    inverse: Array, solutions: Array, p: int, order: Counts, size: int, n: int, out: Array
) -> None:
    """Write T_p V, by the points in play, to out: minus the entries (K⁻¹)_jp once p is an atom."""
    for i in range(n):
        out[i] = 0.0
    for place in range(0, size, 2):
        b, c = order[place], order[min(place + 1, size - 1)]
        share, other = inverse[p, b], inverse[p, c] if place + 1 < size else 0.0
        for i in range(n):
            out[i] += share * solutions[b, i] + other * solutions[c, i]


@piece
def _enlarge(d: Buffers, n: int, size: int) -> None:
    """Diagonal of the enlarged inverse at the old atoms, d_j + V_jᵀ T V_j: half of T tells."""
    inverse, solutions = d.small[INVERSE], d.panels[SOLUTION]
    enlarged, combined = d.work[ENLARGED], d.work[NOW]
    for i in range(padded(n)):
        enlarged[i] = d.diagonal[i]
    for a in range(size):
        share = 0.5 * inverse[a, a]
        for i in range(n):
            combined[i] = share * solutions[a, i]
        for b in range(a & 1, a, 2):
            share, other = inverse[a, b], inverse[a, b + 1]
            for i in range(n):
                combined[i] += share * solutions[b, i] + other * solutions[b + 1, i]
        share = inverse[a, 0] if a & 1 else 0.0
        for i in range(n):
            enlarged[i] += 2.0 * (combined[i] + share * solutions[0, i]) * solutions[a, i]


@piece
def cheapest_new(
    amounts: Array,
    n_priced: int,
    inverse: Array,
    order: Counts,
    marked: Flags,
    size: int,
) -> tuple[int, float]:
    """Place in `order` of the new point to drop next, and its price ‖w_p‖²/T_pp."""
    best, price = size - 1, np.inf
    for place in range(size):
        p = order[place]
        squares = 0.0
        for row in range(n_priced):
            squares += amounts[p, row] * amounts[p, row]
        cost = squares / inverse[p, p]
        if marked[p]:
            return place, cost
        if cost <= price:
            best, price = place, cost
    return best, price


@piece
def drop_new(d: Buffers, n: int, place: int, size: int) -> None:
    """Drop the new point at this place of `order`, of `size` in play.

    What it weighs goes to the atoms and to the other new points; T and the enlarged diagonal
    forget it.
    """
    weights, amounts, order, spent = d.weights, d.amounts, d.order, d.spent
    inverse, enlarged, combined = d.small[INVERSE], d.work[ENLARGED], d.work[NOW]
    p = order[place]
    pivot = inverse[p, p]
    _combine(inverse, d.panels[SOLUTION], p, order, size, n, combined)
    for row in range(d.n_fitted):
        share = amounts[p, row] / pivot
        if share != 0.0:
            spent[row] += amounts[p, row] * share
            for i in range(n):
                weights[row, i] += share * combined[i]
            for other in range(size):
                amounts[order[other], row] -= share * inverse[order[other], p]
    novelty = 1.0 / pivot
    for i in range(n):
        enlarged[i] -= novelty * combined[i] * combined[i]
    for later in range(place, size - 1):
        order[later] = order[later + 1]
    for other in range(size - 1):
        a = order[other]
        ratio = inverse[a, p] / pivot
        for another in range(size - 1):
            inverse[a, order[another]] -= ratio * inverse[p, order[another]]


@piece
def _new_row(
    factor: Array,
    old: int,
    place: int,
    order: Counts,
    schur: Array,
    solutions: Array,
    diagonal: Array,
) -> None:
    """Row old + place of the factor: ([−V_a, e_a] − Σ_b L_ab row_b)/L_aa, with S = L Lᵀ."""
    a, n = order[place], old + place
    novelty = schur[a, a]
    for j in range(n):
        factor[n, j] = -solutions[a, j] if j < old else 0.0
    for earlier in range(place):
        b = order[earlier]
        entry = schur[a, b]
        for c in range(earlier):
            entry -= schur[order[c], a] * schur[order[c], b]
        entry *= factor[old + earlier, old + earlier]
        schur[b, a] = entry  # L_ab, kept in the upper half
        novelty -= entry * entry
        for j in range(old + earlier + 1):
            factor[n, j] -= entry * factor[old + earlier, j]
    scale = 1.0 / np.sqrt(novelty)
    factor[n, n] = 1.0
    diagonal[n] = 0.0
    for j in range(n + 1):
        factor[n, j] *= scale
        diagonal[j] += factor[n, j] * factor[n, j]


@piece
def attach(d: Buffers, size: int) -> None:
    """Append the new points that stay, with their weights."""
    old = d.counters[SIZE]
    atoms, weights, points, amounts, order = d.atoms, d.weights, d.points, d.amounts, d.order
    for place in range(size):
        a, n = order[place], old + place
        _new_row(d.factor, old, place, order, d.small[SCHUR], d.panels[SOLUTION], d.diagonal)
        for feature in range(atoms.shape[0]):
            atoms[feature, n] = points[a, feature]
        d.own[n] = d.small[GRAM, a, a]
        for row in range(weights.shape[0]):
            weights[row, n] = amounts[a, row]
    d.counters[SIZE] = old + size


@piece
def prepare(d: Buffers, size: int) -> None:
    """Solutions, Schur complement, its inverse and the enlarged diagonal for the block."""
    n, order, inverse = d.counters[SIZE], d.order, d.small[INVERSE]
    columns, halves, solutions = d.panels[COLUMN], d.panels[HALF], d.panels[SOLUTION]
    if d.trmm != 0:
        solve_by_blas(d.factor, n, columns, halves, solutions, size, d.trmm)
    else:
        solve(d.factor, n, columns, halves, solutions, size)
    _schur(d.small[GRAM], halves, n, d.small[SCHUR], inverse, size)
    _invert(inverse, d.small[GRAM], d.marked, size)
    for b in range(size):
        order[b] = b
    _enlarge(d, n, size)
