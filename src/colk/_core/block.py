"""New points, before any of them is an atom: what they cost, and how they join.

For a block of new points S = K_BB − K_BD K⁻¹ K_DB is the Schur complement of the atoms, T its
inverse and V = K⁻¹ K_DB. Points are priced and dropped by these alone; the factor is touched only
for those that stay.
"""

import numpy as np
from numpy.typing import NDArray

from colk._core.buffers import (
    COLUMN,
    ENLARGED,
    GRAM,
    HALF,
    INFLUENCE,
    INVERSE,
    NOVELTY_FLOOR,
    SCHUR,
    SIZE,
    SMALLEST_PIVOT,
    SOLUTION,
    Buffers,
)
from colk._core.factor import solve, solve_by_blas
from colk._core.jit import piece
from colk._validation import Array

__all__ = ["attach", "bequeath", "cheapest_new", "forget", "prepare"]


@piece
def _schur(gram: Array, halves: Array, n: int, schur: Array, inverse: Array, size: int) -> None:
    """S = K_BB − K_BD K⁻¹ K_DB by the halves: its lower half, and all of it in `inverse`."""
    for a in range(size):
        for b in range(a + 1):
            total = 0.0
            for i in range(n):
                total += halves[a, i] * halves[b, i]
            schur[a, b] = gram[a, b] - total
            inverse[a, b] = schur[a, b]
            inverse[b, a] = schur[a, b]


@piece
def _invert(inverse: Array, gram: Array, marked: NDArray[np.bool_], size: int) -> None:
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
def _influence(
    inverse: Array,
    solutions: Array,
    diagonal: Array,
    n: int,
    influence: Array,
    enlarged: Array,
    size: int,
) -> None:
    """G = T V: the enlarged inverse has (K⁻¹)_jp = −G_pj for an old atom j and a new point p.

    Also the enlarged diagonal of the old atoms, d_j + V_jᵀ T V_j.
    """
    for i in range(n):
        enlarged[i] = diagonal[i]
    for a in range(size):
        share = inverse[a, 0]
        for i in range(n):
            influence[a, i] = share * solutions[0, i]
        for b in range(1, size):
            share = inverse[a, b]
            for i in range(n):
                influence[a, i] += share * solutions[b, i]
        for i in range(n):
            enlarged[i] += influence[a, i] * solutions[a, i]


@piece
def cheapest_new(
    amounts: Array,
    n_priced: int,
    inverse: Array,
    order: NDArray[np.int64],
    marked: NDArray[np.bool_],
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
def bequeath(
    weights: Array,
    amounts: Array,
    n_fitted: int,
    influence: Array,
    inverse: Array,
    n: int,
    p: int,
    spent: Array,
) -> None:
    """Give what new point p weighs to the atoms and to the other new points."""
    for row in range(n_fitted):
        amount = amounts[p, row]
        if amount == 0.0:
            continue
        share = amount / inverse[p, p]
        spent[row] += amount * share
        for i in range(n):
            weights[row, i] += share * influence[p, i]
        for b in range(amounts.shape[0]):
            amounts[b, row] -= share * inverse[b, p]


@piece
def forget(influence: Array, inverse: Array, enlarged: Array, n: int, p: int, size: int) -> None:
    """Take new point p out of T, of G and of the enlarged diagonal."""
    pivot = inverse[p, p]
    for i in range(n):
        enlarged[i] -= influence[p, i] * influence[p, i] * (1.0 / pivot)
    for a in range(size):
        if a != p:
            ratio = inverse[a, p] / pivot
            for i in range(n):
                influence[a, i] -= ratio * influence[p, i]
            for b in range(size):
                inverse[a, b] -= ratio * inverse[p, b]


@piece
def _new_row(
    factor: Array,
    old: int,
    place: int,
    order: NDArray[np.int64],
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
    influence, enlarged = d.panels[INFLUENCE], d.work[ENLARGED]
    _influence(inverse, solutions, d.diagonal, n, influence, enlarged, size)
    for b in range(size):
        order[b] = b
