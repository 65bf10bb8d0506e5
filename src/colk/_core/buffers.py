"""What the live dictionary is made of: its buffers, and the places in them by name."""

from typing import NamedTuple

from colk._core.jit import piece
from colk._core.reference import Counts, Cube, Flags, Matrix, reference_to
from colk._validation import Array

__all__ = [
    "ADDED",
    "CARRY",
    "COLUMN",
    "CROWDING_FLOOR",
    "ENLARGED",
    "GHOST",
    "GHOSTS",
    "GRAM",
    "HALF",
    "INVERSE",
    "LANE",
    "LATER",
    "NOVELTY_FLOOR",
    "NOW",
    "N_COUNTERS",
    "N_PANELS",
    "SCHUR",
    "SIZE",
    "SMALLEST_PIVOT",
    "SOLUTION",
    "WORK_ROWS",
    "Buffers",
    "buffers_at",
    "padded",
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
COLUMN, HALF, SOLUTION, GHOST = 0, 1, 2, 3
N_PANELS = 4
# Small matrices over the new points of a block.
GRAM, SCHUR, INVERSE = 0, 1, 2
# Work rows; the first three are the kernel's scratch.
CARRY, ENLARGED, NOW, LATER = 3, 4, 5, 6
WORK_ROWS = 7
# Counters: atoms, atoms that the last step dropped, and new points that it appended.
SIZE, GHOSTS, ADDED = 0, 1, 2
N_COUNTERS = 3


class Buffers(NamedTuple):
    """Buffers of the live state; the first `counters[SIZE]` entries of each are in use.

    Rows of `weights` below `n_fitted` belong to functions that are re-fitted when an atom leaves
    (the iterate and its averages); the first `n_priced` of them decide which atom leaves. The
    other rows are kept as they are: a dropped atom takes its entry along to `ghosts`.
    """

    program: Array  # the kernel
    atoms: Matrix  # (features, capacity)
    own: Array  # (capacity,): κ(d_j, d_j)
    weights: Matrix  # (rows, capacity): 0 beyond the atoms
    factor: Matrix  # (capacity, capacity)
    diagonal: Array  # (capacity,): of K⁻¹; NaN beyond the atoms, where no comparison holds
    points: Matrix  # (block, features): the new points
    amounts: Matrix  # (block, rows): their weights
    panels: Cube  # (4, block, capacity)
    small: Cube  # (3, block, block)
    order: Counts  # (block,): the new points still in play
    marked: Flags  # (block,): those in the span of what came before
    work: Matrix  # (7, capacity or more)
    ghosts: Matrix  # (features + rows, capacity): atoms that the last step dropped
    counters: Counts
    spent: Array  # (rows,): squared H-norm that each function lost since it was last set to 0
    n_priced: int
    n_fitted: int
    column: int  # address of the unit that evaluates columns of the kernel
    absorb: int  # address of the unit that compresses; 0: the method never asks for it
    trmm: int  # address of BLAS's triangular product; 0: blocks are too small to need it


buffers_at = reference_to(Buffers)


@piece
def padded(n: int) -> int:
    """Return n rounded up to whole vectors: what is left over of one takes longer than one more."""
    return (n + LANE - 1) & -LANE
