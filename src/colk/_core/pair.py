"""One or two new points, the block of every step that is not a mini-batch, in closed form.

With S the Schur complement of the two, T = S⁻¹ and c = −T_pq/T_pp, dropping point p costs
‖a_p‖²/T_pp and leaves a_p(V_p − c V_q) to the atoms and a_p c to the other point q; what q then
costs is known at once. Whether an atom would be cheaper than p, or after p cheaper than q, is
asked in one pass over the atoms. A lone point is a pair in which T_pq and T_qq are 0.
"""

from colk._core.buffers import (
    COLUMN,
    GRAM,
    HALF,
    LATER,
    NOVELTY_FLOOR,
    NOW,
    SCHUR,
    SIZE,
    SMALLEST_PIVOT,
    SOLUTION,
    Buffers,
    padded,
)
from colk._core.factor import solve
from colk._core.jit import piece

__all__ = ["drop_pair"]


@piece
def _inverse(d: Buffers, n: int, size: int) -> tuple[float, float, float, bool, bool]:
    """T_00, T_01 and T_11, and for each point whether it lies in the span of what came before.

    S = K_BB − K_BD K⁻¹ K_DB by the halves z; its lower half is kept. The pivot of a point in the
    span is lifted to the floor: what it leaves to others does not depend on it.
    """
    gram, schur, last = d.small[GRAM], d.small[SCHUR], size - 1
    z, z_last = d.panels[HALF, 0], d.panels[HALF, last]
    first, mixed, second = 0.0, 0.0, 0.0
    for i in range(padded(n)):
        first += z[i] * z[i]
        mixed += z[i] * z_last[i]
        second += z_last[i] * z_last[i]
    schur[0, 0] = gram[0, 0] - first
    schur[last, 0] = gram[last, 0] - mixed
    schur[last, last] = gram[last, last] - second
    floor, last_floor = NOVELTY_FLOOR * gram[0, 0], NOVELTY_FLOOR * gram[last, last]
    marked = schur[0, 0] <= floor
    t_00 = 1.0 / max(schur[0, 0], floor, SMALLEST_PIVOT)
    if size == 1:
        return t_00, 0.0, 0.0, marked, False
    ratio = schur[1, 0] * t_00
    pivot = schur[1, 1] - ratio * schur[1, 0]
    t_11 = 1.0 / max(pivot, last_floor, SMALLEST_PIVOT)
    return t_00 + ratio * ratio * t_11, -ratio * t_11, t_11, marked, pivot <= last_floor


@piece
def _products(d: Buffers, last: int) -> tuple[float, float, float]:
    """‖a_0‖², ⟨a_0, a_1⟩ and ‖a_1‖² over the rows that price."""
    amounts = d.amounts
    first, mixed, second = 0.0, 0.0, 0.0
    for row in range(d.n_priced):
        first += amounts[0, row] * amounts[0, row]
        mixed += amounts[0, row] * amounts[last, row]
        second += amounts[last, row] * amounts[last, row]
    return first, mixed, second


@piece
def _atoms_within(
    d: Buffers,
    n: int,
    p: int,
    q: int,
    c: float,
    t_pp: float,
    t_pq: float,
    t_qq: float,
    price: float,
    later: float,
) -> tuple[bool, bool]:
    """Whether some atom costs at most `price` now, and at most `later` after p is gone."""
    weights, amounts, diagonal = d.weights, d.amounts, d.diagonal
    v_p, v_q = d.panels[SOLUTION, p], d.panels[SOLUTION, q]
    now, then = d.work[NOW], d.work[LATER]
    alone = t_qq + t_pq * c  # T_qq without p
    for row in range(d.n_priced):
        a = amounts[p, row]
        for j in range(padded(n)):
            w = weights[row, j]
            moved = w + a * (v_p[j] - c * v_q[j])
            now[j] = w * w + (now[j] if row > 0 else 0.0)
            then[j] = moved * moved + (then[j] if row > 0 else 0.0)
    count, count_later = 0, 0
    for j in range(padded(n)):
        u, v = v_p[j], v_q[j]
        enlarged = diagonal[j] + u * (t_pp * u + 2.0 * t_pq * v) + t_qq * v * v
        count += now[j] <= price * enlarged
        count_later += then[j] <= later * (diagonal[j] + alone * v * v)
    return count > 0, count_later > 0


@piece
def _bequeath(
    d: Buffers, n: int, p: int, q: int, c: float, both: bool, s_p: float, s_q: float
) -> None:
    """Give a_p V_p + a_q V_q to the atoms; or, where q stays, a_p(V_p − c V_q), and a_p c to q.

    Charges each function with the squared H-norm that it loses: a² times the novelty s.
    """
    weights, amounts, spent = d.weights, d.amounts, d.spent
    v_p, v_q = d.panels[SOLUTION, p], d.panels[SOLUTION, q]
    for row in range(d.n_fitted):
        a_p = amounts[p, row]
        a_q = amounts[q, row] if both else -c * a_p
        if a_p != 0.0 or a_q != 0.0:
            spent[row] += a_p * a_p * s_p
            for j in range(padded(n)):
                weights[row, j] += a_p * v_p[j] + a_q * v_q[j]
            moved = amounts[q, row] + c * a_p
            if both:
                spent[row] += moved * moved * s_q
            amounts[q, row] = moved


@piece
def drop_pair(
    d: Buffers, size: int, budget: float, stop_at: int, at_most: int
) -> tuple[float, int]:
    """Drop new points while they are cheapest; returns what is spent and how many stay."""
    n, order = d.counters[SIZE], d.order
    solve(d.factor, n, d.panels[COLUMN], d.panels[HALF], d.panels[SOLUTION], size)
    t_pp, t_pq, t_qq, marked_p, marked_q = _inverse(d, n, size)
    p, q = 0, size - 1
    squares, product, other_squares = _products(d, q)
    if size == 2 and not marked_p and (marked_q or other_squares * t_pp <= squares * t_qq):
        p, q, squares, other_squares = q, p, other_squares, squares
        t_pp, t_qq, marked_p, marked_q = t_qq, t_pp, marked_q, marked_p
    s_p, s_q, later = 1.0 / t_pp, 0.0, 0.0  # novelties: of p given q, of q without p
    price, c = squares * s_p, -t_pq * s_p
    if size == 2:
        s_q = 1.0 / (t_qq + t_pq * c)
        later = max(other_squares + c * (2.0 * product + c * squares), 0.0) * s_q
    cheaper, cheaper_later = _atoms_within(d, n, p, q, c, t_pp, t_pq, t_qq, price, later)
    for b in range(size):
        order[b] = b
    # Whether a point stays: it may not be dropped, or is not the cheapest.
    atoms, total = n + size, price + later
    stays = cheaper or atoms <= stop_at or (price > budget and atoms <= at_most)
    if stays and not marked_p:
        return 0.0, size
    atoms -= 1
    stays = cheaper_later or atoms <= stop_at or (total > budget and atoms <= at_most)
    both = size == 2 and (marked_q or not stays)
    _bequeath(d, n, p, q, c, both, s_p, s_q)
    if both or size == 1:
        return total, 0
    order[0] = q
    return price, 1
