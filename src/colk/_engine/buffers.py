"""Memory for the loops: rows of whole vectors, each aligned to a cache line."""

import numpy as np

from colk._validation import Array

__all__ = ["aligned", "locked", "padded", "plain"]

# Numbers in a cache line.
_LINE = 8


def padded(length: int) -> int:
    """Return the padded length of a row of `length` numbers: a whole number of cache lines.

    Multiples of 64 numbers are avoided, because rows at such a distance share cache sets.

    Examples
    --------
    >>> padded(0), padded(8), padded(9), padded(64)
    (8, 8, 16, 72)
    """
    whole = max(-(-length // _LINE), 1) * _LINE
    return whole + _LINE if whole % 64 == 0 else whole


def aligned(n_rows: int, length: int) -> Array:
    """Return zeros in aligned rows; `length` is rounded up to whole cache lines."""
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
    """Return a read-only view for the loops, of the array or of a C-contiguous copy."""
    return locked(np.require(array, np.float64, ["C", "A"]))
