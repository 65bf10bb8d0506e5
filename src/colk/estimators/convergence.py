"""A model that does not learn says so, and names the setting to change."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from colk._validation import Array
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

# By which share a loss may exceed that of a constant before it is news; few samples tell less.
_MARGIN = 0.05
# A loss below this is that of equal targets, after rounding.
_ROUNDING = 1e-12
# What a step may lose to max_atoms before it is news, as a share of it.
_MOST = 0.6
# Samples that are looked at for clipped steps.
_LOOKED_AT = 500


def constant_loss(loss: Loss, Y: Array, weight: Array, n_outputs: int) -> float:
    """Mean loss of predicting 0 everywhere, which is the mean of scaled targets.

    Examples
    --------
    >>> from colk.losses import Squared
    >>> constant_loss(Squared(), np.array([-1.0, 3.0]), np.ones(2), 1)
    5.0
    """
    zero = np.zeros((len(Y), n_outputs))
    return float(shares(len(Y), weight) @ loss.value(zero, Y))


def warn_of_loss(found: float, constant: float, size: int, cure: str) -> None:
    """Warn where the loss over `size` samples is above that of a constant."""
    margin = max(_MARGIN, 2.0 / np.sqrt(size))
    if not found <= (1.0 + margin) * constant and constant > _ROUNDING:
        warnings.warn(
            f"the model does not learn: its loss of {found:.3g} is above the {constant:.3g} of "
            f"predicting a constant; {cure}",
            ConvergenceWarning,
            stacklevel=5,
        )


def warn_of_nothing(constant: float, eps: float, cure: str) -> None:
    """Warn where there was something to learn, and every step was forgotten."""
    if constant > _ROUNDING:
        warnings.warn(
            f"nothing was learned: every step is shorter than eps={eps:.2g} and was forgotten; "
            f"lower eps, or {cure}",
            ConvergenceWarning,
            stacklevel=5,
        )


def warn_of_clipping(learner: KernelLearner, X: Array, Y: Array, weight: Array) -> None:
    """Warn where most steps from here would be clipped to the gradient bound."""
    rows = np.flatnonzero(weight > 0.0)
    rows = rows[:: -(-len(rows) // _LOOKED_AT)]
    F = learner.predict(X[rows])
    slopes = learner.risk.gradient_at(learner.loss, F, Y[rows]).reshape(len(rows), -1) * len(rows)
    clipped = float(np.mean(np.linalg.norm(slopes, axis=1) > learner.gradient_bound))
    if clipped > 0.5:
        warnings.warn(
            f"{clipped:.0%} of the gradients are longer than gradient_bound="
            f"{learner.gradient_bound:g} and were clipped: raise gradient_bound, or scale the loss "
            "or the targets",
            ConvergenceWarning,
            stacklevel=5,
        )


def warn_of_atoms(
    forgotten: float, eps: float | None, step: float, max_atoms: int | None, cure: str
) -> None:
    """Warn where steps of the last epoch forgot, on average, twice what eps allows.

    Where it is left open, where they forgot most of a step, whose length is usually `step`.
    """
    bound, told = (_MOST * step, "most of it") if eps is None else (2.0 * eps, f"eps={eps:.2g}")
    if max_atoms is not None and forgotten > bound > 0.0:
        warnings.warn(
            f"max_atoms={max_atoms} makes a step forget {forgotten:.2g} on average, more than "
            f"{told}: raise max_atoms, {cure} if targets are noisy, or polish",
            ConvergenceWarning,
            stacklevel=5,
        )
