"""The function that second-order steps update, and its update by one point.

f is kept by its weights w = Uθ. A step changes them by a multiple of Uh, h = Pz. That product is
pending until the next pass over U, which the next sample needs anyway.
"""

import math

import numpy as np

from colk._engine import inverse_curvature
from colk._engine.buffers import zeros
from colk._engine.c_types import Readonly, Vector
from colk._engine.dictionary import Dictionary
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.simd import loops
from colk._engine.window import Window

__all__ = ["NewtonIterate"]


class NewtonIterate:
    """A function whose weights are the first rows of a dictionary.

    Parameters
    ----------
    dictionary, window, P
        The dictionary, the window and the inverse curvature of its stream.
    """

    P: Readonly[InverseCurvature]
    pending: Vector  # (outputs,): multiples of Uh still to be added to w
    is_pending: bool  # whether there are any
    last: int  # the row of that h
    beside: Vector  # (rows beside,): multiples of Uh still to be added to further rows of weights
    first_beside: int  # the first of these rows
    # Values of the point that was planned last:
    length: float  # |a|
    curvature: float  # b
    # 1/(1 + bτ), where τ is the variance in the span of the atoms; after `move`, that of the step:
    gain: float
    wide_gain: float  # the same with the point as an atom
    new_price: float  # squared H-norm of the part that the point adds as an atom
    dictionary: Dictionary
    window: Window
    n_outputs: int

    def __init__(self, dictionary: Dictionary, window: Window, P: InverseCurvature) -> None:
        self.dictionary, self.window, self.P = dictionary, window, P
        self.n_outputs = self.window.predictions.shape[1]
        self.pending, self.is_pending = zeros(self.n_outputs), False
        self.last = inverse_curvature.FIRST
        self.beside, self.first_beside = np.zeros(0), 0
        self.length = self.curvature = self.gain = self.wide_gain = self.new_price = 0.0

    def accompany(self, first: int, count: int) -> None:
        """Let steps also move `count` rows of weights from `first` on, by their own multiples."""
        self.beside, self.first_beside = zeros(count), first

    # -- the pending update ------------------------------------------------------------------

    def bring_up_to_date(self) -> int:  # cdef int noexcept
        """Add the pending update to w."""
        self.spread_pending()
        if self.is_pending:
            self.add_pending()
        return 0

    def spread_pending(self) -> None:  # cdef
        """Compute Uh, if an update is pending."""
        if self.is_pending:
            loops.spread(
                self.dictionary.factor, self.dictionary.size,
                self.P.rows, self.last, self.P.rows, inverse_curvature.PRODUCT,
            )  # fmt: skip

    def add_pending(self) -> None:  # cdef
        """Add the pending multiples of Uh, now computed, to w."""
        if self.is_pending:
            for c in range(self.n_outputs):
                amount, n = self.pending[c], self.dictionary.size  # type: float, int
                loops.add(
                    self.dictionary.weights_t, c, self.P.rows, inverse_curvature.PRODUCT, amount, n
                )
            self.add_beside()
        self.is_pending = False

    def add_beside(self) -> None:  # cdef final
        """Add multiples of Uh, now computed, to the rows beside f."""
        for i in range(self.beside.shape[0]):
            if self.beside[i] != 0.0:
                loops.add(
                    self.dictionary.weights_t, self.first_beside + i,
                    self.P.rows, inverse_curvature.PRODUCT, self.beside[i], self.dictionary.size,
                )  # fmt: skip
                self.beside[i] = 0.0

    def take_weights_beside(self, j: int, variance: float) -> None:  # cdef final
        """Set the multiples of Uh that move the weights of atom j in the rows beside f to 0."""
        for i in range(self.beside.shape[0]):
            own: float = self.dictionary.weights_t[self.first_beside + i, j]
            self.beside[i] = -own / variance

    def whiten_atom(self, j: int) -> None:  # cdef final
        """Set z to row j of U, so that zᵀθ is the weight of atom j."""
        n, z = self.dictionary.size, inverse_curvature.WHITENED
        for i in range((n + 7) & -8):
            self.P.rows[z, i] = self.dictionary.factor[i, j] if j <= i < n else 0.0

    # -- a point -----------------------------------------------------------------------------

    def relinearize(self, b: int) -> None:  # cdef
        """Set the slope to a + b(f − f_t)(x), with f after the window's earlier points."""
        for c in range(self.n_outputs):
            now = loops.dot(
                self.dictionary.weights_t, c, self.dictionary.columns, b, self.dictionary.size
            )
            moved = now - self.window.predictions[b, c]
            self.window.coefficients[b, c] += self.window.curvatures[b] * moved

    def length_of(self, b: int) -> float:  # cdef noexcept
        """Return |a| of point b."""
        squares = 0.0
        for c in range(self.n_outputs):
            squares += self.window.coefficients[b, c] * self.window.coefficients[b, c]
        return math.sqrt(squares)

    def plan(
        self,
        b: int,
        variance: float,
        extended: float,
        squares: float,
        beyond: float,
        prior: float,
    ) -> float:  # cdef noexcept
        """Compare the step of point b in the span of the atoms with the step that adds x to it.

        `variance` is zᵀPz, `extended` the same with x among the atoms, `squares` is ‖h‖² and
        `beyond` the novelty of x. Returns the H-norm of the difference.
        """
        self.curvature, self.length = self.window.curvatures[b], self.length_of(b)
        self.gain = 1.0 / (1.0 + self.curvature * variance)
        self.wide_gain = 1.0 / (1.0 + self.curvature * extended)
        price: float = self.length * self.wide_gain * math.sqrt(beyond) / prior
        inside: float = self.length * (self.gain - self.wide_gain)
        self.new_price = price * price
        return math.sqrt(price * price + inside * inside * squares)

    # cdef noexcept
    def move(self, b: int, h: int, enters: bool, squares: float, novelty: float) -> float:
        """Move f by point b along row h; return the squared H-norm of the step."""
        if enters:
            self.gain = self.wide_gain
        for c in range(self.n_outputs):
            self.pending[c] = -self.gain * self.window.coefficients[b, c]
        self.last, self.is_pending = h, True
        return float(self.length * self.length * self.gain * self.gain * squares)

    # -- dropping atoms ----------------------------------------------------------------------

    def price(self, j: int) -> float:  # cdef noexcept
        """Return the squared H-norm that dropping atom j costs f."""
        return self.dictionary.price(j)

    def cheapest(self) -> int:  # cdef noexcept
        """Return the atom that costs least to drop; ties go to the newest atom."""
        return self.dictionary.cheapest()

    def drop(self, j: int) -> float:  # cdef noexcept
        """Drop atom j from P and from the dictionary; return its cost."""
        self.P.drop(self.dictionary, j)
        return self.dictionary.drop_atom(j)
