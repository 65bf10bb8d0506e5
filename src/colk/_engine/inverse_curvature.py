"""P, the inverse of the accumulated curvature λI + Σ b zzᵀ in the coordinates z = Uᵀκ(D, x).

A sample changes P by −m hhᵀ, h = Pz. That is put off: P catches up with several samples in one
pass, and until then is `matrix` − Σ_r m_r h_r h_rᵀ. A direction of H that is new has the prior's
variance 1/λ: a point that enters adds one entry to the diagonal. An atom that leaves takes its
coordinate along, after the rotations that make it the last one of U have turned P as well.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import aligned
from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["Covariance", "find_turns"]

# Rows of `rows`: z, room for a product, from FIRST on the h_r, at most so many and one more, what z
# was before, and z and Pz of points to come, of which four are found at a time.
HALF, SOLUTION, FIRST = 0, 1, 2
MOST_PENDING = 8
FORMER = FIRST + MOST_PENDING + 1
HALVES = FORMER + 1
PRODUCTS = HALVES + MOST_PENDING + 4
ROWS = PRODUCTS + MOST_PENDING + 4
# So many atoms for each of them: that many products with h cost little beside one with P.
ATOMS_PENDING = 16
# Below this variance at x nothing is forgotten there.
LEAST_VARIANCE = 1e-9


def find_turns(d: Dictionary, j: int, turns: Array) -> None:
    """Find the cosines and sines of the rotations that make atom j the last one of U."""
    top = d.factor[j, j]
    for i in range(j, d.size - 1):
        side = d.factor[i + 1, j]
        length = math.sqrt(top * top + side * side)
        turns[0, i], turns[1, i] = side / length, top / length
        top = length


class Covariance:
    """The covariance of a function's coordinates, up to the scale of the noise.

    Parameters
    ----------
    prior : float
        λ, the precision of every direction before the first sample.
    forgetting : float
        γ, in (0, 1]: the variance at a sample grows by 1/γ, and nowhere else.
    """

    prior: float
    forgetting: float
    matrix: Array  # (capacity, capacity): blocks of eight by eight on and below the diagonal count
    rows: Array  # (ROWS, capacity)
    amounts: Array  # (MOST_PENDING,): m_r
    pending: int  # how many h_r there are
    expected: int  # of how many points to come z is known
    place: int  # which of them is the one at hand; −1 where it is none of them
    multiplied: bool  # whether Pz of it and of those behind it is known, but for the h_r
    turns: Array  # (2, capacity): cosines and sines

    def __init__(self, prior: float, forgetting: float) -> None:
        self.prior, self.forgetting, self.pending = prior, forgetting, 0
        self.amounts = np.zeros(MOST_PENDING)
        self.matrix, self.rows = np.zeros((1, 1)), np.zeros((ROWS, 1))
        self.expect(0)

    def grow(self, size: int, capacity: int) -> None:
        """Make all buffers anew for so many atoms, of which the first `size` are kept."""
        n = min(size, self.matrix.shape[0])
        matrix, rows = aligned(capacity, capacity), aligned(ROWS, capacity)
        matrix[:n, :n] = np.asarray(self.matrix)[:n, :n]
        rows[:, :n] = np.asarray(self.rows)[:, :n]
        self.matrix, self.rows, self.turns = matrix, rows, aligned(2, capacity)

    def room(self) -> int:
        """How many samples there may be before P catches up, or where it does so now."""
        return MOST_PENDING - self.pending if self.pending < MOST_PENDING else MOST_PENDING

    def expect(self, count: int) -> None:
        """Take note of so many z of points to come."""
        self.expected, self.place, self.multiplied = count, -1, False

    def turn_to(self, place: int, n: int) -> None:
        """Let z be that of one of the points to come."""
        self.place = place
        loops.copy(self.rows, HALF, self.rows, HALVES + place, (n + 7) & -8)

    def multiply(self, n: int) -> int:
        """The row of h = Pz, behind those of the h_r; where these are many, P catches up first."""
        count = 0
        if self.pending >= min(MOST_PENDING, 1 + n // ATOMS_PENDING):
            count = self.pending
        found = FIRST + self.pending if self.place < 0 else PRODUCTS + self.place
        if self.place < 0:
            self.settle(n, count, HALF, found, 1)
        elif count > 0 or not self.multiplied:
            columns = (self.expected - self.place + 3) & -4
            self.settle(n, count, HALVES + self.place, found, columns)
            self.multiplied = True
        h = FIRST + self.pending
        if found != h:
            loops.copy(self.rows, h, self.rows, found, (n + 7) & -8)
        for r in range(self.pending):
            shared = loops.dot(self.rows, FIRST + r, self.rows, HALF, n)
            loops.add(self.rows, h, self.rows, FIRST + r, -self.amounts[r] * shared, n)
        return h

    def settle(self, n: int, count: int, z: int, h: int, columns: int) -> None:
        """Let P catch up with so many samples, and multiply it by rows from z on."""
        loops.settle_and_multiply(
            self.matrix, n, self.rows, FIRST, self.amounts, count, z, h, columns
        )  # fmt: skip
        if count > 0:
            self.pending = 0

    def extend(self, n: int, h: int, novelty: float, prior: float) -> None:
        """Add coordinate n, of a point of this novelty: h gains √s/prior, those before it 0."""
        for row in range(FIRST, h + 1):
            for i in range(n, (n + 8) & -8):
                self.rows[row, i] = 0.0
        self.rows[h, n] = math.sqrt(novelty) / prior
        self.matrix[n, n] = 1.0 / prior

    def keep_half(self, n: int, entry: float) -> None:
        """Let z and one more coordinate be what z was before."""
        for i in range(n):
            self.rows[FORMER, i] = self.rows[HALF, i]
        for i in range(n, (n + 8) & -8):
            self.rows[FORMER, i] = 0.0
        self.rows[FORMER, n] = entry

    def remember(self, forgetting: float) -> None:
        """Change the rate of forgetting."""
        self.forgetting = forgetting

    def shrink(self, bend: float, usual: float, gain: float, variance: float, own: float) -> None:
        """Note P ← P − m hhᵀ: m = b·gain, less what is forgotten, no further than the prior.

        Where the curvature is below the usual one, as much less is forgotten.
        """
        amount = bend * gain
        if self.forgetting < 1.0 and bend > 0.0 and variance > LEAST_VARIANCE:
            lapse = (1.0 / self.forgetting - 1.0) * min(bend / usual, 1.0)
            most = min((1.0 - own / (self.prior * variance)) / variance, amount)
            amount = max(gain * (bend - lapse / variance), most)
        self.note(amount)

    def note(self, amount: float) -> None:
        """Note P ← P − m hhᵀ for the latest h."""
        self.amounts[self.pending] = amount
        self.pending += 1

    def start_anew(self, n: int) -> None:
        """P = I/λ."""
        for i in range(n):
            for j in range((n + 7) & -8):
                self.matrix[i, j] = 0.0
            self.matrix[i, i] = 1.0 / self.prior
        self.pending, self.multiplied = 0, False

    def turn_out(self, d: Dictionary, j: int) -> None:
        """Turn P as dropping atom j will turn Uᵀ, and delete the coordinate that leaves."""
        n, last = d.size, d.size - 1
        find_turns(d, j, self.turns)
        loops.turn_out(self.matrix, n, j, self.turns, d.carry)
        for i in range(n):
            self.matrix[last, i] = 0.0
        for i in range(last & -8, last):
            self.matrix[i, last] = 0.0
        for row in range(FIRST, FIRST + self.pending):
            self.turn_row(row, j, last)

    def turn_row(self, row: int, j: int, last: int) -> None:
        """Turn one of the h_r likewise."""
        leaving = self.rows[row, j]
        for i in range(j, last):
            c, s, below = self.turns[0, i], self.turns[1, i], self.rows[row, i + 1]
            self.rows[row, i] = c * leaving - s * below
            leaving = s * leaving + c * below
        self.rows[row, last] = 0.0

    def dense(self, d: Dictionary) -> Array:
        """P, a copy of shape (M, M), for coordinates of which U has a positive diagonal."""
        signs = np.sign(np.diag(np.asarray(d.factor)[: d.size, : d.size]))
        return np.asarray(self.raw(d.size) * np.outer(signs, signs))

    def raw(self, n: int) -> Array:
        """P, a copy of shape (M, M), in the coordinates of U as it is."""
        lower = np.tril(np.asarray(self.matrix)[:n, :n])
        P, h = lower + np.tril(lower, -1).T, np.asarray(self.rows)[FIRST:, :n]
        for r in range(self.pending):
            P -= self.amounts[r] * np.outer(h[r], h[r])
        return np.asarray(P)

    def assume(self, prior: float) -> None:
        """Change λ."""
        self.prior = prior

    def lay(self, matrix: Array) -> None:
        """Change P, to a matrix of the same shape."""
        self.pending, self.multiplied = 0, False
        np.asarray(self.matrix)[: len(matrix), : len(matrix)] = matrix

    def pack(self, n: int) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        return {
            "matrix": np.array(np.asarray(self.matrix)[:n, :n]),
            "rows": np.array(np.asarray(self.rows)[:FORMER, :n]),
            "amounts": np.array(self.amounts),
            "pending": self.pending,
        }

    def fields(self) -> stored.Record:
        """What `pack` returns."""
        return stored.Record(
            {
                "matrix": stored.Array("n_atoms", "n_atoms"),
                "rows": stored.Array(FORMER, "n_atoms"),
                "amounts": stored.Array(MOST_PENDING),
                "pending": stored.Count(at_most=MOST_PENDING),
            }
        )

    def unpack(self, packed: dict[str, Any], capacity: int) -> None:
        """Take up what was packed; what there was is gone."""
        n = len(packed["matrix"])
        self.grow(0, capacity)
        np.asarray(self.matrix)[:n, :n] = packed["matrix"]
        np.asarray(self.rows)[:FORMER, :n] = packed["rows"]
        np.asarray(self.amounts)[:] = packed["amounts"]
        self.pending = packed["pending"]
