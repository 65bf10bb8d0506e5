"""Quantiles of weighted values, and the number of samples that they need."""

from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from colk._validation import Array
from colk.errors import warn_caller

__all__ = ["conformal_quantile", "warn_of_levels", "weighted_quantile"]


def warn_of_levels(levels: Sequence[float], n_samples: int) -> None:
    """Warn if there are too few samples for the outermost level."""
    tail = min(levels[0], 1.0 - levels[-1])
    needed = int(np.ceil((1.0 - tail) / tail * (1.0 - 1e-12)))
    if n_samples < needed:
        warn_caller(
            f"quantiles with {tail:g} of the targets beyond them need {needed} samples to set "
            f"their constants, but there are {n_samples}: more targets will lie beyond them. Fit "
            "more samples, or use levels closer to 0.5",
            ConvergenceWarning,
        )


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the smallest value such that a share `level` of the weight is at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    place = np.searchsorted(below, level * below[-1] * (1.0 - 1e-12))
    return float(values[order[min(int(place), len(values) - 1)]])


def conformal_quantile(values: Array, weight: Array, level: float) -> float:
    """Return a quantile such that a new value lies below it with probability `level` or more.

    Among n values of equal weight it is the value of rank (n + 1)·level, rounded away from the
    median.

    Examples
    --------
    >>> nineteen = np.arange(1.0, 20.0)
    >>> [conformal_quantile(nineteen, np.ones(19), level) for level in (0.05, 0.5, 0.95)]
    [1.0, 10.0, 19.0]
    """
    if level < 0.5:
        return -conformal_quantile(-values, weight, 1.0 - level)
    return weighted_quantile(values, weight, min(level * (1.0 + 1.0 / len(values)), 1.0))
