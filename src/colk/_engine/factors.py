"""Cholesky factors, in place and without the interpreter's lock.

SciPy's functions hold the lock, so threads that factorise matrices would wait for each other. A
factor is the lower triangle of a matrix. Entries above the diagonal are neither read nor defined.
"""

import cython

from colk._engine.c_types import CInt, Matrix
from colk._engine.simd import lapack

__all__ = [
    "factorise",
    "invert_factor",
    "invert_triangle",
    "whiten",
]


def factorise(A: Matrix) -> bool:  # cpdef
    """Replace the lower triangle of A by L, with A = LLᵀ; return whether A is positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> factorise(A), np.tril(A)
    (True, array([[2., 0.],
           [1., 2.]]))
    """
    with cython.nogil:
        failed: CInt = lapack.cholesky(A)
    return failed == 0


def invert_factor(L: Matrix) -> int:  # cpdef
    """Replace a factor L by the inverse of LLᵀ, a whole symmetric matrix.

    Examples
    --------
    >>> import numpy as np
    >>> L = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> _ = invert_factor(L)
    >>> L
    array([[ 0.5, -0.5],
           [-0.5,  1. ]])
    """
    with cython.nogil:
        lapack.invert(L)
    return 0


def invert_triangle(L: Matrix) -> int:  # cpdef
    """Replace a factor L by its inverse, a lower triangle.

    Examples
    --------
    >>> import numpy as np
    >>> L = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> _ = invert_triangle(L)
    >>> np.tril(L)
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    with cython.nogil:
        lapack.invert_triangle(L)
    return 0


def whiten(triangle: Matrix, rows: Matrix) -> int:  # cpdef
    """Multiply each row, as a column, by a lower triangle, in place.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1.0]])
    >>> _ = whiten(np.array([[2.0, 0.0], [1.0, 3.0]]), rows)
    >>> rows
    array([[2., 4.]])
    """
    with cython.nogil:
        lapack.whiten(triangle, rows)
    return 0
