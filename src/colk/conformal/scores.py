"""Proper scores of intervals and of quantiles."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_vector
from colk.conformal.levels import check_coverage
from colk.losses import Pinball, Quantiles

__all__ = ["interval_score", "quantile_crps"]


def interval_score(
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    coverage: float,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean interval score, which is lower for better intervals.

    The score of an interval is its width; if the target lies outside, 2/(1 − coverage) times its
    distance is added. The expected score is smallest for the two quantiles that each leave out
    (1 − coverage)/2.

    Parameters
    ----------
    y, lower, upper : array of shape (n,)
        Targets, and the ends of their intervals.
    coverage : float
        Nominal coverage.
    sample_weight : array of shape (n,), optional
        Weights of the samples.

    References
    ----------
    Gneiting, Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007.

    Examples
    --------
    >>> interval_score([0.0, 3.0], lower=[-1.0, 0.0], upper=[1.0, 2.0], coverage=0.5)
    4.0
    """
    targets = check_vector(y, None, "y")
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    missed = np.maximum(low - targets, 0.0) + np.maximum(targets - high, 0.0)
    scores = high - low + 2.0 / (1.0 - check_coverage(coverage)) * missed
    return _mean(scores, sample_weight)


def quantile_crps(
    y: ArrayLike,
    quantiles: ArrayLike,
    levels: Sequence[float],
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean continuous ranked probability score of quantiles; lower is better.

    The score is twice the integral of the pinball loss over all levels. The integral takes the loss
    as linear between the levels and constant beyond the outermost ones, so more levels bring it
    closer to the score of the whole distribution.

    Parameters
    ----------
    y : array of shape (n,)
        Targets.
    quantiles : array of shape (n, Q)
        A column for each level, such as the predictions of `colk.COLKQuantileRegressor`.
    levels : sequence of float
        Levels, increasing.
    sample_weight : array of shape (n,), optional
        Weights of the samples.

    References
    ----------
    Gneiting, Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> levels = np.linspace(0.01, 0.99, 99)
    >>> found = quantile_crps([0.0], norm.ppf(levels)[None], levels)  # 0.2337 for the normal law
    >>> abs(found - 0.2337) < 0.005
    True
    """
    targets = check_vector(y, None, "y")
    known = Quantiles(levels)
    values = np.asarray(quantiles, dtype=np.float64).reshape(len(targets), len(known.levels))
    columns = zip(known.levels, values.T, strict=True)
    losses = [Pinball(level).value(column, targets) for level, column in columns]
    return _mean(2.0 * _shares(known.levels) @ np.array(losses), sample_weight)


def _shares(levels: Sequence[float]) -> Array:
    """Return the weights of the levels in the integral from 0 to 1."""
    middles = 0.5 * (np.array(levels)[1:] + np.array(levels)[:-1])
    return np.diff(np.concatenate([[0.0], middles, [1.0]]))


def _mean(scores: Array, sample_weight: ArrayLike | None) -> float:
    weight = None if sample_weight is None else check_vector(sample_weight, len(scores), "weight")
    return float(np.average(scores, weights=weight))
