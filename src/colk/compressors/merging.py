"""Merging two atoms into the one that stands best for both (Wang, Crammer, Vucetic 2012).

Atom p, the lightest, and another n are replaced by z = h·d_p + (1 − h)·d_n with the weight
w_z = (w_p κ(d_p, z) + w_n κ(d_n, z))/κ(z, z), the projection of w_p κ(d_p, ·) + w_n κ(d_n, ·) on
κ(z, ·). What is lost is its squared norm less w_z²κ(z, z): h makes the norm of w_z largest.

With the Gaussian kernel and one output h solves h = (1 − h) ρ k^(1 − 2h), where ρ = w_p/w_n and
k = κ(d_p, d_n)/κ(d_p, d_p): a few steps of Newton's method for all n at once tell which n is best,
and more of them, kept in a bracket, where to put z. For other radial kernels, and several outputs,
h is sought on finer and finer grids, again for all n at once.
"""

import math
from typing import ClassVar

from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk.compressors import budget
from colk.compressors.budget import Budget
from colk.kernels import Kernel

__all__ = ["Merging"]

# Rows of scratch. Of the Gaussian, LENGTHS holds −log k.
LENGTHS, OWN, MIXED, OTHER, CENTRES, PLACES, NEAR, FAR, LOSSES, COLUMN = range(10)

# The grid of one round spans ± GRID steps; the next round's step is its GRID-th part.
GRID = 6
ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE = 3, 10


class Merging(Budget):
    """The atom with the least norm and another one are replaced by one between them.

    Where the signs of their weights differ, the new one lies beyond the heavier. Pair, place and
    weight are those that change f least in H-norm. It needs a radial kernel.

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

    scratch_rows: ClassVar[int] = 10

    def check(self, kernel: Kernel) -> None:
        if not kernel.is_radial:
            raise TypeError(f"merging needs a radial kernel; {type(kernel).__name__} is not one")

    def make_room(self, d: Dictionary) -> float:
        """Merge the lightest atom with the one that costs least; returns the H-norm lost."""
        p = budget.lightest(d)
        for k in range(d.n_features):
            d.points[0, k] = d.atoms_t[k, p]
        d.evaluate_at(d.points)
        for j in range(d.size):
            d.scratch[COLUMN, j] = d.columns[0, j]
        n = choose_gaussian(d, p) if d.merges_in_closed_form else choose_radial(d, p)
        h, lost = d.scratch[PLACES, n], 0.0
        for k in range(d.n_features):
            d.points[0, k] = h * d.atoms_t[k, p] + (1.0 - h) * d.atoms_t[k, n]
        d.evaluate_at(d.points)
        d.gram[0, 0] = d.own[p]
        for row in range(d.n_rows):
            light, heavy = d.weights_t[row, p], d.weights_t[row, n]
            merged = (light * d.columns[0, p] + heavy * d.columns[0, n]) / d.own[p]
            d.amounts[0, row] = merged if row < d.n_fitted else 0.0
            if row < d.n_priced:
                lost += (light * light + heavy * heavy - merged * merged) * d.own[p]
                lost += 2.0 * light * heavy * d.scratch[COLUMN, n]
        d.take_out(max(p, n))
        d.take_out(min(p, n))
        d.added -= budget.enrol(d, 1)  # the new atom stands for two that were counted
        return math.sqrt(max(lost, 0.0))


def least_loss(d: Dictionary, p: int) -> int:
    """The other atom that loses least, the oldest of equals."""
    d.scratch[LOSSES, p] = math.inf
    chosen = 1 if p == 0 else 0
    for n in range(d.size):
        if d.scratch[LOSSES, n] < d.scratch[LOSSES, chosen]:
            chosen = n
    return chosen


def gaussian_position(ratio: float, decay: float) -> float:
    """The h of weights of ratio ρ = w_p/w_n, |ρ| ≤ 1, and κ(d_p, d_n) = exp(−decay)·κ(d_p, d_p).

    It lies in [0, 1/2] where the signs are the same: nearer to the heavier atom. Where they differ
    it is negative: z recedes from p.
    """
    low, high = 0.0, 0.5
    if ratio < 0.0:
        share = -ratio * math.exp(-decay)
        low, high = -min(share / max(1.0 - share, 1e-6), 1e6), 0.0
    h = 0.0
    for _ in range(60):
        pull = ratio * math.exp(-decay * (1.0 - 2.0 * h))
        value = h - (1.0 - h) * pull
        if value > 0.0:
            high = h
        else:
            low = h
        moved = h - value / (1.0 + pull - (1.0 - h) * 2.0 * decay * pull)
        if not (low <= moved <= high):
            moved = 0.5 * (low + high)
        if abs(moved - h) <= 1e-12 * (1.0 + abs(h)):
            return moved
        h = moved
    return h


def choose_gaussian(d: Dictionary, p: int) -> int:
    """The best n for p, for the Gaussian kernel and one output; its h is noted."""
    light = d.weights_t[0, p]
    loops.price_mergers(
        d.weights_t, d.columns, light, d.own[p], d.scratch, LENGTHS, PLACES, LOSSES, d.size
    )
    n = least_loss(d, p)
    d.scratch[PLACES, n] = 0.0
    if light != 0.0:
        ratio = light / d.weights_t[0, n]
        d.scratch[PLACES, n] = gaussian_position(ratio, d.scratch[LENGTHS, n])
    return n


def choose_radial(d: Dictionary, p: int) -> int:
    """As `choose_gaussian`, for every radial kernel and any number of outputs."""
    gather(d, p)
    refine(d, d.size, ROUNDS_TO_CHOOSE)
    for n in range(d.size):
        whole = (d.scratch[OWN, n] + d.scratch[OTHER, n]) * d.own[p]
        whole += 2.0 * d.scratch[MIXED, n] * d.scratch[COLUMN, n]
        d.scratch[LOSSES, n] = whole + d.scratch[LOSSES, n] / d.own[p]
    chosen = least_loss(d, p)
    for row in range(LENGTHS, OTHER + 1):
        d.scratch[row, 0] = d.scratch[row, chosen]
    refine(d, 1, ROUNDS_TO_PLACE)
    d.scratch[PLACES, chosen] = d.scratch[PLACES, 0]
    return chosen


def gather(d: Dictionary, p: int) -> None:
    """Distances from atom p, and ‖w_p‖², ⟨w_p, w_n⟩ and ‖w_n‖² of each candidate n."""
    for n in range(d.size):
        squares = 0.0
        for k in range(d.n_features):
            difference = d.atoms_t[k, n] - d.atoms_t[k, p]
            squares += difference * difference
        d.scratch[LENGTHS, n] = math.sqrt(squares)
        d.scratch[OWN, n], d.scratch[MIXED, n], d.scratch[OTHER, n] = 0.0, 0.0, 0.0
        for row in range(d.n_priced):
            d.scratch[OWN, n] += d.weights_t[row, p] * d.weights_t[row, p]
            d.scratch[MIXED, n] += d.weights_t[row, p] * d.weights_t[row, n]
            d.scratch[OTHER, n] += d.weights_t[row, n] * d.weights_t[row, n]


def refine(d: Dictionary, n: int, rounds: int) -> int:
    """Seek, for the first n candidates, the h within ±1 that makes ‖w_p a + w_n b‖² largest.

    Where a and b are the kernel's values far and near; the negative of it is noted as the loss.
    """
    for j in range(n):
        d.scratch[CENTRES, j], d.scratch[PLACES, j], d.scratch[LOSSES, j] = 0.0, 0.0, 1.0
    step = 1.0 / GRID
    for _ in range(rounds):
        for i in range(-GRID, GRID + 1):
            show(d, n, 1.0 - i * step, -1.0, FAR)
            show(d, n, i * step, 1.0, NEAR)
            for j in range(n):
                a, b = d.scratch[FAR, j], d.scratch[NEAR, j]
                size = d.scratch[OWN, j] * a * a + 2.0 * d.scratch[MIXED, j] * a * b
                size += d.scratch[OTHER, j] * b * b
                if -size < d.scratch[LOSSES, j]:
                    d.scratch[LOSSES, j] = -size
                    d.scratch[PLACES, j] = d.scratch[CENTRES, j] + i * step
        for j in range(n):
            d.scratch[CENTRES, j] = d.scratch[PLACES, j]
        step /= GRID
    return 0


def show(d: Dictionary, n: int, offset: float, sign: float, row: int) -> int:
    """κ at the distances (offset + sign·centre)·length of the first n candidates, into a row."""
    for j in range(n):
        d.trial[0, j] = (offset + sign * d.scratch[CENTRES, j]) * d.scratch[LENGTHS, j]
    d.kernel.columns(d.trial, n, d.origin, 1, d.columns, 0)
    for j in range(n):
        d.scratch[row, j] = d.columns[0, j]
    return 0
