"""Merging two atoms into the one that stands best for both (Wang, Crammer, Vucetic 2012).

Atom p, the lightest, and another n are replaced by z = h·d_p + (1 − h)·d_n with the weight
w_z = (w_p κ(d_p, z) + w_n κ(d_n, z))/κ(z, z), the projection of w_p κ(d_p, ·) + w_n κ(d_n, ·) on
κ(z, ·). What is lost is its squared norm less w_z²κ(z, z): h makes the norm of w_z largest.

With the Gaussian kernel and one output h solves h = (1 − h) ρ k^(1 − 2h), where ρ = w_p/w_n and
k = κ(d_p, d_n): Newton's method, kept in a bracket. For other radial kernels, and several outputs,
h is sought on finer and finer grids, for all n at once.
"""

import math

import numpy as np

from colk._core.jit import inner
from colk._core.kernels import GAUSSIAN, column
from colk._core.komp import SIZE, Buffers
from colk._validation import Array

__all__ = ["SEARCH_ROWS", "choose_merger"]

# Rows of scratch for a search.
LENGTHS, CENTRES, BEST, PLACES, NEAR, FAR, TRIAL = 0, 1, 2, 3, 4, 5, 6
SEARCH_ROWS = 7

# The grid of one round spans ± GRID steps; the next round's step is its GRID-th part.
GRID = 6
ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE = 3, 10


@inner
def _gaussian_position(ratio: float, decay: float) -> float:
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
        if not low <= moved <= high:
            moved = 0.5 * (low + high)
        if abs(moved - h) <= 1e-12 * (1.0 + abs(h)):
            return moved
        h = moved
    return h


@inner
def _choose_gaussian(d: Buffers, p: int, k: Array) -> tuple[int, float, float]:
    """The best n for p, its h, and the squared H-norm lost; `k` is κ(d_p, ·)."""
    weights, own, n_atoms = d.weights, d.diagonal[p], d.counters[SIZE]
    light = weights[0, p]
    chosen, position, least = -1, 0.0, np.inf
    for n in range(n_atoms):
        if n == p:
            continue
        heavy, near = weights[0, n], max(k[n] / own, 1e-300)
        decay = max(-math.log(near), 0.0)
        h = 0.0 if light == 0.0 else _gaussian_position(light / heavy, decay)
        merged = light * math.exp(-decay * (1.0 - h) ** 2) + heavy * math.exp(-decay * h * h)
        loss = light * light + heavy * heavy + 2.0 * light * heavy * near - merged * merged
        if loss < least:
            chosen, position, least = n, h, loss
    return chosen, position, max(least, 0.0) * own


@inner
def _refine(
    program: Array, origin: Array, moments: Array, search: Array, n: int, rounds: int, work: Array
) -> None:
    """Seek, for the first n candidates, the h within ±1 that makes ‖w_p a + w_n b‖ largest.

    `moments` holds ‖w_p‖², ⟨w_p, w_n⟩ and ‖w_n‖² of each candidate.
    """
    lengths, centres, best, places = search[LENGTHS], search[CENTRES], search[BEST], search[PLACES]
    near, far, trial = search[NEAR], search[FAR], search[TRIAL : TRIAL + 1]
    for j in range(n):
        centres[j], places[j], best[j] = 0.0, 0.0, -1.0
    step = 1.0 / GRID
    for _ in range(rounds):
        for i in range(-GRID, GRID + 1):
            for j in range(n):
                trial[0, j] = (1.0 - (centres[j] + i * step)) * lengths[j]
            column(program, trial, n, origin, far, work)
            for j in range(n):
                trial[0, j] = (centres[j] + i * step) * lengths[j]
            column(program, trial, n, origin, near, work)
            for j in range(n):
                a, b = far[j], near[j]
                size = moments[0, j] * a * a + 2.0 * moments[1, j] * a * b + moments[2, j] * b * b
                if size > best[j]:
                    best[j], places[j] = size, centres[j] + i * step
        for j in range(n):
            centres[j] = places[j]
        step /= GRID


@inner
def _choose_radial(
    d: Buffers, p: int, k: Array, origin: Array, moments: Array, search: Array
) -> tuple[int, float, float]:
    """As `_choose_gaussian`, for every radial kernel and any number of outputs."""
    weights, atoms, own, n_atoms = d.weights, d.atoms, d.diagonal[p], d.counters[SIZE]
    for n in range(n_atoms):
        squares = 0.0
        for feature in range(atoms.shape[0]):
            squares += (atoms[feature, n] - atoms[feature, p]) ** 2
        search[LENGTHS, n] = math.sqrt(squares)
        for i in range(3):
            moments[i, n] = 0.0
        for row in range(d.n_priced):
            moments[0, n] += weights[row, p] * weights[row, p]
            moments[1, n] += weights[row, p] * weights[row, n]
            moments[2, n] += weights[row, n] * weights[row, n]
    _refine(d.program, origin, moments, search, n_atoms, ROUNDS_TO_CHOOSE, d.work)
    chosen, least = -1, np.inf
    for n in range(n_atoms):
        whole = (moments[0, n] + moments[2, n]) * own + 2.0 * moments[1, n] * k[n]
        loss = whole - search[BEST, n] / own
        if n != p and loss < least:
            chosen, least = n, loss
    whole = (moments[0, chosen] + moments[2, chosen]) * own + 2.0 * moments[1, chosen] * k[chosen]
    search[LENGTHS, 0] = search[LENGTHS, chosen]
    for i in range(3):
        moments[i, 0] = moments[i, chosen]
    only = min(n_atoms, 1)  # a literal would be compiled as a type of its own
    _refine(d.program, origin, moments, search, only, ROUNDS_TO_PLACE, d.work)
    return chosen, search[PLACES, 0], max(whole - search[BEST, 0] / own, 0.0)


@inner
def choose_merger(
    d: Buffers, p: int, k: Array, origin: Array, moments: Array, search: Array
) -> tuple[int, float, float]:
    """The atom n to merge p with, the position h, and the squared H-norm that is lost."""
    program = d.program
    lone = program[0] == 1.0 and program[2] == 1.0 and program[3] == GAUSSIAN
    if lone and d.n_priced == 1:
        return _choose_gaussian(d, p, k)
    return _choose_radial(d, p, k, origin, moments, search)
