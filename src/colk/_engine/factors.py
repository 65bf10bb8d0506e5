"""Cholesky factors and ridge regressions, in place and without the interpreter's lock.

SciPy's functions hold the lock, so threads that factorise matrices would wait for each other. A
factor is the lower triangle of a matrix. Entries above the diagonal are neither read nor defined.
"""

import cython

from colk._engine.c_types import CInt, ConstMatrix, ConstVector, Matrix, Vector
from colk._engine.simd import lapack

__all__ = [
    "factorise",
    "invert_factor",
    "invert_triangle",
    "lengths_and_values",
    "ridge_triangle",
    "weigh_and_square",
    "whiten",
    "whiten_and_sum",
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


# -- parts of a ridge regression, for at least one row and one column ------------------------


def weigh_and_square(rows: Matrix, roots: ConstVector, square: Matrix) -> int:  # cpdef
    """Multiply each row by its root, in place; write the lower triangle of rowsᵀ rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows, square = np.ones((2, 1)), np.empty((1, 1))
    >>> _ = weigh_and_square(rows, np.array([2.0, 3.0]), square)
    >>> rows.ravel(), square
    (array([2., 3.]), array([[13.]]))
    """
    with cython.nogil:
        lapack.weigh_and_square(rows, roots, square)
    return 0


def ridge_triangle(A: Matrix, K: ConstMatrix, ridge: float, jitter: float) -> bool:  # cpdef
    """Replace the lower triangle of A by L⁻¹, where LLᵀ = A + ridge·K; return whether it exists.

    The diagonal is multiplied by 1 + jitter.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[3.0]])
    >>> ridge_triangle(A, np.array([[2.0]]), 0.5, 0.0), A
    (True, array([[0.5]]))
    """
    with cython.nogil:
        failed: CInt = lapack.ridge_triangle(A, K, ridge, jitter)
    return failed == 0


# cpdef
def whiten_and_sum(triangle: Matrix, rows: Matrix, targets: ConstMatrix, sums: Matrix) -> int:
    """Multiply each row, as a column, by a lower triangle, in place; write rowsᵀ targets.

    Examples
    --------
    >>> import numpy as np
    >>> rows, sums = np.ones((2, 1)), np.empty((1, 1))
    >>> _ = whiten_and_sum(np.array([[2.0]]), rows, np.array([[1.0], [3.0]]), sums)
    >>> rows.ravel(), sums
    (array([2., 2.]), array([[8.]]))
    """
    with cython.nogil:
        lapack.whiten_and_sum(triangle, rows, targets, sums)
    return 0


def lengths_and_values(
    rows: ConstMatrix, size: int, weights: ConstMatrix, lengths: Vector, values: Matrix
) -> int:  # cpdef
    """Write the squared length of each row and its product with weights, by the first entries.

    Examples
    --------
    >>> import numpy as np
    >>> lengths, values = np.empty(1), np.empty((1, 1))
    >>> weights = np.array([[3.0], [5.0]])
    >>> _ = lengths_and_values(np.array([[2.0, 7.0]]), 1, weights, lengths, values)
    >>> lengths, values
    (array([4.]), array([[6.]]))
    """
    with cython.nogil:
        lapack.lengths_and_values(rows, size, weights, lengths, values)
    return 0
