"""Kernel values of all pairs of a block, and derivatives by the rates of the features.

The rate of a feature is 1/length. A category counts as in `colk.kernels.Mixed`, with the weights of
`colk.kernels.mixed.category_weights`.
"""

import numpy as np
from numpy.typing import NDArray

from colk._engine.gaussian_process import matern_gradient, matern_tables
from colk._validation import Array
from colk.kernels.mixed import category_weights

__all__ = ["CityBlockDistances", "EuclideanDistances", "Places"]

# Indices of rows or columns.
Places = NDArray[np.intp]


class EuclideanDistances:
    """Matérn 5/2 of the scaled Euclidean distance, times a factor for each different category.

    The squared distances and the sums Σ g_ab (x_a − x_b)² are computed as matrix products.

    Parameters
    ----------
    points : array of shape (n, k)
        Points.
    categorical : array of int
        Columns of categories.

    Examples
    --------
    >>> distances = EuclideanDistances(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([1]))
    >>> table, _ = distances.kernel(np.array([0.5, 1.0]))
    >>> table.round(3)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """

    def __init__(self, points: Array, categorical: Places) -> None:
        self._numbers = np.setdiff1d(np.arange(points.shape[1]), categorical)
        self._categorical = categorical
        self._points = np.ascontiguousarray(points[:, self._numbers])
        self._indicators = [
            (points[:, k, None] == np.unique(points[:, k])).astype(np.float64) for k in categorical
        ]

    def kernel(self, rates: Array) -> tuple[Array, Array]:
        """Return the table of κ, and the derivatives of κ by the squared distances.

        Parameters
        ----------
        rates : array of shape (k,)
            1/length of each feature.
        """
        n = len(self._points)
        table, slopes = np.ones((n, n)), np.zeros((n, n))
        if len(self._numbers):
            matern_tables(self._points * rates[self._numbers], table, slopes)
        if self._indicators:
            factor = self._category_factor(rates)
            table *= factor
            slopes *= factor
        return table, slopes

    def _category_factor(self, rates: Array) -> Array:
        weights = category_weights(False, 1.0, rates[self._categorical])
        total = np.zeros((len(self._points), len(self._points)))
        for weight, one in zip(weights, self._indicators, strict=True):
            total += weight * (1.0 - one @ one.T)
        return np.asarray(np.exp(-total))

    def gradient(self, rates: Array, outer: Array, table: Array, slopes: Array) -> Array:
        """Return Σ_ab outer_ab ∂κ_ab/∂log rate for each rate.

        Parameters
        ----------
        rates : array of shape (k,)
            The rates.
        outer : array of shape (n, n)
            Symmetric factors of the derivatives.
        table, slopes : array of shape (n, n)
            The result of `kernel`; the slopes are overwritten.
        """
        gradient = np.empty(len(rates))
        if len(self._numbers):
            Z, along = self._points * rates[self._numbers], np.empty(len(self._numbers))
            matern_gradient(Z, outer, slopes, np.empty_like(Z), np.empty(len(Z)), along)
            gradient[self._numbers] = along
        if self._indicators:
            H = outer * table
            weights = category_weights(False, 1.0, rates[self._categorical])
            for k, weight, one in zip(self._categorical, weights, self._indicators, strict=True):
                different = H.sum() - np.vdot(one, H @ one)
                gradient[k] = -2.0 * weight * different
        return gradient


class CityBlockDistances:
    """The Laplacian: exp of minus the scaled L1 distance.

    Parameters
    ----------
    points : array of shape (n, k)
        Points.
    categorical : array of int
        Columns of categories.

    Examples
    --------
    >>> distances = CityBlockDistances(np.array([[0.0], [2.0]]), np.array([], dtype=int))
    >>> distances.kernel(np.array([0.5]))[0].round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, points: Array, categorical: Places) -> None:
        left, right = np.tril_indices(len(points), -1)
        # Places of the pairs in a table, below and above its diagonal.
        self._below, self._above = (a * len(points) + b for a, b in ((left, right), (right, left)))
        self._apart = np.abs(points[left] - points[right])  # (pairs, k)
        (unit,) = category_weights(True, 1.0, np.ones(1))
        self._apart[:, categorical] = unit * (self._apart[:, categorical] > 0.0)
        self._size = len(points)

    def kernel(self, rates: Array) -> tuple[Array, Array]:
        """Return the table of κ, and the values of the pairs below its diagonal.

        Parameters
        ----------
        rates : array of shape (k,)
            1/length of each feature.
        """
        values = np.exp(self._apart @ -rates)
        table = np.ones(self._size * self._size)
        table[self._below] = values
        table[self._above] = values
        return table.reshape(self._size, self._size), values

    def gradient(self, rates: Array, outer: Array, table: Array, slopes: Array) -> Array:
        """Return Σ_ab outer_ab ∂κ_ab/∂log rate for each rate.

        Parameters
        ----------
        rates, outer, table, slopes
            As in `EuclideanDistances.gradient`.
        """
        return np.asarray(-2.0 * rates * ((outer.ravel()[self._below] * slopes) @ self._apart))
