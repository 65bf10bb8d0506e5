"""Many of the random numbers of `counter_rng` at once, as arrays."""

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = ["uniforms"]

# The constants of `counter_rng`, whose compiled module hides them.
_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31, 11))


def _scrambled(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> _SHIFTS[0])) * _FIRST
    z = (z ^ (z >> _SHIFTS[1])) * _SECOND
    return np.asarray(z ^ (z >> _SHIFTS[2]))


def uniforms(seed: int, first: int, size: int) -> Array:
    """Return the numbers `first`, `first` + 1, … of the stream `seed`, uniform in (0, 1).

    Examples
    --------
    >>> from colk._engine.counter_rng import uniform
    >>> uniforms(7, 10, 2).tolist() == [uniform(7, 10), uniform(7, 11)]
    True
    """
    start = _scrambled(np.array([(seed + _STEP) & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    counters = np.arange(first + 1, first + 1 + size, dtype=np.uint64)
    words = _scrambled(start + counters * np.uint64(_STEP))
    return np.asarray(((words >> _SHIFTS[3]).astype(np.float64) + 0.5) * 2.0**-53)
