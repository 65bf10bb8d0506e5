"""Defaults of settings that are left at None, in units of the loss and of the kernel.

The units are `colk.losses.scale.loss_scale` and `colk.kernels.scale.KernelScale`.
"""

from typing import Literal

import numpy as np

from colk._validation import check_number
from colk.compressors import KOMP
from colk.losses import Loss
from colk.losses.scale import loss_scale
from colk.risks import Risk
from colk.schedules import Rate, as_decay

__all__ = [
    "default_compressor",
    "default_gradient_bound",
    "default_newton_compressor",
    "default_prior",
    "default_regularization",
    "default_step_size",
    "eps_share",
    "needs_implicit_step",
]

# Gradients of CVaR, and of risks from outside the package, may be rare and large. Their steps are
# this share of the steps on the mean loss.
_TAIL_STEP = 0.2

# eps as a share of the RMS step norm, by kind of loss. With labels most steps are short, and a few
# long ones dominate the norm.
_EPS_SHARE = {"regression": 0.05, "binary": 0.5, "multiclass": 0.3}

# Defaults of the Newton solver: the prior in samples of curvature 1, for one number as the target
# and for labels and quantiles, and eps for targets of variance 1.
_PRIOR, _NOISY_PRIOR = 0.1, 0.3
_NEWTON_EPS = 0.05

# Multiples of the scale of the loss.
_GRADIENT_BOUND = 10.0
_REGULARIZATION = 1e-6

# Residuals at which `needs_implicit_step` tries a step.
_RESIDUALS = 2.0 ** np.arange(-3.0, 5.0)
_ROUNDING = 1e-9


def default_step_size(risk: Risk, mean_step: float) -> float:
    """Return the step size: `mean_step`, or 0.2 times that for risks of the tail.

    CVaR divides slopes in the tail by the probability of the tail.

    Examples
    --------
    >>> from colk.risks import CVaR, Variance
    >>> default_step_size(Variance(), mean_step=1.0), default_step_size(CVaR(), mean_step=1.0)
    (1.0, 0.2)
    """
    return _TAIL_STEP * mean_step if risk.takes_short_steps else mean_step


def needs_implicit_step(loss: Loss, risk: Risk, step_size: Rate, largest: float = 1.0) -> bool:
    """Return whether an explicit step could overshoot the best prediction for its sample.

    Under a risk other than the mean it could, because the outer slope is unbounded. Under the mean
    the implicit step is used only if it is needed, because it is shorter: for the Huber loss and
    step size 1 it is half as long as the explicit step on small residuals, and as long on outliers.
    `largest` is the largest κ(x, x).

    Examples
    --------
    >>> from colk.losses import Huber, Pinball
    >>> from colk.risks import Mean, Variance
    >>> needs_implicit_step(Huber(), Mean(), 1.0), needs_implicit_step(Huber(), Mean(), 3.0)
    (False, True)
    >>> needs_implicit_step(Pinball(), Mean(), 1.0), needs_implicit_step(Huber(), Variance(), 0.1)
    (True, True)
    """
    if not risk.is_of_losses:
        return False
    if risk.n_inner > 0:
        return True
    scale = loss_scale(loss)
    step = as_decay(step_size, "step_size").initial * largest
    if loss.kind == "multiclass" or loss.is_likelihood:  # there is no best prediction to overshoot
        return step * scale > 1.0 + _ROUNDING
    # Predictions on both sides of a number, or on the wrong side of a label.
    residuals = np.concatenate([_RESIDUALS, -_RESIDUALS])
    y = np.sign(-residuals) if loss.kind == "binary" else np.zeros(len(residuals))
    n_outputs = len(getattr(loss, "levels", (0.5,)))
    starts = np.tile((y + residuals)[:, None], (1, n_outputs))
    targets = y[:, None]
    try:
        slopes = loss.slope(starts, targets)
        agreement = loss.slope(starts - step * slopes, targets) * slopes / scale**2
    except (ArithmeticError, ValueError):
        return True
    return not bool((agreement >= -_ROUNDING).all())


def eps_share(loss: Loss) -> float:
    """Return the default eps of a gradient step, as a share of the RMS step norm.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic
    >>> eps_share(Huber()), eps_share(Logistic())
    (0.05, 0.5)
    """
    return _EPS_SHARE[loss.kind]


def default_compressor(
    eps: float | None, max_atoms: int | None, loss: Loss, evenness: float = 1.0
) -> KOMP:
    """Return KOMP with this eps; by default eps is `eps_share(loss)` × the RMS step norm.

    If κ(x, x) varies, the share is multiplied by its evenness E[κ]²/E[κ²], because a few long steps
    then dominate the norm.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> default_compressor(None, 200, Huber()).fraction, default_compressor(0.02, 200, Huber()).eps
    (0.05, 0.02)
    """
    if eps is not None:
        return KOMP(eps=eps, max_atoms=max_atoms)
    return KOMP(fraction=evenness * eps_share(loss), max_atoms=max_atoms)


def default_newton_compressor(
    eps: float | None, max_atoms: int | None, kernel_scale: float
) -> KOMP:
    """Return KOMP for Newton steps; eps is 0.05/√kernel_scale by default.

    Newton steps become shorter as the curvature accumulates; a share of their norm would go to 0.

    Examples
    --------
    >>> default_newton_compressor(None, 200, kernel_scale=4.0).eps
    0.025
    """
    chosen = float(_NEWTON_EPS / np.sqrt(kernel_scale)) if eps is None else eps
    return KOMP(eps=chosen, max_atoms=max_atoms)


def default_prior(
    prior: float | Literal["auto"] | None, loss: Loss, scale: float
) -> float | Literal["auto"]:
    """Return λ of Newton steps: 0.1 × scale by default, 0.3 × scale for labels and quantiles.

    The scale is that of the loss times that of the kernel.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic
    >>> default_prior(None, Huber(), scale=1.0), default_prior(None, Logistic(), scale=0.5)
    (0.1, 0.15)
    """
    if prior is None:
        is_number = loss.kind == "regression" and not loss.couples_outputs
        return (_PRIOR if is_number else _NOISY_PRIOR) * scale
    return prior if prior == "auto" else check_number(prior, "prior", above=0.0)


def default_gradient_bound(gradient_bound: float | None, scale: float) -> float:
    """Return the bound on the norm of a gradient: 10 × the scale of the loss by default.

    Examples
    --------
    >>> default_gradient_bound(None, scale=0.5), default_gradient_bound(3.0, scale=0.5)
    (5.0, 3.0)
    """
    return _GRADIENT_BOUND * scale if gradient_bound is None else gradient_bound


def default_regularization(regularization: float | None, scale: float) -> float:
    """Return λ: 1e-6 × the scale of the loss by default.

    Examples
    --------
    >>> default_regularization(None, scale=2.0), default_regularization(0.1, scale=2.0)
    (2e-06, 0.1)
    """
    return _REGULARIZATION * scale if regularization is None else regularization
