"""One step of kernel policy evaluation, and the loop over a stream of transitions.

Rows of the weights: V, then the tracker z where it is a function, then the average of V. All of
them live on one dictionary. Row z holds z divided by `EPS_RATIO`: the price of an atom is the sum
of squares over both rows, so that a joint budget of eps² keeps ‖V − V~‖ ≤ eps and
‖z − z~‖ ≤ EPS_RATIO·eps.
"""

from typing import NamedTuple

import numpy as np

from colk._core.buffers import ADDED as APPENDED
from colk._core.buffers import COLUMN, GHOSTS, SIZE, Buffers
from colk._core.columns import evaluate_columns
from colk._core.jit import inner, piece, stepper
from colk._core.komp import absorb
from colk._core.reference import Counts, reference_to
from colk._core.window import DIVERGED, DONE, FULL, RUNAWAY, scheduled
from colk._validation import Array

__all__ = ["TRACE", "Evaluator", "learn"]

# What moves V: the tracked difference z(x) or z, the difference δ itself, or both.
FUNCTION, SCALAR, CORRECTED, RESIDUAL, SEMI = 0, 1, 2, 3, 4

# Settings.
STEP_SIZE, TRACKING_RATE = 0, 3  # each with its scale and power
REGULARIZATION, EPS, PARSIMONY, DISCOUNT, EPS_RATIO = 6, 7, 8, 9, 10
AVERAGING_RATE, BURN_IN, GROWTH = 11, 12, 13
N_SETTINGS = 14

# Switches: the method, the row of the average (0: none), the largest model order.
METHOD, AVERAGED, MAX_ATOMS = 0, 1, 2
N_SWITCHES = 3

# Tallies, whole numbers.
STEPS = 0
N_TALLIES = 1

# Levels, real numbers: the scalar tracker, the largest reward, sums over the steps.
SCALAR_TRACKER, LARGEST_REWARD, VALUE_ERROR_SUM, TRACKER_ERROR_SUM, SQUARED_SUM = 0, 1, 2, 3, 4
N_LEVELS = 5

# Columns of a trace.
TRACE = ("difference", "tracked", "n_atoms", "added", "dropped", "value_error", "tracker_error")
DIFFERENCE, TRACKED, N_ATOMS, ADDED, DROPPED, VALUE_ERROR, TRACKER_ERROR = range(7)

# Rows of the weights.
VALUE, TRACKER = 0, 1


class Evaluator(NamedTuple):
    """All that a step reads and writes."""

    dictionary: Buffers
    settings: Array
    switches: Counts
    tallies: Counts
    levels: Array


evaluator_at = reference_to(Evaluator)


@piece
def _at(weights: Array, row: int, n: int, k: Array) -> float:
    """Value of the function of this row at the point of column k."""
    total = 0.0
    for j in range(n):
        total += weights[row, j] * k[j]
    return total


@piece
def _tracks_function(method: int) -> bool:
    return method in (FUNCTION, CORRECTED)


@piece
def _tracked(e: Evaluator, n: int, difference: float, rate: float) -> float:
    """z(x) as it was before it saw this difference; the scalar z after it, as PKGTD has it."""
    d, method = e.dictionary, e.switches[METHOD]
    if _tracks_function(method):
        return e.settings[EPS_RATIO] * _at(d.weights, TRACKER, n, d.panels[COLUMN, 0])
    if method == SCALAR:
        return e.levels[SCALAR_TRACKER] + rate * (difference - e.levels[SCALAR_TRACKER])
    return 0.0


@piece
def _directions(method: int, discount: float, difference: float, z: float) -> tuple[float, float]:
    """Coefficients of κ(x, ·) and of κ(x', ·) in the step of V, without the step size."""
    if method == SEMI:
        return difference, 0.0
    if method == RESIDUAL:
        return difference, -discount * difference
    if method == CORRECTED:
        return difference, -discount * z
    return z, -discount * z


@inner
def _average(e: Evaluator) -> None:
    """V̄ ← V̄ + ρ(V − V̄): constant ρ, or (1 + γ)/(k + γ) at the k-th step after the burn-in."""
    row, rate = e.switches[AVERAGED], e.settings[AVERAGING_RATE]
    weights, n = e.dictionary.weights, e.dictionary.counters[SIZE]
    if rate == 0.0:
        k = max(e.tallies[STEPS] + 1.0 - e.settings[BURN_IN], 1.0)
        rate = (1.0 + e.settings[GROWTH]) / (k + e.settings[GROWTH])
    for j in range(n):
        weights[row, j] += rate * (weights[VALUE, j] - weights[row, j])


@inner
def _step(
    e: Evaluator, x: Array, reward: float, x_next: Array, discount: float, line: Array
) -> bool:
    """One transition; `discount` is 0 after a terminal state. False: it would diverge."""
    d, method, t = e.dictionary, e.switches[METHOD], e.tallies[STEPS]
    weights, amounts, n = d.weights, d.amounts, d.counters[SIZE]
    step, rate = scheduled(e.settings, STEP_SIZE, t), scheduled(e.settings, TRACKING_RATE, t)
    points = 2 if discount > 0.0 else 1
    for feature in range(x.size):
        d.points[0, feature] = x[feature]
        d.points[1, feature] = x_next[feature]
    columns = d.panels[COLUMN]
    evaluate_columns(d, points, 0)
    # δ = r + γV(x') − V(x)
    value = _at(weights, VALUE, n, columns[0])
    next_value = _at(weights, VALUE, n, columns[1]) if points > 1 else 0.0
    difference = reward + discount * next_value - value
    z = _tracked(e, n, difference, rate)
    limit = RUNAWAY * (1.0 + e.levels[LARGEST_REWARD])
    if not (abs(value) <= limit and abs(next_value) <= limit and abs(z) <= limit):
        return False
    # V~ = (1 − αλ)V + α(c κ(x, ·) + c' κ(x', ·)),  z~ = z + β(δ − z(x))κ(x, ·)
    here, there = _directions(method, discount, difference, z)
    for row in range(amounts.shape[1]):
        amounts[0, row] = 0.0
        amounts[1, row] = 0.0
    amounts[0, VALUE], amounts[1, VALUE] = step * here, step * there
    if _tracks_function(method):
        amounts[0, TRACKER] = rate * (difference - z) / e.settings[EPS_RATIO]
    factor = 1.0 - step * e.settings[REGULARIZATION]
    if factor != 1.0:
        for j in range(n):
            weights[VALUE, j] *= factor
    # V, z = KOMP(V~, z~; ε)
    d.counters[GHOSTS] = 0
    for row in range(d.spent.size):
        d.spent[row] = 0.0
    eps = e.settings[EPS] + e.settings[PARSIMONY] * step * step
    staged = 2 if there != 0.0 else 1
    absorb(d, staged, eps, 0, e.switches[MAX_ATOMS])
    if e.switches[AVERAGED] > 0:
        _average(e)
    if method == SCALAR:
        e.levels[SCALAR_TRACKER] = z
    value_error, tracker_error = np.sqrt(d.spent[VALUE]), 0.0
    if _tracks_function(method):
        tracker_error = e.settings[EPS_RATIO] * np.sqrt(d.spent[TRACKER])
    e.levels[VALUE_ERROR_SUM] += value_error
    e.levels[TRACKER_ERROR_SUM] += tracker_error
    e.levels[SQUARED_SUM] += difference * difference
    e.tallies[STEPS] = t + 1
    if line.size > 0:
        added, after = d.counters[APPENDED], d.counters[SIZE]
        line[DIFFERENCE], line[TRACKED] = difference, z
        line[N_ATOMS], line[ADDED], line[DROPPED] = after, added, n + added - after
        line[VALUE_ERROR], line[TRACKER_ERROR] = value_error, tracker_error
    return True


@stepper
def learn(
    address: int, states: Array, rewards: Array, next_states: Array, ends: Array, trace: Array
) -> tuple[int, int]:
    """A step for each transition; `ends` is 1 where x' is terminal, so that V(x') counts as 0.

    Returns how many transitions were taken, and why it stopped.
    """
    e = evaluator_at(address)
    capacity, levels = e.dictionary.atoms.shape[1], e.levels
    for row in range(states.shape[0]):
        if e.dictionary.counters[SIZE] + 2 > capacity:
            return row, FULL
        largest = levels[LARGEST_REWARD]
        levels[LARGEST_REWARD] = max(largest, abs(rewards[row]))
        discount = 0.0 if ends[row] != 0.0 else e.settings[DISCOUNT]
        line = trace[min(row, trace.shape[0] - 1)]
        if not _step(e, states[row], rewards[row], next_states[row], discount, line):
            levels[LARGEST_REWARD] = largest
            return row, DIVERGED
    return states.shape[0], DONE
