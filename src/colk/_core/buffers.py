"""What the live dictionary is made of: its buffers, and the places in them by name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = [
    "CARRY",
    "COLUMN",
    "CROWDING_FLOOR",
    "ENLARGED",
    "GHOSTS",
    "GRAM",
    "HALF",
    "INFLUENCE",
    "INVERSE",
    "LANE",
    "NOVELTY_FLOOR",
    "SCHUR",
    "SIZE",
    "SMALLEST_PIVOT",
    "SOLUTION",
    "WORK_ROWS",
    "Buffers",
]

# A point whose squared distance to the span is below this share of κ(x, x) counts as inside it:
# its projection is stored and the rest charged to the certificate.
NOVELTY_FLOOR = 1e-9
# An atom whose novelty, given all the others, would sink below this share makes way.
CROWDING_FLOOR = 1e-10
# A point with κ(x, x) = 0 is the function 0; its pivot is lifted to this, to be divided by.
SMALLEST_PIVOT = 1e-290

# Capacities are multiples of this: four vectors of four.
LANE = 16

# Panels: one row for each new point of a block.
COLUMN, HALF, SOLUTION, INFLUENCE = 0, 1, 2, 3
# Small matrices over the new points of a block.
GRAM, SCHUR, INVERSE = 0, 1, 2
# Work rows; the first three are the kernel's scratch.
CARRY, ENLARGED = 3, 4
WORK_ROWS = 5
# Counters.
SIZE, GHOSTS = 0, 1


class Buffers(NamedTuple):
    """Buffers of the live state; the first `counters[SIZE]` entries of each are in use.

    Rows of `weights` below `n_fitted` belong to functions that are re-fitted when an atom leaves
    (the iterate and its averages); the first `n_priced` of them decide which atom leaves. The
    other rows are kept as they are: a dropped atom takes its entry along to `ghosts`.
    """

    program: Array  # the kernel
    atoms: Array  # (features, capacity)
    weights: Array  # (rows, capacity)
    factor: Array  # (capacity, capacity)
    diagonal: Array  # (capacity,)
    points: Array  # (block, features): the new points
    amounts: Array  # (block, rows): their weights
    panels: Array  # (4, block, capacity)
    small: Array  # (3, block, block)
    order: NDArray[np.int64]  # (block,): the new points still in play
    marked: NDArray[np.bool_]  # (block,): those in the span of what came before
    work: Array  # (5, capacity or more)
    ghosts: Array  # (features + rows, capacity): atoms that the last step dropped
    counters: NDArray[np.int64]
    spent: Array  # (rows,): squared H-norm that each function lost since it was last set to 0
    n_priced: int
    n_fitted: int
    trmm: int  # address of BLAS's triangular product; 0: blocks are too small to need it
