"""Destructive kernel orthogonal matching pursuit with pre-fitting, on the live dictionary.

Dropping atom j and refitting the other weights costs ‖w_j‖²/(K⁻¹)_jj, a squared H-norm. The costs
of successive drops add up by Pythagoras, because the subspaces are nested. The costs of new points
are computed before any of them is an atom. This module does so for one or two points, in closed
form; `block.py` does it for more. Let S = K_BB − K_BD K⁻¹ K_DB be their Schur complement, T = S⁻¹
and c = −T_pq/T_pp. Dropping point p costs ‖a_p‖²/T_pp, adds a_p(V_p − c V_q) to the atoms and a_p c
to the other point q, and gives the new cost of q directly.
"""

import math
from typing import ClassVar

import cython

from colk._engine.c_types import Readonly
from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk._validation import Array, check_number
from colk.compressors import block
from colk.compressors.base import Compressor, check_limit
from colk.compressors.scratch import PursuitScratch

__all__ = ["KOMP", "absorb", "append", "attach_scratch", "drop", "prune"]


class KOMP(Compressor):
    """Kernel orthogonal matching pursuit: ‖f − f~‖_H ≤ eps at every step (Proposition 1).

    Atoms are dropped, cheapest first, and the other weights refitted, as long as the function
    changes by at most eps in H-norm. Two conditions override eps, and the reported error of a step
    includes them: `max_atoms`, and the numerical independence of the atoms. A new point whose
    squared distance to the span of the atoms is below 10⁻⁹ κ(x, x) is projected on the span, which
    costs up to 3·10⁻⁵ of its own norm. An atom whose squared distance to the span of the others
    falls below 10⁻¹⁰ of κ is dropped. If eps is below about 10⁻⁴ of the norm of a step, the error
    of a step may therefore exceed eps.

    Parameters
    ----------
    eps : float, optional
        Bound on the H-norm of the error of a step. Give at most one of `eps`, `parsimony` and
        `fraction`; with none of them, only `max_atoms` limits the atoms.
    parsimony : float, optional
        The paper's constant K, instead of eps: eps = K·step_size² at each step.
    max_atoms : int, optional
        Largest model order, a hard limit on memory. Default: no limit. If it is exceeded, the
        cheapest atoms are dropped even if they cost more than eps; the reported error includes
        their cost.
    fraction : float, optional
        Instead of eps: eps = fraction × the RMS H-norm of about the latest 1000 steps. It does not
        depend on the scale of the loss.

    Examples
    --------
    >>> from colk.compressors import KOMP
    >>> KOMP(eps=2e-3)
    KOMP(eps=0.002, parsimony=None, max_atoms=None, fraction=None)
    >>> KOMP(parsimony=5.0).eps_at(step_size=0.02)
    0.002
    """

    _fields = ("eps", "parsimony", "max_atoms", "fraction")
    is_orthogonal: ClassVar[bool] = True

    eps: Readonly[float | None]
    parsimony: Readonly[float | None]
    max_atoms: Readonly[int | None]
    fraction: Readonly[float | None]
    bound: Readonly[float]
    gain: Readonly[float]
    part: Readonly[float]
    at_most: Readonly[int]

    def __init__(
        self,
        eps: float | None = None,
        parsimony: float | None = None,
        max_atoms: int | None = None,
        fraction: float | None = None,
    ) -> None:
        bounds = [bound for bound in (eps, parsimony, fraction) if bound is not None]
        if len(bounds) > 1:
            raise ValueError(
                "give only one of eps, parsimony and fraction: parsimony K means "
                "eps = K·step_size², and fraction r means eps = r × the RMS step norm"
            )
        if not bounds and max_atoms is None:
            raise ValueError("KOMP needs eps, parsimony, fraction or max_atoms")
        self.bound = check_number(0.0 if eps is None else eps, "eps", at_least=0.0)
        gain = 0.0 if parsimony is None else parsimony
        self.gain = check_number(gain, "parsimony", at_least=0.0)
        self.part = check_number(0.0 if fraction is None else fraction, "fraction", at_least=0.0)
        self.at_most = check_limit(max_atoms)
        self.eps = None if eps is None else self.bound
        self.parsimony = None if parsimony is None else self.gain
        self.fraction = None if fraction is None else self.part
        self.max_atoms = None if max_atoms is None else self.at_most

    @property
    def is_relative(self) -> bool:
        return self.fraction is not None

    def eps_at(self, step_size: float) -> float:
        """Return the bound on the H-norm of the error of a step of this size."""
        return self.bound + self.gain * step_size**2

    def prepare(self, d: Dictionary) -> None:
        attach_scratch(d)

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        eps = self.bound + self.gain * step_size * step_size
        if self.part > 0.0:
            eps += self.part * math.sqrt(d.squared_move)
        return absorb(d, staged, eps, 0, self.at_most)


def attach_scratch(d: Dictionary) -> None:
    """Attach the scratch of KOMP to a dictionary, unless it is attached."""
    if not isinstance(d.scratch, PursuitScratch):
        d.attach(PursuitScratch.of(d))


def append(d: Dictionary, points: Array, weights: Array, eps: float = 0.0) -> float:  # cpdef
    """Append points with their weights, each block compressed to within `eps` in H-norm.

    With `eps` 0, only points in the span of the atoms are merged. Returns the sum of the errors, a
    bound on the distance from the uncompressed function.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors.pursuit import append, prune
    >>> from colk._engine.dictionary import Dictionary
    >>> from colk.kernels import Gaussian
    >>> d = Dictionary(Gaussian(0.5), n_features=1)
    >>> error = append(d, np.array([[0.0], [0.1], [2.0]]), np.array([[1.0], [0.5], [1.0]]))
    >>> d.size
    3
    >>> prune(d, eps=0.2) <= 0.2, d.size
    (True, 2)
    """
    error = 0.0
    attach_scratch(d)
    for start in range(0, len(points), d.block):
        size: int = min(d.block, len(points) - start)
        d.reserve(size)
        d.set_new_points(points[start : start + size], weights[start : start + size])
        stop_at = d.size + size if eps == 0.0 else 0
        d.evaluate_columns(d.points, size, False)
        error += absorb(d, size, eps, stop_at, d.capacity)
    return error


def prune(d: Dictionary, eps: float = math.inf, stop_at: int = 0) -> float:  # cpdef
    """Drop the cheapest atoms while the error stays within `eps`; never below `stop_at`."""
    return math.sqrt(prune_atoms(d, eps * eps, 0.0, stop_at, d.capacity, False))


def drop(d: Dictionary, j: int) -> None:  # cpdef object
    """Drop atom j and refit the other weights."""
    if not 0 <= j < d.size:
        raise IndexError(f"there is no atom {j}: the dictionary has {d.size} atoms")
    d.drop_atom(j)


# cdef noexcept
def absorb(d: Dictionary, size: int, eps: float, stop_at: int, at_most: int) -> float:
    """KOMP of f + Σ_b amounts_b κ(points_b, ·): keep the function within eps in H-norm.

    Columns and Gram matrix of the new points must be set, and a `PursuitScratch` attached to the
    dictionary. At least `stop_at` atoms are kept; above `at_most` atoms the cheapest are dropped at
    any cost. Returns the H-norm of the error.
    """
    return absorb_with(d, cython.cast(PursuitScratch, d.scratch), size, eps, stop_at, at_most)


def absorb_with(
    d: Dictionary, s: PursuitScratch, size: int, eps: float, stop_at: int, at_most: int
) -> float:  # cdef noexcept
    """Body of `absorb`."""
    allowed, spent, staying, first, settled = eps * eps, 0.0, 0, 0, False
    if size > 2:
        spent, staying = block.drop_block(d, s, size, allowed, stop_at, at_most)
    elif size == 2:
        spent, staying, first, settled = drop_pair(d, s, allowed, stop_at, at_most)
        append_pair(d, s, staying, first)
    elif size == 1:
        spent, staying, settled = drop_one(d, s, allowed, stop_at, at_most)
    if settled and d.size <= at_most:
        return math.sqrt(spent)
    return math.sqrt(prune_atoms(d, allowed, spent, stop_at, at_most, staying > 0))


def prune_atoms(
    d: Dictionary, allowed: float, spent: float, stop_at: int, at_most: int, dependent: bool
) -> float:  # cdef noexcept
    """Drop the cheapest atom while `spent` + its cost ≤ `allowed`, all squared H-norms.

    With `dependent`, near-dependent atoms are dropped first, at any cost. Returns the total cost.
    """
    while True:
        j = d.near_dependent() if dependent else d.size
        dependent = j < d.size
        if not dependent:
            free: bool = d.size <= at_most
            if free and (
                d.size <= stop_at
                or not loops.any_within(
                    d.weights_t, d.n_priced, d.diagonal, d.size, allowed - spent
                )
            ):
                return spent
            j = d.cheapest()
            if free and spent + d.price(j) > allowed:
                return spent
        spent += d.drop_atom(j)


def drop_one(
    d: Dictionary, s: PursuitScratch, allowed: float, stop_at: int, at_most: int
) -> tuple[float, int, bool]:  # cdef
    """Drop a single new point if it is cheapest, else append it.

    Returns the cost, the number of points that stay, and whether no atom is cheap enough to drop.
    The cost of a point in the span is computed with the floor as its novelty.
    """
    loops.solve(d.factor, d.size, d.columns, 1, s.solutions, s.sums)
    own, squares = d.gram[0, 0], 0.0
    for row in range(d.n_priced):
        squares += d.amounts[0, row] * d.amounts[0, row]
    novelty = own - s.sums[0]
    lifted: float = max(novelty, loops.NOVELTY_FLOOR * own, loops.SMALLEST_PIVOT)
    charged = lifted + loops.ROUNDING * own
    price = squares * charged
    within = loops.atoms_within_one(
        d.weights_t, d.n_priced, d.amounts, d.diagonal, d.size, s.solutions,
        lifted, price, allowed - price,
    )  # fmt: skip
    atoms = d.size + 1
    stays: bool = (within & 1) != 0 or atoms <= stop_at or (price > allowed and atoms <= at_most)
    if stays and novelty == lifted:
        d.append_row(0, s.solutions, 0, novelty)
        return 0.0, 1, False
    for row in range(d.n_fitted):
        amount: float = d.amounts[0, row]
        if amount != 0.0:
            loops.add(d.weights_t, row, s.solutions, 0, amount, d.size)
            d.spent[row] += amount * amount * charged
    return price, 0, (within & 2) == 0


def novelties(d: Dictionary, s: PursuitScratch) -> tuple[float, float, float, bool, bool]:  # cdef
    """Compute the novelties of both points, the second given the first.

    A novelty is the squared distance to a span: of the atoms, or of the atoms and the first point.
    Also returns the share c of the first point in the projection of the second, and whether each
    point lies in its span. The novelty of such a point is set to the floor; its projection does not
    depend on it.
    """
    loops.solve(d.factor, d.size, d.columns, 2, s.solutions, s.sums)
    first, floor = d.gram[0, 0] - s.sums[0], loops.NOVELTY_FLOOR * d.gram[0, 0]
    mixed, last_floor = d.gram[1, 0] - s.sums[1], loops.NOVELTY_FLOOR * d.gram[1, 1]
    lifted: float = max(first, floor, loops.SMALLEST_PIVOT)
    c = mixed / lifted
    second = d.gram[1, 1] - s.sums[2] - c * mixed
    beyond = max(second, last_floor, loops.SMALLEST_PIVOT)
    return lifted, beyond, c, first <= floor, second <= last_floor


def products(d: Dictionary) -> tuple[float, float, float]:  # cdef
    """Compute ‖a_0‖², ⟨a_0, a_1⟩ and ‖a_1‖² over the rows that count in costs."""
    first, mixed, second = 0.0, 0.0, 0.0
    for row in range(d.n_priced):
        first += d.amounts[0, row] * d.amounts[0, row]
        mixed += d.amounts[0, row] * d.amounts[1, row]
        second += d.amounts[1, row] * d.amounts[1, row]
    return first, mixed, second


def drop_pair(
    d: Dictionary, s: PursuitScratch, allowed: float, stop_at: int, at_most: int
) -> tuple[float, int, int, bool]:  # cdef
    """Drop new points while they are cheapest; return the cost and the points that stay.

    Returns the cost, the number of points that stay, the first of them, and whether no atom can be
    cheap enough to drop.
    """
    # s_p is the novelty of p given q, s_q that of q without p; c is the share of q in p.
    s_q, s_p, c, marked_q, marked_p = novelties(d, s)
    p, q = 1, 0
    other_squares, product, squares = products(d)
    alone = s_p + c * c * s_q  # the novelty of p without q
    if marked_q or (not marked_p and other_squares * s_q < squares * alone):
        p, q = 0, 1
        squares, other_squares = other_squares, squares
        marked_p, marked_q = marked_q, marked_p
        s_p, s_q, c = s_q * (s_p / alone), alone, c * (s_q / alone)
    charged_p = s_p + loops.ROUNDING * d.gram[p, p]
    charged_q = s_q + loops.ROUNDING * d.gram[q, q]
    price = squares * charged_p
    later: float = max(other_squares + c * (2.0 * product + c * squares), 0.0) * charged_q
    total = price + later
    within = loops.atoms_within(
        d.weights_t, d.n_priced, d.amounts, d.diagonal, d.size, s.solutions, p, q,
        c, 1.0 / s_p, 1.0 / s_q, price, later, allowed - total,
    )  # fmt: skip
    # A point stays if it may not be dropped or is not the cheapest.
    atoms = d.size + 2
    stays: bool = (within & 1) != 0 or atoms <= stop_at or (price > allowed and atoms <= at_most)
    if stays and not marked_p:
        return 0.0, 2, 0, False
    atoms -= 1
    stays = (within & 2) != 0 or atoms <= stop_at or (total > allowed and atoms <= at_most)
    both: bool = marked_q or not stays
    leave_to_others(d, s, p, q, c, both, charged_p, charged_q)
    if both:
        return total, 0, 0, (within & 4) == 0
    return price, 1, q, False


def leave_to_others(
    d: Dictionary,
    s: PursuitScratch,
    p: int,
    q: int,
    c: float,
    both: bool,
    s_p: float,
    s_q: float,
) -> None:  # cdef
    """Add a_p V_p + a_q V_q to the atoms; if q stays, add a_p(V_p − c V_q), and a_p c to q.

    Adds to each function's cost the squared H-norm that it loses, a² times the novelty s.
    """
    for row in range(d.n_fitted):
        a_p = d.amounts[p, row]
        a_q = d.amounts[q, row] if both else -c * a_p
        if a_p != 0.0 or a_q != 0.0:
            loops.add_two(d.weights_t, row, s.solutions, p, q, a_p, a_q, d.size)
            moved: float = d.amounts[q, row] + c * a_p
            d.spent[row] += a_p * a_p * s_p
            if both:
                d.spent[row] += moved * moved * s_q
            d.amounts[q, row] = moved


def append_pair(d: Dictionary, s: PursuitScratch, staying: int, first: int) -> None:  # cdef
    """Append the remaining new points."""
    if staying > 0:
        d.append_row(first, s.solutions, first, d.gram[first, first] - s.sums[2 * first])
    if staying > 1:
        novelty, shared = d.gram[1, 1] - s.sums[2], d.gram[1, 0] - s.sums[1]
        d.append_second_row(1, s.solutions, novelty, shared)
