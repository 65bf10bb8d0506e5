"""Risks of a loss: outer(ℓ, g), the tracked g, and their slopes, one formula each.

A risk is E_θ[outer(ℓ_θ, g)] with g ∈ R^m tracked on the stream. It reaches this file as a program
`[code, m, constants...]`. The components of g are of two sorts:

* expectations g_i = E_ξ[inner_i(ℓ_ξ)], which enter the gradient by the chain rule through ξ;
* minimisers of E outer over g_i (the threshold of CVaR, the log-mean of Entropic, the p-th power
  of MeanSemideviation). By the envelope theorem they do not enter the gradient: their inner slope
  is 0.

Every g is a fixed point: g = E[inner(ℓ, g)].
"""

# NumPy's and the compiler's functions of one number are `Any` to a type checker.
# mypy: disable-error-code="no-any-return, call-arg"

import numpy as np

from colk._core.jit import call_at, data_of, few_turns, inner, piece, stepper
from colk._validation import Array

__all__ = [
    "inner_slope",
    "inner_value",
    "outer_slope_inner",
    "outer_slope_loss",
    "outer_slopes",
    "outer_value",
    "risk_rows",
]

MEAN = 0
MOMENTS = 1  # order, weight
SEMIDEVIATIONS = 2  # order, weight, smoothing
MEAN_SEMIDEVIATION = 3  # order, weight
CVAR = 4  # tail fraction, weight, smoothing
ENTROPIC = 5  # tilt
CUSTOM = 6  # addresses of inner, inner slope, outer, and its slopes in the loss and in g
COMPOSITION = 7  # addresses of functions of predictions and targets: see objective.py

# exp(t(ℓ − c)) is continued linearly beyond this exponent. An exact c keeps the exponent below
# log n, so that no sample of fewer than 10^13 points is changed by it.
EXPONENT_CAP = 30.0
# The excess over the mean counts by its p-th power up to this multiple of the p-th power tracked,
# linearly beyond. No sample of fewer than a million points is changed by it.
POWER_CAP = 1e6


@piece
def positive_part(u: float, smoothing: float) -> float:
    """Softplus s·log(1 + exp(u/s)); the exact positive part for smoothing 0."""
    if smoothing == 0.0:
        return max(u, 0.0)
    return max(u, 0.0) + smoothing * np.log1p(np.exp(-abs(u) / smoothing))


@piece
def positive_part_slope(u: float, smoothing: float) -> float:
    """Slope of `positive_part`: a logistic function; 0 wins at the kink."""
    if smoothing == 0.0:
        return 1.0 if u > 0.0 else 0.0
    return 1.0 / (1.0 + np.exp(-u / smoothing))


@piece
def _powers(u: float, order: float) -> float:
    """Return u² + u³ + … + u^order."""
    total = 1.0
    for _ in range(int(order) - 2):
        total = 1.0 + u * total
    return u * u * total


@piece
def _powers_slope(u: float, order: float) -> float:
    """Return 2u + 3u² + … + order·u^(order − 1)."""
    total = order
    for p in range(int(order) - 1, 1, -1):
        total = p + u * total
    return u * total


@piece
def _relative_excess(loss: float, g: Array, order: float) -> float:
    """(ℓ − g₁)₊ / g₂^(1/p), no more than the cap."""
    excess = max(loss - g[0], 0.0)
    root = g[1] ** (1.0 / order)
    cap = POWER_CAP ** (1.0 / order)
    return excess / root if excess < cap * root else cap


@piece
def _root_bound(loss: float, g: Array, order: float) -> float:
    """(1/p)(ℓ − g₁)₊^p g₂^(1/p − 1) + (1 − 1/p) g₂^(1/p): its mean is at least the p-th root."""
    excess = max(loss - g[0], 0.0)
    if excess == 0.0:
        return (1.0 - 1.0 / order) * g[1] ** (1.0 / order)
    root = g[1] ** (1.0 / order)
    ratio = _relative_excess(loss, g, order)
    linear = ratio ** (order - 1.0) * (excess - ratio * root)  # 0 below the cap
    return root * ratio**order / order + linear + (1.0 - 1.0 / order) * root


@inner
def inner_value(program: Array, loss: float, g: Array, i: int) -> float:
    """inner_i(ℓ, g): its expectation is g_i where g is exact."""
    code = int(program[0])
    if code == MEAN_SEMIDEVIATION and i == 1:
        return max(loss - g[0], 0.0) ** program[2]
    if code == CVAR:
        tail, smoothing = program[2], program[4]
        if i == 1:
            return abs(loss - g[0])
        above = positive_part_slope(loss - g[0], smoothing)
        return g[0] - g[1] * np.sqrt(tail) * (1.0 - above / tail)
    if code == ENTROPIC:
        return _outer_entropic(program[2], loss, g[0])
    if code == CUSTOM:
        return call_at(int(program[2]), (loss, data_of(g), i))
    return loss


@piece
def inner_slope(program: Array, loss: float, g: Array, i: int) -> float:
    """∂inner_i/∂ℓ of an expectation; 0 for a component that minimises the outer."""
    code = int(program[0])
    if code == CUSTOM:
        return call_at(int(program[3]), (loss, data_of(g), i))
    if code in (CVAR, ENTROPIC) or (code == MEAN_SEMIDEVIATION and i == 1):
        return 0.0
    return 1.0


@piece
def _outer_entropic(tilt: float, loss: float, center: float) -> float:
    exponent = tilt * (loss - center)
    if exponent > EXPONENT_CAP:
        top = np.exp(EXPONENT_CAP)
        return center + (top - 1.0) / tilt + top * (loss - center - EXPONENT_CAP / tilt)
    return center + np.expm1(exponent) / tilt


@inner
def outer_value(program: Array, loss: float, g: Array) -> float:
    """outer(ℓ, g)."""
    code = int(program[0])
    if code == MEAN:
        return loss
    if code == MOMENTS:
        return loss + program[3] * _powers(loss - g[0], program[2])
    if code == SEMIDEVIATIONS:
        return loss + program[3] * _powers(positive_part(loss - g[0], program[4]), program[2])
    if code == MEAN_SEMIDEVIATION:
        return loss + program[3] * _root_bound(loss, g, program[2])
    if code == CVAR:
        excess = positive_part(loss - g[0], program[4])
        return (1.0 - program[3]) * loss + program[3] * (g[0] + excess / program[2])
    if code == ENTROPIC:
        return _outer_entropic(program[2], loss, g[0])
    return call_at(int(program[4]), (loss, data_of(g), 0))


@piece
def outer_slope_loss(program: Array, loss: float, g: Array) -> float:
    """∂outer/∂ℓ."""
    code = int(program[0])
    if code == MEAN:
        return 1.0
    if code == CUSTOM:
        return call_at(int(program[5]), (loss, data_of(g), 0))
    if code == CVAR:
        above = positive_part_slope(loss - g[0], program[4])
        return (1.0 - program[3]) + program[3] * above / program[2]
    if code == ENTROPIC:
        return np.exp(min(program[2] * (loss - g[0]), EXPONENT_CAP))
    return 1.0 + program[3] * _deviation_slope(program, loss, g)


@inner
def _deviation_slope(program: Array, loss: float, g: Array) -> float:
    """Slope in ℓ, and minus that in g₁, of the part of the outer that depends on ℓ − g₁ alone."""
    code = int(program[0])
    u = loss - g[0]
    if code == MOMENTS:
        return _powers_slope(u, program[2])
    if code == SEMIDEVIATIONS:
        excess = positive_part(u, program[4])
        return _powers_slope(excess, program[2]) * positive_part_slope(u, program[4])
    if u <= 0.0:  # MEAN_SEMIDEVIATION
        return 0.0
    return _relative_excess(loss, g, program[2]) ** (program[2] - 1.0)


@piece
def outer_slope_inner(program: Array, loss: float, g: Array, i: int) -> float:
    """∂outer/∂g_i."""
    code = int(program[0])
    if code == CUSTOM:
        return call_at(int(program[6]), (loss, data_of(g), i))
    if code == CVAR:
        if i == 1:
            return 0.0
        above = positive_part_slope(loss - g[0], program[4])
        return program[3] * (1.0 - above / program[2])
    if code == ENTROPIC:
        return -np.expm1(min(program[2] * (loss - g[0]), EXPONENT_CAP))
    if code == MEAN_SEMIDEVIATION and i == 1:
        order = program[2]
        ratio = _relative_excess(loss, g, order) if loss > g[0] else 0.0
        share = (1.0 - ratio**order) * (1.0 - 1.0 / order) / order
        return program[3] * share * g[1] ** (1.0 / order - 1.0)
    return -program[3] * _deviation_slope(program, loss, g)


@piece
def outer_slopes(program: Array, loss: float, g: Array, inner_loss: float) -> tuple[float, float]:
    """Return (∂outer/∂ℓ at θ, Σ_i ∂outer/∂g_i at θ · ∂inner_i/∂ℓ at ξ)."""
    few_turns()
    through = 0.0
    for i in range(int(program[1])):
        slope = inner_slope(program, inner_loss, g, i)
        if slope != 0.0:
            through += outer_slope_inner(program, loss, g, i) * slope
    return outer_slope_loss(program, loss, g), through


# What `risk_rows` can tabulate.
INNER = 0
INNER_SLOPE = 1
OUTER = 2
OUTER_SLOPE_LOSS = 3
OUTER_SLOPE_INNER = 4


@stepper
def risk_rows(program: Array, which: int, losses: Array, g: Array, out: Array) -> None:
    """Tabulate one of the functions above over losses (n,) into `out`: (n, m), or (n, 1)."""
    for row in range(losses.size):
        loss = losses[row]
        for i in range(out.shape[1]):
            if which == INNER:
                out[row, i] = inner_value(program, loss, g, i)
            elif which == INNER_SLOPE:
                out[row, i] = inner_slope(program, loss, g, i)
            elif which == OUTER:
                out[row, i] = outer_value(program, loss, g)
            elif which == OUTER_SLOPE_LOSS:
                out[row, i] = outer_slope_loss(program, loss, g)
            else:
                out[row, i] = outer_slope_inner(program, loss, g, i)
