"""Atoms and weights without the triangular factor, for methods that never project."""

import numpy as np
from numpy.typing import NDArray

from colk._core.buffers import Buffers
from colk._core.dictionary import Dictionary
from colk._validation import Array

__all__ = ["Roster"]


class Roster(Dictionary):
    """A dictionary in memory O(M). The field `diagonal` of its buffers holds κ(d_j, d_j)."""

    def _allocate(
        self, program: Array, counters: NDArray[np.int64], n_priced: int, n_fitted: int
    ) -> Buffers:
        buffers = super()._allocate(program, counters, n_priced, n_fitted)
        return buffers._replace(factor=np.zeros((0, 0)))
