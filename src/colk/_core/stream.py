"""The loop over a stream: samples fill the window, and a full window is a step."""

from colk._core.buffers import SIZE
from colk._core.jit import call_at, few_turns, inner, piece, stepper
from colk._core.reference import address_of
from colk._core.window import (
    DIVERGED,
    DONE,
    FILLED,
    FULL,
    GAINED,
    LARGEST_TARGET,
    OVERLAP,
    PAIRING,
    STEPS,
    Learner,
    learner_at,
)
from colk._validation import Array

__all__ = ["learn", "run"]


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


@inner
def run(m: Learner, X: Array, Y: Array, weight: Array, trace: Array) -> tuple[int, int, int]:
    """Run the stream through the window, a step each time that it is full.

    Returns how many samples were taken, how many steps made, and why it stopped.
    """
    few_turns()
    d, tallies, line = m.dictionary, m.tallies, m.line
    size, first = m.window_x.shape[0], tallies[STEPS]
    most = d.weights.shape[1] - m.switches[GAINED]
    for row in range(X.shape[0]):
        if weight[row] == 0.0:
            continue
        steps = tallies[STEPS] - first
        if tallies[FILLED] + 1 == size and d.counters[SIZE] > most:
            return row, steps, FULL
        largest = take(m, X, Y, weight, row)
        if tallies[FILLED] == size:
            if call_at(m.step, (address_of(m),)) == 0.0:
                untake(m, largest)
                return row, steps, DIVERGED
            for entry in range(trace.shape[1]):
                trace[steps, entry] = line[entry]
            slide(m)
    return X.shape[0], tallies[STEPS] - first, DONE


@stepper
def learn(address: int, X: Array, Y: Array, weight: Array, trace: Array) -> tuple[int, int, int]:
    """`run` for Python."""
    return run(learner_at(address), X, Y, weight, trace)
