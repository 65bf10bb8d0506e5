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

__all__ = ["loss_slope", "loss_slopes", "loss_value", "loss_values"]

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
def _residual_value(code: int, constant: float, r: float) -> float:
    if code == SQUARED:
        return r * r
    if code == HUBER:
        size = abs(r)
        return 0.5 * r * r if size <= constant else constant * (size - 0.5 * constant)
    if code == LOG_COSH:
        return constant * constant * _log_cosh(r / constant)
    if code == EPSILON_INSENSITIVE:
        return max(abs(r) - constant, 0.0)
    if code == SQUARED_EPSILON_INSENSITIVE:
        return max(abs(r) - constant, 0.0) ** 2
    if code == PINBALL:
        return (1.0 - constant) * r if r > 0.0 else -constant * r
    return (1.0 - constant) * r * r if r > 0.0 else constant * r * r  # EXPECTILE


@piece
def _residual_slope(code: int, constant: float, r: float) -> float:
    if code == SQUARED:
        return 2.0 * r
    if code == HUBER:
        return min(max(r, -constant), constant)
    if code == LOG_COSH:
        return constant * np.tanh(r / constant)
    if code == EPSILON_INSENSITIVE:
        return np.sign(r) if abs(r) > constant else 0.0
    if code == SQUARED_EPSILON_INSENSITIVE:
        return 2.0 * np.sign(r) * max(abs(r) - constant, 0.0)
    if code == PINBALL:
        if r == 0.0:
            return 0.0
        return 1.0 - constant if r > 0.0 else -constant
    return 2.0 * (1.0 - constant) * r if r > 0.0 else 2.0 * constant * r  # EXPECTILE


@piece
def _margin_value(code: int, constant: float, margin: float) -> float:
    if code == LOGISTIC:
        return max(-margin, 0.0) + np.log1p(np.exp(-abs(margin)))
    shortfall = max(1.0 - margin, 0.0)
    if code == HINGE:
        return shortfall
    if code == SQUARED_HINGE:
        return shortfall * shortfall
    if shortfall < constant:  # SMOOTH_HINGE
        return 0.5 * shortfall * shortfall / constant
    return shortfall - 0.5 * constant


@piece
def _margin_slope(code: int, constant: float, margin: float) -> float:
    if code == LOGISTIC:
        return -1.0 / (1.0 + np.exp(margin))
    shortfall = max(1.0 - margin, 0.0)
    if code == HINGE:
        return -1.0 if shortfall > 0.0 else 0.0
    if code == SQUARED_HINGE:
        return -2.0 * shortfall
    return -min(shortfall / constant, 1.0)  # SMOOTH_HINGE


@piece
def _softmax_value(f: Array, y: Array) -> float:
    label = int(y[0])
    if label < 0 or label >= f.size:
        return np.nan
    top = 0
    for k in range(1, f.size):
        if f[k] > f[top]:
            top = k
    rest = 0.0  # Σ exp over all but the largest: log1p keeps the tails of well-fitted points
    for k in range(f.size):
        if k != top:
            rest += np.exp(f[k] - f[top])
    return (f[top] - f[label]) + np.log1p(rest)


@piece
def _softmax_slope(f: Array, y: Array, out: Array) -> None:
    """Class probabilities, minus one at the label."""
    largest = f[0]
    for k in range(1, f.size):
        largest = max(largest, f[k])
    total = 0.0
    for k in range(f.size):
        out[k] = np.exp(f[k] - largest)
        total += out[k]
    label = int(y[0])
    known = 0 <= label < f.size
    for k in range(f.size):
        out[k] = out[k] / total if known else np.nan
    if known:  # 1 − p summed from the others, exact where p is near 1
        others = 0.0
        for k in range(f.size):
            if k != label:
                others += out[k]
        out[label] = -others


@inner
def loss_value(program: Array, f: Array, y: Array) -> float:
    """ℓ(f, y) of one prediction f (q,) and one target y (r,)."""
    few_turns()
    code = int(program[0])
    if code == SOFTMAX:
        return _softmax_value(f, y)
    total = 0.0
    for c in range(f.size):
        if code == CUSTOM:
            total += call_at(int(program[1]), (f[c], y[c]))
        elif code < LOGISTIC:
            total += _residual_value(code, program[1], f[c] - y[c])
        else:
            total += _margin_value(code, program[1], y[c] * f[c])
    return total


@inner
def loss_slope(program: Array, f: Array, y: Array, out: Array) -> None:
    """Write ∂ℓ/∂f of one prediction f (q,) into `out[:q]`."""
    few_turns()
    code = int(program[0])
    if code == SOFTMAX:
        _softmax_slope(f, y, out)
        return
    for c in range(f.size):
        if code == CUSTOM:
            out[c] = call_at(int(program[2]), (f[c], y[c]))
        elif code < LOGISTIC:
            out[c] = _residual_slope(code, program[1], f[c] - y[c])
        else:
            out[c] = y[c] * _margin_slope(code, program[1], y[c] * f[c])


@stepper
def loss_values(program: Array, F: Array, Y: Array, out: Array) -> None:
    """Write the losses of the rows of F (n, q) and Y (n, r) into `out` (n,)."""
    for i in range(F.shape[0]):
        out[i] = loss_value(program, F[i], Y[i])


@stepper
def loss_slopes(program: Array, F: Array, Y: Array, out: Array) -> None:
    """Write the slopes of the rows of F (n, q) and Y (n, r) into `out` (n, q)."""
    for i in range(F.shape[0]):
        loss_slope(program, F[i], Y[i], out[i])
