"""Points times a matrix: the coordinates in which a kernel with a metric compares them."""

import cython
import numpy as np

from colk._engine.buffers import aligned, plain
from colk._engine.c_types import ConstMatrix, Matrix
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["transformed", "whole_rows"]


def whole_rows(matrix: Array) -> Array:
    """Return a copy of a matrix in rows of whole vectors, as `transformed` needs it.

    Examples
    --------
    >>> import numpy as np
    >>> whole_rows(np.ones((2, 3))).shape
    (2, 8)
    """
    rows = aligned(*matrix.shape)
    rows[:, : matrix.shape[1]] = matrix
    return rows


def transformed(X: Array, rows: Array, width: int) -> Array:
    """Return XA, where A has `width` columns; a row does not depend on the other rows of X.

    BLAS adds in another order for one row than for many, so a learner would depend on how its
    stream is cut into chunks.

    Examples
    --------
    >>> import numpy as np
    >>> transformed(np.array([[1.0, 10.0]]), whole_rows(np.array([[2.0], [3.0]])), 1)
    array([[32.]])
    """
    out = np.empty((len(X), width))
    write_transformed(plain(X), rows, out)
    return out


def write_transformed(X: ConstMatrix, rows: ConstMatrix, out: Matrix) -> int:  # cdef gil
    """Body of `transformed`, without the interpreter's lock."""
    with cython.nogil:
        for i in range(X.shape[0]):
            loops.transform(X, i, rows, out, i)
    return 0
