"""What settings that are left open become: step, bounds and regularisation, in units of the loss.

A loss that is multiplied by a constant is the same problem, with steps as much shorter, a bound on
gradients as much larger and a regularisation as much stronger.
"""

import numpy as np

from colk.compressors import KOMP
from colk.losses import Loss
from colk.risks import RISKS, CVaR, Risk
from colk.schedules import Rate

__all__ = [
    "choose_bound",
    "choose_compressor",
    "choose_regularization",
    "choose_step",
    "loss_unit",
]

# Steps under a risk, as a share of those on the mean; of tails, and of risks from outside, whose
# gradients may be rare and large.
_RISK_SHARE = 0.5
_TAIL_SHARE = 0.1

# What a step may forget, as a share of the size of the steps.
FORGOTTEN_SHARE = 0.1

# In units of the loss.
_GRADIENT_BOUND = 10.0
_REGULARIZATION = 1e-6

# Where slopes are compared with differences of values.
_ASIDE = 1e-3


def loss_unit(loss: Loss) -> float:
    """Return the steepest slope of a loss at f = 0 of the targets −1 and 1, or of two classes.

    It is the unit of the loss: 1 for `Huber()`, c for c times it. A loss that is not defined there
    has the unit 1; one whose slopes have the wrong sign is refused.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic, Squared
    >>> loss_unit(Huber()), loss_unit(Squared()), loss_unit(Logistic())
    (1.0, 2.0, 0.5)
    """
    n_outputs = 2 if loss.kind == "multiclass" else len(getattr(loss, "levels", (0.5,)))
    y = np.array([0.0, 1.0] if loss.kind == "multiclass" else [-1.0, 1.0])
    targets = y if n_outputs > 1 else y[:, None]
    zero = np.zeros((2, n_outputs))
    try:
        slopes = loss.slope(zero, targets)
        rises = [
            loss.value(zero + move, targets) - loss.value(zero - move, targets)
            for move in _ASIDE * np.eye(n_outputs)
        ]
    except (ArithmeticError, ValueError):
        return 1.0
    _check_signs(loss, slopes, np.column_stack(rises))
    unit = float(np.abs(slopes).max())
    return unit if 0.0 < unit < np.inf else 1.0


def _check_signs(loss: Loss, slopes: np.ndarray, rises: np.ndarray) -> None:
    """Refuse slopes of which none goes where the values go, and some the other way."""
    agreement = slopes * rises
    if (agreement < 0.0).any() and not (agreement > 0.0).any():
        raise ValueError(
            f"the slope of {loss!r} has the wrong sign: it must be the derivative of the value by "
            "the prediction f; see colk.testing.check_loss"
        )


def choose_step(step_size: Rate | None, risk: Risk, of_mean: float) -> Rate:
    """Return the step size, or where it is None what suits the mean loss, less under a risk.

    CVaR multiplies the slopes in its tail by the inverse of the tail's share, and needs less again.

    Examples
    --------
    >>> from colk.risks import Mean, Variance
    >>> choose_step(None, Mean(), of_mean=1.0), choose_step(None, Variance(), of_mean=1.0)
    (1.0, 0.5)
    >>> choose_step(None, CVaR(), of_mean=1.0)
    0.1
    """
    if step_size is not None:
        return step_size
    if risk.n_inner == 0:
        return of_mean
    is_gentle = type(risk) in RISKS.values() and not isinstance(risk, CVaR)
    return of_mean * (_RISK_SHARE if is_gentle else _TAIL_SHARE)


def choose_compressor(eps: float | None, max_atoms: int | None) -> KOMP:
    """Return KOMP that forgets eps in a step, or where it is None a tenth of the steps made.

    Examples
    --------
    >>> choose_compressor(None, 200).fraction, choose_compressor(0.05, 200).eps
    (0.1, 0.05)
    """
    if eps is not None:
        return KOMP(eps=eps, max_atoms=max_atoms)
    return KOMP(fraction=FORGOTTEN_SHARE, max_atoms=max_atoms)


def choose_bound(gradient_bound: float | None, unit: float) -> float:
    """Return the longest gradient: where it is None, 10 units of the loss.

    Examples
    --------
    >>> choose_bound(None, unit=0.5), choose_bound(3.0, unit=0.5)
    (5.0, 3.0)
    """
    return _GRADIENT_BOUND * unit if gradient_bound is None else gradient_bound


def choose_regularization(regularization: float | None, unit: float) -> float:
    """Return λ: where it is None, a millionth of the unit of the loss.

    Examples
    --------
    >>> choose_regularization(None, unit=2.0), choose_regularization(0.1, unit=2.0)
    (2e-06, 0.1)
    """
    return _REGULARIZATION * unit if regularization is None else regularization
