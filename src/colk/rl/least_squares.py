"""The step of recursive least-squares temporal differences, in the coordinates of the dictionary.

The coordinates z = Uᵀκ(D, x) of a state are orthonormal in H, and d = z − γz' for a transition.
V(x) = θᵀz solves (λI + Σ z dᵀ)θ = Σ r z. P is the inverse of that matrix, which is not symmetric. A
transition of temporal difference δ moves θ by δ·gain·h and P by −gain·hgᵀ, with h = Pz, g = Pᵀd and
gain = 1/(1 + dᵀh). A state that becomes an atom adds a direction in which P is the prior's 1/λ; the
next state has a component in this direction too. Dropping an atom deletes its coordinate.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.buffers import aligned
from colk._engine.c_types import Matrix, Readonly
from colk._engine.simd import loops
from colk.compressors.pursuit import KOMP
from colk.rl.step import ValueStream

__all__ = ["LeastSquaresStream"]

# Rows of `rows`: z, z', d, h, g, and scratch for a product with U.
HERE, AHEAD, CHANGE, MOVE, DUAL, SPREAD = 0, 1, 2, 3, 4, 5  # cdef Py_ssize_t
N_ROWS: int = 6
# The system is close to singular if a transition would multiply its determinant by less than this.
SINGULAR: float = 1e-3


class LeastSquaresStream(ValueStream):
    """A stream whose V solves the system of all transitions so far, after each transition.

    Parameters
    ----------
    prior : float
        λ, the precision of every direction before the first transition.
    **common
        The arguments of `ValueStream`.
    """

    rule: KOMP
    prior: Readonly[float]
    matrix: Matrix  # (capacity, capacity): P
    rows: Matrix  # (N_ROWS, capacity)
    rotations: Matrix  # (2, capacity): cosines and sines
    is_singular: Readonly[
        bool
    ]  # whether the last step was refused because the system would be singular
    share: Readonly[float]  # 1/gain, the factor by which the transition multiplies the determinant

    def __init__(self, prior: float, **common: Any) -> None:
        super().__init__(**common)
        self.rule = self.compressor  # type: ignore[assignment]
        self.prior, self.share, self.is_singular = prior, 1.0, False
        self.matrix, self.rows = np.zeros((1, 1)), np.zeros((N_ROWS, 1))
        self.make_room()

    def make_room(self) -> int:  # cdef gil
        """Allocate room for another step, first in P and then in the dictionary."""
        capacity = self.dictionary.capacity_for(self.gained)
        n = min(self.dictionary.size, self.matrix.shape[0])
        matrix, rows, rotations = (aligned(size, capacity) for size in (capacity, N_ROWS, 2))
        matrix[:n, :n] = np.asarray(self.matrix)[:n, :n]
        self.matrix, self.rows, self.rotations = matrix, rows, rotations
        self.dictionary.reserve(self.gained)
        return 0

    # -- the step ----------------------------------------------------------------------------

    def step(self) -> int:  # cdef
        """Solve for V with one more transition; refuse it if the system would be singular."""
        self.is_singular = False
        count = self.evaluate_columns()
        self.evaluate_difference(count, 0.0)
        self.project(count)
        self.multiply()
        own, n = self.dictionary.gram[0, 0], self.dictionary.size  # type: float, int
        novelty: float = own - loops.dot(self.rows, HERE, self.rows, HERE, n)
        # components in the new direction: `root` of z, `part` of γz', so root − part of d
        root: float = math.sqrt(max(novelty, 0.0))
        part = 0.0
        if count > 1 and root > 0.0:
            shared: float = loops.dot(self.rows, HERE, self.rows, AHEAD, n)
            part = self.next_discount * (self.dictionary.gram[1, 0] - shared) / root
        self.share = 1.0 + loops.dot(self.rows, CHANGE, self.rows, MOVE, n)
        wide: float = self.share + (root - part) * root / self.prior
        error: float = self.error_outside(wide, root)
        enters: bool = (
            wide > SINGULAR and novelty > loops.NOVELTY_FLOOR * own and error > self.rule.bound
        )
        if enters and n >= self.rule.at_most:
            j = self.dictionary.cheapest()
            price: float = self.difference * root / (wide * self.prior)
            enters = price * price > self.dictionary.price(j)
        if enters:
            self.share = wide
        self.is_singular = not self.share > SINGULAR
        if self.is_singular:
            self.refuse()
        self.dictionary.begin_step()
        if enters:
            error = 0.0
            self.append(novelty, root, root - part)
        self.update()
        if enters:
            error += self.prune(self.rule.bound)
        self.dictionary.spent[0] = error * error
        return 0

    def project(self, count: int) -> None:  # cdef inline
        """Compute z, z' and d, and also v = K⁻¹κ(D, x)."""
        n = self.dictionary.size
        for k in range((n + 7) & -8):
            self.rows[AHEAD, k] = 0.0
        loops.whiten_and_spread(
            self.dictionary.factor, n, self.dictionary.columns, 0,
            self.rows, HERE, AHEAD, self.rows, SPREAD,
        )  # fmt: skip
        loops.whiten_and_spread(
            self.dictionary.factor, n, self.dictionary.columns, count - 1,
            self.rows, AHEAD, HERE, self.rows, SPREAD,
        )  # fmt: skip
        for k in range((n + 7) & -8):
            self.rows[CHANGE, k] = self.rows[HERE, k] - self.next_discount * self.rows[AHEAD, k]

    def multiply(self) -> None:  # cdef inline
        """Compute h = Pz and g = Pᵀd in one pass over P."""
        n = self.dictionary.size
        for k in range((n + 7) & -8):
            self.rows[MOVE, k] = self.rows[DUAL, k] = 0.0
        for i in range(n):
            self.rows[MOVE, i] = loops.dot(self.matrix, i, self.rows, HERE, n)
            loops.add(self.rows, DUAL, self.matrix, i, self.rows[CHANGE, i], n)

    def error_outside(self, wide: float, root: float) -> float:  # cdef inline noexcept
        """Return the H-norm that the step of V loses because x does not become an atom.

        The loss is the difference from the step in the span of the atoms and x. It has a component
        in the new direction, and a change of length in the other directions.
        """
        if not wide > SINGULAR:
            return 0.0
        price: float = root / (wide * self.prior)
        inside: float = 1.0 / wide - 1.0 / self.share if self.share > SINGULAR else 1.0 / wide
        squares: float = loops.dot(self.rows, MOVE, self.rows, MOVE, self.dictionary.size)
        return abs(self.difference) * math.sqrt(price * price + inside * inside * squares)

    def append(self, novelty: float, root: float, change: float) -> None:  # cdef inline
        """Make x an atom of weight 0, and extend h, g and P by its direction."""
        n = self.dictionary.size
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[0, row] = 0.0
        self.dictionary.append_row(0, self.rows, SPREAD, novelty)
        for k in range(n, (n + 8) & -8):
            self.rows[MOVE, k] = self.rows[DUAL, k] = 0.0
        self.rows[MOVE, n], self.rows[DUAL, n] = root / self.prior, change / self.prior
        self.matrix[n, n] = 1.0 / self.prior

    def update(self) -> None:  # cdef inline
        """Set w ← w + δ·gain·Uh and P ← P − gain·hgᵀ."""
        n, gain = self.dictionary.size, 1.0 / self.share  # type: int, float
        loops.spread(self.dictionary.factor, n, self.rows, MOVE, self.rows, SPREAD)
        loops.add(self.dictionary.weights_t, 0, self.rows, SPREAD, self.difference * gain, n)
        for i in range(n):
            loops.add(self.matrix, i, self.rows, DUAL, -gain * self.rows[MOVE, i], n)

    # -- dropping atoms ----------------------------------------------------------------------

    def prune(self, eps: float) -> float:  # cdef inline noexcept
        """KOMP: drop the cheapest atoms as long as the error stays within eps.

        Near-dependent atoms, and those above the limit, are dropped at any cost. Returns the H-norm
        of the error.
        """
        spent, dependent = 0.0, True
        while self.dictionary.size > 0:
            j = self.dictionary.near_dependent() if dependent else self.dictionary.size
            dependent = j < self.dictionary.size
            if not dependent:
                j = self.dictionary.cheapest()
                free: bool = self.dictionary.size <= self.rule.at_most
                if free and spent + self.dictionary.price(j) > eps * eps:
                    break
            self.drop_coordinate(j)
            spent += self.dictionary.drop_atom(j)
        return math.sqrt(spent)

    def drop_coordinate(self, j: int) -> None:  # cdef inline
        """Rotate P as dropping atom j rotates Uᵀ, and delete the last coordinate."""
        n, last = self.dictionary.size, self.dictionary.size - 1
        inverse_curvature.find_rotations(self.dictionary, j, self.rotations)
        if j < last:
            self.rotate_rows(j)
            for row in range(n):
                self.rotate_row(row, j)
        for i in range(n):
            self.matrix[last, i] = self.matrix[i, last] = 0.0

    def rotate_rows(self, j: int) -> None:  # cdef inline
        """Rotate the rows of P from j on; each combines with the remainder of the rows above."""
        n, last = self.dictionary.size, self.dictionary.size - 1
        for k in range(n):
            self.rows[SPREAD, k] = self.matrix[j, k]
        for i in range(j, last):
            c, s = self.rotations[0, i], self.rotations[1, i]  # type: float, float
            for k in range(n):
                kept, beside = self.rows[SPREAD, k], self.matrix[i + 1, k]  # type: float, float
                self.matrix[i, k] = c * kept - s * beside
                self.rows[SPREAD, k] = s * kept + c * beside

    def rotate_row(self, row: int, j: int) -> None:  # cdef inline
        """Rotate the entries of a row of P from j on; the remainder becomes the last entry."""
        kept: float
        last, kept = self.dictionary.size - 1, self.matrix[row, j]
        for i in range(j, last):
            c, s, beside = self.rotations[0, i], self.rotations[1, i], self.matrix[row, i + 1]  # type: float, float, float
            self.matrix[row, i] = c * kept - s * beside
            kept = s * kept + c * beside
        self.matrix[row, last] = kept

    # -- files and pickles -------------------------------------------------------------------

    def packed(self) -> dict[str, Any]:
        """Body of `pack`; the caller holds the lock."""
        n = self.dictionary.size
        return {**super().packed(), "inverse": np.array(np.asarray(self.matrix)[:n, :n])}

    def fields(self) -> dict[str, stored.Field]:
        """The stored fields of `pack` for a stream of this shape."""
        return {**super().fields(), "inverse": stored.Array("n_atoms", "n_atoms")}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        super().unpack(packed)
        self.matrix = np.zeros((1, 1))
        self.make_room()
        n = len(packed["inverse"])
        np.asarray(self.matrix)[:n, :n] = packed["inverse"]
