"""The scale of a loss: default step sizes, bounds and regularisation are multiples of it.

Multiplying a loss by a constant c leaves the problem the same if steps are divided by c and the
gradient bound and the regularisation are multiplied by c.
"""

import numpy as np

from colk._validation import Array
from colk.losses.base import Loss

__all__ = ["loss_scale"]

# Distance at which slopes are compared with differences of values.
_DIFFERENCE = 1e-3


def loss_scale(loss: Loss) -> float:
    """Return the largest |∂ℓ/∂f| at f = 0, over the targets −1 and 1 or over two classes.

    It is 1 for `Huber()`, and c for c times that loss. A loss that is undefined at these targets
    has scale 1. A loss whose slopes have the wrong sign is rejected.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic, Squared
    >>> loss_scale(Huber()), loss_scale(Squared()), loss_scale(Logistic())
    (1.0, 2.0, 0.5)
    """
    n_outputs = 2 if loss.kind == "multiclass" else len(getattr(loss, "levels", (0.5,)))
    y = np.array([0.0, 1.0] if loss.kind == "multiclass" else [-1.0, 1.0])
    targets = y if n_outputs > 1 else y[:, None]
    zero = np.zeros((2, n_outputs))
    try:
        slopes = loss.slope(zero, targets)
        differences = [
            loss.value(zero + shift, targets) - loss.value(zero - shift, targets)
            for shift in _DIFFERENCE * np.eye(n_outputs)
        ]
    except (ArithmeticError, ValueError):
        return 1.0
    _check_signs(loss, slopes, np.column_stack(differences))
    scale = float(np.abs(slopes).max())
    return scale if 0.0 < scale < np.inf else 1.0


def _check_signs(loss: Loss, slopes: Array, differences: Array) -> None:
    """Raise if some slopes contradict the differences of values and none agrees with them."""
    agreement = slopes * differences
    if (agreement < 0.0).any() and not (agreement > 0.0).any():
        raise ValueError(
            f"the slope of {loss!r} has the wrong sign: it must be the derivative of the value by "
            "the prediction f; see colk.testing.check_loss"
        )
