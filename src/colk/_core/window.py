"""The window of samples that a step works on, and what is the same in every method.

A stream fills the window; the pairing says which of its samples is θ and which is ξ; a mini-batch
is a longer window. The window is part of the state, so that the way a stream is cut into chunks
cannot change the result.

A method lays the values κ(d_j, x) or φ_j(x) that its predictions are linear in into the panel
COLUMN of its buffers, asks `assess` for the coefficients of the quasi-gradient, and moves its
weights as it likes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._core.block import evaluate_columns
from colk._core.buffers import CARRY, COLUMN, GHOSTS, GRAM, SIZE, Buffers
from colk._core.jit import piece
from colk._core.kernels import column
from colk._core.objective import gradient, inner_track, sample_loss, sample_value
from colk._validation import Array

__all__ = [
    "TRACE",
    "Learner",
    "assess",
    "average",
    "evaluate_window",
    "gather_coefficients",
    "is_sound",
    "note_losses",
    "predict_window",
    "record",
    "remember_and_shrink",
    "scheduled",
    "slide",
    "take",
    "track_window",
    "untake",
]

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
TRACE = ("loss", "outer", "n_atoms", "added", "dropped", "error", "clipped", "step_size", "norm")
LOSS, OUTER, N_ATOMS, ADDED, DROPPED, ERROR, CLIPPED, STEP, NORM = range(9)
N_TRACED = 9

# What `learn` returns beside the number of samples taken.
DONE, FULL, DIVERGED = 0, 1, 2

# Predictions beyond this many times the largest target are divergence.
RUNAWAY = 1e6
# Coefficients and kernel values below this have products and squares that are finite.
HUGE = 1e75
# κ(x, ·) of a squared norm below this is the function 0: a linear kernel has it at x = 0.
VANISHING = 1e-280


class Learner(NamedTuple):
    """All that a step reads and writes."""

    dictionary: Buffers
    loss: Array
    risk: Array
    settings: Array
    switches: NDArray[np.int64]
    tallies: NDArray[np.int64]
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
def scheduled(settings: Array, first: int, t: int) -> float:
    """value/(1 + t/scale)^power: constant where the power is 0."""
    value = settings[first]
    if settings[first + 2] != 0.0:
        value /= (1.0 + t / settings[first + 1]) ** settings[first + 2]
    return value


@piece
def evaluate_window(m: Learner, size: int) -> bool:
    """Lay out κ(D, x) for the points x of the window, and their own Gram matrix.

    False: the H-norm of a step towards some κ(x, ·) would overflow.
    """
    d = m.dictionary
    columns, gram, n = d.panels[COLUMN], d.small[GRAM], d.counters[SIZE]
    for b in range(size):
        for feature in range(d.points.shape[1]):
            d.points[b, feature] = m.window_x[b, feature]
    evaluate_columns(d.program, d.atoms, n, d.points, columns, gram, d.work, size)
    moderate = True
    for b in range(size):
        if not gram[b, b] < HUGE:
            m.coefficients[b, 0] = gram[b, b]
            moderate = False
    return moderate


@piece
def _combine(weights: Array, first: int, n: int, k: Array, out: Array) -> None:
    """out_c = Σ_j weights[first + c, j] k_j: values of functions at the point of column k."""
    for c in range(out.size):
        total = 0.0
        for j in range(n):
            total += weights[first + c, j] * k[j]
        out[c] = total


@piece
def _add_ghosts(d: Buffers, first: int, x: Array, out: Array) -> None:
    """Add to f_{t−1}(x) what the atoms that the last step dropped contribute."""
    ghosts, n_ghosts, k = d.ghosts, d.counters[GHOSTS], d.work[CARRY]
    if n_ghosts > 0:
        column(d.program, ghosts, n_ghosts, x, k, d.work)
        row = d.atoms.shape[0] + first
        for c in range(out.size):
            for j in range(n_ghosts):
                out[c] += ghosts[row + c, j] * k[j]


@piece
def predict_window(m: Learner, size: int) -> None:
    """f_t at every point of the window, and f_{t−1} where the tracker remembers it.

    f_{t−1} is exact: its weights are kept on the atoms that stayed, and the atoms that the last
    step dropped are still there as ghosts.
    """
    d, remembered = m.dictionary, m.switches[REMEMBERED]
    weights, columns, n = d.weights, d.panels[COLUMN], d.counters[SIZE]
    for b in range(size):
        _combine(weights, 0, n, columns[b], m.predictions[b])
        if remembered > 0:
            _combine(weights, remembered, n, columns[b], m.previous[b])
            _add_ghosts(d, remembered, m.window_x[b], m.previous[b])


@piece
def _theta(pairing: int, b: int) -> int:
    """Place in the window of the b-th θ."""
    return 2 * b if pairing == INDEPENDENT else b


@piece
def _xi(pairing: int, b: int) -> int:
    """Place in the window of the b-th ξ.

    Of overlapping pairs ξ is the new sample: the tracker compares f_t with f_{t−1} there, and a
    sample that the step between them has fitted would bias it.
    """
    if pairing == INDEPENDENT:
        return 2 * b + 1
    return b + 1 if pairing == OVERLAP else b


@piece
def _unseen(pairing: int, b: int) -> int:
    """Place in the window of the b-th sample that f has not met: its loss is prequential."""
    return b + 1 if pairing == OVERLAP else _theta(pairing, b)


@piece
def track_window(m: Learner, rate: float) -> None:
    """g_{t+1}: the mean over the batch of what the tracker makes of each ξ."""
    g, before, mean, batch = m.g, m.tracked[0], m.tracked[1], m.switches[BATCH]
    momentum, first = m.switches[MOMENTUM] > 0, m.tallies[STEPS] == 0
    for i in range(g.size):
        before[i] = g[i]
        mean[i] = 0.0
    for b in range(batch):
        xi = _xi(m.switches[PAIRING], b)
        f_previous, f, y = m.previous[xi], m.predictions[xi], m.window_y[xi]
        weighted = min(1.0, rate * m.window_weight[xi])
        for i in range(g.size):
            g[i] = before[i]
        inner_track(m.loss, m.risk, g, f_previous, f, y, weighted, momentum, first, m.work)
        for i in range(g.size):
            mean[i] += g[i] / batch
    for i in range(g.size):
        g[i] = mean[i]


@piece
def _clip(slopes: Array, bound: float) -> bool:
    """Scale (c_θ, c_ξ) back to the norm `bound`; returns whether it was longer."""
    squares, largest = 0.0, 0.0
    for c in range(slopes.shape[1]):
        squares += slopes[0, c] * slopes[0, c] + slopes[1, c] * slopes[1, c]
        largest = max(largest, abs(slopes[0, c]), abs(slopes[1, c]))
    if squares <= bound * bound or not largest < np.inf:
        return False
    squares = 0.0  # once more, relative to the largest: no square overflows
    for c in range(slopes.shape[1]):
        squares += (slopes[0, c] / largest) ** 2 + (slopes[1, c] / largest) ** 2
    for c in range(slopes.shape[1]):
        slopes[0, c] = slopes[0, c] / largest * (bound / np.sqrt(squares))
        slopes[1, c] = slopes[1, c] / largest * (bound / np.sqrt(squares))
    return True


@piece
def gather_coefficients(m: Learner, size: int) -> int:
    """Coefficients of κ(x_b, ·) in the quasi-gradient; returns how many pairs were clipped."""
    pairing, batch, bound = m.switches[PAIRING], m.switches[BATCH], m.settings[GRADIENT_BOUND]
    predictions, targets, weight = m.predictions, m.window_y, m.window_weight
    coefficients, slopes = m.coefficients, m.slopes
    clipped = 0
    for b in range(size):
        for c in range(slopes.shape[1]):
            coefficients[b, c] = 0.0
    for b in range(batch):
        theta, xi = _theta(pairing, b), _xi(pairing, b)
        f_theta, y_theta, f_xi, y_xi = (
            predictions[theta],
            targets[theta],
            predictions[xi],
            targets[xi],
        )
        gradient(m.loss, m.risk, m.g, f_theta, y_theta, f_xi, y_xi, slopes[0], slopes[1], m.work)
        clipped += _clip(slopes, bound)
        for c in range(slopes.shape[1]):
            coefficients[theta, c] += slopes[0, c] * weight[theta] / batch
            coefficients[xi, c] += slopes[1, c] * weight[theta] * weight[xi] / batch
    return clipped


@piece
def is_sound(m: Learner, size: int) -> bool:
    """Whether nothing ran away: predictions and coefficients within their limits, g finite."""
    predictions, coefficients, g = m.predictions, m.coefficients, m.g
    limit = RUNAWAY * (1.0 + m.levels[LARGEST_TARGET])
    sound = True
    for b in range(size):
        for c in range(predictions.shape[1]):
            if not abs(predictions[b, c]) <= limit or not abs(coefficients[b, c]) < HUGE:
                sound = False
    total = 0.0  # a sum is finite where all of its terms are
    for i in range(g.size):
        total += abs(g[i])
    return sound and total < np.inf


@piece
def note_losses(m: Learner) -> float:
    """Add the losses of the new samples, before the step, to the sums; returns their mean."""
    levels, weight, batch = m.levels, m.window_weight, m.switches[BATCH]
    mean = 0.0
    for b in range(batch):
        new = _unseen(m.switches[PAIRING], b)
        loss = sample_loss(m.loss, m.predictions[new], m.window_y[new])
        levels[WEIGHT_SUM] += weight[new]
        levels[LOSS_SUM] += weight[new] * loss
        mean += loss / batch
    return mean


@piece
def remember_and_shrink(m: Learner, factor: float) -> None:
    """F ← (1 − αλ) f, after its weights are remembered as those of f_{t−1}."""
    d, remembered, n_outputs = m.dictionary, m.switches[REMEMBERED], m.predictions.shape[1]
    weights, n = d.weights, d.counters[SIZE]
    d.counters[GHOSTS] = 0
    for c in range(n_outputs):
        if remembered > 0:
            for j in range(n):
                weights[remembered + c, j] = weights[c, j]
        if factor != 1.0:
            for j in range(n):
                weights[c, j] *= factor


@piece
def average(m: Learner) -> None:
    """f̄ ← f̄ + ρ(f − f̄): constant ρ, or (1 + γ)/(k + γ) at the k-th step after the burn-in."""
    first, rate, n_outputs = m.switches[AVERAGED], m.settings[AVERAGING_RATE], m.slopes.shape[1]
    weights, n = m.dictionary.weights, m.dictionary.counters[SIZE]
    if rate == 0.0:
        k = max(m.tallies[STEPS] + 1.0 - m.settings[BURN_IN], 1.0)
        rate = (1.0 + m.settings[GROWTH]) / (k + m.settings[GROWTH])
    for c in range(n_outputs):
        for j in range(n):
            weights[first + c, j] += rate * (weights[c, j] - weights[first + c, j])


@piece
def assess(m: Learner, size: int) -> tuple[bool, float, int]:
    """Predictions, g_{t+1} and the coefficients of the quasi-gradient at the window's samples.

    Returns whether the step may be made, the mean loss of the θs, and how many pairs were clipped.
    """
    predict_window(m, size)
    # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ))
    if m.g.size > 0:
        track_window(m, scheduled(m.settings, TRACKING_RATE, m.tallies[STEPS]))
    # ⟨h'(f_t(ξ)), ℓ'(g_{t+1})⟩ and the slope at θ, bounded as Assumption 5 demands
    clipped = gather_coefficients(m, size)
    sound, loss = is_sound(m, size), 0.0
    if sound:
        loss = note_losses(m)
    else:
        for i in range(m.g.size):
            m.g[i] = m.tracked[0, i]
    return sound, loss, clipped


@piece
def record(
    m: Learner, line: Array, loss: float, n_atoms: int, error: float, clipped: int, step: float
) -> None:
    """Note what a step did. Of added and dropped atoms the method knows."""
    theta = _theta(m.switches[PAIRING], 0)
    line[LOSS], line[N_ATOMS], line[ERROR] = loss, n_atoms, error
    line[CLIPPED], line[STEP] = clipped, step
    line[OUTER] = sample_value(m.loss, m.risk, m.g, m.predictions[theta], m.window_y[theta])
    line[NORM] = np.sqrt(m.levels[SQUARED_NORM])
    for i in range(m.g.size):
        line[N_TRACED + i] = m.g[i]


@piece
def take(m: Learner, X: Array, Y: Array, weight: Array, row: int) -> float:
    """Put a sample in the next place of the window; returns the largest target before it."""
    filled, largest = m.tallies[FILLED], m.levels[LARGEST_TARGET]
    for feature in range(X.shape[1]):
        m.window_x[filled, feature] = X[row, feature]
    for c in range(Y.shape[1]):
        m.window_y[filled, c] = Y[row, c]
        m.levels[LARGEST_TARGET] = max(m.levels[LARGEST_TARGET], abs(Y[row, c]))
    m.window_weight[filled] = weight[row]
    m.tallies[FILLED] = filled + 1
    return largest


@piece
def untake(m: Learner, largest: float) -> None:
    """Forget the sample that was taken last."""
    m.tallies[FILLED] -= 1
    m.levels[LARGEST_TARGET] = largest


@piece
def slide(m: Learner) -> None:
    """Start the next window: with the last sample where pairs overlap, empty otherwise."""
    last = m.window_x.shape[0] - 1
    m.tallies[FILLED] = 0
    if m.switches[PAIRING] == OVERLAP:
        for feature in range(m.window_x.shape[1]):
            m.window_x[0, feature] = m.window_x[last, feature]
        for c in range(m.window_y.shape[1]):
            m.window_y[0, c] = m.window_y[last, c]
        m.window_weight[0] = m.window_weight[last]
        m.tallies[FILLED] = 1
