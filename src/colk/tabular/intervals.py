"""Prediction intervals by split conformal inference, from residuals of held-out rows."""

import math

import numpy as np

from colk._validation import Array, check_number

__all__ = ["conformal_ends", "widened"]


def conformal_ends(residuals: Array, coverage: float) -> tuple[float, float]:
    """Return the ends of an interval relative to the prediction.

    Among n sorted residuals, the lower end is the one of rank ⌊(n + 1)α/2⌋ and the upper end the
    one of rank ⌈(n + 1)(1 − α/2)⌉, for α = 1 − coverage. Another residual of the same distribution
    lies between them with a probability of at least 1 − α.

    Parameters
    ----------
    residuals : array of shape (n,)
        Targets minus predictions, of rows that the model has not learned.
    coverage : float
        Nominal coverage 1 − α.

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani, Wasserman, "Distribution-free predictive inference for
    regression", 2018.

    Examples
    --------
    >>> import numpy as np
    >>> conformal_ends(np.arange(-9.0, 10.0), 0.9)
    (-9.0, 9.0)
    """
    check_number(coverage, "coverage", above=0.0)
    if coverage >= 1.0:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
    n, tail = len(residuals), 0.5 * (1.0 - coverage)
    needed = math.ceil(round(1.0 / tail, 6)) - 1
    if n == 0:
        raise ValueError(
            "the model has no intervals: call `calibrate` with rows that it has not learned"
        )
    if n < needed:
        raise ValueError(
            f"intervals of coverage {coverage:g} need {needed} rows that the model has not "
            f"learned, got {n}"
        )
    ordered = np.sort(residuals)
    place = math.floor(round((n + 1) * tail, 6))
    return float(ordered[place - 1]), float(ordered[n - place])


def widened(residuals: Array, change: float) -> Array:
    """Return residuals whose intervals are wider by `change` at each end.

    Parameters
    ----------
    residuals : array of shape (n,)
        Targets minus predictions.
    change : float
        The largest change of a prediction.

    Examples
    --------
    >>> import numpy as np
    >>> conformal_ends(widened(np.arange(-9.0, 10.0), 0.5), 0.9)
    (-9.5, 9.5)
    """
    ordered = np.sort(residuals)
    half = len(ordered) // 2
    return np.concatenate([ordered[:half] - change, ordered[half:] + change])
