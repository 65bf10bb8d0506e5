"""Doubly stochastic gradients: a random sample and a random feature a step, features from seeds."""

import numpy as np

from colk._core.buffers import COLUMN, SIZE
from colk._core.jit import inner, jit, piece, stepper
from colk._core.spectral import amplitude, cosine, draw_feature
from colk._core.window import (
    ADDED,
    AVERAGED,
    DIVERGED,
    DONE,
    DROPPED,
    FILLED,
    FULL,
    REGULARIZATION,
    STEP_SIZE,
    STEPS,
    Learner,
    assess,
    average,
    record,
    remember_and_shrink,
    scheduled,
    slide,
    take,
    untake,
)
from colk._validation import Array

__all__ = ["evaluate", "learn"]


@inner
def _redraw(
    program: Array, seed: int, n: int, points: Array, columns: Array, frequency: Array
) -> None:
    """columns[b, i] = φ_i(points_b) for the first n features, each drawn anew from its number."""
    scale = amplitude(program)
    for i in range(n):
        phase = draw_feature(program, seed, i, frequency)
        for b in range(points.shape[0]):
            turns = phase
            for k in range(frequency.size):
                turns += frequency[k] * points[b, k]
            columns[b, i] = scale * cosine(turns)


@piece
def _step(m: Learner, program: Array, seed: int, frequency: Array, line: Array) -> bool:
    """One sample, one more feature. False: it would diverge."""
    d, size, t = m.dictionary, m.window_x.shape[0], m.tallies[STEPS]
    n, weights, columns, coefficients = (
        d.counters[SIZE],
        d.weights,
        d.panels[COLUMN],
        m.coefficients,
    )
    _redraw(program, seed, n + 1, m.window_x, columns, frequency)
    sound, loss, clipped = assess(m, size)
    if not sound:
        return False
    # f ← (1 − αλ)f − α c φ_t(x) φ_t
    step = scheduled(m.settings, STEP_SIZE, t)
    remember_and_shrink(m, 1.0 - step * m.settings[REGULARIZATION])
    for row in range(weights.shape[0]):
        weights[row, n] = 0.0
    for b in range(size):
        for c in range(coefficients.shape[1]):
            weights[c, n] -= step * coefficients[b, c] * columns[b, n]
    d.counters[SIZE] = n + 1
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] = t + 1
    if line.size > 0:
        line[ADDED], line[DROPPED] = 1.0, 0.0
        record(m, line, loss, n + 1, 0.0, clipped, step)
    return True


@stepper
def learn(
    m: Learner,
    program: Array,
    seed: int,
    frequency: Array,
    X: Array,
    Y: Array,
    weight: Array,
    trace: Array,
) -> tuple[int, int, int]:
    """Run the stream through the window, a step each time that it is full.

    Returns how many samples were taken, how many steps made, and why it stopped.
    """
    size, capacity, first = m.window_x.shape[0], m.dictionary.atoms.shape[1], m.tallies[STEPS]
    for row in range(X.shape[0]):
        if weight[row] == 0.0:
            continue
        steps = m.tallies[STEPS] - first
        if m.tallies[FILLED] + 1 == size and m.dictionary.counters[SIZE] + 1 > capacity:
            return row, steps, FULL
        largest = take(m, X, Y, weight, row)
        if m.tallies[FILLED] == size:
            if not _step(m, program, seed, frequency, trace[min(steps, trace.shape[0] - 1)]):
                untake(m, largest)
                return row, steps, DIVERGED
            slide(m)
    return X.shape[0], m.tallies[STEPS] - first, DONE


@jit
def evaluate(program: Array, seed: int, weights: Array, X: Array, out: Array) -> None:
    """out[r, c] = Σ_i weights[c, i] φ_i(x_r); every feature is drawn once."""
    frequency = np.empty(X.shape[1])
    values = np.empty(X.shape[0])
    scale = amplitude(program)
    for r in range(X.shape[0]):
        for c in range(weights.shape[0]):
            out[r, c] = 0.0
    for i in range(weights.shape[1]):
        phase = draw_feature(program, seed, i, frequency)
        for r in range(X.shape[0]):
            turns = phase
            for k in range(frequency.size):
                turns += frequency[k] * X[r, k]
            values[r] = scale * cosine(turns)
        for c in range(weights.shape[0]):
            for r in range(X.shape[0]):
                out[r, c] += weights[c, i] * values[r]
