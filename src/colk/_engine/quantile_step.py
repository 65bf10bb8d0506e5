"""Second-order steps for several quantiles: a function and a constant for each level.

The quantile of level τ_c is f_c(x) + o_c. All f_c have the same atoms and the same P. After each
sample the constant moves by its own hit rate: o_c ← o_c + 0.003d_c·(τ_c − [y ≤ f_c(x) + o_c]),
where d_c is the mean distance of the quantile from the targets. The sum of these updates
telescopes, so over time a share of τ_c of the targets lies below the quantile.
"""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.c_types import Vector
from colk._engine.newton_step import NewtonStream
from colk._validation import Array

__all__ = ["QuantileStream"]

# The distances are means over the latest MOST samples. The best step at sample t is 1/t divided by
# the density at the quantile; 1/density is 3d_c to 6d_c for normal noise. STEP·d_c is the best step
# at sample 1000. Larger first steps would move the constants while the functions are still wrong.
MOST: int = 1000
STEP: float = 0.003


class QuantileStream(NewtonStream):
    """A Newton stream whose outputs are quantiles.

    Parameters
    ----------
    levels, offsets : array of shape (Q,)
        τ_c, increasing, and o_c, which the loss adds to the outputs.
    **common
        The arguments of `NewtonStream`, with a window of one sample.
    """

    levels: Vector
    offsets: Vector  # (Q,): o_c
    distances: Vector  # (Q,): d_c

    def __init__(self, levels: Array, offsets: Array, **common: Any) -> None:
        super().__init__(**common)
        self.levels, self.offsets, self.distances = levels, offsets, np.zeros(len(levels))

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns for a stream of this shape."""
        size = self.levels.shape[0]
        return {
            **super().fields(),
            "offsets": stored.Array(size),
            "distances": stored.Array(size, at_least=0.0),
        }

    def packed(self) -> dict[str, Any]:
        """Body of `pack`; the caller holds the lock."""
        return {
            **super().packed(),
            "offsets": np.array(self.offsets),
            "distances": np.array(self.distances),
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        super().unpack(packed)
        np.asarray(self.offsets)[:] = packed["offsets"]
        np.asarray(self.distances)[:] = packed["distances"]

    @property
    def constants(self) -> Array:
        """o_c, a copy of shape (Q,)."""
        return np.array(self.offsets)

    def conclude(self, lost: float) -> int:  # cdef
        """Move the constants by this sample."""
        self.move_offsets()
        return NewtonStream.conclude(self, lost)

    def move_offsets(self) -> None:  # cdef inline
        """Move each constant towards the level of its quantile."""
        rate, weight = 1.0 / min(self.steps + 1, MOST), min(self.window.weights[0], 1.0)  # type: float, float
        for c in range(self.n_outputs):
            excess: float = (
                self.window.predictions[0, c] + self.offsets[c] - self.window.targets[0, 0]
            )
            self.distances[c] += rate * weight * (abs(excess) - self.distances[c])
            slope: float = 1.0 - self.levels[c] if excess >= 0.0 else -self.levels[c]
            self.offsets[c] -= STEP * weight * self.distances[c] * slope
