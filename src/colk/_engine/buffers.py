"""Memory of streams: arrays of zeros, and rows of whole vectors, each aligned to a cache line.

All memory whose size follows from a model passes `zeros`, so that a file that asks for more than
its due is refused before anything is allocated.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from colk._validation import Array

__all__ = ["aligned", "locked", "padded", "plain", "watched_memory", "zeros"]

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


class _Watch(threading.local):
    check: Callable[[float], None] | None = None


_watch = _Watch()


@contextmanager
def watched_memory(check: Callable[[float], None]) -> Iterator[None]:
    """Call `check` with the number of bytes before each allocation of this thread.

    Examples
    --------
    >>> with watched_memory(print):
    ...     array = zeros((2, 3))
    48.0
    """
    before, _watch.check = _watch.check, check
    try:
        yield
    finally:
        _watch.check = before


def zeros(shape: int | tuple[int, ...], dtype: type = np.float64) -> Array:
    """Return zeros of 8 bytes each."""
    if _watch.check is not None:
        _watch.check(8.0 * (shape if isinstance(shape, int) else math.prod(shape)))
    return np.zeros(shape, dtype)


def aligned(n_rows: int, length: int) -> Array:
    """Return zeros in aligned rows; `length` is rounded up to whole cache lines."""
    width = -(-length // _LINE) * _LINE
    memory = zeros(n_rows * width + _LINE)
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
