"""One COLK step, in the order of the paper's Algorithm 1."""

import numpy as np

from colk._core.assess import TRACK_FIRST, assess
from colk._core.buffers import ADDED as APPENDED
from colk._core.buffers import CARRY, COLUMN, GRAM, SIZE, Buffers
from colk._core.jit import few_turns, inner, piece, unit
from colk._core.komp import absorb
from colk._core.window import (
    AVERAGED,
    EPS,
    ERROR_SUM,
    MAX_ATOMS,
    NORM_BOUND,
    PARSIMONY,
    REGULARIZATION,
    SQUARED_NORM,
    STEP_SIZE,
    STEPS,
    TRACKING_RATE,
    VANISHING,
    Learner,
    average,
    evaluate_window,
    learner_at,
    record,
    remember_and_shrink,
    scheduled,
)
from colk._validation import Array

__all__ = ["stage", "step_unit"]


@piece
def _squared_norm(
    squared_norm: float,
    factor: float,
    step: float,
    coefficients: Array,
    predictions: Array,
    gram: Array,
    size: int,
) -> float:
    """‖f~‖² from ‖f‖² and numbers that are at hand: f's predictions and the points' Gram."""
    total = factor * factor * squared_norm
    for b in range(size):
        for c in range(coefficients.shape[1]):
            amount = -step * coefficients[b, c]
            inner_products = factor * predictions[b, c]
            for a in range(b):
                inner_products -= step * coefficients[a, c] * gram[b, a]
            total += amount * (2.0 * inner_products + amount * gram[b, b])
    return max(total, 0.0)


@inner
def stage(d: Buffers, coefficients: Array, step: float, size: int) -> int:
    """Leave only points that move in the block of the dictionary; returns how many."""
    few_turns()
    points, amounts, columns, gram = d.points, d.amounts, d.panels[COLUMN], d.small[GRAM]
    order, n_outputs = d.order, coefficients.shape[1]
    staged = 0
    for b in range(size):
        moves = False
        for c in range(amounts.shape[1]):
            amount = -step * coefficients[b, c] if c < n_outputs else 0.0
            amounts[staged, c] = amount
            moves = moves or amount != 0.0
        if not moves or gram[b, b] < VANISHING:
            continue
        order[staged] = b
        if staged < b:
            for j in range(d.counters[SIZE]):
                columns[staged, j] = columns[b, j]
            for feature in range(points.shape[1]):
                points[staged, feature] = points[b, feature]
            for a in range(staged + 1):
                gram[staged, a] = gram[b, order[a]]
        staged += 1
    return staged


@piece
def _exact_squared_norm(d: Buffers, n_outputs: int) -> float:
    """wᵀKw = ‖U⁻¹w‖², by substitution from the last row of Uᵀ to the first."""
    n, rest, factor, weights = d.counters[SIZE], d.work[CARRY], d.factor, d.weights
    total = 0.0
    for c in range(n_outputs):
        for j in range(n):
            rest[j] = weights[c, j]
        for i in range(n - 1, -1, -1):
            entry = rest[i] / factor[i, i]
            total += entry * entry
            for j in range(i):
                rest[j] -= entry * factor[i, j]
    return total


@inner
def _keep_in_ball(m: Learner) -> None:
    """Project f on the ball ‖f‖ ≤ norm_bound (the paper's footnote on KOMP)."""
    d, bound, n_outputs = m.dictionary, m.settings[NORM_BOUND], m.predictions.shape[1]
    weights = d.weights
    squared_norm = _exact_squared_norm(d, n_outputs)
    if squared_norm > bound * bound:
        factor = bound / np.sqrt(squared_norm)
        for c in range(n_outputs):
            for j in range(d.counters[SIZE]):
                weights[c, j] *= factor
        squared_norm = bound * bound
    m.levels[SQUARED_NORM] = squared_norm


@unit("float64(int64)")
def step_unit(address: int) -> float:
    """Algorithm 1 of the paper for the samples in the window. Returns 0 where it would diverge."""
    few_turns()
    m = learner_at(address)
    d, settings, levels, t = m.dictionary, m.settings, m.levels, m.tallies[STEPS]
    before, size = d.counters[SIZE], m.window_x.shape[0]
    step = scheduled(settings, STEP_SIZE, t)
    factor = 1.0 - step * settings[REGULARIZATION]
    if not evaluate_window(m, size):
        return 0.0
    if not assess(m, scheduled(settings, TRACKING_RATE, t), TRACK_FIRST):
        return 0.0
    # f~ = (1 − αλ) f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·)
    squared_norm = _squared_norm(
        levels[SQUARED_NORM], factor, step, m.coefficients, m.predictions, d.small[GRAM], size
    )
    remember_and_shrink(m, factor)
    staged = stage(d, m.coefficients, step, size)
    # f = KOMP(f~, ε)
    eps = settings[EPS] + settings[PARSIMONY] * step * step
    error = absorb(d, staged, eps, 0, m.switches[MAX_ATOMS])
    levels[SQUARED_NORM] = max(squared_norm - error * error, 0.0)
    levels[ERROR_SUM] += error
    if levels[SQUARED_NORM] > settings[NORM_BOUND] ** 2:
        _keep_in_ball(m)
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] = t + 1
    added = d.counters[APPENDED]
    record(m, added, before + added - d.counters[SIZE], error, step)
    return 1.0
