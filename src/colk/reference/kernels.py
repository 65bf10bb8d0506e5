"""Kernels κ(u, v) by their formulas, known by the names and the parameters of their classes."""

from math import prod
from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["gram"]


def gram(kernel: Any, U: Array, V: Array) -> Array:
    """Return the matrix of κ(u_i, v_j), of shape (n, m).

    Distances are sums of squared differences: the expanded form cancels far from the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian, Linear
    >>> from colk.reference import gram
    >>> gram(2.0 * Gaussian(1.0) + Linear(), np.array([[0.0], [1.0]]), np.array([[1.0]])).round(4)
    array([[1.2131],
           [3.    ]])
    """
    name = type(kernel).__name__
    if name == "Sum":
        return np.asarray(sum(gram(part, U, V) for part in kernel.parts))
    if name == "Product":
        return np.asarray(prod(gram(part, U, V) for part in kernel.parts))
    if name == "Scaled":
        return np.asarray(kernel.factor * gram(kernel.kernel, U, V))
    if name == "Constant":
        return np.full((len(U), len(V)), kernel.value)
    if name == "Linear":
        return U @ V.T
    if name == "Polynomial":
        return np.asarray((U @ V.T + kernel.offset) ** kernel.degree)
    if name == "CustomKernel":
        values = [kernel.function(u, v) for u in U for v in V]
        return np.reshape(values, (len(U), len(V))).astype(float)
    return _stationary(name, kernel, (U[:, None, :] - V[None, :, :]) / np.array(kernel.bandwidth))


def _stationary(name: str, kernel: Any, difference: Array) -> Array:
    """Kernels of (u − v)/bandwidth, of shape (n, m, p)."""
    squared = np.sum(difference**2, axis=2)
    if name == "Gaussian":
        return np.asarray(np.exp(-squared / 2.0))
    if name == "Laplacian":
        return np.asarray(np.exp(-np.sum(np.abs(difference), axis=2)))
    if name == "RationalQuadratic":
        return np.asarray((1.0 + squared / (2.0 * kernel.shape)) ** -kernel.shape)
    if name == "Matern":
        s = np.sqrt(2.0 * kernel.nu * squared)
        polynomial = {0.5: 1.0, 1.5: 1.0 + s, 2.5: 1.0 + s + s**2 / 3.0}[kernel.nu]
        return np.asarray(polynomial * np.exp(-s))
    raise TypeError(f"the reference knows no kernel {name}")
