"""Trackers of g: what a stream knows of the inner expectations of a risk."""

# NumPy's and the compiler's functions of one number are `Any` to a type checker.
# mypy: disable-error-code="no-any-return, call-arg"

import numpy as np

from colk._core.jit import few_turns, piece, stepper
from colk._core.risks import CUSTOM, CVAR, ENTROPIC, MEAN_SEMIDEVIATION, inner_value
from colk._validation import Array

__all__ = ["start", "track"]


@stepper
def start(program: Array, g: Array, loss: float) -> None:
    """Set g from the first loss: it is its own mean, and its size the first guess of a spread."""
    few_turns()
    code = int(program[0])
    for i in range(int(program[1])):
        g[i] = inner_value(program, loss, g, i) if code == CUSTOM else loss
    if code == CVAR:
        g[1] = abs(loss)
    elif code == MEAN_SEMIDEVIATION:
        g[1] = abs(loss) ** program[2]


@piece
def track(
    program: Array, g: Array, previous_loss: float, loss: float, rate: float, momentum: bool
) -> None:
    """Move g towards the inner value of a sample, whose loss under the previous f is given.

    Momentum: g ← (1 − β)(g − inner(ℓ_previous)) + inner(ℓ); else g ← (1 − β)g + β·inner(ℓ). The
    threshold of CVaR knows the second form only. A rate of 1 forgets all but this sample.

    Inner values look at g as it was before the sample: a g₁ that has already moved towards this
    ℓ would bias (ℓ − g₁)₊^p by a share of order β, and its momentum correction by order 1.
    """
    few_turns()
    code = int(program[0])
    if rate >= 1.0:
        start(program, g, loss)
    elif code == ENTROPIC:
        _track_log_mean(program[2], g, previous_loss, loss, rate, momentum)
    elif code == CVAR:
        last = int(program[1]) - 1  # a literal would be compiled as a type of its own
        threshold = inner_value(program, loss, g, last - 1)
        spread = inner_value(program, loss, g, last)
        g[0] = (1.0 - rate) * g[0] + rate * threshold
        g[1] = (1.0 - rate) * g[1] + rate * spread
    else:
        for i in range(int(program[1]) - 1, -1, -1):  # downwards: g_{<i} is still the old one
            _track_expectation(program, g, i, previous_loss, loss, rate, momentum)


@piece
def _track_expectation(
    program: Array,
    g: Array,
    i: int,
    previous_loss: float,
    loss: float,
    rate: float,
    momentum: bool,
) -> None:
    inner = inner_value(program, loss, g, i)
    if momentum:
        moved = (1.0 - rate) * (g[i] - inner_value(program, previous_loss, g, i)) + inner
        # A mean of powers is positive: where the correction would more than halve it, it is
        # averaged instead.
        positive = int(program[0]) == MEAN_SEMIDEVIATION and i == 1
        if not positive or moved > 0.5 * (1.0 - rate) * g[i]:
            g[i] = moved
            return
    g[i] = (1.0 - rate) * g[i] + rate * inner


@piece
def _track_log_mean(
    tilt: float, g: Array, previous_loss: float, loss: float, rate: float, momentum: bool
) -> None:
    """Track c = (1/t) log E exp(tℓ) by the tracker of E exp(tℓ), relative to exp(tc)."""
    exponent = tilt * (loss - g[0])
    if momentum:
        previous = np.exp(tilt * (previous_loss - g[0]))
        ratio = (1.0 - rate) * (1.0 - previous) + np.exp(exponent)
        # A mean of exponentials is positive: no halving by the correction, and no inf − inf.
        if ratio > 0.5 * (1.0 - rate) and ratio < np.inf:
            g[0] += np.log(ratio) / tilt
            return
    old, new = np.log(1.0 - rate), np.log(rate) + exponent
    g[0] += (max(old, new) + np.log1p(np.exp(-abs(old - new)))) / tilt
