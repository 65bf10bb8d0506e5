"""Merging two atoms into the best single one (Wang, Crammer, Vucetic 2012).

Atom p, the one of least norm, and another atom n are replaced by z = h·d_p + (1 − h)·d_n with the
weight w_z = (w_p κ(d_p, z) + w_n κ(d_n, z))/κ(z, z), the projection of w_p κ(d_p, ·) + w_n κ(d_n,
·) on κ(z, ·). The squared error is its squared norm minus w_z²κ(z, z), so h maximises the norm of
w_z.

With the Gaussian kernel and one output h solves h = (1 − h) ρ k^(1 − 2h), where ρ = w_p/w_n and
k = κ(d_p, d_n)/κ(d_p, d_p): a few steps of Newton's method for all n at once find the best n, and
more steps, kept in a bracket, find z. For other radial kernels and several outputs, h is searched
on successively finer grids, also for all n at once.
"""

import math

import cython

from colk._engine.buffers import aligned, zeros
from colk._engine.c_types import Matrix
from colk._engine.contracts import KernelContract, Scratch
from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk.compressors import budget
from colk.compressors.budget import Budget
from colk.kernels import Kernel

__all__ = ["Merging"]

# Rows of scratch. For the Gaussian kernel, LENGTHS holds −log k.
LENGTHS, OWN, MIXED, OTHER, CENTRES, PLACES, NEAR, FAR, LOSSES, COLUMN = range(
    10
)  # cdef Py_ssize_t

# The grid of one round spans ± GRID steps; the step of the next round is 1/GRID of this one.
GRID: int = 6
ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE = 3, 10  # cdef Py_ssize_t


class MergeScratch(Scratch):
    """Working memory of the search for the best pair of atoms."""

    in_closed_form: bool  # whether h solves the equation of the Gaussian kernel
    rows: Matrix  # (10, capacity)
    trial: Matrix  # (features, capacity): points on the first axis
    origin: Matrix  # (1, features): 0

    def __init__(self, kernel: KernelContract, n_features: int, n_priced: int) -> None:
        self.in_closed_form = kernel.is_squared_exponential and n_priced == 1
        self.origin = zeros((1, n_features))
        self.resize(8)

    def resize(self, capacity: int) -> None:
        """Reallocate the rows over all atoms."""
        self.rows = aligned(10, capacity)
        self.trial = aligned(self.origin.shape[1], capacity)


class Merging(Budget):
    """Replace the atom of least norm and another atom by one between them.

    If the signs of their weights differ, the new atom lies beyond the one of larger norm. The pair,
    the new point and its weight minimise the change of f in H-norm. Needs a radial kernel.

    References
    ----------
    Wang, Crammer, Vucetic, "Breaking the curse of kernelization: budgeted stochastic gradient
    descent for large-scale SVM training", JMLR 13, 2012.

    Examples
    --------
    >>> from colk.compressors import Merging
    >>> Merging(50)
    Merging(max_atoms=50)
    """

    def check(self, kernel: Kernel) -> None:
        if not kernel.is_radial:
            raise TypeError(f"merging needs a radial kernel; {type(kernel).__name__} is not one")

    def prepare(self, d: Dictionary) -> None:
        d.attach(MergeScratch(d.kernel, d.n_features, d.n_priced))

    def make_room(self, d: Dictionary) -> float:
        """Merge the atom of least norm with the cheapest other; return the H-norm of the error."""
        return merge(d, cython.cast(MergeScratch, d.scratch))


def merge(d: Dictionary, s: MergeScratch) -> float:  # cdef
    """Body of `Merging.make_room`."""
    p = budget.lightest(d)
    for k in range(d.n_features):
        d.points[0, k] = d.atoms_t[k, p]
    d.evaluate_at(d.points)
    for j in range(d.size):
        s.rows[COLUMN, j] = d.columns[0, j]
    n = choose_gaussian(d, s, p) if s.in_closed_form else choose_radial(d, s, p)
    h, lost = s.rows[PLACES, n], 0.0  # type: float, float
    for k in range(d.n_features):
        d.points[0, k] = h * d.atoms_t[k, p] + (1.0 - h) * d.atoms_t[k, n]
    d.evaluate_at(d.points)
    d.gram[0, 0] = d.own[p]
    for row in range(d.n_rows):
        light, heavy = d.weights_t[row, p], d.weights_t[row, n]
        merged: float = (light * d.columns[0, p] + heavy * d.columns[0, n]) / d.own[p]
        d.amounts[0, row] = merged if row < d.n_fitted else 0.0
        if row < d.n_priced:
            lost += (light * light + heavy * heavy - merged * merged) * d.own[p]
            lost += 2.0 * light * heavy * s.rows[COLUMN, n]
    d.remove(max(p, n))
    d.remove(min(p, n))
    d.added -= budget.enrol(d, 1)  # the new atom replaces two that were counted
    return math.sqrt(max(lost, 0.0))


def least_loss(d: Dictionary, s: MergeScratch, p: int) -> int:  # cdef noexcept
    """Return the atom that costs least to merge with; ties go to the oldest atom."""
    s.rows[LOSSES, p] = math.inf
    chosen = 1 if p == 0 else 0
    for n in range(d.size):
        if s.rows[LOSSES, n] < s.rows[LOSSES, chosen]:
            chosen = n
    return chosen


def gaussian_position(ratio: float, decay: float) -> float:  # cdef noexcept
    """Return h for ρ = w_p/w_n, |ρ| ≤ 1, and κ(d_p, d_n) = exp(−decay)·κ(d_p, d_p).

    If the signs are the same, it lies in [0, 1/2], nearer to the atom of larger norm. If they
    differ, it is negative, and z lies beyond that atom.
    """
    low, high = 0.0, 0.5
    if ratio < 0.0:
        share: float = -ratio * math.exp(-decay)
        low, high = -min(share / max(1.0 - share, 1e-6), 1e6), 0.0
    h = 0.0
    for _ in range(60):
        pull = ratio * math.exp(-decay * (1.0 - 2.0 * h))
        value = h - (1.0 - h) * pull
        if value > 0.0:
            high = h
        else:
            low = h
        moved: float = h - value / (1.0 + pull - (1.0 - h) * 2.0 * decay * pull)
        if not (low <= moved <= high):
            moved = 0.5 * (low + high)
        if abs(moved - h) <= 1e-12 * (1.0 + abs(h)):
            return moved
        h = moved
    return h


def choose_gaussian(d: Dictionary, s: MergeScratch, p: int) -> int:  # cdef noexcept
    """Return the best n for p and store its h, for the Gaussian kernel and one output."""
    light = d.weights_t[0, p]
    loops.price_mergers(
        d.weights_t, d.columns, light, d.own[p], s.rows, LENGTHS, PLACES, LOSSES, d.size
    )
    n = least_loss(d, s, p)
    s.rows[PLACES, n] = 0.0
    if light != 0.0:
        ratio = light / d.weights_t[0, n]
        s.rows[PLACES, n] = gaussian_position(ratio, s.rows[LENGTHS, n])
    return n


def choose_radial(d: Dictionary, s: MergeScratch, p: int) -> int:  # cdef Py_ssize_t
    """Like `choose_gaussian`, for every radial kernel and any number of outputs."""
    gather(d, s, p)
    refine(d, s, d.size, ROUNDS_TO_CHOOSE)
    for n in range(d.size):
        whole: float = (s.rows[OWN, n] + s.rows[OTHER, n]) * d.own[p]
        whole += 2.0 * s.rows[MIXED, n] * s.rows[COLUMN, n]
        s.rows[LOSSES, n] = whole + s.rows[LOSSES, n] / d.own[p]
    chosen = least_loss(d, s, p)
    for row in range(LENGTHS, OTHER + 1):
        s.rows[row, 0] = s.rows[row, chosen]
    refine(d, s, 1, ROUNDS_TO_PLACE)
    s.rows[PLACES, chosen] = s.rows[PLACES, 0]
    return chosen


def gather(d: Dictionary, s: MergeScratch, p: int) -> None:  # cdef
    """Write the distances from atom p, and ‖w_p‖², ⟨w_p, w_n⟩ and ‖w_n‖² of each candidate n."""
    for n in range(d.size):
        squares = 0.0
        for k in range(d.n_features):
            difference: float = d.atoms_t[k, n] - d.atoms_t[k, p]
            squares += difference * difference
        s.rows[LENGTHS, n] = math.sqrt(squares)
        s.rows[OWN, n], s.rows[MIXED, n], s.rows[OTHER, n] = 0.0, 0.0, 0.0
        for row in range(d.n_priced):
            s.rows[OWN, n] += d.weights_t[row, p] * d.weights_t[row, p]
            s.rows[MIXED, n] += d.weights_t[row, p] * d.weights_t[row, n]
            s.rows[OTHER, n] += d.weights_t[row, n] * d.weights_t[row, n]


def refine(d: Dictionary, s: MergeScratch, n: int, rounds: int) -> int:  # cdef
    """Find, for the first n candidates, the h in [−1, 1] that maximises ‖w_p a + w_n b‖².

    a and b are the kernel's values at the new point, far and near. The negative maximum is stored
    as the cost.
    """
    for j in range(n):
        s.rows[CENTRES, j], s.rows[PLACES, j], s.rows[LOSSES, j] = 0.0, 0.0, 1.0
    step: float = 1.0 / GRID
    for _ in range(rounds):
        for i in range(-GRID, GRID + 1):
            show(d, s, n, 1.0 - i * step, -1.0, FAR)
            show(d, s, n, i * step, 1.0, NEAR)
            for j in range(n):
                a, b = s.rows[FAR, j], s.rows[NEAR, j]
                size: float = s.rows[OWN, j] * a * a + 2.0 * s.rows[MIXED, j] * a * b
                size += s.rows[OTHER, j] * b * b
                if -size < s.rows[LOSSES, j]:
                    s.rows[LOSSES, j] = -size
                    s.rows[PLACES, j] = s.rows[CENTRES, j] + i * step
        for j in range(n):
            s.rows[CENTRES, j] = s.rows[PLACES, j]
        step /= GRID
    return 0


# cdef
def show(d: Dictionary, s: MergeScratch, n: int, offset: float, sign: float, row: int) -> int:
    """Write κ at the distances (offset + sign·centre)·length of the first n candidates to a row."""
    for j in range(n):
        s.trial[0, j] = (offset + sign * s.rows[CENTRES, j]) * s.rows[LENGTHS, j]
    d.kernel.columns(s.trial, n, s.origin, 1, d.columns, 0)
    for j in range(n):
        s.rows[row, j] = d.columns[0, j]
    return 0
