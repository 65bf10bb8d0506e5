"""One COLK step, in the order of the paper's Algorithm 1, and the loop over a stream."""

import numpy as np

from colk._core.buffers import CARRY, COLUMN, GRAM, SIZE, Buffers
from colk._core.jit import once, piece, stepper
from colk._core.komp import absorb
from colk._core.window import (
    ADDED,
    AVERAGED,
    DIVERGED,
    DONE,
    DROPPED,
    EPS,
    ERROR_SUM,
    FILLED,
    FULL,
    MAX_ATOMS,
    NORM_BOUND,
    PARSIMONY,
    REGULARIZATION,
    SQUARED_NORM,
    STEP_SIZE,
    STEPS,
    VANISHING,
    Learner,
    assess,
    average,
    evaluate_window,
    record,
    remember_and_shrink,
    scheduled,
    slide,
    take,
    untake,
)
from colk._validation import Array

__all__ = ["learn", "stage"]


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


@once
def stage(d: Buffers, coefficients: Array, step: float, size: int) -> int:
    """Leave only points that move in the block of the dictionary; returns how many."""
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


@once
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


@piece
def _step(m: Learner, line: Array) -> bool:
    """Algorithm 1 of the paper for the samples in the window. False: it would diverge."""
    d, size = m.dictionary, m.window_x.shape[0]
    step = scheduled(m.settings, STEP_SIZE, m.tallies[STEPS])
    factor = 1.0 - step * m.settings[REGULARIZATION]
    before, gram = d.counters[SIZE], d.small[GRAM]
    if not evaluate_window(m, size):
        return False
    sound, loss, clipped = assess(m, size)
    if not sound:
        return False
    # f~ = (1 − αλ) f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·)
    squared_norm = _squared_norm(
        m.levels[SQUARED_NORM], factor, step, m.coefficients, m.predictions, gram, size
    )
    remember_and_shrink(m, factor)
    staged = stage(d, m.coefficients, step, size)
    # f = KOMP(f~, ε)
    eps = m.settings[EPS] + m.settings[PARSIMONY] * step * step
    error, added = absorb(d, staged, eps, 0, m.switches[MAX_ATOMS])
    m.levels[SQUARED_NORM] = max(squared_norm - error * error, 0.0)
    m.levels[ERROR_SUM] += error
    if m.levels[SQUARED_NORM] > m.settings[NORM_BOUND] ** 2:
        _keep_in_ball(m)
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] += 1
    if line.size > 0:
        after = d.counters[SIZE]
        line[ADDED], line[DROPPED] = added, before + added - after
        record(m, line, loss, after, error, clipped, step)
    return True


@stepper
def learn(m: Learner, X: Array, Y: Array, weight: Array, trace: Array) -> tuple[int, int, int]:
    """Run the stream through the window, a step each time that it is full.

    Returns how many samples were taken, how many steps made, and why it stopped.
    """
    size, capacity, first = m.window_x.shape[0], m.dictionary.atoms.shape[1], m.tallies[STEPS]
    for row in range(X.shape[0]):
        if weight[row] == 0.0:
            continue
        steps = m.tallies[STEPS] - first
        if m.tallies[FILLED] + 1 == size and m.dictionary.counters[SIZE] + size > capacity:
            return row, steps, FULL
        largest = take(m, X, Y, weight, row)
        if m.tallies[FILLED] == size:
            if not _step(m, trace[min(steps, trace.shape[0] - 1)]):
                untake(m, largest)
                return row, steps, DIVERGED
            slide(m)
    return X.shape[0], m.tallies[STEPS] - first, DONE
