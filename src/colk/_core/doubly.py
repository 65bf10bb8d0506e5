"""Doubly stochastic gradients: a random sample and a random feature a step, features from seeds."""

from typing import NamedTuple

import numpy as np

from colk._core.assess import TRACK_FIRST, assess
from colk._core.buffers import COLUMN, SIZE
from colk._core.jit import inner, jit, unit
from colk._core.reference import reference_to
from colk._core.spectral import amplitude, cosine, draw_feature
from colk._core.window import (
    AVERAGED,
    REGULARIZATION,
    STEP_SIZE,
    STEPS,
    TRACKING_RATE,
    average,
    learner_at,
    record,
    remember_and_shrink,
    scheduled,
)
from colk._validation import Array

__all__ = ["Draws", "doubly_unit", "evaluate"]


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


class Draws(NamedTuple):
    """Where the features come from."""

    program: Array
    seed: int
    frequency: Array  # scratch of one entry for each feature of x


_draws_at = reference_to(Draws)


@unit("float64(int64)")
def doubly_unit(address: int) -> float:
    """One window, one more feature. Returns 0 where it would diverge."""
    m = learner_at(address)
    d, draws, t = m.dictionary, _draws_at(m.method), m.tallies[STEPS]
    weights, columns, coefficients = d.weights, d.panels[COLUMN], m.coefficients
    n, size = d.counters[SIZE], m.window_x.shape[0]
    _redraw(draws.program, draws.seed, n + 1, m.window_x, columns, draws.frequency)
    if not assess(m, scheduled(m.settings, TRACKING_RATE, t), TRACK_FIRST):
        return 0.0
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
    record(m, 1, 0, 0.0, step)
    return 1.0


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
