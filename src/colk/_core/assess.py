"""The quasi-gradient at the samples of a window: the unit that every compositional method shares.

Predictions of f_t and f_{t−1}, losses, the tracked g_{t+1}, and the coefficients of the samples in
the quasi-gradient, bounded as Assumption 5 demands.
"""

import numpy as np

from colk._core.buffers import COLUMN, GHOST, GHOSTS, SIZE, padded
from colk._core.jit import call_at, few_turns, inner, piece, unit
from colk._core.losses import loss_and_slope
from colk._core.objective import pair_slopes, track_sample
from colk._core.reference import address_of
from colk._core.window import (
    BATCH,
    GRADIENT_BOUND,
    HUGE,
    LARGEST_TARGET,
    LOSS_SUM,
    MEAN_LOSS,
    MOMENTUM,
    N_CLIPPED,
    PAIRING,
    REMEMBERED,
    RUNAWAY,
    STEPS,
    WEIGHT_SUM,
    Learner,
    learner_at,
    place_of_theta,
    place_of_unseen,
    place_of_xi,
)
from colk._validation import Array

__all__ = ["AHEAD", "JACOBI", "TRACK_FIRST", "assess", "assess_unit", "combine"]

# In which order g and the gradient are renewed: g first; g first, by a function ahead of f that is
# remembered in place of the previous one (accelerated SCGD); or the gradient first, which then sees
# the old g (NASA).
TRACK_FIRST, AHEAD, JACOBI = 0, 1, 2


@piece
def combine(weights: Array, first: int, n: int, k: Array, out: Array) -> None:
    """out_c = Σ_j weights[first + c, j] k_j: values of functions at the point of column k."""
    for c in range(out.size):
        total = 0.0
        for j in range(n):
            total += weights[first + c, j] * k[j]
        out[c] = total


@inner
def _predict_window(m: Learner, size: int) -> None:
    """f_t at every point of the window, and f_{t−1} at every ξ where the tracker remembers it.

    f_{t−1} is exact: its weights are kept on the atoms that stayed, and the atoms that the last
    step dropped are still there as ghosts.
    """
    d, remembered = m.dictionary, m.switches[REMEMBERED]
    weights, columns, ghosts, n = d.weights, d.panels[COLUMN], d.ghosts, padded(d.counters[SIZE])
    for b in range(size):
        combine(weights, 0, n, columns[b], m.predictions[b])
    if remembered > 0:
        for b in range(m.switches[BATCH]):
            xi = place_of_xi(m.switches[PAIRING], b)
            combine(weights, remembered, n, columns[xi], m.previous[xi])
            for c in range(m.previous.shape[1]):
                row = d.atoms.shape[0] + remembered + c
                for j in range(d.counters[GHOSTS]):
                    m.previous[xi, c] += ghosts[row, j] * d.panels[GHOST, xi, j]


@piece
def _weigh(m: Learner, size: int) -> None:
    """Losses at the samples of the window, and their slopes."""
    predictions, y, slopes = m.predictions, m.window_y, m.loss_slopes
    for b in range(size):
        m.losses[b] = loss_and_slope(m.loss, predictions[b], y[b], slopes[b])


@piece
def _track(m: Learner, rate: float, ahead: bool) -> None:
    """g_{t+1}: the mean over the batch of what the tracker makes of each ξ."""
    g, before, mean, batch = m.g, m.tracked[0], m.tracked[1], m.switches[BATCH]
    momentum, first = m.switches[MOMENTUM] > 0, m.tallies[STEPS] == 0
    for i in range(g.size):
        before[i] = g[i]
        mean[i] = 0.0
    for b in range(batch):
        xi = place_of_xi(m.switches[PAIRING], b)
        for i in range(g.size):
            g[i] = before[i]
        weighted = min(1.0, rate * m.window_weight[xi])
        track_sample(m, xi, 1.0 if first else weighted, momentum, ahead)
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
def _gather(m: Learner, size: int) -> None:
    """Coefficients of κ(x_b, ·) in the quasi-gradient, and how many pairs were clipped."""
    pairing, batch, bound = m.switches[PAIRING], m.switches[BATCH], m.settings[GRADIENT_BOUND]
    coefficients, slopes, weight = m.coefficients, m.slopes, m.window_weight
    clipped = 0
    for b in range(size):
        for c in range(slopes.shape[1]):
            coefficients[b, c] = 0.0
    for b in range(batch):
        theta, xi = place_of_theta(pairing, b), place_of_xi(pairing, b)
        pair_slopes(m, theta, xi)
        clipped += _clip(slopes, bound)
        for c in range(slopes.shape[1]):
            coefficients[theta, c] += slopes[0, c] * weight[theta] / batch
            coefficients[xi, c] += slopes[1, c] * weight[theta] * weight[xi] / batch
    m.levels[N_CLIPPED] = clipped


@piece
def _is_sound(m: Learner, size: int) -> bool:
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
def _note_losses(m: Learner) -> None:
    """Add the losses of the new samples, before the step, to the sums."""
    levels, weight, batch = m.levels, m.window_weight, m.switches[BATCH]
    levels[MEAN_LOSS] = 0.0
    for b in range(batch):
        new = place_of_unseen(m.switches[PAIRING], b)
        levels[WEIGHT_SUM] += weight[new]
        levels[LOSS_SUM] += weight[new] * m.losses[new]
        levels[MEAN_LOSS] += m.losses[new] / batch


@unit("float64(int64, float64, int64)")
def assess_unit(address: int, rate: float, order: int) -> float:
    """Predictions, g_{t+1} and the coefficients of the quasi-gradient at the window's samples.

    Returns 1 where the step may be made; 0, and the old g, where it would diverge.
    """
    few_turns()
    m = learner_at(address)
    size, late = m.window_x.shape[0], order == JACOBI and m.tallies[STEPS] > 0
    _predict_window(m, size)
    _weigh(m, size)
    for turn in range(2):
        if (turn == 0) == late:
            # ⟨h'(f_t(ξ)), ℓ'(g_{t+1})⟩ and the slope at θ
            _gather(m, size)
        elif m.g.size > 0:
            # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ))
            _track(m, rate, order == AHEAD)
    if not _is_sound(m, size):
        for i in range(m.g.size):
            m.g[i] = m.tracked[0, i]
        return 0.0
    _note_losses(m)
    return 1.0


@piece
def assess(m: Learner, rate: float, order: int) -> bool:
    """Call the unit above."""
    return call_at(m.assess, (address_of(m), rate, order)) > 0.0
