"""Points to come: z = Uᵀκ(D, x) of several of them by one pass over U, Pz by one over P.

With many atoms a step takes as long as it takes to read U and P. So the next samples of a call, or
of a window, are looked at together. What is found of a point ahead is what its own step would find,
bit by bit; where the atoms change it is found anew.
"""

from colk._engine import inverse_curvature
from colk._engine.dictionary import Dictionary
from colk._engine.inverse_curvature import Covariance
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["Ahead", "block_for"]

# So many points are looked at together while atoms change, and where they do not.
FEW, MOST = 4, 8
# With fewer atoms U and P are read fast.
FEWEST_ATOMS = 128


def block_for(size: int) -> int:
    """New points that a dictionary must have room for, with windows of this size."""
    return max(size + 3, MOST)


class Ahead:
    """Points of a dictionary's block whose z is known before they are taken in.

    Parameters
    ----------
    dictionary : Dictionary
        Where their points and columns lie; its block has room for `MOST`.
    P : Covariance
        Where their z lie.
    """

    row: int  # where the only point of a window lies
    laid: int  # how many such points there are
    first: int  # the first row whose z is known
    reach: int  # how many are looked at together

    def __init__(self, dictionary: Dictionary, P: Covariance) -> None:
        self.dictionary, self.P = dictionary, P
        self.forget()

    def forget(self) -> None:
        """Nothing is known of any point: the atoms have changed."""
        self.row = self.laid = self.first = 0
        self.reach = FEW
        self.P.expect(0)

    # -- windows of one sample ---------------------------------------------------------------

    def proceed(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Go on to the next point; where none is laid, lay that of a row and of the rows behind."""
        self.row += 1
        if self.row < self.laid:
            return 0
        self.reach = MOST if self.laid > 0 else FEW
        self.row = self.laid = 0
        return self.lay(X, weight, row, stop) if stop - row >= FEW else 0

    def lay(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Lay the points of these rows that count, and find columns and z of them."""
        most, count = min(self.reach, self.P.room()), 0
        while row < stop and count < most:
            if weight[row] != 0.0:
                for k in range(X.shape[1]):
                    self.dictionary.points[count, k] = X[row, k]
                count += 1
            row += 1
        self.dictionary.evaluate_columns(self.dictionary.points, count, False)
        self.laid = count
        self.halve(0, count)
        return 0

    def bring(self) -> int:
        """Move point and column from where they lie to where a window of one has them."""
        if self.row > 0:
            bring(self.dictionary, self.row)
        return 0

    # -- windows of any size -----------------------------------------------------------------

    def halve(self, first: int, count: int) -> None:
        """Find z of so many rows."""
        self.first = first
        loops.halve(
            self.dictionary.factor, self.dictionary.size, self.dictionary.columns, first,
            (count + 3) & -4, self.P.rows, inverse_curvature.HALVES,
        )  # fmt: skip
        self.P.expect(count)

    def find(self, b: int, size: int) -> bool:
        """Whether z of point b of a window of this size is known, or found now with others."""
        if not 0 <= b + self.row - self.first < self.P.expected:
            count = min(size - b, self.P.room())
            if count < FEW:
                self.P.expect(0)
                return False
            self.halve(b, count)
        self.P.turn_to(b + self.row - self.first, self.dictionary.size)
        return True


def bring(d: Dictionary, row: int) -> None:
    """Let the first new point be the one of this row."""
    for k in range(d.n_features):
        d.points[0, k] = d.points[row, k]
    loops.copy(d.columns, 0, d.columns, row, d.size)
    d.gram[0, 0] = d.gram[row, row]
