"""How much a function changes along the categories of its points."""

import numpy as np

from colk._validation import Array
from colk.kernels import Mixed

__all__ = ["changes_along_categories"]

_SEED = 0


def changes_along_categories(kernel: Mixed, atoms: Array, weights: Array, X: Array) -> Array:
    """Return how much f = Σ w_j κ(d_j, ·) changes if a point takes the category of another point.

    It is the root mean square of the change, divided by √2: for a linear function of a number that
    would be the slope times the standard deviation of the number. The squares of several outputs
    are added.

    Parameters
    ----------
    kernel : Mixed
        κ.
    atoms : array of shape (m, p)
        Atoms.
    weights : array of shape (m, q)
        Their weights.
    X : array of shape (n, p)
        Points.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> kernel = Mixed(Gaussian(1.0), categorical=[0, 1], weights=[2.0, 0.0])
    >>> X = np.random.default_rng(0).integers(2, size=(500, 2)).astype(float)
    >>> changes_along_categories(kernel, X[:1], np.ones((1, 1)), X).round(1)
    array([0.5, 0. ])
    """
    order = np.random.default_rng(_SEED).permutation(len(X))
    before = kernel.gram(X, atoms) @ weights
    changes = []
    for k in kernel.categorical:
        moved = X.copy()
        moved[:, k] = X[order, k]
        change = kernel.gram(moved, atoms) @ weights - before
        changes.append(np.sqrt((change * change).sum() / (2.0 * len(X))))
    return np.array(changes)
