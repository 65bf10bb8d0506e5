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

from colk import lanes
from colk.compressors import budget
from colk.compressors.budget import Budget
from colk.dictionary import Dictionary
from colk.kernels import Kernel

__all__ = ["Merging"]

# Rows of scratch: of the Gaussian, LENGTHS holds −log k and CENTRES ρ.
LENGTHS, CENTRES, BEST, PLACES, NEAR, FAR = 0, 1, 2, 3, 4, 5
OWN, MIXED, OTHER, COLUMN = 6, 7, 8, 9

# What is found of a merger: h, the squared H-norm that is lost, κ(d_p, z) and κ(d_n, z).
POSITION, LOST, TO_LIGHT, TO_HEAVY = 0, 1, 2, 3

# Newton steps before the best n is chosen, and most steps to place z.
NEWTON_STEPS, NEWTON_MOST = 4, 60

# The grid of one round spans ± GRID steps; the next round's step is its GRID-th part.
GRID = 6
ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE = 3, 10

# −log k of atoms so far apart that k is 0.
FARTHEST = 700.0


class Merging(Budget):
    """The atom with the least norm and another one are replaced by one between them.

    Where the signs of their weights differ, the new one lies beyond the heavier. Pair, place and
    weight are those that change f least in H-norm. It needs a radial kernel.

    Parameters
    ----------
    max_atoms : int or None
        Most atoms; None for no bound.

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
        """Refuse a kernel that is not radial."""
        if not kernel.is_radial:
            raise TypeError(f"merging needs a radial kernel; {type(kernel).__name__} is not one")

    def make_room(self, d: Dictionary) -> float:
        """Merge the lightest atom with the one that costs least; returns the H-norm lost."""
        p = budget.lightest(d)
        for k in range(d.n_features):
            d.points[0, k] = d.atoms_t[k, p]
        d.kernel.columns(d.atoms_t, d.size, d.points, 1, d.columns, 0)
        for j in range(d.size):
            d.scratch[COLUMN, j] = d.columns[0, j]
        n = choose_gaussian(d, p) if d.merges_in_closed_form else choose_radial(d, p)
        h = d.found[POSITION]
        for k in range(d.n_features):
            d.points[0, k] = h * d.atoms_t[k, p] + (1.0 - h) * d.atoms_t[k, n]
        d.gram[0, 0] = d.own[p]
        for row in range(d.n_rows):
            d.amounts[0, row] = 0.0
            if row < d.n_fitted:
                d.amounts[0, row] = (
                    d.weights_t[row, p] * d.found[TO_LIGHT]
                    + d.weights_t[row, n] * d.found[TO_HEAVY]
                ) / d.own[p]
        d.take_out(max(p, n))
        d.take_out(min(p, n))
        d.added -= budget.enrol_points(d, 1)  # the new atom stands for two that were counted
        return math.sqrt(d.found[LOST])


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
    for _ in range(NEWTON_MOST):
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


def price_gaussian(d: Dictionary, p: int) -> None:
    """Losses of merging atom p with each other, each after a few steps from h = 0."""
    light, n_atoms = d.weights_t[0, p], d.size
    for n in range(n_atoms):
        heavy = d.weights_t[0, n]
        d.scratch[PLACES, n] = 0.0
        d.scratch[CENTRES, n] = light / heavy if heavy != 0.0 else 0.0
    for _ in range(NEWTON_STEPS):
        for n in range(n_atoms):
            d.scratch[NEAR, n] = d.scratch[LENGTHS, n] * (2.0 * d.scratch[PLACES, n] - 1.0)
        lanes.exponentials(d.scratch, NEAR, n_atoms)
        for n in range(n_atoms):
            h, decay = d.scratch[PLACES, n], d.scratch[LENGTHS, n]
            pull = d.scratch[CENTRES, n] * d.scratch[NEAR, n]
            slope = 1.0 + pull - (1.0 - h) * 2.0 * decay * pull
            d.scratch[PLACES, n] = min(max(h - (h - (1.0 - h) * pull) / slope, -1.0), 0.5)
    for n in range(n_atoms):
        h, decay = d.scratch[PLACES, n], d.scratch[LENGTHS, n]
        d.scratch[FAR, n] = -decay * (1.0 - h) * (1.0 - h)
        d.scratch[NEAR, n] = -decay * h * h
    lanes.exponentials(d.scratch, FAR, n_atoms)
    lanes.exponentials(d.scratch, NEAR, n_atoms)
    for n in range(n_atoms):
        heavy = d.weights_t[0, n]
        merged = light * d.scratch[FAR, n] + heavy * d.scratch[NEAR, n]
        whole = light * light + heavy * heavy
        whole += 2.0 * light * heavy * d.scratch[COLUMN, n] / d.own[p]
        d.scratch[BEST, n] = whole - merged * merged


def choose_gaussian(d: Dictionary, p: int) -> int:
    """The best n for p, for the Gaussian kernel and one output; what is found of it is noted."""
    own, light = d.own[p], d.weights_t[0, p]
    for n in range(d.size):
        share = d.scratch[COLUMN, n] / own
        d.scratch[LENGTHS, n] = min(-math.log(share), FARTHEST) if share > 0.0 else FARTHEST
    price_gaussian(d, p)
    chosen, least = 1 if p == 0 else 0, math.inf
    for n in range(d.size):
        if d.scratch[BEST, n] < least and n != p:
            chosen, least = n, d.scratch[BEST, n]
    heavy, decay = d.weights_t[0, chosen], d.scratch[LENGTHS, chosen]
    h = 0.0 if light == 0.0 else gaussian_position(light / heavy, decay)
    far, near = math.exp(-decay * (1.0 - h) * (1.0 - h)), math.exp(-decay * h * h)
    merged = light * far + heavy * near
    whole = light * light + heavy * heavy + 2.0 * light * heavy * math.exp(-decay)
    d.found[POSITION], d.found[LOST] = h, max(whole - merged * merged, 0.0) * own
    d.found[TO_LIGHT], d.found[TO_HEAVY] = far * own, near * own
    return chosen


def show(d: Dictionary, n: int, offset: float, sign: float, row: int) -> int:
    """κ at the distances (offset + sign·centre)·length of the first n candidates, into a row."""
    for j in range(n):
        d.trial[0, j] = (offset + sign * d.scratch[CENTRES, j]) * d.scratch[LENGTHS, j]
    d.kernel.columns(d.trial, n, d.origin, 1, d.columns, 0)
    for j in range(n):
        d.scratch[row, j] = d.columns[0, j]
    return 0


def refine(d: Dictionary, n: int, rounds: int) -> int:
    """Seek, for the first n candidates, the h within ±1 that makes ‖w_p a + w_n b‖ largest.

    OWN, MIXED and OTHER hold ‖w_p‖², ⟨w_p, w_n⟩ and ‖w_n‖² of each candidate.
    """
    for j in range(n):
        d.scratch[CENTRES, j], d.scratch[PLACES, j], d.scratch[BEST, j] = 0.0, 0.0, -1.0
    step = 1.0 / GRID
    for _ in range(rounds):
        for i in range(-GRID, GRID + 1):
            show(d, n, 1.0 - i * step, -1.0, FAR)
            show(d, n, i * step, 1.0, NEAR)
            for j in range(n):
                a, b = d.scratch[FAR, j], d.scratch[NEAR, j]
                size = d.scratch[OWN, j] * a * a + 2.0 * d.scratch[MIXED, j] * a * b
                size += d.scratch[OTHER, j] * b * b
                if size > d.scratch[BEST, j]:
                    d.scratch[BEST, j] = size
                    d.scratch[PLACES, j] = d.scratch[CENTRES, j] + i * step
        for j in range(n):
            d.scratch[CENTRES, j] = d.scratch[PLACES, j]
        step /= GRID
    return 0


def gather(d: Dictionary, p: int) -> None:
    """Distances from atom p, and the inner products of the weights that a merger needs."""
    for n in range(d.size):
        squares = 0.0
        for k in range(d.n_features):
            difference = d.atoms_t[k, n] - d.atoms_t[k, p]
            squares += difference * difference
        d.scratch[LENGTHS, n] = math.sqrt(squares)
        for i in range(OWN, OTHER + 1):
            d.scratch[i, n] = 0.0
        for row in range(d.n_priced):
            d.scratch[OWN, n] += d.weights_t[row, p] * d.weights_t[row, p]
            d.scratch[MIXED, n] += d.weights_t[row, p] * d.weights_t[row, n]
            d.scratch[OTHER, n] += d.weights_t[row, n] * d.weights_t[row, n]


def choose_radial(d: Dictionary, p: int) -> int:
    """As `choose_gaussian`, for every radial kernel and any number of outputs."""
    own = d.own[p]
    gather(d, p)
    refine(d, d.size, ROUNDS_TO_CHOOSE)
    chosen, least, whole = d.size, math.inf, 0.0
    for n in range(d.size):
        total = (d.scratch[OWN, n] + d.scratch[OTHER, n]) * own
        total += 2.0 * d.scratch[MIXED, n] * d.scratch[COLUMN, n]
        loss = total - d.scratch[BEST, n] / own
        if n != p and (loss < least or chosen == d.size):
            chosen, least, whole = n, loss, total
    for i in range(OWN, OTHER + 1):
        d.scratch[i, 0] = d.scratch[i, chosen]
    d.scratch[LENGTHS, 0] = d.scratch[LENGTHS, chosen]
    refine(d, 1, ROUNDS_TO_PLACE)
    show(d, 1, 1.0, -1.0, FAR)
    show(d, 1, 0.0, 1.0, NEAR)
    d.found[POSITION] = d.scratch[PLACES, 0]
    d.found[LOST] = max(whole - d.scratch[BEST, 0] / own, 0.0)
    d.found[TO_LIGHT], d.found[TO_HEAVY] = d.scratch[FAR, 0], d.scratch[NEAR, 0]
    return chosen
