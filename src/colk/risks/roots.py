"""Tracked values that solve an equation: a root of E inner_i(ℓ, g) = g_i in g_i."""

from typing import TYPE_CHECKING

import numpy as np

from colk._validation import Array
from colk.risks.samples import LossPart, LossSample

if TYPE_CHECKING:
    from colk.risks.of_losses import LossRisk

# E inner_i − g_i below this share of g_i is rounding, which may have either sign.
_ROUNDING = 1e-13
# Brent's method needs many steps where rounding decides about the sign.
_MOST_STEPS = 5000


def solve(risk: "LossRisk", sample: LossSample, g: Array, i: int) -> float:
    """Return the g_i with E inner_i(ℓ, g) = g_i, for the other components as they are.

    If inner_i does not depend on g_i, this is its mean. Otherwise the root is looked for in the
    range of the losses, and then in ranges that grow.
    """
    from scipy.optimize import brentq

    def surplus(value: float) -> float:
        moved = g.copy()
        moved[i] = value
        return float(sample.total(inner_sum, risk, moved, i)[0]) - value

    mean = surplus(g[i]) + float(g[i])
    if surplus(mean) == 0.0:
        return mean
    low, high = sample.ends()
    width, rounding = high - low or 1.0 + abs(high), _ROUNDING * max(-low, high)
    below, above, step = surplus(low), surplus(high), width
    while below * above > 0.0 and min(abs(below), abs(above)) > _ROUNDING * max(-low, high):
        low, high, step = low - step, high + step, 2.0 * step
        below, above = surplus(low), surplus(high)
    if below * above < 0.0:
        width = 1e-14 * width
        return float(brentq(surplus, low, high, xtol=width, rtol=8.9e-16, maxiter=_MOST_STEPS))
    if min(abs(below), abs(above)) <= rounding:
        return low if abs(below) <= abs(above) else high
    raise ValueError(
        f"{type(risk).__name__} has no root: E inner_{i}(ℓ, g) − g_{i} has the same sign for "
        f"every g_{i}; a disutility must be convex and increasing"
    )


def inner_sum(part: LossPart, risk: "LossRisk", g: Array, i: int) -> tuple[float]:
    """Return E inner_i over these rows."""
    return (float(np.sum(part.share * risk.inner(part.losses, g)[:, i])),)
