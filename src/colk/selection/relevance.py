"""Relevance of features: how much a fitted function varies along each of them."""

import numpy as np

from colk._resolution import varying
from colk._validation import Array
from colk.rkhs.expansion import KernelExpansion

__all__ = ["relevance_of"]

# Largest and least number of samples at which a function is differentiated, and the products of a
# sample, an atom and a feature that this may take.
_ROWS, _FEWEST, _PRODUCTS = 500, 50, 1e6


def relevance_of(
    function: KernelExpansion, X: Array, categorical: tuple[int, ...] = ()
) -> Array | None:
    """Return the root mean square of ∂f/∂x times the standard deviation, divided by the largest.

    Squares are summed over outputs. For a category it is √½ of the change of f when the category of
    a sample is replaced by that of another. A feature that does not vary has 0. The result is None
    if f is constant.

    Parameters
    ----------
    function : KernelExpansion
        f, whose kernel has a gradient.
    X : array of shape (n, p)
        Samples.
    categorical : tuple of int
        Columns that hold categories. Default: none.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> f = KernelExpansion(Gaussian([1.0, 9.0]), X, np.ones(50))
    >>> relevance_of(f, X).round(2)
    array([1.  , 0.03])
    """
    size = int(_PRODUCTS / max(function.n_atoms * X.shape[1], 1))
    size = min(max(size, _FEWEST), _ROWS, len(X))
    rows = X[np.linspace(0, len(X) - 1, size).astype(int)]
    gradients = function.gradient(rows).reshape(len(rows), -1, X.shape[1])
    sizes = np.sqrt((gradients**2).sum(axis=1).mean(axis=0)) * X.std(axis=0)
    values = function(rows).reshape(len(rows), -1)
    for k in categorical:
        other = rows.copy()
        other[:, k] = np.roll(rows[:, k], 1)
        differs = other[:, k] != rows[:, k]
        changes = (function(other).reshape(values.shape) - values)[differs]
        sizes[k] = np.sqrt(0.5 * (changes**2).sum() / max(int(differs.sum()), 1))
    sizes = np.where(varying(X), sizes, 0.0)
    largest = sizes.max(initial=0.0)
    return np.asarray(sizes / largest) if 0.0 < largest < np.inf else None
