"""Second derivatives of risks in the losses: a diagonal plus a few rank-one terms.

With shares s, b = s ∂²outer/∂ℓ² at constant g and D = Σ b, the second derivative of a risk is

    CVaR, Entropic        diag(b) − bbᵀ/D, because g minimises the outer expectation;
    a dispersion          diag(b) − bbᵀ/D + D eeᵀ with e = s − b/D, because g is the mean loss;
    MeanSemideviation     the same, minus (p − 1)/(ηd) ccᵀ, where c is the gradient minus s, and d
                          the deviation E[(ℓ − E ℓ)₊^p]^{1/p}.

Newton's method can therefore solve with the factor of the diagonal part and the formula of
Sherman, Morrison and Woodbury.
"""

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from colk._validation import Array
from colk.risks import CVaR, Dispersion, Entropic, LossRisk, MeanSemideviation, Risk

__all__ = ["RiskCurvature", "curvature_of", "has_kink", "softened"]

# Relative step of a finite difference.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class RiskCurvature:
    """The second derivative of a risk in the losses, diag(b) + V diag(c) Vᵀ.

    Parameters
    ----------
    diagonal : array of shape (n,)
        b, at least 0.
    vectors : array of shape (n, k), or None
        V; None if the rest is not of low rank.
    coefficients : array of shape (k,)
        c.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.risks import Variance
    >>> found = curvature_of(Variance(0.5), np.array([1.0, 3.0]), np.full(2, 0.5))
    >>> found.dense().round(6)
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """

    diagonal: Array
    vectors: Array | None
    coefficients: Array

    def dense(self) -> Array:
        """Return the matrix of shape (n, n)."""
        if self.vectors is None:
            raise ValueError("the second derivative of this risk is not known in closed form")
        low_rank = (self.vectors * self.coefficients) @ self.vectors.T
        return np.asarray(np.diag(self.diagonal) + low_rank)


def has_kink(risk: Risk) -> TypeGuard[CVaR | MeanSemideviation]:
    """Whether the risk has a kink in the losses that `smoothing` can smooth.

    Examples
    --------
    >>> has_kink(CVaR(0.1)), has_kink(MeanSemideviation(1.0)), has_kink(MeanSemideviation(2.0))
    (True, True, False)
    """
    if isinstance(risk, MeanSemideviation):
        return risk.order == 1.0 and risk.n_inner > 0
    return isinstance(risk, CVaR) and risk.n_inner > 0


def softened(risk: Risk, smoothing: float) -> Risk:
    """Return the risk with its kink, if any, smoothed at least over this width of losses.

    Examples
    --------
    >>> softened(CVaR(0.1), 0.3), softened(Entropic(1.0), 0.3)
    (CVaR(tail_fraction=0.1, weight=1.0, smoothing=0.3), Entropic(tilt=1.0))
    """
    return risk.replace(smoothing=max(smoothing, risk.smoothing)) if has_kink(risk) else risk


def curvature_of(risk: LossRisk, losses: Array, share: Array) -> RiskCurvature:
    """Return the second derivative of a risk at these losses.

    Parameters
    ----------
    risk : LossRisk
        The risk.
    losses : array of shape (n,)
        Losses.
    share : array of shape (n,)
        Weights of the samples, which sum to 1.

    Examples
    --------
    >>> from colk.risks import Mean
    >>> curvature_of(Mean(), np.array([1.0, 3.0]), np.full(2, 0.5)).diagonal
    array([0., 0.])
    """
    none = np.zeros((len(losses), 0))
    if risk.n_inner == 0:
        return RiskCurvature(np.zeros(len(losses)), none, np.zeros(0))
    g = risk.estimate(losses, share)
    b = _outer_curvature(risk, losses, share, g)
    total = float(b.sum())
    if not isinstance(risk, (CVaR, Entropic, Dispersion, MeanSemideviation)):
        return RiskCurvature(b, None, np.zeros(0))
    if not total > 0.0:
        return RiskCurvature(b, none, np.zeros(0))
    vectors, coefficients = [b], [-1.0 / total]
    if isinstance(risk, (Dispersion, MeanSemideviation)):
        vectors.append(share - b / total)
        coefficients.append(total)
    if isinstance(risk, MeanSemideviation) and risk.order > 1.0 and g[1] > 0.0:
        deviation = float(g[1]) ** (1.0 / risk.order)
        vectors.append(risk.gradient(losses, share) - share)
        coefficients.append(-(risk.order - 1.0) / (risk.weight * deviation))
    return RiskCurvature(b, np.column_stack(vectors), np.array(coefficients))


def _outer_curvature(risk: LossRisk, losses: Array, share: Array, g: Array) -> Array:
    """Return the share times ∂²outer/∂ℓ² of each sample with constant g, of shape (n,)."""
    around = _STEP * (float(share @ np.abs(losses)) or 1.0)
    if has_kink(risk):
        around = min(around, 0.01 * risk.smoothing)
    above, below = (risk.outer_slope_loss(losses + side, g) for side in (around, -around))
    return np.asarray(share * np.maximum((above - below) / (2.0 * around), 0.0))
