"""One COLK step, in the order of the paper's Algorithm 1, and the loop over a stream.

A step works on a *window* of samples, filled as the stream goes by. The pairing says which of them
is θ and which is ξ; a mini-batch is a longer window. The window is part of the state, so that the
way a stream is cut into chunks cannot change the result.
"""

from typing import NamedTuple

import numpy as np

from colk._core.jit import jit, piece
from colk._core.kernels import column
from colk._core.komp import COLUMN, GHOSTS, GRAM, SIZE, Buffers, absorb, evaluate_columns, solve
from colk._core.objective import gradient, inner_track, sample_loss, sample_value
from colk._validation import Array

__all__ = ["Learner", "learn"]

# How the samples of a window play θ and ξ.
ALONE, SAME, INDEPENDENT, OVERLAP = 0, 1, 2, 3

# Settings.
STEP_SIZE, STEP_SCALE, STEP_POWER = 0, 1, 2
TRACKING_RATE, TRACKING_SCALE, TRACKING_POWER = 3, 4, 5
REGULARIZATION, EPS, PARSIMONY, GRADIENT_BOUND, NORM_BOUND = 6, 7, 8, 9, 10
AVERAGING_RATE, BURN_IN, GROWTH = 11, 12, 13
N_SETTINGS = 14

# Switches.
PAIRING, BATCH, MOMENTUM, AVERAGED, REMEMBERED, MAX_ATOMS = 0, 1, 2, 3, 4, 5
N_SWITCHES = 6

# Tallies, whole numbers.
STEPS, FILLED = 0, 1
N_TALLIES = 2

# Levels, real numbers.
SQUARED_NORM, LARGEST_TARGET, ERROR_SUM, LOSS_SUM, WEIGHT_SUM = 0, 1, 2, 3, 4
N_LEVELS = 5

# Columns of a trace, followed by g.
TRACE = (
    "loss",
    "outer",
    "n_atoms",
    "added",
    "dropped",
    "error",
    "clipped",
    "step_size",
    "squared_norm",
)

# What `learn` returns beside the number of samples taken.
DONE, FULL, DIVERGED = 0, 1, 2

# Predictions beyond this many times the largest target are divergence.
RUNAWAY = 1e6


class Learner(NamedTuple):
    """All that a step reads and writes."""

    dictionary: Buffers
    loss: Array
    risk: Array
    settings: Array
    switches: Array  # int64
    tallies: Array  # int64
    levels: Array
    g: Array  # (m,)
    window_x: Array  # (window, features)
    window_y: Array  # (window, targets)
    window_weight: Array  # (window,)
    predictions: Array  # (window, outputs)
    previous: Array  # (window, outputs): the previous function's
    coefficients: Array  # (window, outputs)
    slopes: Array  # (2, outputs): c_θ and c_ξ of one pair
    tracked: Array  # (2, m): g before the step, and the mean of its updates
    work: Array


@piece
def scheduled(settings, first, t):
    """value/(1 + t/scale)^power: constant where the power is 0."""
    value = settings[first]
    if settings[first + 2] != 0.0:
        value /= (1.0 + t / settings[first + 1]) ** settings[first + 2]
    return value


@piece
def _predict_window(m, size):
    """f_t at every point of the window, and f_{t−1} where the tracker remembers it.

    f_{t−1} is exact: its weights are kept on the atoms that stayed, and the atoms that the last
    step dropped are still there as ghosts.
    """
    d = m.dictionary
    n, n_outputs = d.counters[SIZE], m.predictions.shape[1]
    features = d.atoms.shape[0]
    for b in range(size):
        for c in range(n_outputs):
            total = 0.0
            for j in range(n):
                total += d.weights[c, j] * d.panels[COLUMN, b, j]
            m.predictions[b, c] = total
        if m.switches[REMEMBERED] > 0:
            first = m.switches[REMEMBERED]
            ghosts = d.counters[GHOSTS]
            if ghosts > 0:
                column(d.program, d.ghosts, ghosts, m.window_x[b], d.work[3], d.work)
            for c in range(n_outputs):
                total = 0.0
                for j in range(n):
                    total += d.weights[first + c, j] * d.panels[COLUMN, b, j]
                for j in range(ghosts):
                    total += d.ghosts[features + first + c, j] * d.work[3, j]
                m.previous[b, c] = total


@piece
def _theta(pairing, b):
    """Place in the window of the b-th θ."""
    if pairing == INDEPENDENT:
        return 2 * b
    if pairing == OVERLAP:
        return b + 1
    return b


@piece
def _xi(pairing, b):
    """Place in the window of the b-th ξ."""
    if pairing == INDEPENDENT:
        return 2 * b + 1
    return b


@piece
def _track(m, rate):
    """g_{t+1}: the mean over the batch of what the tracker makes of each ξ."""
    size, batch = m.g.shape[0], m.switches[BATCH]
    before, mean = m.tracked[0], m.tracked[1]
    for i in range(size):
        before[i] = m.g[i]
        mean[i] = 0.0
    for b in range(batch):
        xi = _xi(m.switches[PAIRING], b)
        for i in range(size):
            m.g[i] = before[i]
        inner_track(
            m.loss,
            m.risk,
            m.g,
            m.previous[xi],
            m.predictions[xi],
            m.window_y[xi],
            min(1.0, rate * m.window_weight[xi]),
            m.switches[MOMENTUM] > 0,
            m.tallies[STEPS] == 0,
            m.work,
        )
        for i in range(size):
            mean[i] += m.g[i] / batch
    for i in range(size):
        m.g[i] = mean[i]


@piece
def _bounded_slopes(m, theta, xi):
    """(c_θ, c_ξ) of a pair, scaled back to the gradient bound; returns whether it was."""
    gradient(
        m.loss,
        m.risk,
        m.g,
        m.predictions[theta],
        m.window_y[theta],
        m.predictions[xi],
        m.window_y[xi],
        m.slopes[0],
        m.slopes[1],
        m.work,
    )
    bound = m.settings[GRADIENT_BOUND]
    largest = 0.0
    for c in range(m.slopes.shape[1]):
        largest = max(largest, abs(m.slopes[0, c]), abs(m.slopes[1, c]))
    if largest == 0.0 or bound == np.inf:
        return False
    squares = 0.0  # relative to the largest, so that no square overflows
    for c in range(m.slopes.shape[1]):
        squares += (m.slopes[0, c] / largest) ** 2 + (m.slopes[1, c] / largest) ** 2
    if largest * np.sqrt(squares) <= bound:
        return False
    shrink = bound / np.sqrt(squares)
    for c in range(m.slopes.shape[1]):
        m.slopes[0, c] = m.slopes[0, c] / largest * shrink
        m.slopes[1, c] = m.slopes[1, c] / largest * shrink
    return True


@piece
def _gather_coefficients(m, size):
    """Coefficients of κ(x_b, ·) in the quasi-gradient; returns how many pairs were clipped."""
    n_outputs, batch = m.slopes.shape[1], m.switches[BATCH]
    pairing = m.switches[PAIRING]
    clipped = 0
    for b in range(size):
        for c in range(n_outputs):
            m.coefficients[b, c] = 0.0
    for b in range(batch):
        theta, xi = _theta(pairing, b), _xi(pairing, b)
        clipped += _bounded_slopes(m, theta, xi)
        weight = m.window_weight[theta]
        for c in range(n_outputs):
            m.coefficients[theta, c] += m.slopes[0, c] * weight / batch
            m.coefficients[xi, c] += m.slopes[1, c] * weight * m.window_weight[xi] / batch
    return clipped


@piece
def _has_diverged(m, size):
    limit = RUNAWAY * (1.0 + m.levels[LARGEST_TARGET])
    for b in range(size):
        for c in range(m.predictions.shape[1]):
            if not abs(m.predictions[b, c]) <= limit:
                return True
            if not abs(m.coefficients[b, c]) < np.inf:
                return True
    for i in range(m.g.shape[0]):
        if not abs(m.g[i]) < np.inf:
            return True
    return False


@piece
def _shrink(m, factor):
    """f ← (1 − αλ) f, after its weights are remembered as those of f_{t−1}."""
    d = m.dictionary
    n, n_outputs = d.counters[SIZE], m.predictions.shape[1]
    first = m.switches[REMEMBERED]
    if first > 0:
        for c in range(n_outputs):
            for j in range(n):
                d.weights[first + c, j] = d.weights[c, j]
    d.counters[GHOSTS] = 0
    if factor != 1.0:
        for c in range(n_outputs):
            for j in range(n):
                d.weights[c, j] *= factor


@piece
def _stage(m, size, step, factor):
    """Put what moves into the block of the dictionary; returns how many points that is.

    Also ‖f~‖², from ‖f‖² and numbers that are at hand: f's predictions and the points' Gram.
    """
    d = m.dictionary
    n, n_outputs = d.counters[SIZE], m.predictions.shape[1]
    squared_norm = factor * factor * m.levels[SQUARED_NORM]
    for b in range(size):
        for c in range(n_outputs):
            amount = -step * m.coefficients[b, c]
            squared_norm += 2.0 * factor * amount * m.predictions[b, c]
            for a in range(b):
                squared_norm -= 2.0 * step * m.coefficients[a, c] * amount * d.small[GRAM, b, a]
            squared_norm += amount * amount * d.small[GRAM, b, b]
    m.levels[SQUARED_NORM] = max(squared_norm, 0.0)
    staged = 0
    for b in range(size):
        moves = False
        for c in range(n_outputs):
            moves = moves or m.coefficients[b, c] != 0.0
        if not moves:
            continue
        for c in range(d.amounts.shape[1]):
            d.amounts[staged, c] = -step * m.coefficients[b, c] if c < n_outputs else 0.0
        if staged < b:
            for j in range(n):
                d.panels[COLUMN, staged, j] = d.panels[COLUMN, b, j]
            for feature in range(d.points.shape[1]):
                d.points[staged, feature] = d.points[b, feature]
            d.order[staged] = b
        else:
            d.order[b] = b
        for a in range(staged + 1):
            d.small[GRAM, staged, a] = d.small[GRAM, b, d.order[a]]
        staged += 1
    return staged


@piece
def _exact_squared_norm(d, n_outputs):
    """wᵀKw = ‖U⁻¹w‖², by forward substitution with Uᵀ's rows from the last to the first."""
    n = d.counters[SIZE]
    rest = d.work[3]
    total = 0.0
    for c in range(n_outputs):
        for j in range(n):
            rest[j] = d.weights[c, j]
        for i in range(n - 1, -1, -1):
            entry = rest[i] / d.factor[i, i]
            total += entry * entry
            for j in range(i):
                rest[j] -= entry * d.factor[i, j]
    return total


@piece
def _keep_in_ball(m):
    """Project f on the ball ‖f‖ ≤ norm_bound (the paper's footnote on KOMP)."""
    d, bound = m.dictionary, m.settings[NORM_BOUND]
    if m.levels[SQUARED_NORM] <= bound * bound:
        return
    n_outputs = m.predictions.shape[1]
    squared_norm = _exact_squared_norm(d, n_outputs)
    if squared_norm > bound * bound:
        factor = bound / np.sqrt(squared_norm)
        for c in range(n_outputs):
            for j in range(d.counters[SIZE]):
                d.weights[c, j] *= factor
        squared_norm = bound * bound
    m.levels[SQUARED_NORM] = squared_norm


@piece
def _average(m):
    """f̄ ← f̄ + ρ(f − f̄): constant ρ, or (1 + γ)/(k + γ) at the k-th step after the burn-in."""
    if m.switches[AVERAGED] == 0:
        return
    d = m.dictionary
    n_outputs, first = m.predictions.shape[1], m.switches[AVERAGED]
    rate = m.settings[AVERAGING_RATE]
    if rate == 0.0:
        k = max(m.tallies[STEPS] + 1 - m.settings[BURN_IN], 1.0)
        rate = (1.0 + m.settings[GROWTH]) / (k + m.settings[GROWTH])
    for c in range(n_outputs):
        for j in range(d.counters[SIZE]):
            d.weights[first + c, j] += rate * (d.weights[c, j] - d.weights[first + c, j])


@piece
def _note(m, trace, line, before, added, error, clipped, step, loss):
    theta = _theta(m.switches[PAIRING], 0)
    trace[line, 0] = loss
    trace[line, 1] = sample_value(
        m.loss, m.risk, m.g, m.predictions[theta], m.window_y[theta]
    )
    trace[line, 2] = m.dictionary.counters[SIZE]
    trace[line, 3] = added
    trace[line, 4] = before + added - m.dictionary.counters[SIZE]
    trace[line, 5] = error
    trace[line, 6] = clipped
    trace[line, 7] = step
    trace[line, 8] = m.levels[SQUARED_NORM]
    for i in range(m.g.shape[0]):
        trace[line, 9 + i] = m.g[i]


@jit
def _step(m, trace, line):
    """Algorithm 1 of the paper for the samples in the window. False: it would diverge."""
    d, size = m.dictionary, m.window_x.shape[0]
    t = m.tallies[STEPS]
    step = scheduled(m.settings, STEP_SIZE, t)
    factor = 1.0 - step * m.settings[REGULARIZATION]
    for b in range(size):
        for feature in range(d.points.shape[1]):
            d.points[b, feature] = m.window_x[b, feature]
    evaluate_columns(d, size)
    _predict_window(m, size)
    # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ))
    _track(m, scheduled(m.settings, TRACKING_RATE, t))
    # ⟨h'(f_t(ξ)), ℓ'(g_{t+1})⟩ and the slope at θ, bounded as Assumption 5 demands
    clipped = _gather_coefficients(m, size)
    if _has_diverged(m, size):
        for i in range(m.g.shape[0]):
            m.g[i] = m.tracked[0, i]
        return False
    loss, batch = 0.0, m.switches[BATCH]
    for b in range(batch):
        theta = _theta(m.switches[PAIRING], b)
        weight = m.window_weight[theta]
        loss += sample_loss(m.loss, m.predictions[theta], m.window_y[theta]) / batch
        m.levels[WEIGHT_SUM] += weight
        m.levels[LOSS_SUM] += weight * sample_loss(
            m.loss, m.predictions[theta], m.window_y[theta]
        )
    # f~ = (1 − αλ) f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·)
    staged = _stage(m, size, step, factor)
    _shrink(m, factor)
    # f = KOMP(f~, ε)
    before = d.counters[SIZE]
    eps = m.settings[EPS] + m.settings[PARSIMONY] * step * step
    solve(d, staged)
    error, added = absorb(d, staged, eps, 0, m.switches[MAX_ATOMS])
    m.levels[SQUARED_NORM] = max(m.levels[SQUARED_NORM] - error * error, 0.0)
    m.levels[ERROR_SUM] += error
    _keep_in_ball(m)
    _average(m)
    m.tallies[STEPS] = t + 1
    if line < trace.shape[0]:
        _note(m, trace, line, before, added, error, clipped, step, loss)
    return True


@jit
def learn(m, X, Y, weight, trace):
    """Run the stream through the window, a step each time that it is full.

    Returns how many samples were taken, how many steps made, and why it stopped.
    """
    size = m.window_x.shape[0]
    capacity = m.dictionary.atoms.shape[1]
    steps = 0
    for row in range(X.shape[0]):
        if weight[row] == 0.0:
            continue
        filled = m.tallies[FILLED]
        if filled + 1 == size and m.dictionary.counters[SIZE] + size > capacity:
            return row, steps, FULL
        for feature in range(X.shape[1]):
            m.window_x[filled, feature] = X[row, feature]
        largest = m.levels[LARGEST_TARGET]
        for c in range(Y.shape[1]):
            m.window_y[filled, c] = Y[row, c]
            m.levels[LARGEST_TARGET] = max(m.levels[LARGEST_TARGET], abs(Y[row, c]))
        m.window_weight[filled] = weight[row]
        if filled + 1 < size:
            m.tallies[FILLED] = filled + 1
            continue
        if not _step(m, trace, steps):
            m.levels[LARGEST_TARGET] = largest
            return row, steps, DIVERGED
        steps += 1
        m.tallies[FILLED] = 0
        if m.switches[PAIRING] == OVERLAP:
            for feature in range(X.shape[1]):
                m.window_x[0, feature] = m.window_x[size - 1, feature]
            for c in range(Y.shape[1]):
                m.window_y[0, c] = m.window_y[size - 1, c]
            m.window_weight[0] = m.window_weight[size - 1]
            m.tallies[FILLED] = 1
    return X.shape[0], steps, DONE
