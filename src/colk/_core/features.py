"""Steps of the methods with a vector of parameters, f(x) = wᵀφ(x).

The window holds features φ(x) in place of points. Rows of the weights: the iterate, its average,
and what the method remembers, the previous iterate or NASA's averaged gradient z.
"""

from typing import NamedTuple

from colk._core.assess import AHEAD, JACOBI, TRACK_FIRST, assess
from colk._core.buffers import COLUMN, SIZE
from colk._core.jit import piece, unit
from colk._core.reference import reference_to
from colk._core.window import (
    AVERAGED,
    REGULARIZATION,
    REMEMBERED,
    STEP_SIZE,
    STEPS,
    TRACKING_RATE,
    Learner,
    average,
    learner_at,
    record,
    remember_and_shrink,
    scheduled,
)
from colk._validation import Array

__all__ = ["ACCELERATED", "NASA", "SCGD", "Method", "features_unit"]

# A method is the order in which it renews g and the gradient.
SCGD, ACCELERATED, NASA = TRACK_FIRST, AHEAD, JACOBI


class Method(NamedTuple):
    """Which method, and its constants beyond its rates."""

    order: int
    gains: Array  # (3,)


_method_at = reference_to(Method)

# NASA's constants: a, b and β of its paper.
GRADIENT_GAIN, TRACKING_GAIN, PROXIMITY = 0, 1, 2


@piece
def _show(m: Learner, size: int) -> None:
    """Lay the features of the window's samples where predictions are made from."""
    columns = m.dictionary.panels[COLUMN]
    for b in range(size):
        for j in range(m.window_x.shape[1]):
            columns[b, j] = m.window_x[b, j]


@piece
def _rate(m: Learner, order: int, gains: Array, t: int) -> float:
    """How far g moves: by a rate of its own, or NASA's by a share of the step size."""
    if order == NASA:
        return min(1.0, gains[TRACKING_GAIN] * scheduled(m.settings, STEP_SIZE, t))
    return scheduled(m.settings, TRACKING_RATE, t)


@piece
def _descend(m: Learner, step: float, size: int) -> None:
    """Step: w ← (1 − αλ)w − α Σ_b c_b φ(x_b)."""
    d, coefficients = m.dictionary, m.coefficients
    weights, columns = d.weights, d.panels[COLUMN]
    remember_and_shrink(m, 1.0 - step * m.settings[REGULARIZATION])
    for b in range(size):
        for c in range(coefficients.shape[1]):
            amount = step * coefficients[b, c]
            for j in range(m.dictionary.counters[SIZE]):
                weights[c, j] -= amount * columns[b, j]


@piece
def _extrapolate(m: Learner, rate: float) -> None:
    """Remember w_{t−1} + (w_t − w_{t−1})/β in place of w_{t−1}, for the tracker that comes next."""
    weights, first = m.dictionary.weights, m.switches[REMEMBERED]
    if first > 0:
        for c in range(m.predictions.shape[1]):
            for j in range(weights.shape[1]):
                old = weights[first + c, j]
                weights[first + c, j] = old + (weights[c, j] - old) / rate


@piece
def _average_gradient(m: Learner, gains: Array, size: int) -> None:
    """Step: z ← (1 − aτ)z + aτ(Σ_b c_b φ(x_b) + λw), w ← w − (τ/β)z with the τ that comes next."""
    d, coefficients = m.dictionary, m.coefficients
    weights, columns = d.weights, d.panels[COLUMN]
    t, q, n = m.tallies[STEPS], m.coefficients.shape[1], m.dictionary.counters[SIZE]
    rate = min(1.0, gains[GRADIENT_GAIN] * scheduled(m.settings, STEP_SIZE, t))
    step = scheduled(m.settings, STEP_SIZE, t + 1) / gains[PROXIMITY]
    first, decay = weights.shape[0] - q, m.settings[REGULARIZATION]
    for c in range(q):
        for j in range(n):
            weights[first + c, j] += rate * (decay * weights[c, j] - weights[first + c, j])
        for b in range(size):
            amount = rate * coefficients[b, c]
            for j in range(n):
                weights[first + c, j] += amount * columns[b, j]
        for j in range(n):
            weights[c, j] -= step * weights[first + c, j]


@unit("float64(int64)")
def features_unit(address: int) -> float:
    """One step of the method for the samples in the window. Returns 0 where it would diverge."""
    m = learner_at(address)
    method, size, t = _method_at(m.method), m.window_x.shape[0], m.tallies[STEPS]
    order, gains = method.order, method.gains
    step = scheduled(m.settings, STEP_SIZE, t)
    _show(m, size)
    if not assess(m, _rate(m, order, gains, t), order):
        return 0.0
    if order == NASA:
        _average_gradient(m, gains, size)
    else:
        _descend(m, step, size)
    if order == ACCELERATED:
        _extrapolate(m, _rate(m, order, gains, t + 1))
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] = t + 1
    record(m, 0, 0, 0.0, step)
    return 1.0
