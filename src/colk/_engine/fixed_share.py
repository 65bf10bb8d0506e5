"""Weights of functions that follow their losses: exponential weights with a fixed share.

Each step multiplies the weights p by exp(−loss) and returns a share of p to its first values.
Therefore a function that was worse for a long time can lead soon after it has become better.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.c_types import Readonly, Vector
from colk._validation import Array

__all__ = ["FixedShare"]


class FixedShare:  # final
    """Weights p of functions, which sum to 1.

    Parameters
    ----------
    first : array of shape (n,)
        The first values of p.
    share : float
        Part of p that returns to the first values in each step.

    Examples
    --------
    >>> mixture = FixedShare(np.full(2, 0.5), share=0.01)
    >>> for _ in range(3):
    ...     mixture.lost[1] = 1.0
    ...     _ = mixture.update()
    >>> np.asarray(mixture.weights).round(2)
    array([0.95, 0.05])
    """

    weights: Readonly[Vector]  # (n,): p
    lost: Readonly[Vector]  # (n,): exponents of the next update, which the caller writes
    returned: Vector  # (n,): what each function gets back in an update
    n: Readonly[int]
    share: Readonly[float]

    def __init__(self, first: Array, share: float) -> None:
        self.n, self.share = len(first), share
        self.weights, self.lost = np.array(first), zeros(self.n)
        self.returned = share * np.asarray(first)

    def update(self) -> int:  # cpdef nogil int noexcept
        """Multiply p by exp(−lost), and return a share to the first values."""
        total = 0.0
        for e in range(self.n):
            self.weights[e] *= math.exp(-self.lost[e])
            total += self.weights[e]
        for e in range(self.n):
            self.weights[e] = (1.0 - self.share) * self.weights[e] / total + self.returned[e]
        return 0

    def fields(self) -> stored.Record:
        """Fields that `pack` returns."""
        return stored.Record({"weights": stored.Array(self.n, above=0.0, adds_to=1.0)})

    def pack(self) -> dict[str, Any]:
        """Return arrays from which `unpack` restores the exact state."""
        return {"weights": np.array(self.weights)}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        np.asarray(self.weights)[:] = packed["weights"]
