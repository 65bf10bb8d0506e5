"""Memory for the loops: rows of whole vectors, each beginning with a cache line."""

import numpy as np

from colk._validation import Array

__all__ = ["aligned", "locked", "padded", "plain"]

# Numbers in a cache line.
_LINE = 8


def padded(length: int) -> int:
    """Return how long a row for `length` numbers is made: whole lines.

    Rows that are a multiple of 64 numbers apart would compete for the same places of the cache.

    Examples
    --------
    >>> padded(0), padded(8), padded(9), padded(64)
    (8, 8, 16, 72)
    """
    whole = max(-(-length // _LINE), 1) * _LINE
    return whole + _LINE if whole % 64 == 0 else whole


def aligned(n_rows: int, length: int) -> Array:
    """Return zeros in rows that begin with a cache line; `length` is rounded up to whole lines."""
    width = -(-length // _LINE) * _LINE
    memory = np.zeros(n_rows * width + _LINE)
    start = -(memory.ctypes.data // memory.itemsize) % _LINE
    return memory[start : start + n_rows * width].reshape(n_rows, width)


def locked(array: Array) -> Array:
    """Return a view of the array that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def plain(array: Array) -> Array:
    """Return what the loops read: a locked view of the array, or of a copy in the common layout."""
    return locked(np.require(array, np.float64, ["C", "A"]))
