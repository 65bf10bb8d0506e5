"""Random numbers from counters: number t depends only on the seed and on t.

Draws therefore do not depend on the chunks of a stream or on pickling, and any draw can be
repeated. The mixing is SplitMix64's (Steele, Lea, Flood 2014).
"""

import math

from colk._engine.c_types import Word

__all__ = ["gamma", "mixed", "normal", "uniform"]

# Words have 64 bits. Compiled code needs no mask.
_MASK: Word = 0xFFFFFFFFFFFFFFFF
_STEP: Word = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # cdef unsigned long long


def _scrambled(z: Word) -> Word:  # cdef noexcept
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def mixed(seed: Word, counter: Word) -> Word:  # cpdef nogil noexcept
    """Return the seed of stream number `counter`: 64 bits, mixed from `seed` and `counter`."""
    start = _scrambled((seed + _STEP) & _MASK)
    return _scrambled((start + (counter + 1) * _STEP) & _MASK)


def uniform(seed: Word, counter: Word) -> float:  # cpdef nogil noexcept
    """Return number `counter` of the stream `seed`, uniform in (0, 1)."""
    return ((mixed(seed, counter) >> 11) + 0.5) * 1.1102230246251565e-16  # 2⁻⁵³


def normal(seed: Word, counter: Word) -> float:  # cpdef nogil noexcept
    """Return number `counter` of the stream `seed`, standard normal (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(uniform(seed, 2 * counter)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, 2 * counter + 1))


def gamma(seed: Word, shape: float) -> float:  # cpdef nogil noexcept
    """Return a gamma variate with this shape and rate 1 (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = math.pow(uniform(seed, 0), 1.0 / shape)
        shape += 1.0
    d: float = shape - 1.0 / 3.0
    c: float = 1.0 / math.sqrt(9.0 * d)
    draw: Word = 0
    while True:  # each iteration succeeds with a probability above 0.95
        draw += 1
        x: float = normal(mixed(seed, 1), draw)
        v: float = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x)
        if v > 0.0:
            u: float = uniform(mixed(seed, 2), draw)
            if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return boost * d * v
