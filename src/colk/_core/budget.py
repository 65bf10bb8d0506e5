"""One step of the budgeted methods.

The gradient step is COLK's. What follows it, where there are more atoms than the budget allows,
is a rule: forget the oldest, remove the lightest, project the cheapest on the others, or merge
two. All but projection cost O(M) beyond a few kernel columns; projection costs O(M²).
"""

from typing import NamedTuple

import numpy as np

from colk._core.assess import TRACK_FIRST, assess
from colk._core.buffers import ADDED as APPENDED
from colk._core.buffers import GRAM, SIZE, Buffers
from colk._core.factor import take_out
from colk._core.jit import few_turns, inner, piece, unit
from colk._core.komp import absorb
from colk._core.merging import choose_merger
from colk._core.random import uniform
from colk._core.reference import Counts, Matrix, reference_to
from colk._core.step import stage
from colk._core.window import (
    AVERAGED,
    ERROR_SUM,
    REGULARIZATION,
    STEP_SIZE,
    STEPS,
    TRACKING_RATE,
    Learner,
    average,
    evaluate_window,
    learner_at,
    record,
    remember_and_shrink,
    scheduled,
)
from colk._validation import Array

__all__ = ["MERGING", "PROJECTION", "REMOVAL", "TRUNCATION", "Budget", "budget_unit"]

TRUNCATION, REMOVAL, PROJECTION, MERGING = 0, 1, 2, 3


class Budget(NamedTuple):
    """How many atoms there may be, and what happens beyond."""

    allowed: Counts  # (1,): the budget of the moment
    rule: int
    growth: float  # with probability min(1, growth·horizon/t) the budget is kept, else it grows
    horizon: float
    seed: int
    nu: float  # share of samples outside the tube of the loss; 0: the tube stays as it is
    tube: Array  # (1,): half its width
    origin: Array  # (1,): 0
    moments: Matrix  # (3, capacity)
    search: Matrix  # (SEARCH_ROWS, capacity)


budget_at = reference_to(Budget)


@inner
def _enrol(d: Buffers, size: int) -> int:
    """Append the staged points; one that equals an atom adds to its weight. Returns how many."""
    atoms, weights, points, amounts, gram = d.atoms, d.weights, d.points, d.amounts, d.small[GRAM]
    before = d.counters[SIZE]
    for b in range(size):
        n = d.counters[SIZE]
        place = n
        for j in range(n):
            if atoms[0, j] == points[b, 0]:
                equal = True
                for feature in range(1, atoms.shape[0]):
                    equal = equal and atoms[feature, j] == points[b, feature]
                if equal:
                    place = j
        if place == n:
            for feature in range(atoms.shape[0]):
                atoms[feature, n] = points[b, feature]
            for row in range(weights.shape[0]):
                weights[row, n] = 0.0
            d.own[n] = gram[b, b]
            d.counters[SIZE] = n + 1
        for row in range(weights.shape[0]):
            weights[row, place] += amounts[b, row]
    return d.counters[SIZE] - before


@inner
def _lightest(d: Buffers) -> int:
    """The oldest atom of least ‖w_j‖² κ(d_j, d_j), the squared H-norm of its part of f."""
    chosen, least = 0, np.inf
    for j in range(d.counters[SIZE]):
        norm = _squared_norm(d, j)
        if norm < least:
            chosen, least = j, norm
    return chosen


@piece
def _squared_norm(d: Buffers, j: int) -> float:
    squares = 0.0
    for row in range(d.n_priced):
        squares += d.weights[row, j] * d.weights[row, j]
    return squares * d.own[j]


@inner
def _merge(d: Buffers, p: int, budget: Budget) -> float:
    """Merge atom p with the atom that costs least; returns the squared H-norm lost."""
    atoms, weights, z, amounts = d.atoms, d.weights, d.points[0], d.amounts[0]
    own, gram = d.own[p], d.small[GRAM]
    for feature in range(atoms.shape[0]):
        z[feature] = atoms[feature, p]
    n, h, loss, far, near = choose_merger(d, p, budget.origin, budget.moments, budget.search)
    for feature in range(atoms.shape[0]):
        z[feature] = h * atoms[feature, p] + (1.0 - h) * atoms[feature, n]
    for row in range(weights.shape[0]):
        amounts[row] = 0.0
        if row < d.n_fitted:
            amounts[row] = (weights[row, p] * far + weights[row, n] * near) / own
    gram[0, 0] = own
    take_out(d, max(p, n))
    take_out(d, min(p, n))
    _enrol(d, min(d.points.shape[0], 1))
    return loss


@inner
def _maintain(d: Buffers, budget: Budget) -> float:
    """Make one atom less of them; returns the H-norm of what is lost."""
    if budget.rule == MERGING:
        return np.sqrt(_merge(d, _lightest(d), budget))
    j = 0 if budget.rule == TRUNCATION else _lightest(d)
    lost = np.sqrt(_squared_norm(d, j))
    take_out(d, j)
    return lost


@piece
def _is_kept(budget: Budget, t: int) -> bool:
    """NPBSGD's coin of step t = 1, 2, …: whether the budget stays as it is."""
    chance = budget.growth * budget.horizon / t
    return chance >= 1.0 or uniform(budget.seed, t) < chance


@piece
def _settle(d: Buffers, budget: Budget, staged: int, t: int) -> tuple[float, int]:
    """Add the staged points and keep to the budget; returns the H-norm lost and atoms added."""
    allowed = budget.allowed[0]
    if d.counters[SIZE] + staged > allowed and not _is_kept(budget, t):
        allowed += 1
    if budget.rule == PROJECTION:
        error = absorb(d, staged, 0.0, 0, allowed)
        added = d.counters[APPENDED]
    else:
        error, added = 0.0, _enrol(d, staged)
        while d.counters[SIZE] > allowed:
            error += _maintain(d, budget)
    budget.allowed[0] = max(budget.allowed[0], d.counters[SIZE])
    return error, added


@piece
def _adapt_tube(m: Learner, budget: Budget, step: float) -> None:
    """Widen the tube by α(1 − ν) where the sample lies outside it, narrow it by αν otherwise."""
    outside = abs(m.predictions[0, 0] - m.window_y[0, 0]) > budget.tube[0]
    share = 1.0 if outside else 0.0
    budget.tube[0] = max(budget.tube[0] + step * m.window_weight[0] * (share - budget.nu), 0.0)
    m.loss[1] = budget.tube[0]


@unit("float64(int64)")
def budget_unit(address: int) -> float:
    """Make a gradient step at the window, then follow the rule. Returns 0 if it would diverge."""
    few_turns()
    m = learner_at(address)
    d, budget, t = m.dictionary, budget_at(m.method), m.tallies[STEPS]
    before, size = d.counters[SIZE], m.window_x.shape[0]
    step = scheduled(m.settings, STEP_SIZE, t)
    if not evaluate_window(m, size):
        return 0.0
    if not assess(m, scheduled(m.settings, TRACKING_RATE, t), TRACK_FIRST):
        return 0.0
    # f~ = (1 − αλ) f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·)
    if budget.nu > 0.0:
        _adapt_tube(m, budget, step)
    remember_and_shrink(m, 1.0 - step * m.settings[REGULARIZATION])
    staged = stage(d, m.coefficients, step, size)
    error, added = _settle(d, budget, staged, t + 1)
    m.levels[ERROR_SUM] += error
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] = t + 1
    record(m, added, before + added - d.counters[SIZE], error, step)
    return 1.0
