"""The curvature of a risk at a pair of samples: Gauss–Newton in its outer function.

The functions add numbers of at least 0 to `window.curvatures`, at θ and at ξ. Slopes enter by their
absolute values, because half of the steps at ξ increase the loss and their length must not depend
on the sign.
"""

import math

from colk._engine.contracts import LossContract, RiskContract
from colk._engine.simd import loops
from colk._engine.window import Window

__all__ = ["add_of_losses", "add_of_predictions", "start"]

# Distance of the finite difference of slopes, relative to 1 + the size of the predictions.
DIFFERENCE: float = 1e-6


def start(w: Window, loss: LossContract, width: float) -> int:  # cdef
    """Evaluate the curvatures of the loss at all samples; set the sums over pairs to 0."""
    for b in range(w.size):
        w.curvatures[b] = 0.0
        w.loss_curvatures[b] = loss.curvature(w.predictions, w.targets, b, w.loss_slopes, width)
    return 0


def add_of_losses(
    w: Window, risk: RiskContract, theta: int, xi: int, by_theta: float, by_xi: float, width: float
) -> int:  # cdef
    """Add |∂outer/∂ℓ|·ℓ'' + ∂²outer/∂ℓ²·ℓ'² at θ, and the same through g at ξ.

    The curvature of a dispersion is d''·(ℓ'_θ z_θ − ℓ'_ξ z_ξ)²/2, at most the sum of both squares.
    """
    m, theta_squares, xi_squares = w.g.shape[0], 0.0, 0.0
    outer: float = (
        risk.outer_curvature(w.losses[theta], loops.data(w.g), m, width) if m > 0 else 0.0
    )
    for c in range(w.slopes.shape[1]):
        theta_squares += w.loss_slopes[theta, c] * w.loss_slopes[theta, c]
        xi_squares += w.loss_slopes[xi, c] * w.loss_slopes[xi, c]
    risk.chain(w.losses[theta], w.losses[xi], loops.data(w.g), m, loops.data(w.factors))
    through: float = abs(w.factors[1])
    w.curvatures[theta] += by_theta * (
        abs(w.factors[0]) * w.loss_curvatures[theta] + outer * theta_squares
    )
    w.curvatures[xi] += by_xi * (
        through * w.loss_curvatures[xi] + (outer * xi_squares if through > 0.0 else 0.0)
    )
    return 0


def add_of_predictions(
    w: Window, risk: RiskContract, theta: int, xi: int, by_theta: float, by_xi: float
) -> int:  # cdef
    """Add the curvature of the outer function along its own slope, by a finite difference.

    A slope at ξ gets the curvature of a slope of the same length at θ.
    """
    risk.chain_at(w.predictions, w.targets, theta, xi, w.g, w.slopes, w.work)
    theta_squares, xi_squares, size = 0.0, 0.0, 1.0
    for c in range(w.slopes.shape[1]):
        w.kept[0, c], w.kept[1, c] = w.slopes[0, c], w.predictions[theta, c]
        theta_squares += w.slopes[0, c] * w.slopes[0, c]
        xi_squares += w.slopes[1, c] * w.slopes[1, c]
        size += abs(w.predictions[theta, c])
    if theta_squares == 0.0:
        return 0
    length: float = math.sqrt(theta_squares)
    for c in range(w.slopes.shape[1]):
        w.predictions[theta, c] -= DIFFERENCE * size * w.kept[0, c] / length
    risk.chain_at(w.predictions, w.targets, theta, xi, w.g, w.slopes, w.work)
    change = 0.0
    for c in range(w.slopes.shape[1]):
        w.predictions[theta, c] = w.kept[1, c]
        change += w.kept[0, c] * (w.kept[0, c] - w.slopes[0, c])
    curvature: float = abs(change / (length * DIFFERENCE * size))
    w.curvatures[theta] += by_theta * curvature
    w.curvatures[xi] += by_xi * (curvature * math.sqrt(xi_squares) / length)
    return 0
