"""P, the inverse of the accumulated curvature λI + Σ b zzᵀ in the coordinates z = Uᵀκ(D, x).

A sample changes P by −m hhᵀ, h = Pz. These updates are deferred: one pass applies those of several
samples, and until then P = `matrix` − Σ_r m_r h_r h_rᵀ. A new direction of H has the prior variance
1/λ, so a new atom adds one entry to the diagonal. If an atom is dropped, P is rotated like U, so
that the coordinate of the atom is the last one, and this coordinate is deleted.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import aligned
from colk._engine.c_types import Matrix, Readonly, Vector
from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["InverseCurvature", "find_rotations"]

# Rows of `rows`: z; a product with U; from FIRST on the h_r (at most MOST_PENDING + 1); z of the
# last sample; z and Pz of the next points, which are computed four at a time.
WHITENED, PRODUCT, FIRST = 0, 1, 2  # cdef Py_ssize_t
MOST_PENDING: int = 8
FORMER: int = FIRST + MOST_PENDING + 1
WHITENED_AHEAD: int = FORMER + 1
PRODUCTS_AHEAD: int = WHITENED_AHEAD + MOST_PENDING + 4
ROWS: int = PRODUCTS_AHEAD + MOST_PENDING + 4
# Atoms per deferred update. A product with P costs much more than the products with so few h.
ATOMS_PENDING: int = 16
# If the variance at x is below this, nothing is forgotten there.
LEAST_VARIANCE: float = 1e-9


def find_rotations(d: Dictionary, j: int, rotations: Matrix) -> None:  # cdef
    """Compute the cosines and sines of the rotations that make atom j the last one of U."""
    top: float = d.factor[j, j]
    for i in range(j, d.size - 1):
        side: float = d.factor[i + 1, j]
        length: float = math.sqrt(top * top + side * side)
        rotations[0, i], rotations[1, i] = side / length, top / length
        top = length


class InverseCurvature:  # final
    """The covariance of a function's coordinates, up to the scale of the noise.

    Parameters
    ----------
    prior : float
        λ, the precision of each direction before the first sample.
    forgetting : float
        γ, in (0, 1]: the variance at a sample grows by 1/γ, and nowhere else.
    """

    prior: Readonly[float]
    forgetting: Readonly[float]
    matrix: Matrix  # (capacity, capacity): 8 × 8 blocks; those above the diagonal are unused
    rows: Matrix  # (ROWS, capacity)
    amounts: Vector  # (MOST_PENDING,): m_r
    pending: Readonly[int]  # number of h_r
    expected: Readonly[int]  # number of next points whose z is known
    place: Readonly[int]  # index of the current one among them; −1 for none
    multiplied: bool  # whether `matrix`·z is known for this and the following points
    rotations: Matrix  # (2, capacity): cosines and sines

    def __init__(self, prior: float, forgetting: float) -> None:
        self.prior, self.forgetting, self.pending = prior, forgetting, 0
        self.amounts = np.zeros(MOST_PENDING)
        self.matrix, self.rows = np.zeros((1, 1)), np.zeros((ROWS, 1))
        self.expect(0)

    def grow(self, size: int, capacity: int) -> None:
        """Reallocate all buffers for `capacity` atoms; keep the first `size`."""
        n = min(size, self.matrix.shape[0])
        matrix, rows, rotations = (aligned(count, capacity) for count in (capacity, ROWS, 2))
        matrix[:n, :n] = np.asarray(self.matrix)[:n, :n]
        rows[:, :n] = np.asarray(self.rows)[:, :n]
        self.matrix, self.rows, self.rotations = matrix, rows, rotations

    def room(self) -> int:  # cdef noexcept
        """Return the number of samples that can be deferred."""
        return MOST_PENDING - self.pending if self.pending < MOST_PENDING else MOST_PENDING

    def expect(self, count: int) -> None:  # cdef
        """Set the number of next points whose z is known."""
        self.expected, self.place, self.multiplied = count, -1, False

    def select(self, place: int, n: int) -> None:  # cdef
        """Set z to that of one of the next points."""
        self.place = place
        loops.copy(self.rows, WHITENED, self.rows, WHITENED_AHEAD + place, (n + 7) & -8)

    def multiply(self, n: int) -> int:  # cdef noexcept
        """Return the row of h = Pz, after the h_r; if there are too many h_r, update P first."""
        count: int = 0
        if self.pending >= min(MOST_PENDING, 1 + n // ATOMS_PENDING):
            count = self.pending
        found = FIRST + self.pending if self.place < 0 else PRODUCTS_AHEAD + self.place
        if self.place < 0:
            self.catch_up_and_multiply(n, count, WHITENED, found, 1)
        elif count > 0 or not self.multiplied:
            columns: int = (self.expected - self.place + 3) & -4
            self.catch_up_and_multiply(n, count, WHITENED_AHEAD + self.place, found, columns)
            self.multiplied = True
        h = FIRST + self.pending
        if found != h:
            loops.copy(self.rows, h, self.rows, found, (n + 7) & -8)
        self.correct(n, h)
        return h

    def multiply_only(self, n: int) -> int:  # cdef noexcept
        """Return the row of h = Pz as `multiply`, without an update of P."""
        h = FIRST + self.pending
        self.catch_up_and_multiply(n, 0, WHITENED, h, 1)
        self.correct(n, h)
        return h

    def correct(self, n: int, h: int) -> None:  # cdef
        """Subtract the deferred updates from the product of `matrix` with z."""
        for r in range(self.pending):
            shared: float = loops.dot(self.rows, FIRST + r, self.rows, WHITENED, n)
            loops.add(self.rows, h, self.rows, FIRST + r, -self.amounts[r] * shared, n)

    # cdef
    def catch_up_and_multiply(self, n: int, count: int, z: int, h: int, columns: int) -> None:
        """Apply `count` deferred updates to P, and multiply P by the rows from z on."""
        loops.settle_and_multiply(
            self.matrix, n, self.rows, FIRST, self.amounts, count, z, h, columns
        )  # fmt: skip
        if count > 0:
            self.pending = 0

    def extend(self, n: int, h: int, novelty: float, prior: float) -> None:  # cdef
        """Add coordinate n for a point of novelty s: √s/prior in h, 0 in the earlier h_r."""
        for row in range(FIRST, h + 1):
            for i in range(n, (n + 8) & -8):
                self.rows[row, i] = 0.0
        self.rows[h, n] = math.sqrt(novelty) / prior
        self.matrix[n, n] = 1.0 / prior

    def keep_whitened(self, n: int, entry: float) -> None:  # cdef
        """Save z, with one more coordinate, as that of the last sample."""
        for i in range(n):
            self.rows[FORMER, i] = self.rows[WHITENED, i]
        for i in range(n, (n + 8) & -8):
            self.rows[FORMER, i] = 0.0
        self.rows[FORMER, n] = entry

    def set_forgetting(self, forgetting: float) -> None:  # cdef
        """Set γ."""
        self.forgetting = forgetting

    def add_curvature(
        self, curvature: float, usual: float, gain: float, variance: float, own: float
    ) -> None:  # cdef
        """P ← P − m hhᵀ with m = b·gain minus the forgetting, which stops at the prior.

        A sample with less than the mean curvature causes proportionally less forgetting.
        """
        amount: float = curvature * gain
        if self.forgetting < 1.0 and curvature > 0.0 and variance > LEAST_VARIANCE:
            lapse: float = (1.0 / self.forgetting - 1.0) * min(curvature / usual, 1.0)
            most: float = min((1.0 - own / (self.prior * variance)) / variance, amount)
            amount = max(gain * (curvature - lapse / variance), most)
        self.subtract(amount)

    def subtract(self, amount: float) -> None:  # cdef
        """P ← P − m hhᵀ for the latest h."""
        self.amounts[self.pending] = amount
        self.pending += 1

    def restart(self, n: int) -> None:  # cdef
        """P = I/λ."""
        for i in range(n):
            for j in range((n + 7) & -8):
                self.matrix[i, j] = 0.0
            self.matrix[i, i] = 1.0 / self.prior
        self.pending, self.multiplied = 0, False

    def drop(self, d: Dictionary, j: int) -> None:  # cdef
        """Rotate P as dropping atom j will rotate Uᵀ, and delete the coordinate of the atom."""
        n, last = d.size, d.size - 1
        find_rotations(d, j, self.rotations)
        loops.rotate_out_symmetric(self.matrix, n, j, self.rotations, d.carry)
        for i in range(n):
            self.matrix[last, i] = 0.0
        for i in range(last & -8, last):
            self.matrix[i, last] = 0.0
        for row in range(FIRST, FIRST + self.pending):
            self.rotate_row(row, j, last)

    def rotate_row(self, row: int, j: int, last: int) -> None:  # cdef
        """Rotate one of the h_r in the same way."""
        leaving: float = self.rows[row, j]
        for i in range(j, last):
            c, s, below = self.rotations[0, i], self.rotations[1, i], self.rows[row, i + 1]  # type: float, float, float
            self.rows[row, i] = c * leaving - s * below
            leaving = s * leaving + c * below
        self.rows[row, last] = 0.0

    def dense(self, d: Dictionary) -> Array:  # cpdef
        """P, a copy of shape (M, M), in the coordinates in which U has a positive diagonal."""
        signs = np.sign(np.diag(np.asarray(d.factor)[: d.size, : d.size]))
        return np.asarray(self.raw(d.size) * np.outer(signs, signs))

    def variances(self, d: Dictionary, X: Array, prior: float) -> Array:
        """zᵀPz + s/λ at the points X (n,); s is the squared distance from the span of the atoms.

        `prior` is λ of a new direction.
        """
        P, atoms = self.dense(d), d.atoms
        L = np.linalg.cholesky(d.kernel.gram(atoms)) if len(atoms) else P
        Z = np.linalg.solve(L, d.kernel.gram(atoms, X)).T
        novelty = np.maximum(d.kernel.diagonal(X) - (Z**2).sum(axis=1), 0.0)
        return np.asarray(np.maximum(((Z @ P) * Z).sum(axis=1), 0.0) + novelty / prior)

    def raw(self, n: int) -> Array:  # cpdef
        """P, a copy of shape (M, M), in the coordinates of the stored U."""
        lower = np.tril(np.asarray(self.matrix)[:n, :n])
        P, h = lower + np.tril(lower, -1).T, np.asarray(self.rows)[FIRST:, :n]
        for r in range(self.pending):
            P -= self.amounts[r] * np.outer(h[r], h[r])
        return np.asarray(P)

    def set_prior(self, prior: float) -> None:
        """Set λ."""
        self.prior = prior

    def replace_matrix(self, matrix: Array) -> None:
        """Replace P by a matrix of the same shape."""
        self.pending, self.multiplied = 0, False
        np.asarray(self.matrix)[: len(matrix), : len(matrix)] = matrix

    def pack(self, n: int) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        rows, amounts = np.zeros((FORMER, n)), np.zeros(MOST_PENDING)  # without scratch
        used = slice(FIRST, FIRST + self.pending)
        rows[used] = np.asarray(self.rows)[used, :n]
        amounts[: self.pending] = np.asarray(self.amounts)[: self.pending]
        matrix, block = np.array(np.asarray(self.matrix)[:n, :n]), np.arange(n) // 8
        matrix[block[:, None] < block] = 0.0  # these entries are not read
        return {
            "matrix": matrix,
            "rows": rows,
            "amounts": amounts,
            "pending": self.pending,
        }

    def fields(self) -> stored.Record:
        """Fields that `pack` returns."""
        return stored.Record(
            {
                "matrix": stored.Array("n_atoms", "n_atoms"),
                "rows": stored.Array(FORMER, "n_atoms"),
                "amounts": stored.Array(MOST_PENDING),
                "pending": stored.Count(at_most=MOST_PENDING),
            }
        )

    def unpack(self, packed: dict[str, Any], capacity: int) -> None:
        """Restore a packed state."""
        n = len(packed["matrix"])
        self.grow(0, capacity)
        np.asarray(self.matrix)[:n, :n] = packed["matrix"]
        np.asarray(self.rows)[:FORMER, :n] = packed["rows"]
        np.asarray(self.amounts)[:] = packed["amounts"]
        self.pending = packed["pending"]
