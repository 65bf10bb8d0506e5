"""Check a kernel: symmetric, positive semidefinite, consistent, with the right gradient."""

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_points
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion
from colk.testing._slopes import shown

__all__ = ["check_kernel"]

_STEP = 1e-5


def check_kernel(
    kernel: Kernel,
    n_features: int = 3,
    *,
    points: ArrayLike | None = None,
    rtol: float = 1e-9,
    seed: int = 0,
) -> None:
    """Check that a kernel is finite, symmetric and positive semidefinite.

    Columns and diagonals must be those of the Gram matrix, and the gradient, if the kernel has one,
    must be the derivative. A formula, if there is one, must have the values of the Gram matrix.

    Parameters
    ----------
    kernel : Kernel
        The kernel, such as a `CustomKernel`.
    n_features : int
        The number of features of the points. Default: 3.
    points : array of shape (n, n_features), optional
        Points like those of your application. Default: standard normal points.
    rtol : float
        Tolerance, relative to the largest entry of the Gram matrix. Default: 1e-9.
    seed : int
        Seed of the random points and weights. Default: 0.

    Raises
    ------
    AssertionError
        The message names the property that is violated, and the points.

    Examples
    --------
    >>> from colk.kernels import CustomKernel, Gaussian
    >>> check_kernel(Gaussian(0.5))
    >>> def sum_of_all(u, v):
    ...     return u.sum() - v.sum()
    >>> check_kernel(CustomKernel(sum_of_all))
    Traceback (most recent call last):
        ...
    AssertionError: CustomKernel is not symmetric: κ(u, v) and κ(v, u) differ by ... at u = ...
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, n_features)) if points is None else check_points(points)
    name = type(kernel).__name__
    K = kernel.gram(X)
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise AssertionError(
            f"{name} is not finite: κ(u, v) is {K[i, j]} at {shown(u=X[i], v=X[j])}"
        )
    allowed = rtol * max(float(np.abs(K).max()), np.finfo(float).tiny)
    _check_semidefinite(X, K, allowed, name)
    _check_consistent(kernel, X, K, allowed, name)
    _check_formula(kernel, X, K, allowed, name)
    if kernel.has_gradient:
        _check_gradient(kernel, X, rng.normal(size=len(X)), name)


def _check_semidefinite(X: Array, K: Array, allowed: float, name: str) -> None:
    i, j = np.unravel_index(np.argmax(np.abs(K - K.T)), K.shape)
    if abs(K[i, j] - K[j, i]) > allowed:
        raise AssertionError(
            f"{name} is not symmetric: κ(u, v) and κ(v, u) differ by {K[i, j] - K[j, i]:.3g} at "
            f"{shown(u=X[i], v=X[j])}"
        )
    smallest = float(np.linalg.eigvalsh(K).min())
    if smallest < -allowed * len(K):
        raise AssertionError(
            f"{name} is not positive semidefinite: a Gram matrix has the eigenvalue {smallest:.3g}"
        )


def _check_consistent(kernel: Kernel, X: Array, K: Array, allowed: float, name: str) -> None:
    for i, x in enumerate(X):
        if np.abs(kernel.column(X, x) - K[:, i]).max() > allowed:
            raise AssertionError(f"{name}: column {i} is not that of the Gram matrix")
    if np.abs(kernel.diagonal(X) - K.diagonal()).max() > allowed:
        raise AssertionError(f"{name}: the diagonal is not that of the Gram matrix")


def _check_formula(kernel: Kernel, X: Array, K: Array, allowed: float, name: str) -> None:
    try:
        formula = kernel.formula
    except TypeError:  # it has none
        return
    values = formula.values(X, X)
    i, j = np.unravel_index(np.argmax(np.abs(values - K)), K.shape)
    if not abs(values[i, j] - K[i, j]) <= allowed:
        raise AssertionError(
            f"{name}: the formula is {values[i, j]:.6g} where κ(u, v) is {K[i, j]:.6g}, at "
            f"{shown(u=X[i], v=X[j])}"
        )


def _check_gradient(kernel: Kernel, X: Array, weights: Array, name: str) -> None:
    """Compare with central differences halfway between points, because kinks are at the points."""
    f = KernelExpansion(kernel, kernel.points(X), weights)
    between = 0.5 * (X[1:] + X[:-1])
    step = _STEP * max(float(np.abs(X).max()), np.finfo(float).tiny)
    found = f.gradient(between)
    expected = np.empty_like(found)
    for k in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[k] = step
        expected[:, k] = (f(between + shift) - f(between - shift)) / (2.0 * step)
    error = float(np.abs(found - expected).max())
    if not error <= 1e-5 * (1.0 + float(np.abs(expected).max())):
        raise AssertionError(
            f"{name}: the gradient is not the derivative; they differ by {error:.3g}"
        )
