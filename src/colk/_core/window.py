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

from colk._core.buffers import GHOSTS, GRAM, SIZE, Buffers, padded
from colk._core.columns import evaluate_columns
from colk._core.jit import call_at, few_turns, inner, piece, unit
from colk._core.objective import sample_value
from colk._core.reference import Counts, Matrix, address_of, reference_to
from colk._validation import Array

__all__ = [
    "TRACE",
    "Learner",
    "average",
    "evaluate_window",
    "learner_at",
    "place_of_theta",
    "place_of_unseen",
    "place_of_xi",
    "record",
    "record_unit",
    "remember_and_shrink",
    "scheduled",
]

# How the samples of a window play θ and ξ.
ALONE, SAME, INDEPENDENT, OVERLAP = 0, 1, 2, 3

# Settings.
STEP_SIZE, STEP_SCALE, STEP_POWER = 0, 1, 2
TRACKING_RATE, TRACKING_SCALE, TRACKING_POWER = 3, 4, 5
REGULARIZATION, EPS, PARSIMONY, GRADIENT_BOUND, NORM_BOUND = 6, 7, 8, 9, 10
AVERAGING_RATE, BURN_IN, GROWTH = 11, 12, 13
N_SETTINGS = 14

# Switches. GAINED is how many atoms a step may add.
PAIRING, BATCH, MOMENTUM, AVERAGED, REMEMBERED, MAX_ATOMS, GAINED = 0, 1, 2, 3, 4, 5, 6
N_SWITCHES = 7

# Tallies, whole numbers.
STEPS, FILLED = 0, 1
N_TALLIES = 2

# Levels, real numbers; the last two are of the last step: its mean loss, and pairs clipped in it.
SQUARED_NORM, LARGEST_TARGET, ERROR_SUM, LOSS_SUM, WEIGHT_SUM = 0, 1, 2, 3, 4
MEAN_LOSS, N_CLIPPED = 5, 6
N_LEVELS = 7

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
    switches: Counts
    tallies: Counts
    levels: Array
    g: Array  # (m,)
    window_x: Matrix  # (window, features)
    window_y: Matrix  # (window, targets)
    window_weight: Array  # (window,)
    predictions: Matrix  # (window, outputs)
    previous: Matrix  # (window, outputs): of the function that is remembered, at the ξs
    losses: Array  # (window,)
    loss_slopes: Matrix  # (window, outputs)
    coefficients: Matrix  # (window, outputs)
    slopes: Matrix  # (2, outputs): c_θ and c_ξ of one pair
    tracked: Matrix  # (2, m): g before the step, and the mean of its updates
    work: Array
    line: Array  # (N_TRACED + m,): what the last step did, where that is traced
    step: int  # address of the unit that makes a step
    assess: int  # address of the unit that finds the quasi-gradient
    record: int  # address of the unit that fills `line`; 0: nothing is traced
    method: int  # address of what else the method keeps


learner_at = reference_to(Learner)


@piece
def scheduled(settings: Array, first: int, t: int) -> float:
    """value/(1 + t/scale)^power: constant where the power is 0."""
    value = settings[first]
    if settings[first + 2] != 0.0:
        value /= (1.0 + t / settings[first + 1]) ** settings[first + 2]
    return value


@piece
def place_of_theta(pairing: int, b: int) -> int:
    """Place in the window of the b-th θ."""
    return 2 * b if pairing == INDEPENDENT else b


@piece
def place_of_xi(pairing: int, b: int) -> int:
    """Place in the window of the b-th ξ.

    Of overlapping pairs ξ is the new sample: the tracker compares f_t with f_{t−1} there, and a
    sample that the step between them has fitted would bias it.
    """
    if pairing == INDEPENDENT:
        return 2 * b + 1
    return b + 1 if pairing == OVERLAP else b


@piece
def place_of_unseen(pairing: int, b: int) -> int:
    """Place in the window of the b-th sample that f has not met: its loss is prequential."""
    return b + 1 if pairing == OVERLAP else place_of_theta(pairing, b)


@piece
def evaluate_window(m: Learner, size: int) -> bool:
    """Lay out κ(D, x) for the points x of the window, and their own Gram matrix.

    False: the H-norm of a step towards some κ(x, ·) would overflow.
    """
    d, window_x = m.dictionary, m.window_x
    points, gram = d.points, d.small[GRAM]
    for b in range(size):
        for feature in range(points.shape[1]):
            points[b, feature] = window_x[b, feature]
    evaluate_columns(d, size, m.switches[REMEMBERED])
    moderate = True
    for b in range(size):
        if not gram[b, b] < HUGE:
            m.coefficients[b, 0] = gram[b, b]
            moderate = False
    return moderate


@inner
def remember_and_shrink(m: Learner, factor: float) -> None:
    """F ← (1 − αλ) f, after its weights are remembered as those of f_{t−1}."""
    d, remembered, n_outputs = m.dictionary, m.switches[REMEMBERED], m.predictions.shape[1]
    weights, n = d.weights, padded(d.counters[SIZE])
    d.counters[GHOSTS] = 0
    for c in range(n_outputs):
        if remembered > 0:
            for j in range(n):
                weights[remembered + c, j] = weights[c, j]
        if factor != 1.0:
            for j in range(n):
                weights[c, j] *= factor


@inner
def average(m: Learner) -> None:
    """f̄ ← f̄ + ρ(f − f̄): constant ρ, or (1 + γ)/(k + γ) at the k-th step after the burn-in."""
    first, rate, n_outputs = m.switches[AVERAGED], m.settings[AVERAGING_RATE], m.slopes.shape[1]
    weights, n = m.dictionary.weights, padded(m.dictionary.counters[SIZE])
    if rate == 0.0:
        k = max(m.tallies[STEPS] + 1.0 - m.settings[BURN_IN], 1.0)
        rate = (1.0 + m.settings[GROWTH]) / (k + m.settings[GROWTH])
    for c in range(n_outputs):
        for j in range(n):
            weights[first + c, j] += rate * (weights[c, j] - weights[first + c, j])


@unit("float64(int64, float64, float64)")
def record_unit(address: int, error: float, step: float) -> float:
    """Note what a step did. Of atoms added and dropped the method has told."""
    few_turns()
    m = learner_at(address)
    line, levels, theta = m.line, m.levels, place_of_theta(m.switches[PAIRING], 0)
    line[LOSS], line[CLIPPED] = levels[MEAN_LOSS], levels[N_CLIPPED]
    line[N_ATOMS], line[ERROR], line[STEP] = m.dictionary.counters[SIZE], error, step
    line[OUTER] = sample_value(
        m.risk, m.g, m.predictions[theta], m.window_y[theta], m.losses[theta]
    )
    line[NORM] = np.sqrt(levels[SQUARED_NORM])
    for i in range(m.g.size):
        line[N_TRACED + i] = m.g[i]
    return 0.0


@piece
def record(m: Learner, added: int, dropped: int, error: float, step: float) -> None:
    """Note what a step did, where that is asked for."""
    if m.record != 0:
        m.line[ADDED], m.line[DROPPED] = added, dropped
        call_at(m.record, (address_of(m), error, step))
