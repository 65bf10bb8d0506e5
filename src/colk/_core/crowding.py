"""Atoms that new points put into the span of the others, and how they make way."""

from colk._core.buffers import (
    CARRY,
    COLUMN,
    CROWDING_FLOOR,
    ENLARGED,
    GRAM,
    HALF,
    INFLUENCE,
    SIZE,
    SOLUTION,
    Buffers,
)
from colk._core.factor import drop
from colk._core.jit import inner
from colk._core.kernels import column
from colk._validation import Array

__all__ = ["any_above", "close_ranks", "crowded_out", "make_way"]


@inner
def any_above(values: Array, n: int, bound: float) -> bool:
    count = 0
    for j in range(n):
        count += values[j] > bound
    return count > 0


@inner
def crowded_out(d: Buffers, n: int) -> int:
    """The atom that the new points put into the span of the others, up to the floor; or n.

    1/(K⁻¹)_jj is the novelty of atom j given all the others. Without a floor under it a row of
    points, each new to those before it, ends in a singular Gram matrix.
    """
    enlarged, values, features = d.work[ENLARGED], d.panels[HALF, 0], d.atoms.shape[0]
    point = d.work[CARRY, :features]
    worst, largest = n, 1.0
    for j in range(n):
        for feature in range(features):
            point[feature] = d.atoms[feature, j]
        column(d.program, d.atoms, n, point, values, d.work)
        share = enlarged[j] * CROWDING_FLOOR * values[j]
        if share > largest:
            worst, largest = j, share
    return worst


@inner
def make_way(d: Buffers, j: int, size: int) -> float:
    """Drop atom j, re-fitted on the other atoms and the new points; returns its price.

    With e_j its entry of the enlarged diagonal, w ← w − (K⁻¹[:, j] + Gᵀ V_j) w_j/e_j on the
    atoms, of which `drop` does the first part, and w_p ← w_p + G_pj w_j/e_j on the new points.
    """
    n, weights, amounts, order = d.counters[SIZE], d.weights, d.amounts, d.order
    solutions, influence = d.panels[SOLUTION], d.panels[INFLUENCE]
    diagonal, entry = d.diagonal[j], d.work[ENLARGED, j]
    squares = 0.0
    for row in range(d.n_priced):
        squares += weights[row, j] * weights[row, j]
    for row in range(d.n_fitted):
        share = weights[row, j] / entry
        d.spent[row] += share * weights[row, j] * (1.0 - diagonal / entry)  # `drop` adds the rest
        for place in range(size):
            p = order[place]
            amounts[p, row] += share * influence[p, j]
            for i in range(n):
                if i != j:
                    weights[row, i] -= share * solutions[p, j] * influence[p, i]
        weights[row, j] = share * diagonal
    drop(d, j)
    return squares / entry


@inner
def close_ranks(d: Buffers, j: int, size: int) -> None:
    """Move the points of the block that are in play to its front, without entry j of columns."""
    n, order, columns, gram = d.counters[SIZE], d.order, d.panels[COLUMN], d.small[GRAM]
    for place in range(size):
        p = order[place]
        for i in range(n):
            columns[place, i] = columns[p, i if i < j else i + 1]
        for feature in range(d.points.shape[1]):
            d.points[place, feature] = d.points[p, feature]
        for row in range(d.amounts.shape[1]):
            d.amounts[place, row] = d.amounts[p, row]
        for earlier in range(place + 1):
            gram[place, earlier] = gram[p, order[earlier]]
