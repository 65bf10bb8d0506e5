"""Where and when intervals cover: by groups, in the worst slab of x, and in runs of misses."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_fraction, check_vector

__all__ = ["coverage_by_group", "infinite_share", "longest_miss_run", "worst_slab_coverage"]


def _covered(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
    targets = check_vector(y, None, "y")
    return np.asarray((np.asarray(lower) <= targets) & (targets <= np.asarray(upper)), dtype=float)


def coverage_by_group(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, groups: Any
) -> dict[Hashable, float]:
    """Return the share of targets inside their intervals, for each group.

    Parameters
    ----------
    y, lower, upper : array of shape (n,)
        Targets, and the ends of their intervals.
    groups : array of shape (n,)
        The group of each target.

    Examples
    --------
    >>> coverage_by_group([0.0, 5.0, 0.0], [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0], ["a", "a", "b"])
    {'a': 0.5, 'b': 1.0}
    """
    inside, labels = _covered(y, lower, upper), np.asarray(groups)
    return {label: float(inside[labels == label].mean()) for label in np.unique(labels).tolist()}


def infinite_share(lower: ArrayLike, upper: ArrayLike) -> float:
    """Return the share of intervals with an infinite end.

    Parameters
    ----------
    lower, upper : array of shape (n,)
        The ends.

    Examples
    --------
    >>> infinite_share([0.0, -np.inf], [1.0, 1.0])
    0.5
    """
    ends = np.isinf(np.asarray(lower, dtype=np.float64)) | np.isinf(np.asarray(upper))
    return float(ends.mean())


def longest_miss_run(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> int:
    """Return the largest number of consecutive targets outside their intervals.

    Parameters
    ----------
    y, lower, upper : array of shape (n,)
        Targets in their order, and the ends of their intervals.

    Examples
    --------
    >>> longest_miss_run([0.0, 5.0, 5.0, 0.0, 5.0], [-1.0] * 5, [1.0] * 5)
    2
    """
    places = np.flatnonzero(_covered(y, lower, upper))
    ends = np.concatenate([[-1], places, [len(np.atleast_1d(np.asarray(y)))]])
    return int(np.diff(ends).max() - 1)


def worst_slab_coverage(
    X: ArrayLike,
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    share: float = 0.1,
    n_directions: int = 200,
    random_state: int = 0,
) -> float:
    """Return the least coverage in any slab of x that has at least a share of the samples.

    A slab is the set of points whose projection on a direction lies in an interval. The directions
    are random. The slabs are found on one half of the samples, drawn at random, and the coverage of
    the worst one is that on the other half, so that it is not too low by chance.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    y, lower, upper : array of shape (n,)
        Targets, and the ends of their intervals.
    share : float, default=0.1
        Least share of the samples in a slab.
    n_directions : int, default=200
        Number of directions.
    random_state : int, default=0
        Seed of the directions and of the halves.

    References
    ----------
    Cauchois, Gupta, Duchi, "Knowing what you know: valid and validated confidence sets in
    multiclass and multilabel prediction", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.where(X[:, 0] > 1.0, 3.0, 1.0) * rng.normal(size=4000)
    >>> ends = np.full(4000, 2.2)
    >>> worst = worst_slab_coverage(X, y, -ends, ends)
    >>> bool(worst < 0.7 < 0.85 < np.mean(np.abs(y) <= ends))
    True
    """
    check_fraction(share, "share")
    inside, points = _covered(y, lower, upper), np.asarray(X, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    search = np.zeros(len(inside), dtype=bool)
    search[rng.permutation(len(inside))[: len(inside) // 2]] = True
    worst, found = 2.0, 1.0
    for direction in rng.normal(size=(n_directions, points.shape[1])):
        place = points @ direction
        least, (start, stop) = _worst_stretch(place[search], inside[search], share)
        slab = ~search & (place >= start) & (place <= stop)
        if least < worst and slab.any():
            worst, found = least, float(inside[slab].mean())
    return found


def _worst_stretch(place: Array, inside: Array, share: float) -> tuple[float, tuple[float, float]]:
    """Return the least coverage between two places of enough samples, and the places."""
    order = np.argsort(place, kind="stable")
    size = max(1, int(np.ceil(share * len(order))))
    sums = np.concatenate([[0.0], np.cumsum(inside[order])])
    worst, ends = 2.0, (0.0, 0.0)
    for length in {size, 3 * size // 2, min(2 * size, len(order))}:
        means = (sums[length:] - sums[:-length]) / length
        first = int(np.argmin(means)) if len(means) else -1
        if first >= 0 and means[first] < worst:
            worst = float(means[first])
            ends = float(place[order[first]]), float(place[order[first + length - 1]])
    return worst, ends
