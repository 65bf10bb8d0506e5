"""The mean outer product of the gradients of a kernel ridge regression, at its samples.

For κ = k(‖z − z'‖) the gradient of f at z is −Σ_j w_j s(z, z_j)(z − z_j), where s(z, z') is −k'/r.
The term of a sample with itself is 0. For Matérn kernels and the Gaussian, s is a multiple of
another kernel. The Laplacian has a gradient for each coordinate.
"""

import numpy as np

from colk._validation import Array
from colk.kernels import Gaussian, Laplacian, Matern, RationalQuadratic
from colk.kernels.stationary import Stationary

__all__ = ["category_moments", "moments"]

# Squared distances below this share of the squared bandwidth are rounding errors.
_SAME = 1e-12


def moments(
    kernel: Stationary, Z: Array, D: Array, K: Array, weights: Array, is_full: bool
) -> Array:
    """Return the mean over samples of ∇f∇fᵀ, summed over outputs, or only its diagonal.

    Parameters
    ----------
    kernel : Stationary
        The kernel of numbers, with one bandwidth.
    Z, D : arrays of shape (n, p) and (m, p)
        The numbers of the samples, and of the atoms of f.
    K : array of shape (n, m)
        Kernel values, which may include a factor for categories.
    weights : array of shape (m, q)
        Weights of f.
    is_full : bool
        Whether to return the matrix.

    Examples
    --------
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> kernel = Gaussian(1.0)
    >>> found = moments(kernel, Z, Z, kernel.gram(Z), np.array([[1.0], [0.0]]), is_full=False)
    >>> found.round(4)  # the slope at the second sample is −exp(−1/2)
    array([0.1839, 0.    ])
    """
    if isinstance(kernel, Laplacian):
        return _along_axes(float(np.mean(kernel.bandwidth)), Z, D, K, weights)
    pulls = _pulls(kernel, Z, D, K)
    M = np.zeros((Z.shape[1], Z.shape[1]))
    for w in weights.T:
        pull = pulls * w
        gradients = pull @ D - Z * pull.sum(axis=1)[:, None]
        M += gradients.T @ gradients / len(Z)
    return M if is_full else np.diag(M).copy()


def _along_axes(bandwidth: float, Z: Array, D: Array, K: Array, weights: Array) -> Array:
    """Return the mean squared slopes of the Laplacian along each axis."""
    found = np.empty(Z.shape[1])
    for k in range(Z.shape[1]):
        slopes = (np.sign(Z[:, k, None] - D[:, k]) * K) @ weights / bandwidth
        found[k] = (slopes * slopes).sum() / len(Z)
    return found


def _pulls(kernel: Stationary, Z: Array, D: Array, K: Array) -> Array:
    """Return −k'(r)/r for all pairs; K may include a factor for categories, which it keeps."""
    size = float(np.mean(kernel.bandwidth)) ** 2
    if isinstance(kernel, Gaussian):
        return K / size
    squares = (Z * Z).sum(axis=1)[:, None] + (D * D).sum(axis=1) - 2.0 * Z @ D.T
    squares = np.maximum(squares, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array
        if isinstance(kernel, RationalQuadratic):
            return np.asarray(K / (size + squares / (2.0 * kernel.shape)))
        assert isinstance(kernel, Matern)
        s = np.sqrt(2.0 * kernel.nu * squares / size)
        if kernel.nu == 0.5:
            found = K / (size * s)
        elif kernel.nu == 1.5:
            found = 3.0 * K / (size * (1.0 + s))
        else:
            found = 5.0 / 3.0 * K * (1.0 + s) / (size * (1.0 + s + s * s / 3.0))
    found[~(squares > _SAME * size)] = 0.0
    return found


def category_moments(codes: Array, of_atoms: Array, weights: Array, K: Array, C: Array) -> Array:
    """Return, for each column of categories, half the mean square of a change of f.

    The change is that of f when the category of a sample is replaced by that of another sample.
    Two different categories are as far apart as two numbers of standard deviation 1 are on average.

    Parameters
    ----------
    codes, of_atoms : arrays of shape (n, k) and (m, k)
        Categories of the samples, and of the atoms of f.
    weights : array of shape (k,)
        Their weights in `Mixed`.
    K, C : arrays of shape (n, m) and (m, q)
        Kernel values, and weights of f.

    Examples
    --------
    >>> codes, w = np.array([[0.0], [1.0]]), np.log([2.0])
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> category_moments(codes, codes, w, K, np.array([[1.0], [0.0]]))
    array([0.125])
    """
    found = np.zeros(codes.shape[1])
    for k, column in enumerate(codes.T):
        other = np.roll(column, 1)
        differs = np.flatnonzero(other != column)
        if not len(differs):
            continue
        was, now = (c[differs, None] != of_atoms[:, k] for c in (column, other))
        rows = K[differs]
        changes = (rows * np.exp(weights[k] * (1.0 * was - now)) - rows) @ C
        found[k] = 0.5 * (changes * changes).sum() / len(differs)
    return found
