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

import numpy as np

from colk._core.buffers import SIZE, Buffers
from colk._core.jit import inner
from colk._core.kernels import GAUSSIAN, column, exponential, scaled_statistic
from colk._validation import Array

__all__ = ["SEARCH_ROWS", "choose_merger"]

Merger = tuple[int, float, float, float, float]

# Rows of scratch for a search.
LENGTHS, CENTRES, BEST, PLACES, NEAR, FAR, TRIAL, COLUMN = 0, 1, 2, 3, 4, 5, 6, 7
SEARCH_ROWS = 8

# Newton steps before the best n is chosen.
NEWTON_STEPS = 4

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
def _price_gaussian(light: float, heavies: Array, search: Array, n_atoms: int) -> None:
    """Losses of merging a weight `light` with each other, each after a few steps from h = 0."""
    decays, ratios, places, losses = search[LENGTHS], search[CENTRES], search[PLACES], search[BEST]
    for n in range(n_atoms):
        places[n] = 0.0
        ratios[n] = light / heavies[n] if heavies[n] != 0.0 else 0.0
    for _ in range(NEWTON_STEPS):
        for n in range(n_atoms):
            h, decay = places[n], decays[n]
            pull = ratios[n] * exponential(-decay * (1.0 - 2.0 * h))
            slope = 1.0 + pull - (1.0 - h) * 2.0 * decay * pull
            places[n] = min(max(h - (h - (1.0 - h) * pull) / slope, -1.0), 0.5)
    for n in range(n_atoms):
        h, decay, heavy = places[n], decays[n], heavies[n]
        merged = light * exponential(-decay * (1.0 - h) * (1.0 - h))
        merged += heavy * exponential(-decay * h * h)
        whole = light * light + heavy * heavy + 2.0 * light * heavy * exponential(-decay)
        losses[n] = whole - merged * merged


@inner
def _choose_gaussian(d: Buffers, p: int, search: Array) -> Merger:
    """The best n for p, for the Gaussian kernel and one output; d_p is the first point."""
    weights, own, n_atoms = d.weights, d.own[p], d.counters[SIZE]
    decays, losses, light = search[LENGTHS], search[BEST], weights[0, p]
    leaf = int(d.program[0]) + 2
    scaled_statistic(d.program, leaf, d.atoms, n_atoms, d.points[0], decays)
    for n in range(n_atoms):
        decays[n] *= 0.5
    _price_gaussian(light, weights[0], search, n_atoms)
    chosen, least = 1 if p == 0 else 0, np.inf
    for n in range(n_atoms):
        if losses[n] < least and n != p:
            chosen, least = n, losses[n]
    heavy, decay = weights[0, chosen], decays[chosen]
    h = 0.0 if light == 0.0 else _gaussian_position(light / heavy, decay)
    far, near = math.exp(-decay * (1.0 - h) ** 2), math.exp(-decay * h * h)
    merged = light * far + heavy * near
    whole = light * light + heavy * heavy + 2.0 * light * heavy * math.exp(-decay)
    return chosen, h, max(whole - merged * merged, 0.0) * own, far * own, near * own


@inner
def _refine(d: Buffers, origin: Array, moments: Array, search: Array, n: int, rounds: int) -> None:
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
            column(d.column, d.program, trial, n, origin, far, d.work)
            for j in range(n):
                trial[0, j] = (centres[j] + i * step) * lengths[j]
            column(d.column, d.program, trial, n, origin, near, d.work)
            for j in range(n):
                a, b = far[j], near[j]
                size = moments[0, j] * a * a + 2.0 * moments[1, j] * a * b + moments[2, j] * b * b
                if size > best[j]:
                    best[j], places[j] = size, centres[j] + i * step
        for j in range(n):
            centres[j] = places[j]
        step /= GRID


@inner
def _gather(d: Buffers, p: int, moments: Array, lengths: Array) -> None:
    """Distances from atom p, and the inner products of the weights that a merger needs."""
    weights, atoms = d.weights, d.atoms
    for n in range(d.counters[SIZE]):
        squares = 0.0
        for feature in range(atoms.shape[0]):
            squares += (atoms[feature, n] - atoms[feature, p]) ** 2
        lengths[n] = math.sqrt(squares)
        for i in range(3):
            moments[i, n] = 0.0
        for row in range(d.n_priced):
            moments[0, n] += weights[row, p] * weights[row, p]
            moments[1, n] += weights[row, p] * weights[row, n]
            moments[2, n] += weights[row, n] * weights[row, n]


@inner
def _choose_radial(d: Buffers, p: int, origin: Array, moments: Array, search: Array) -> Merger:
    """As `_choose_gaussian`, for every radial kernel and any number of outputs."""
    own, n_atoms, k, trial = d.own[p], d.counters[SIZE], search[COLUMN], search[TRIAL:COLUMN]
    column(d.column, d.program, d.atoms, n_atoms, d.points[0], k, d.work)
    _gather(d, p, moments, search[LENGTHS])
    _refine(d, origin, moments, search, n_atoms, ROUNDS_TO_CHOOSE)
    chosen, least, whole = -1, np.inf, 0.0
    for n in range(n_atoms):
        total = (moments[0, n] + moments[2, n]) * own + 2.0 * moments[1, n] * k[n]
        loss = total - search[BEST, n] / own
        if n != p and (loss < least or chosen < 0):
            chosen, least, whole = n, loss, total
    search[LENGTHS, 0] = search[LENGTHS, chosen]
    for i in range(3):
        moments[i, 0] = moments[i, chosen]
    only = min(n_atoms, 1)  # a literal would be compiled as a type of its own
    _refine(d, origin, moments, search, only, ROUNDS_TO_PLACE)
    h, length = search[PLACES, 0], search[LENGTHS, 0]
    trial[0, 0] = (1.0 - h) * length
    column(d.column, d.program, trial, only, origin, search[FAR], d.work)
    trial[0, 0] = h * length
    column(d.column, d.program, trial, only, origin, search[NEAR], d.work)
    return chosen, h, max(whole - search[BEST, 0] / own, 0.0), search[FAR, 0], search[NEAR, 0]


@inner
def choose_merger(d: Buffers, p: int, origin: Array, moments: Array, search: Array) -> Merger:
    """The atom n to merge p with; d_p must be the first point of the block.

    Returns n, the position h, the squared H-norm that is lost, κ(d_p, z) and κ(d_n, z).
    """
    program = d.program
    lone = program[0] == 1.0 and program[2] == 1.0 and program[3] == GAUSSIAN
    if lone and d.n_priced == 1:
        return _choose_gaussian(d, p, search)
    return _choose_radial(d, p, origin, moments, search)
