"""A first look at which features matter, alone or in pairs, without a kernel.

Features are cut into bins of equal counts. A regression on all bins finds what each feature
explains alone. The means of what is left in the cells of two features show which pairs act only
together: a gradient of a function that has not found them yet does not. All cells of all pairs are
the entries of one product of matrices.
"""

import numpy as np

from colk._validation import Array

__all__ = ["sizes_by_pairs"]

# Samples for each cell of two features, bounds of the number of bins, and the largest total number;
# it is at most half the number of samples.
_PER_CELL, _FEWEST, _MOST, _TOTAL = 16, 4, 8, 2000

# A pair must explain more than chance does by this many standard deviations.
_CLEAR = 8.0


def sizes_by_pairs(X: Array, Y: Array, weight: Array) -> Array | None:
    """Return the root of what each feature explains alone and in pairs, if a pair is clear.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    weight : array of shape (n,)
        Weights of the samples, with mean 1.

    Returns
    -------
    array of shape (p,), or None
        The sizes; None if there are too few samples or no clear pair.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> sizes_by_pairs(X, X[:, 1:2] * X[:, 3:4], np.ones(1000)).round()
    array([0., 1., 0., 1., 0.])
    """
    n, p = X.shape
    n_bins = int(min(np.sqrt(n / _PER_CELL), _MOST, min(_TOTAL, n / 2) / p))
    if n_bins < _FEWEST or p < 2:
        return None
    edges = np.quantile(X, np.linspace(0.0, 1.0, n_bins + 1)[1:-1], axis=0)
    places = (X[:, :, None] > edges.T).sum(axis=2) + n_bins * np.arange(p)
    B = np.zeros((n, n_bins * p))
    B[np.arange(n)[:, None], places] = 1.0
    weighted = B * weight[:, None]
    counts = B.T @ weighted
    alone = Y - np.average(Y, axis=0, weights=weight)
    effects = np.linalg.solve(counts + np.eye(len(counts)), weighted.T @ alone)
    rest = alone - B @ effects
    rest -= np.average(rest, axis=0, weights=weight)
    explained = np.zeros((p, p))
    for residuals in rest.T:
        sums = B.T @ (weighted * residuals[:, None])
        cells = sums * sums / np.maximum(counts, 1.0)
        explained += cells.reshape(p, n_bins, p, n_bins).sum(axis=(1, 3))
    noise = float(np.average((rest * rest).sum(axis=1), weights=weight))
    if not noise > 0.0:
        return None
    n_free = (n_bins - 1.0) ** 2
    beyond = explained / noise - n_free
    np.fill_diagonal(beyond, 0.0)
    clear = beyond > _CLEAR * np.sqrt(2.0 * n_free)
    if not clear.any():
        return None
    together = np.where(clear, beyond * noise / n, 0.0).sum(axis=1)
    of_bins = counts.diagonal()[:, None] * effects**2
    return np.asarray(np.sqrt(of_bins.reshape(p, -1).sum(axis=1) / n + together))
