"""Relevance of features: how much a fitted function varies along each, and along directions."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from colk import _stored as stored
from colk._resolution import varying
from colk._validation import Array
from colk.kernels import Mixed
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Relevance"]

# Largest and least number of samples at which a function is differentiated, and the products of a
# sample, an atom and a feature that this may take.
_ROWS, _FEWEST, _PRODUCTS = 500, 50, 2e6
# Largest number of columns of two values that have differences, and of directions.
_TWO_VALUED, _DIRECTIONS = 50, 10


@stored.stores(
    sizes=stored.Array("n_features", at_least=0.0),
    directions=stored.Array(stored.Size("n_directions", at_most=_DIRECTIONS), "n_features"),
    shares=stored.Array("n_directions", at_least=0.0),
)
@dataclass(frozen=True, eq=False)
class Relevance:
    """How a function varies with its features: M, the mean of ∇f ∇fᵀ over samples.

    M is summed over outputs, and each feature is in units of its standard deviation. A feature
    that does not vary has 0. For columns of two values, if there are at most 50, the slope is the
    difference of f between them. A category has no slope: its entry of M is half the mean square of
    the change of f if the category of a sample is replaced by that of another, which would be the
    entry of a number if f were linear; and it is a direction of its own.

    Parameters
    ----------
    sizes : array of shape (p,)
        √M_jj of each feature, divided by the largest.
    directions : array of shape (k, p)
        Eigenvectors of M, the largest eigenvalue first, at most 10. The largest loading is
        positive.
    shares : array of shape (k,)
        Their eigenvalues, divided by the trace of M.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> f = KernelExpansion(Gaussian([1.0, 9.0]), X, np.ones(50))
    >>> found = Relevance.of(f, X)
    >>> found.sizes.round(2), found.shares.round(2)
    (array([1.  , 0.03]), array([1., 0.]))
    """

    sizes: Array
    directions: Array
    shares: Array

    @classmethod
    def of(cls, function: KernelExpansion, X: Array) -> Self | None:
        """Return the relevance of the features of f; None if f is constant or has no gradient.

        Parameters
        ----------
        function : KernelExpansion
            f.
        X : array of shape (n, p)
            Samples.
        """
        if not function.kernel.has_gradient or not len(X):
            return None
        size = int(_PRODUCTS / max(function.n_atoms * X.shape[1], 1))
        size = min(max(size, _FEWEST), _ROWS, len(X))
        rows = X[np.linspace(0, len(X) - 1, size).astype(int)]
        kernel = function.kernel
        categorical = kernel.categorical if isinstance(kernel, Mixed) else ()
        slopes = _slopes(function, rows, categorical).reshape(-1, X.shape[1]) * X.std(axis=0)
        changes = np.zeros((len(categorical), X.shape[1]))
        shuffled = np.random.default_rng(0).permutation(size)
        for of, k in zip(changes, categorical, strict=True):
            of[k] = np.linalg.norm(_changes(function, rows, k, rows[shuffled, k])) / np.sqrt(2.0)
        slopes = np.concatenate([slopes, changes]) / np.sqrt(size)
        slopes *= varying(X)
        largest = np.abs(slopes).max(initial=0.0)
        if not 0.0 < largest < np.inf:
            return None
        slopes /= largest
        _, values, vectors = np.linalg.svd(slopes, full_matrices=False)
        vectors, shares = vectors[:_DIRECTIONS], values**2 / (values @ values)
        vectors *= np.sign(np.take_along_axis(vectors, np.abs(vectors).argmax(1)[:, None], 1))
        sizes = np.linalg.norm(slopes, axis=0)
        return cls(sizes / sizes.max(), vectors, shares[:_DIRECTIONS])


def _slopes(function: KernelExpansion, rows: Array, categorical: tuple[int, ...]) -> Array:
    """Return ∇f at rows, of shape (n, q, p); differences for columns of two values."""
    slopes = function.gradient(rows).reshape(len(rows), -1, rows.shape[1])
    low, high = rows.min(axis=0), rows.max(axis=0)
    two = np.flatnonzero(((rows == low) | (rows == high)).all(axis=0) & (low < high))
    two = np.setdiff1d(two, categorical).tolist()
    for k in two if len(two) <= _TWO_VALUED else ():
        other = low[k] + high[k] - rows[:, k]
        slopes[:, :, k] = _changes(function, rows, k, other) / (other - rows[:, k])[:, None]
    return slopes


def _changes(function: KernelExpansion, rows: Array, column: int, values: Array) -> Array:
    """Return how f changes, of shape (n, q), if a column takes other values."""
    other = rows.copy()
    other[:, column] = values
    return (function(other) - function(rows)).reshape(len(rows), -1)
