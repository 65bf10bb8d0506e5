"""Random numbers from counters: number t of a seed is a function of both, and of nothing else.

So the way a stream is cut into chunks, and pickling, cannot change what is drawn, and what was
drawn once can be drawn again. The mixing is SplitMix64's (Steele, Lea, Flood 2014).
"""

# NumPy's whole numbers of 64 bits are Python's to compiled code.
# mypy: disable-error-code="return-value"

import math

import numpy as np

from colk._core.jit import inner, piece

__all__ = ["gamma", "mixed", "normal", "uniform"]


@piece
def _scrambled(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@piece
def mixed(seed: int, counter: int) -> int:
    """Seed of the stream `counter` of `seed`: 64 bits that share nothing with their neighbours."""
    step = np.uint64(0x9E3779B97F4A7C15)
    start = _scrambled(np.uint64(seed) + step)
    return np.int64(_scrambled(start + (np.uint64(counter) + np.uint64(1)) * step))


@piece
def uniform(seed: int, counter: int) -> float:
    """Number `counter` of the stream `seed`, uniform in (0, 1)."""
    return (np.float64(np.uint64(mixed(seed, counter)) >> np.uint64(11)) + 0.5) * 2.0**-53


@inner
def normal(seed: int, counter: int) -> float:
    """Number `counter` of the stream `seed`, standard normal (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(uniform(seed, 2 * counter)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, 2 * counter + 1))


@inner
def gamma(seed: int, shape: float) -> float:
    """A number of the gamma law of this shape and rate 1 (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = uniform(seed, 0) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    draw = 0
    while True:  # each turn succeeds with a probability above 0.95
        draw += 1
        x = normal(mixed(seed, 1), draw)
        v = (1.0 + c * x) ** 3
        if v > 0.0:
            u = uniform(mixed(seed, 2), draw)
            if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return boost * d * v
