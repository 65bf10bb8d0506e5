"""Products of matrices without the interpreter's lock."""

import numpy as np

from colk._validation import Array

__all__ = ["transposed_product"]


def transposed_product(table: Array, columns: Array) -> Array:
    """Return tableᵀ columns, of shape (m, q), for a table (n, m) and columns (n, q).

    NumPy's operator `@` holds the interpreter's lock if a transposed matrix meets a single column,
    so threads would wait for each other. `np.dot` gives the same bits without the lock.

    Examples
    --------
    >>> transposed_product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]]))
    array([[31.],
           [42.]])
    """
    if columns.shape[1] == 1:
        return np.asarray(np.dot(columns[:, 0], table))[:, None]
    return np.asarray(table.T @ columns)
