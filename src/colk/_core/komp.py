"""Kernel orthogonal matching pursuit on the live dictionary, destructive, with pre-fitting.

The price of dropping atom j with the other weights re-fitted is ‖w_j‖²/(K⁻¹)_jj, a squared H-norm;
prices add up over successive drops by Pythagoras, since the subspaces are nested.
"""

import numpy as np

from colk._core.block import attach, bequeath, cheapest_new, evaluate_columns, forget, prepare
from colk._core.buffers import (
    COLUMN,
    CROWDING_FLOOR,
    ENLARGED,
    GRAM,
    INFLUENCE,
    INVERSE,
    SIZE,
    Buffers,
)
from colk._core.crowding import any_above, close_ranks, crowded_out, make_way
from colk._core.factor import drop
from colk._core.jit import once, piece, stepper
from colk._validation import Array

__all__ = ["absorb", "absorb_points", "prune"]


@once
def _any_within(weights: Array, n_priced: int, n: int, diagonal: Array, price: float) -> bool:
    """Whether some atom costs at most `price`: no division, no index, so that it vectorises."""
    count = 0
    if n_priced == 1:
        for j in range(n):
            count += weights[0, j] * weights[0, j] <= price * diagonal[j]
    else:
        for j in range(n):
            squares = 0.0
            for row in range(n_priced):
                squares += weights[row, j] * weights[row, j]
            count += squares <= price * diagonal[j]
    return count > 0


@piece
def _cheapest(weights: Array, n_priced: int, n: int, diagonal: Array) -> tuple[int, float]:
    """The atom that costs least to drop, the newest of equals, and its price ‖w_j‖²/(K⁻¹)_jj."""
    best, price = n - 1, np.inf
    for j in range(n):
        squares = 0.0
        for row in range(n_priced):
            squares += weights[row, j] * weights[row, j]
        cost = squares / diagonal[j]
        if cost <= price:
            best, price = j, cost
    return best, price


@stepper
def prune(d: Buffers, budget: float, spent: float, stop_at: int, at_most: int) -> float:
    """Drop the cheapest atom while `spent` + its price ≤ `budget`, all of them squared H-norms.

    Never below `stop_at` atoms; above `at_most` atoms whatever it costs. Returns what is spent.
    """
    weights, diagonal, n_priced = d.weights, d.diagonal, d.n_priced
    while d.counters[SIZE] > stop_at:
        n = d.counters[SIZE]
        forced = n > at_most
        if not forced and not _any_within(weights, n_priced, n, diagonal, budget - spent):
            break
        j, price = _cheapest(weights, n_priced, n, diagonal)
        if not forced and spent + price > budget:
            break
        drop(d, j)
        spent += price
    return spent


@once
def absorb(d: Buffers, size: int, eps: float, stop_at: int, at_most: int) -> tuple[float, int]:
    """KOMP of f + Σ_b amounts_b κ(points_b, ·): keep the function within eps in H-norm.

    The kernel columns and the Gram matrix of the new points must be in place. New points are
    priced by the Schur complement alone; the factor is touched only for those that stay.
    Returns the H-norm of the error, and how many points of the block were appended.
    """
    n, weights, order, marked = d.counters[SIZE], d.weights, d.order, d.marked
    influence, inverse, enlarged = d.panels[INFLUENCE], d.small[INVERSE], d.work[ENLARGED]
    budget, spent, staying, prepared = eps * eps, 0.0, size, False
    while staying > 0:
        if not prepared:
            prepare(d, size)
            prepared = True
        place, price = cheapest_new(d.amounts, d.n_priced, inverse, order, marked, staying)
        p = order[place]
        if not marked[p]:
            atoms = n + staying
            stays = atoms <= stop_at or (spent + price > budget and atoms <= at_most)
            if stays or _any_within(weights, d.n_priced, n, enlarged, price):
                j = n
                if any_above(enlarged, n, 1.0 / (CROWDING_FLOOR * d.small[GRAM, 0, 0])):
                    j = crowded_out(d, n)
                if j == n:
                    break
                spent += make_way(d, j, staying)
                close_ranks(d, j, staying)
                n, size, prepared = n - 1, staying, False
                continue
        bequeath(weights, d.amounts, d.n_fitted, influence, inverse, n, p, d.spent)
        staying -= 1
        for later in range(place, staying):
            order[later] = order[later + 1]
        if staying > 0:
            forget(influence, inverse, enlarged, n, p, size)
        spent += price
    if staying > 0:
        attach(d, staying)
    n = d.counters[SIZE]
    rest = budget - spent
    if n > at_most or (n > stop_at and _any_within(weights, d.n_priced, n, d.diagonal, rest)):
        spent = prune(d, budget, spent, stop_at, at_most)
    return np.sqrt(spent), staying


@stepper
def absorb_points(d: Buffers, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """Absorb the points in the block from nothing but themselves; returns the H-norm lost."""
    n, columns, gram = d.counters[SIZE], d.panels[COLUMN], d.small[GRAM]
    evaluate_columns(d.program, d.atoms, n, d.points, columns, gram, d.work, size)
    error, _ = absorb(d, size, eps, stop_at, at_most)
    return error
