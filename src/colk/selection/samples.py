"""The samples of a race, and what a left-out residual costs."""

import numpy as np

from colk._resolution import varying
from colk._validation import Array

__all__ = ["RaceSamples", "losses_of"]

# Threshold of the Huber loss, in standard deviations of the targets or in margins.
_THRESHOLD = 2.0


class RaceSamples:
    """Samples on which kernels are compared; each is predicted by a fit without it.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    weight : array of shape (n,)
        Weights of the samples, above 0, with mean 1.
    are_labels : bool
        Whether Y holds labels.
    categorical : tuple of int
        Columns of X that hold categories. Default: none.

    Attributes
    ----------
    spread : array of shape (p,)
        Standard deviations of the features; 0 for a feature that does not vary, and 1 for a
        category that does.

    Examples
    --------
    >>> samples = RaceSamples(np.eye(3), np.zeros((3, 1)), np.ones(3), are_labels=False)
    >>> samples.losses(np.array([[0.0], [1.0], [4.0]]))
    array([0. , 0.5, 6. ])
    """

    def __init__(
        self,
        X: Array,
        Y: Array,
        weight: Array,
        are_labels: bool,
        categorical: tuple[int, ...] = (),
    ) -> None:
        self.X, self.Y, self.weight, self.are_labels = X, Y, weight, are_labels
        self.categorical = categorical
        self.spread = np.where(varying(X), X.std(axis=0), 0.0) if len(X) else np.zeros(X.shape[1])
        for k in categorical:  # a code has no unit
            self.spread[k] = float(len(X) > 0 and np.ptp(X[:, k]) > 0.0)

    def losses(self, residuals: Array) -> Array:
        """Return the loss of each residual; see `losses_of`.

        Parameters
        ----------
        residuals : array of shape (m, q)
            Targets minus predictions of the first m samples.
        """
        return losses_of(residuals, self.Y[: len(residuals)], self.are_labels)

    def first(self, size: int) -> "RaceSamples":
        """Return the first `size` samples.

        Parameters
        ----------
        size : int
            Number of samples.
        """
        few = slice(size)
        parts = self.X[few], self.Y[few], self.weight[few]
        return RaceSamples(*parts, self.are_labels, self.categorical)

    def swapped(self, size: int) -> "RaceSamples":
        """Return the samples with the first `size` of them last.

        Parameters
        ----------
        size : int
            Number of samples.
        """
        X, Y, weight = (np.roll(each, -size, axis=0) for each in (self.X, self.Y, self.weight))
        return RaceSamples(X, Y, weight, self.are_labels, self.categorical)


def losses_of(residuals: Array, Y: Array, are_labels: bool) -> Array:
    """Return the Huber loss of each residual; for labels, of the shortfall from a margin of 1.

    Parameters
    ----------
    residuals : array of shape (n, q)
        Targets minus predictions.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    are_labels : bool
        Whether Y holds labels.

    Examples
    --------
    >>> losses_of(np.array([[0.5], [-0.5]]), np.ones((2, 1)), are_labels=True)
    array([0.125, 0.   ])
    """
    size = np.abs(residuals)
    if are_labels:
        size = np.maximum(Y * residuals, 0.0)
    capped = np.minimum(size, _THRESHOLD)
    return np.asarray((capped * (size - 0.5 * capped)).sum(axis=1))
