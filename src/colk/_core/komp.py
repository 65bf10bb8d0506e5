"""Kernel orthogonal matching pursuit on the live dictionary, destructive, with pre-fitting.

The price of dropping atom j with the other weights re-fitted is ‖w_j‖²/(K⁻¹)_jj, a squared H-norm;
prices add up over successive drops by Pythagoras, since the subspaces are nested.
"""

import numpy as np

from colk._core.block import attach, cheapest_new, drop_new, prepare
from colk._core.buffers import (
    ADDED,
    CROWDING_FLOOR,
    ENLARGED,
    INVERSE,
    SIZE,
    Buffers,
    buffers_at,
    padded,
)
from colk._core.columns import evaluate_columns
from colk._core.factor import drop
from colk._core.jit import call_at, inner, merged, piece, stepper, unit
from colk._core.pair import drop_pair
from colk._core.reference import address_of
from colk._validation import Array

__all__ = ["absorb", "absorb_block", "absorb_pair", "absorb_points", "prune_at"]


@merged
def _any_within(weights: Array, n_priced: int, n: int, diagonal: Array, price: float) -> bool:
    """Whether some atom costs at most `price`: no division, no index, so that it vectorises."""
    count = 0
    if n_priced == 1:
        for j in range(padded(n)):
            count += weights[0, j] * weights[0, j] <= price * diagonal[j]
    else:
        for j in range(padded(n)):
            squares = 0.0
            for row in range(n_priced):
                squares += weights[row, j] * weights[row, j]
            count += squares <= price * diagonal[j]
    return count > 0


@piece
def _price(weights: Array, n_priced: int, diagonal: Array, j: int) -> float:
    """‖w_j‖²/(K⁻¹)_jj."""
    squares = 0.0
    for row in range(n_priced):
        squares += weights[row, j] * weights[row, j]
    return squares / diagonal[j]


@piece
def _cheapest(weights: Array, n_priced: int, n: int, diagonal: Array) -> int:
    """The atom that costs least to drop, the newest of equals."""
    best, least = n - 1, np.inf
    for j in range(n):
        price = _price(weights, n_priced, diagonal, j)
        if price <= least:
            best, least = j, price
    return best


@piece
def _crowded(diagonal: Array, own: Array, n: int) -> int:
    """The atom that the others span most, where that is up to the floor; n where none is.

    1/(K⁻¹)_jj is the novelty of atom j given all the others. Without a floor under it a row of
    points, each new to those before it, ends in a singular Gram matrix.
    """
    worst, largest = n, 1.0 / CROWDING_FLOOR
    for j in range(n):
        if diagonal[j] * own[j] > largest:
            worst, largest = j, diagonal[j] * own[j]
    return worst


@inner
def _prune(
    d: Buffers, budget: float, spent: float, stop_at: int, at_most: int, crowded: bool
) -> float:
    """Drop the cheapest atom while `spent` + its price ≤ `budget`, all of them squared H-norms.

    Never below `stop_at` atoms; above `at_most` atoms whatever it costs. Where there may be a
    `crowded` atom, it goes first, whatever it costs. Returns what is spent.
    """
    weights, diagonal, n_priced = d.weights, d.diagonal, d.n_priced
    while True:
        n = d.counters[SIZE]
        j = _crowded(diagonal, d.own, n) if crowded else n
        crowded = j < n
        if not crowded and n <= at_most:
            rest = budget - spent
            if n <= stop_at or not _any_within(weights, n_priced, n, diagonal, rest):
                return spent
        if not crowded:
            j = _cheapest(weights, n_priced, n, diagonal)
        price = _price(weights, n_priced, diagonal, j)
        if not crowded and n <= at_most and spent + price > budget:
            return spent
        drop(d, j)
        spent += price


@piece
def _drop_block(
    d: Buffers, size: int, budget: float, stop_at: int, at_most: int
) -> tuple[float, int]:
    """Drop new points while they are cheapest; returns what is spent and how many stay."""
    n, order, marked = d.counters[SIZE], d.order, d.marked
    inverse, enlarged = d.small[INVERSE], d.work[ENLARGED]
    spent, staying = 0.0, size
    while staying > 0:
        place, price = cheapest_new(d.amounts, d.n_priced, inverse, order, marked, staying)
        atoms = n + staying
        if not marked[order[place]]:
            stays = atoms <= stop_at or (spent + price > budget and atoms <= at_most)
            if stays or _any_within(d.weights, d.n_priced, n, enlarged, price):
                break
        drop_new(d, n, place, staying)
        staying -= 1
        spent += price
    return spent, staying


@piece
def _settle(
    d: Buffers, budget: float, spent: float, staying: int, stop_at: int, at_most: int
) -> float:
    """Append the new points that stay, prune, and return the H-norm of what is lost."""
    if staying > 0:
        attach(d, staying)
    d.counters[ADDED] = staying
    return np.sqrt(_prune(d, budget, spent, stop_at, at_most, staying > 0))


@unit("float64(int64, int64, float64, int64, int64)")
def absorb_pair(address: int, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """KOMP of f + Σ_b amounts_b κ(points_b, ·): keep the function within eps in H-norm.

    The kernel columns and the Gram matrix of the new points, two at most, must be in place. New
    points are priced by the Schur complement alone; the factor is touched only for those that
    stay. Returns the H-norm of the error; `counters[ADDED]` is how many points were appended.
    """
    d = buffers_at(address)
    budget, spent, staying = eps * eps, 0.0, 0
    if size > 0:
        spent, staying = drop_pair(d, size, budget, stop_at, at_most)
    return _settle(d, budget, spent, staying, stop_at, at_most)


@unit("float64(int64, int64, float64, int64, int64)")
def absorb_block(address: int, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """Do as `absorb_pair` does, for any number of points."""
    d = buffers_at(address)
    budget, spent, staying = eps * eps, 0.0, 0
    if size > 0:
        prepare(d, size)
        spent, staying = _drop_block(d, size, budget, stop_at, at_most)
    return _settle(d, budget, spent, staying, stop_at, at_most)


@piece
def absorb(d: Buffers, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """Call the unit of the dictionary's block size."""
    return call_at(d.absorb, (address_of(d), size, eps, stop_at, at_most))


@stepper
def absorb_points(address: int, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """Absorb the points in the block from nothing but themselves; returns the H-norm lost."""
    d = buffers_at(address)
    evaluate_columns(d, size, 0)
    return absorb(d, size, eps, stop_at, at_most)


@stepper
def prune_at(address: int, budget: float, stop_at: int, at_most: int) -> float:
    """`_prune` for Python: returns the squared H-norm that was spent."""
    return _prune(buffers_at(address), budget, 0.0, stop_at, at_most, False)
