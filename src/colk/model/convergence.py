"""Warnings of `fit` if the model does not learn, with the setting to change."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from colk._validation import Array
from colk.errors import warn_caller
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.risks.base import shares

__all__ = [
    "constant_loss",
    "warn_of_atoms",
    "warn_of_clipping",
    "warn_of_loss",
    "warn_of_nothing",
]

# Warn if a loss exceeds that of a constant by more than this share, or by 2/√n for few samples n.
_MARGIN = 0.05
# A constant loss below this is the rounding error of equal targets.
_ROUNDING = 1e-12
# Warn if max_atoms makes a step lose more than this share of its norm.
_MOST = 0.6
# Number of samples whose gradients are computed to see whether they are clipped.
_LOOKED_AT = 500


def constant_loss(loss: Loss, Y: Array, weight: Array, n_outputs: int) -> float:
    """Return the mean loss of the constant prediction 0, the mean of the scaled targets.

    Examples
    --------
    >>> from colk.losses import Squared
    >>> constant_loss(Squared(), np.array([-1.0, 3.0]), np.ones(2), 1)
    5.0
    """
    zero = np.zeros((len(Y), n_outputs))
    return float(shares(len(Y), weight) @ loss.value(zero, Y))


def warn_of_loss(found: float, constant: float, size: int, advice: str) -> None:
    """Warn if the mean loss of `size` samples is above that of a constant prediction."""
    margin = max(_MARGIN, 2.0 / np.sqrt(size))
    if not found <= (1.0 + margin) * constant and constant > _ROUNDING:
        warn_caller(
            f"the model does not learn: its loss of {found:.3g} is above the {constant:.3g} of "
            f"predicting a constant; {advice}",
            ConvergenceWarning,
        )


def warn_of_nothing(constant: float, eps: float, advice: str) -> None:
    """Warn that compression removed every step, unless all targets are equal."""
    if constant > _ROUNDING:
        warn_caller(
            f"nothing was learned: every step is shorter than eps={eps:.2g} and was removed by "
            f"compression; lower eps, or {advice}",
            ConvergenceWarning,
        )


def warn_of_clipping(learner: KernelLearner, X: Array, Y: Array, weight: Array) -> None:
    """Warn if most gradients are longer than the gradient bound."""
    rows = np.flatnonzero(weight > 0.0)
    rows = rows[:: -(-len(rows) // _LOOKED_AT)]
    F = learner.predict(X[rows])
    slopes = learner.risk.gradient_at(learner.loss, F, Y[rows]).reshape(len(rows), -1) * len(rows)
    clipped = float(np.mean(np.linalg.norm(slopes, axis=1) > learner.gradient_bound))
    if clipped > 0.5:
        warn_caller(
            f"{clipped:.0%} of the gradients are longer than gradient_bound="
            f"{learner.gradient_bound:g} and were clipped: raise gradient_bound, or scale the loss "
            "or the targets",
            ConvergenceWarning,
        )


def warn_of_atoms(
    lost: float, eps: float | None, step: float, max_atoms: int | None, advice: str
) -> None:
    """Warn if steps of the last epoch lost more than twice eps on average.

    If eps is None, warn if they lost more than 0.6 × `step`, the RMS norm of a step.
    """
    bound, limit = (_MOST * step, "most of it") if eps is None else (2.0 * eps, f"eps={eps:.2g}")
    if max_atoms is not None and lost > bound > 0.0:
        warn_caller(
            f"max_atoms={max_atoms} makes a step lose {lost:.2g} on average, more than {limit}: "
            f"raise max_atoms, {advice} if targets are noisy, or set polish=True",
            ConvergenceWarning,
        )
