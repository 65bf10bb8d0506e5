"""Batched solves: z = Uᵀκ(D, x) and Pz of several next points in one pass over U and P.

With many atoms, a step takes as long as reading U and P, so the next samples of a call or of a
window are computed together. The values equal those of single steps bit for bit. If the atoms
change, the values are computed again.
"""

from colk._engine import inverse_curvature
from colk._engine.c_types import ConstMatrix, ConstVector
from colk._engine.dictionary import Dictionary
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.simd import loops

__all__ = ["Lookahead", "block_for"]

# Number of points that are computed together while atoms change, and while they do not.
FEW, MOST = 4, 8  # cdef Py_ssize_t
# With fewer atoms, batching does not pay.
FEWEST_ATOMS: int = 128


def block_for(size: int) -> int:
    """Return the block size of a dictionary for windows of this size."""
    return max(size + 3, MOST)


class Lookahead:  # final
    """New points of a dictionary whose z is computed before their step.

    Parameters
    ----------
    dictionary : Dictionary
        Holds the points and their columns; its block has room for `MOST` points.
    P : InverseCurvature
        Holds their z.
    """

    row: int  # the row of the current point, for windows of one sample
    ready: int  # number of rows that hold next points
    first: int  # the first row whose z is known
    reach: int  # number of points that are computed together
    dictionary: Dictionary
    P: InverseCurvature

    def __init__(self, dictionary: Dictionary, P: InverseCurvature) -> None:
        self.dictionary, self.P = dictionary, P
        self.forget()

    def forget(self) -> None:  # cpdef nogil
        """Discard everything: the atoms have changed."""
        self.row = self.ready = self.first = 0
        self.reach = FEW
        self.P.expect(0)

    # -- windows of one sample ---------------------------------------------------------------

    def proceed(self, X: ConstMatrix, weight: ConstVector, row: int, stop: int) -> int:  # cdef
        """Go to the next point; if it is not ready, compute this row and the next ones."""
        self.row += 1
        if self.row < self.ready:
            return 0
        self.reach = MOST if self.ready > 0 else FEW
        self.row = self.ready = 0
        return self.prepare(X, weight, row, stop) if stop - row >= FEW else 0

    def prepare(self, X: ConstMatrix, weight: ConstVector, row: int, stop: int) -> int:  # cdef
        """Compute columns and z of these rows; skip rows of weight 0."""
        most, count = min(self.reach, self.P.room()), 0
        while row < stop and count < most:
            if weight[row] != 0.0:
                for k in range(X.shape[1]):
                    self.dictionary.points[count, k] = X[row, k]
                count += 1
            row += 1
        self.dictionary.evaluate_columns(self.dictionary.points, count, False)
        self.ready = count
        self.whiten(0, count)
        return 0

    def move_to_front(self) -> int:  # cdef int noexcept
        """Make the current point the first new point of the dictionary."""
        if self.row > 0:
            move_to_front(self.dictionary, self.row)
        return 0

    # -- windows of any size -----------------------------------------------------------------

    def whiten(self, first: int, count: int) -> None:  # cdef
        """Compute z of `count` rows."""
        self.first = first
        loops.whiten(
            self.dictionary.factor, self.dictionary.size, self.dictionary.columns, first,
            (count + 3) & -4, self.P.rows, inverse_curvature.WHITENED_AHEAD,
        )  # fmt: skip
        self.P.expect(count)

    def find(self, b: int, size: int) -> bool:  # cdef noexcept
        """Select z of point b of the window, computed in a batch; return False if no batch pays."""
        if not 0 <= b + self.row - self.first < self.P.expected:
            count = min(size - b, self.P.room())
            if count < FEW:
                self.P.expect(0)
                return False
            self.whiten(b, count)
        self.P.select(b + self.row - self.first, self.dictionary.size)
        return True


def move_to_front(d: Dictionary, row: int) -> None:  # cdef
    """Make the new point of this row the first one."""
    for k in range(d.n_features):
        d.points[0, k] = d.points[row, k]
    loops.copy(d.columns, 0, d.columns, row, d.size)
    d.gram[0, 0] = d.gram[row, row]
