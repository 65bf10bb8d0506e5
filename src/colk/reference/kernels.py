"""Gram matrices by the formulas of the kernels, without the engine's loops."""

from typing import Any

from colk._validation import Array

__all__ = ["gram"]


def gram(kernel: Any, U: Array, V: Array) -> Array:
    """Return the matrix with entries κ(u_i, v_j), of shape (n, m).

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian, Linear
    >>> from colk.reference import gram
    >>> gram(2.0 * Gaussian(1.0) + Linear(), np.array([[0.0], [1.0]]), np.array([[1.0]])).round(4)
    array([[1.2131],
           [3.    ]])
    """
    values: Array = kernel.formula.values(U, V)
    return values
