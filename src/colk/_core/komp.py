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
from numpy.typing import NDArray

from colk._core.jit import call_trmm, inner, once, piece, stepper
from colk._core.kernels import column
from colk._validation import Array

__all__ = [
    "LANE",
    "NOVELTY_FLOOR",
    "Buffers",
    "absorb",
    "absorb_points",
    "drop",
    "evaluate_columns",
    "prune",
    "solve",
]

# A point whose squared distance to the span is below this share of κ(x, x) counts as inside it:
# its projection is stored and the rest charged to the certificate.
NOVELTY_FLOOR = 1e-9
# An atom whose novelty, given all the others, would sink below this share makes way.
CROWDING_FLOOR = 1e-10
# A point with κ(x, x) = 0 is the function 0; its pivot is lifted to this, to be divided by.
SMALLEST_PIVOT = 1e-290

# Capacities are multiples of this: four vectors of four.
LANE = 16

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
    order: NDArray[np.int64]  # (block,): the new points still in play
    marked: NDArray[np.bool_]  # (block,): those in the span of what came before
    work: Array  # (5, capacity or more)
    ghosts: Array  # (features + rows, capacity): atoms that the last step dropped
    counters: NDArray[np.int64]
    spent: Array  # (rows,): squared H-norm that each function lost since it was last set to 0
    n_priced: int
    n_fitted: int
    trmm: int  # address of BLAS's triangular product; 0: blocks are too small to need it


@once
def solve(factor: Array, n: int, k: Array, z: Array, v: Array, size: int) -> None:
    """Halves z = Uᵀk and solutions v = Uz = K⁻¹k of `size` new points, two in each pass.

    Rows are read to the next multiple of LANE: what lies beyond the diagonal is zero, and loops
    of few different lengths cost less than the branches that they spare would.
    """
    for b in range(size):
        for j in range((n + LANE - 1) & -LANE):
            v[b, j] = 0.0
    for b in range(0, size - 1, 2):
        for i in range(n):
            length = (i + LANE) & -LANE
            first, second = 0.0, 0.0
            for j in range(length):
                first += factor[i, j] * k[b, j]
                second += factor[i, j] * k[b + 1, j]
            z[b, i] = first
            z[b + 1, i] = second
            for j in range(length):
                v[b, j] += first * factor[i, j]
                v[b + 1, j] += second * factor[i, j]
    if size & 1:
        b = size - 1
        for i in range(n):
            length = (i + LANE) & -LANE
            total = 0.0
            for j in range(length):
                total += factor[i, j] * k[b, j]
            z[b, i] = total
            for j in range(length):
                v[b, j] += total * factor[i, j]


@inner
def solve_by_blas(
    factor: Array, n: int, k: Array, z: Array, v: Array, size: int, trmm: int
) -> None:
    """Do as `solve` does, for blocks that are worth the call."""
    stride = factor.shape[1]
    triangle = np.int64(factor.ctypes.data)
    for b in range(size):
        for j in range(n):
            z[b, j] = k[b, j]
    call_trmm(trmm, 1, n, size, triangle, stride, np.int64(z.ctypes.data))
    for b in range(size):
        for j in range(n):
            v[b, j] = z[b, j]
    call_trmm(trmm, 0, n, size, triangle, stride, np.int64(v.ctypes.data))


@piece
def _rotate_out(factor: Array, n: int, j: int, carry: Array) -> None:
    """Givens sweep: gather row j of U in the carried column, which leaves.

    The carry ends as K⁻¹[:, j]/√(K⁻¹)_jj.
    """
    for k in range(n):
        carry[k] = factor[j, k] if k <= j else 0.0
    for i in range(j, n - 1):
        top, side = carry[j], factor[i + 1, j]
        length = np.sqrt(top * top + side * side)
        c, s = side / length, top / length
        for k in range(j):
            p, q = carry[k], factor[i + 1, k]
            factor[i, k] = c * p - s * q
            carry[k] = s * p + c * q
        carry[j] = length
        for k in range(j + 1, i + 2):
            p, q = carry[k], factor[i + 1, k]
            factor[i, k - 1] = c * p - s * q
            carry[k] = s * p + c * q


@piece
def _refresh_diagonal(factor: Array, n: int, diagonal: Array) -> None:
    """Sums of squares anew: subtracting what left would cancel."""
    for k in range(n):
        diagonal[k] = 0.0
    for i in range(n):
        for k in range(i + 1):
            diagonal[k] += factor[i, k] * factor[i, k]


@inner
def _take_out(rows: Array, n: int, j: int, ghosts: Array, ghost: int) -> None:
    """Move entry j of each row to the ghosts, where they have room, and close the gap."""
    for row in range(rows.shape[0]):
        if ghost < ghosts.shape[1]:
            ghosts[row, ghost] = rows[row, j]
        for k in range(j, n - 1):
            rows[row, k] = rows[row, k + 1]


@piece
def _refit(weights: Array, n_fitted: int, n: int, j: int, carry: Array, spent: Array) -> None:
    """W ← w − K⁻¹[:, j] w_j/(K⁻¹)_jj; entry j stays, as the ghost's weight."""
    for row in range(n_fitted):
        amount = weights[row, j]
        share = amount / carry[j]
        spent[row] += share * share
        for k in range(n):
            weights[row, k] -= share * carry[k]
        weights[row, j] = amount


@stepper
def drop(d: Buffers, j: int) -> None:
    """Drop atom j and re-fit the other weights. f of the last step finds it among the ghosts."""
    n, ghost = d.counters[SIZE], d.counters[GHOSTS]
    carry = d.work[CARRY]
    _rotate_out(d.factor, n, j, carry)
    _refit(d.weights, d.n_fitted, n, j, carry, d.spent)
    _take_out(d.atoms, n, j, d.ghosts[: d.atoms.shape[0]], ghost)
    _take_out(d.weights, n, j, d.ghosts[d.atoms.shape[0] :], ghost)
    _refresh_diagonal(d.factor, n - 1, d.diagonal)
    d.counters[SIZE] = n - 1
    d.counters[GHOSTS] = min(ghost + 1, d.ghosts.shape[1])


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


@piece
def evaluate_columns(
    program: Array,
    atoms: Array,
    n: int,
    points: Array,
    columns: Array,
    gram: Array,
    work: Array,
    size: int,
) -> None:
    """Kernel columns κ(D, x) of the new points, and the lower half of their own Gram matrix.

    The new points wait behind the atoms, so that one column gives both.
    """
    for b in range(size):
        for feature in range(points.shape[1]):
            atoms[feature, n + b] = points[b, feature]
        column(program, atoms, n + b + 1, points[b], columns[b], work)
        for a in range(b + 1):
            gram[b, a] = columns[b, n + a]


@once
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


@once
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
def _cheapest_new(
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
def _bequeath(
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
def _forget(influence: Array, inverse: Array, enlarged: Array, n: int, p: int, size: int) -> None:
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


@inner
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
def _attach(d: Buffers, size: int) -> None:
    """Append the new points that stay, with their weights."""
    old = d.counters[SIZE]
    atoms, weights, points, amounts, order = d.atoms, d.weights, d.points, d.amounts, d.order
    for place in range(size):
        a, n = order[place], old + place
        _new_row(d.factor, old, place, order, d.small[SCHUR], d.panels[SOLUTION], d.diagonal)
        for feature in range(atoms.shape[0]):
            atoms[feature, n] = points[a, feature]
        for row in range(weights.shape[0]):
            weights[row, n] = amounts[a, row]
    d.counters[SIZE] = old + size


@inner
def _any_above(values: Array, n: int, bound: float) -> bool:
    count = 0
    for j in range(n):
        count += values[j] > bound
    return count > 0


@inner
def _crowded_out(d: Buffers, n: int) -> int:
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
def _make_way(d: Buffers, j: int, size: int) -> float:
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
def _close_ranks(d: Buffers, j: int, size: int) -> None:
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


@once
def _prepare(d: Buffers, size: int) -> None:
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
            _prepare(d, size)
            prepared = True
        place, price = _cheapest_new(d.amounts, d.n_priced, inverse, order, marked, staying)
        p = order[place]
        if not marked[p]:
            atoms = n + staying
            stays = atoms <= stop_at or (spent + price > budget and atoms <= at_most)
            if stays or _any_within(weights, d.n_priced, n, enlarged, price):
                j = n
                if _any_above(enlarged, n, 1.0 / (CROWDING_FLOOR * d.small[GRAM, 0, 0])):
                    j = _crowded_out(d, n)
                if j == n:
                    break
                spent += _make_way(d, j, staying)
                _close_ranks(d, j, staying)
                n, size, prepared = n - 1, staying, False
                continue
        _bequeath(weights, d.amounts, d.n_fitted, influence, inverse, n, p, d.spent)
        staying -= 1
        for later in range(place, staying):
            order[later] = order[later + 1]
        if staying > 0:
            _forget(influence, inverse, enlarged, n, p, size)
        spent += price
    if staying > 0:
        _attach(d, staying)
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
