"""The latest samples of a stream, from which a kernel can be chosen again."""

from typing import Any, Self

import numpy as np

from colk._validation import Array

__all__ = ["RecentSamples", "in_units", "with_targets"]


class RecentSamples:
    """A ring of samples: a new one replaces the oldest.

    Parameters
    ----------
    points : array of shape (n, p)
        Points, the oldest first; the ring always has n of them.
    targets : array of shape (n,) or (n, q)
        Targets.
    weights : array of shape (n,)
        Weights.

    Examples
    --------
    >>> recent = RecentSamples(np.zeros((3, 1)), np.zeros(3), np.ones(3))
    >>> recent.add(np.ones((2, 1)), np.array([4.0, 5.0]), np.ones(2))
    >>> recent.arrays()[1]
    array([0., 4., 5.])
    """

    def __init__(self, points: Array, targets: Array, weights: Array) -> None:
        self._ring = (points.copy(), targets.copy(), weights.copy())
        self._oldest = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a state; its arrays may be read-only, such as memory maps."""
        points, targets, weights = state["_ring"]
        self._ring = (points.copy(), targets.copy(), weights.copy())
        self._oldest = state["_oldest"]

    def __len__(self) -> int:
        return len(self._ring[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self._ring[0].shape[1])

    def add(self, X: Array, Y: Array, weight: Array) -> None:
        """Add samples.

        Parameters
        ----------
        X, Y, weight : arrays
            At most n samples.
        """
        places: Any = slice(self._oldest, self._oldest + len(X))
        if places.stop > len(self):  # a slice is faster, but cannot wrap around
            places = np.arange(places.start, places.stop) % len(self)
        for kept, new in zip(self._ring, (X, Y, weight), strict=True):
            kept[places] = new
        self._oldest = (self._oldest + len(X)) % len(self)

    def points(self, size: int) -> Array:
        """Return the latest points.

        Parameters
        ----------
        size : int
            Their number.
        """
        return self._ring[0][np.arange(self._oldest - size, self._oldest)]

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return points, targets and weights, the oldest first."""
        points, targets, weights = (np.roll(kept, -self._oldest, axis=0) for kept in self._ring)
        return points, targets, weights

    def widened(self, n_features: int) -> Self:
        """Return the samples with more features, which are 0.

        Parameters
        ----------
        n_features : int
            Number of features.
        """
        points, targets, weights = self.arrays()
        return type(self)(
            np.pad(points, ((0, 0), (0, n_features - self.n_features))), targets, weights
        )


def in_units(
    samples: tuple[Array, Array, Array],
    points: tuple[Array, Array] | None,
    targets: tuple[Array, Array] | None,
) -> tuple[Array, Array, Array]:
    """Return samples with points a·x + b, and with targets likewise.

    Parameters
    ----------
    samples : tuple of arrays
        Points, targets and weights.
    points, targets : tuple of two arrays, or None
        a and b for each column; None if they stay.

    Examples
    --------
    >>> samples = np.ones((2, 1)), np.zeros(2), np.ones(2)
    >>> in_units(samples, (np.array([2.0]), np.array([0.5])), None)[0].tolist()
    [[2.5], [2.5]]
    """
    X, Y, weights = samples
    if points is not None:
        X = points[0][: X.shape[1]] * X + points[1][: X.shape[1]]
    if targets is not None:
        Y = targets[0] * Y + targets[1]
    return X, Y, weights


def with_targets(samples: tuple[Array, Array, Array], targets: Array) -> tuple[Array, Array, Array]:
    """Return the latest samples with a positive weight and other targets.

    Parameters
    ----------
    samples : tuple of arrays
        Points, targets and weights, the oldest first.
    targets : array of shape (n, q)
        The targets of the latest of them.

    Examples
    --------
    >>> samples = np.zeros((3, 1)), np.zeros(3), np.array([1.0, 1.0, 0.0])
    >>> with_targets(samples, np.array([[4.0], [5.0]]))[1]
    array([4., 5.])
    """
    points, old, weights = samples
    rows = np.flatnonzero(weights > 0.0)[-len(targets) :]
    new = targets[len(targets) - len(rows) :].reshape(len(rows), *old.shape[1:])
    return points[rows], np.ascontiguousarray(new), weights[rows]
