"""Working memory of KOMP for the new points of a step."""

import numpy as np

from colk._engine.buffers import aligned, zeros
from colk._engine.c_types import Indices, Matrix, Vector
from colk._engine.contracts import Scratch
from colk._engine.dictionary import Dictionary

__all__ = ["PursuitScratch"]


class PursuitScratch(Scratch):
    """Solutions for the new points, and the small factor of a block of them (`block.py`)."""

    solutions: Matrix  # (block, capacity): V = K⁻¹κ(D, x)
    whitened: Matrix  # (block, capacity): Uᵀκ(D, x)
    sums: Vector  # (3,): kᵀK⁻¹k of the first, of both, of the last new point
    # For a block of three or more new points:
    schur: Matrix  # (block, block): S, the Gram matrix minus its part in the span of the atoms
    lower: Matrix  # (block, block): its Cholesky factor L, a row for each new point
    inverse: Matrix  # (block, block): L⁻¹, by pivots
    small_factor: Matrix  # (block, block): L⁻¹ of the points that remain
    small_diagonal: Vector  # (block,): of S⁻¹
    small_carry: Vector  # (block,)
    carries: Matrix  # (block, block): the column of S⁻¹ of each dropped point
    given: Matrix  # (block, rows): weights of the points before any was dropped
    shares: Matrix  # (block, rows): signed root of the cost of each drop for each function
    prices: Vector  # (block,): cost of each drop
    charges: Vector  # (block,): factors of the costs that account for rounding errors
    novelty: Vector  # (block,)
    least: float
    order: Indices  # (block,): pivots, then the points that they span
    labels: Indices  # (block,): the points that remain

    def __init__(self, block: int, n_rows: int, capacity: int) -> None:
        self.schur, self.lower, self.inverse = zeros((3, block, block))
        self.small_factor, self.carries = zeros((2, block, block))
        self.given, self.shares = zeros((2, block, n_rows))
        self.novelty, self.prices, self.charges = zeros((3, block))
        self.small_diagonal, self.small_carry = zeros((2, block))
        self.order, self.labels = zeros((2, block), dtype=np.intp)
        self.sums, self.least = np.zeros(3), 0.0
        self.resize(capacity)

    @classmethod
    def of(cls, d: Dictionary) -> "PursuitScratch":
        """Create the scratch for a dictionary."""
        return cls(d.block, d.n_rows, d.capacity)

    def resize(self, capacity: int) -> None:
        """Reallocate the rows over all atoms."""
        block = self.schur.shape[0]
        self.solutions, self.whitened = aligned(block, capacity), aligned(block, capacity)
