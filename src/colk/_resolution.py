"""Whether numbers differ by more than rounding errors."""

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = ["differ", "varying"]

# Two numbers differ if they are further apart than this many spacings of doubles. A computed
# constant, such as a sum of shares, is rarely off by more.
_SPACINGS = 64.0


def differ(X: Array, values: Array) -> NDArray[np.bool_]:
    """Return whether each entry of X differs from the value of its column; NaN never does.

    Examples
    --------
    >>> differ(np.array([[0.3, 1.0], [0.1 + 0.2, 1.0 + 1e-9]]), np.array([0.3, 1.0]))
    array([[False, False],
           [False,  True]])
    """
    return np.asarray(np.abs(X - values) > _SPACINGS * np.spacing(np.abs(values)))


def varying(X: Array) -> NDArray[np.bool_]:
    """Return whether each column of X has values that differ.

    Examples
    --------
    >>> varying(np.array([[0.3, 1.0], [0.1 + 0.2, 1.0 + 1e-9]]))
    array([False,  True])
    """
    return np.asarray(differ(X, X[0]).any(axis=0)) if len(X) else np.zeros(X.shape[1], dtype=bool)
