"""Whether a scale in use follows that of all rows, and the scale of more rows at once."""

import math
from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["change_of", "check_places", "limits_of", "merged"]

# A scale follows if a unit differs by more than this factor, or a center by this share of the unit.
_FACTOR, _GAP = 1.25, 0.25


def change_of(held: Array, found: Array) -> tuple[Array, Array] | None:
    """Return a and b, with which a·z + b is a value in the scale found, of z in that in use.

    The result is None if the two are alike.

    Parameters
    ----------
    held, found : arrays of shape (2, p)
        Centers and units: in use, and of all rows.

    Examples
    --------
    >>> held, found = np.array([[0.0], [1.0]]), np.array([[1.0], [4.0]])
    >>> change_of(held, found), change_of(held, held)
    ((array([0.25]), array([-0.25])), None)
    """
    ratios, gaps = held[1] / found[1], (held[0] - found[0]) / found[1]
    is_far = (np.abs(np.log(ratios)) > math.log(_FACTOR)) | (np.abs(gaps) > _GAP)
    return (ratios, gaps) if is_far.any() else None


def check_places(scale: Any, rounding: float) -> None:
    """Raise ValueError if targets are so far from 0 that their differences are rounding errors.

    Targets that are equal up to the last digit are no error, nor are fewer than 20.

    Parameters
    ----------
    scale : RunningScale
        The scale of the targets.
    rounding : float
        The share of the mean that a deviation must exceed.
    """
    means, deviations, sample = scale.averages, scale.deviations, scale.sample
    for j in range(len(means)):
        mean, deviation = abs(means[j]), min(deviations[j], sample.widest(j))
        if sample.low(j) == -math.inf or not 0.0 < deviation <= rounding * mean:
            continue
        values = sample.rows()[0, j]
        if values.max() - values.min() > np.finfo(np.float64).eps * mean:
            raise ValueError(
                f"y is too far from 0: its mean, {means[j]:g}, is {mean / deviation:.0e} times its "
                "standard deviation, so that double precision has no digits left for the "
                "differences; subtract a constant from y first"
            )


def merged(scale: Any, Y: Array, weight: Array) -> Any:
    """Return the scale of all values so far and of these; see `RunningScale.merged`."""
    counted = weight > 0.0
    Y, weight = Y.reshape(len(Y), -1)[counted], np.ascontiguousarray(weight[counted])
    if len(Y) == 0:
        return scale
    found = type(scale)(scale.n_columns, scale.level)
    found.sample.copy_from(scale.sample)
    found.sample.add_rows(Y, weight)
    center, spread = _moments(scale, found.sample.n_seen)
    if not found.sample.is_complete(found.sample.n_seen):
        Y = np.clip(Y, *limits_of(found))
    added = float(weight.sum())
    share = weight[:, None] / added
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum of shares of equal values would differ from them by rounding errors.
        mean = np.where((Y[0] == Y).all(axis=0), Y[0], (share * Y).sum(axis=0))
        deviation = _root_mean_square(Y - mean, share)
        total = scale.total + added
        old, new = scale.total / total, added / total
        gap = mean - center
        center = center + gap * new
        spread = np.hypot(np.sqrt(old) * spread, np.sqrt(new) * deviation)
        spread = np.hypot(spread, np.sqrt(old * new) * gap)
    if not (np.isfinite(total) and np.isfinite(center).all() and np.isfinite(spread).all()):
        raise ValueError("y is too large to be scaled: its spread overflows; scale it first")
    found.restore(total, center, spread)
    return found


def limits_of(scale: Any) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each column that is no outlier."""
    columns = range(scale.n_columns)
    low, high = scale.sample.low, scale.sample.high
    return np.array([low(j) for j in columns]), np.array([high(j) for j in columns])


def _moments(scale: Any, n_seen: int) -> tuple[Array, Array]:
    """Return means and deviations of the rows so far, without outliers if `n_seen` is large."""
    sample, (means, deviations) = scale.sample, scale.moments()
    is_left = sample.is_complete(sample.n_seen) and not sample.is_complete(n_seen)
    if is_left and scale.total > 0.0:
        for j in range(len(means)):
            means[j] = sample.mean(j)
            deviations[j] = sample.deviation(j, means[j])
    return means, deviations


def _root_mean_square(y: Array, share: Array) -> Array:
    """√Σ share·y² of each column; entries are divided by the largest before they are squared."""
    largest = np.abs(y).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.sqrt((share * (y / unit) ** 2).sum(axis=0)))
