"""Sparse matrices from stored arrays, checked because compiled code trusts them."""

from importlib import import_module
from typing import Any

import numpy as np

from colk._stored.fields import Count, refuse
from colk.errors import FileFormatError

__all__ = ["sparse_matrix"]


def sparse_matrix(kind: str, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    """Return a compressed sparse matrix; raise FileFormatError if an index is out of range.

    SciPy's own check passes any `indptr` of a matrix without entries.

    Parameters
    ----------
    kind : str
        A class of `scipy.sparse`, such as "csr_matrix".
    shape : tuple of two int
        Its shape.
    data, indices, indptr : array
        Its attributes.

    Examples
    --------
    >>> parts = np.ones(1), np.array([2]), np.array([0, 1])
    >>> sparse_matrix("csr_matrix", (1, 3), *parts).toarray()
    array([[0., 0., 1.]])
    """
    if type(shape) is not tuple or len(shape) != 2:
        raise refuse("the shape of a sparse matrix", "a pair", shape)
    for length in shape:
        Count().read(length, "the shape of a sparse matrix", {})
    n_lines, width = shape if kind.startswith("csr") else shape[::-1]
    for name, array, types in (("data", data, "fiub"), ("indices", indices, "i")):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in types:
            raise refuse(f"{name} of a sparse matrix", "a vector of numbers", array)
    if not isinstance(indptr, np.ndarray) or indptr.dtype.kind != "i":
        raise refuse("indptr of a sparse matrix", "a vector of whole numbers", indptr)
    is_whole = indptr.shape == (n_lines + 1,) and indptr[0] == 0 and indptr[-1] <= len(indices)
    if not is_whole or (indptr[1:] < indptr[:-1]).any() or len(indices) != len(data):
        raise FileFormatError("the rows of a sparse matrix do not divide its entries")
    if ((indices < 0) | (indices >= width)).any():
        raise FileFormatError(f"the indices of a sparse matrix must be below {width}")
    return getattr(import_module("scipy.sparse"), kind)((data, indices, indptr), shape=shape)
