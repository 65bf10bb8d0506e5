"""Losses ℓ(f, y) and their slopes ∂ℓ/∂f, one formula each.

A loss reaches this file as a program: `[code, constants...]`. Losses of a residual f − y and of a
margin y·f act on each output and are summed; softmax couples its outputs. At a kink the slope of
least magnitude wins, so that a point that is fitted exactly asks for no change.
"""

# NumPy's and the compiler's functions of one number are `Any` to a type checker.
# mypy: disable-error-code="no-any-return, call-arg"

import numpy as np

from colk._core.jit import call_at, few_turns, inner, piece, stepper
from colk._validation import Array

__all__ = ["loss_and_slope", "loss_rows"]

# Losses of the residual r = f − y ...
SQUARED = 0
HUBER = 1
LOG_COSH = 2
EPSILON_INSENSITIVE = 3
SQUARED_EPSILON_INSENSITIVE = 4
PINBALL = 5
EXPECTILE = 6
# ... of the margin m = y·f, y = ±1 ...
LOGISTIC = 7
HINGE = 8
SQUARED_HINGE = 9
SMOOTH_HINGE = 10
# ... of all outputs at once, and of a user.
SOFTMAX = 11
CUSTOM = 12


@piece
def _log_cosh(z: float) -> float:
    z = abs(z)
    if z < 1.0:  # cosh z = 1 + 2 sinh²(z/2): no cancellation near 0
        return np.log1p(2.0 * np.sinh(0.5 * z) ** 2)
    return z + np.log1p(np.exp(-2.0 * z)) - np.log(2.0)


@piece
def _of_residual(code: int, constant: float, r: float) -> tuple[float, float]:
    """ℓ and ∂ℓ/∂r."""
    size = abs(r)
    if code == SQUARED:
        return r * r, 2.0 * r
    if code == HUBER:
        value = 0.5 * r * r if size <= constant else constant * (size - 0.5 * constant)
        return value, min(max(r, -constant), constant)
    if code == LOG_COSH:
        return constant * constant * _log_cosh(r / constant), constant * np.tanh(r / constant)
    if code == EPSILON_INSENSITIVE:
        return max(size - constant, 0.0), np.sign(r) if size > constant else 0.0
    if code == SQUARED_EPSILON_INSENSITIVE:
        excess = max(size - constant, 0.0)
        return excess * excess, 2.0 * np.sign(r) * excess
    share = 1.0 - constant if r > 0.0 else constant
    if code == PINBALL:
        return share * size, share * np.sign(r)
    return share * r * r, 2.0 * share * r  # EXPECTILE


@piece
def _of_margin(code: int, constant: float, margin: float) -> tuple[float, float]:
    """ℓ and ∂ℓ/∂m."""
    if code == LOGISTIC:
        value = max(-margin, 0.0) + np.log1p(np.exp(-abs(margin)))
        return value, -1.0 / (1.0 + np.exp(margin))
    shortfall = max(1.0 - margin, 0.0)
    if code == HINGE:
        return shortfall, -1.0 if shortfall > 0.0 else 0.0
    if code == SQUARED_HINGE:
        return shortfall * shortfall, -2.0 * shortfall
    if shortfall < constant:  # SMOOTH_HINGE
        return 0.5 * shortfall * shortfall / constant, -shortfall / constant
    return shortfall - 0.5 * constant, -1.0


@piece
def _of_scores(f: Array, y: Array, slope: Array) -> float:
    """Softmax: −log of the label's probability, and the probabilities, minus one at the label."""
    label, top = int(y[0]), 0
    if label < 0 or label >= f.size:
        for k in range(f.size):
            slope[k] = np.nan
        return np.nan
    for k in range(1, f.size):
        if f[k] > f[top]:
            top = k
    rest = 0.0  # Σ exp over all but the largest: log1p keeps the tails of well-fitted points
    for k in range(f.size):
        slope[k] = np.exp(f[k] - f[top])
        if k != top:
            rest += slope[k]
    others = 0.0  # 1 − p summed from the others, exact where p is near 1
    for k in range(f.size):
        slope[k] /= 1.0 + rest
        if k != label:
            others += slope[k]
    slope[label] = -others
    return (f[top] - f[label]) + np.log1p(rest)


@inner
def loss_and_slope(program: Array, f: Array, y: Array, slope: Array) -> float:
    """ℓ(f, y) of one prediction f (q,) and one target y (r,); writes ∂ℓ/∂f into `slope[:q]`."""
    few_turns()
    code = int(program[0])
    if code == SOFTMAX:
        return _of_scores(f, y, slope)
    total = 0.0
    for c in range(f.size):
        if code == CUSTOM:
            value = call_at(int(program[1]), (f[c], y[c]))
            slope[c] = call_at(int(program[2]), (f[c], y[c]))
        elif code < LOGISTIC:
            value, slope[c] = _of_residual(code, program[1], f[c] - y[c])
        else:
            value, by_margin = _of_margin(code, program[1], y[c] * f[c])
            slope[c] = y[c] * by_margin
        total += value
    return total


@stepper
def loss_rows(program: Array, F: Array, Y: Array, values: Array, slopes: Array) -> None:
    """Write losses (n,) and slopes (n, q) of the rows of F (n, q) and Y (n, r)."""
    for i in range(F.shape[0]):
        values[i] = loss_and_slope(program, F[i], Y[i], slopes[i])
