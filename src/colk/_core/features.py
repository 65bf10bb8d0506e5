"""Steps of the methods with a vector of parameters, f(x) = wᵀφ(x), and the loop over a stream.

The window holds features φ(x) in place of points. Rows of the weights: the iterate, its average,
and what the method remembers, the previous iterate or NASA's averaged gradient z.
"""

from colk._core.buffers import COLUMN, SIZE
from colk._core.jit import piece, stepper
from colk._core.window import (
    ADDED,
    AVERAGED,
    DIVERGED,
    DONE,
    DROPPED,
    FILLED,
    REGULARIZATION,
    STEP_SIZE,
    STEPS,
    TRACKING_RATE,
    Learner,
    average,
    gather_coefficients,
    is_sound,
    note_losses,
    predict_window,
    record,
    remember_and_shrink,
    scheduled,
    slide,
    take,
    track_window,
    untake,
)
from colk._validation import Array

__all__ = ["ACCELERATED", "NASA", "SCGD", "learn"]

SCGD, ACCELERATED, NASA = 0, 1, 2

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
def _extrapolate(m: Learner, size: int, rate: float) -> None:
    """Exchange f and its extrapolation, the prediction at w_{t−1} + (w_t − w_{t−1})/β."""
    for b in range(size):
        for c in range(m.predictions.shape[1]):
            f, previous = m.predictions[b, c], m.previous[b, c]
            m.predictions[b, c] = previous + (f - previous) / rate
            m.previous[b, c] = f


@piece
def _restore(m: Learner, size: int) -> None:
    """Give `predictions` back what `_extrapolate` put aside."""
    for b in range(size):
        for c in range(m.predictions.shape[1]):
            m.predictions[b, c] = m.previous[b, c]


@piece
def _assess(m: Learner, method: int, gains: Array, size: int) -> tuple[bool, int]:
    """As `assess` of the window; in Jacobi's order for NASA, whose gradient sees the old g."""
    t = m.tallies[STEPS]
    rate, clipped = 1.0, 0
    if method == NASA:
        rate = min(1.0, gains[TRACKING_GAIN] * scheduled(m.settings, STEP_SIZE, t))
    else:
        rate = scheduled(m.settings, TRACKING_RATE, t)
    predict_window(m, size)
    late = method == NASA and t > 0
    if late:
        clipped = gather_coefficients(m, size)
    if m.g.size > 0:
        if method == ACCELERATED:
            _extrapolate(m, size, rate)
        track_window(m, rate)
        if method == ACCELERATED:
            _restore(m, size)
    if not late:
        clipped = gather_coefficients(m, size)
    sound = is_sound(m, size)
    if not sound:
        for i in range(m.g.size):
            m.g[i] = m.tracked[0, i]
    return sound, clipped


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


@piece
def _step(m: Learner, method: int, gains: Array, line: Array) -> bool:
    """One step of the method for the samples in the window. False: it would diverge."""
    size = m.window_x.shape[0]
    step = scheduled(m.settings, STEP_SIZE, m.tallies[STEPS])
    _show(m, size)
    sound, clipped = _assess(m, method, gains, size)
    if not sound:
        return False
    loss = note_losses(m)
    if method == NASA:
        _average_gradient(m, gains, size)
    else:
        _descend(m, step, size)
    if m.switches[AVERAGED] > 0:
        average(m)
    m.tallies[STEPS] += 1
    if line.size > 0:
        line[ADDED], line[DROPPED] = 0.0, 0.0
        record(m, line, loss, m.dictionary.counters[SIZE], 0.0, clipped, step)
    return True


@stepper
def learn(
    m: Learner, method: int, gains: Array, X: Array, Y: Array, weight: Array, trace: Array
) -> tuple[int, int, int]:
    """Run the features X of a stream through the window, a step each time that it is full.

    Returns how many samples were taken, how many steps made, and why it stopped.
    """
    size, first = m.window_x.shape[0], m.tallies[STEPS]
    for row in range(X.shape[0]):
        if weight[row] == 0.0:
            continue
        steps = m.tallies[STEPS] - first
        largest = take(m, X, Y, weight, row)
        if m.tallies[FILLED] == size:
            if not _step(m, method, gains, trace[min(steps, trace.shape[0] - 1)]):
                untake(m, largest)
                return row, steps, DIVERGED
            slide(m)
    return X.shape[0], m.tallies[STEPS] - first, DONE
