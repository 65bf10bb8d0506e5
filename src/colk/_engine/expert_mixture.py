"""A mixture of three experts on one dictionary, weighted by their losses (fixed share).

The first expert makes second-order steps. The second, fast one makes them as if P were SPEED times
as large. The third makes first-order steps. f = Σ_e p_e f_e. The weights p follow the losses
(`fixed_share.py`). If compression costs f_e the H-norm ε_e, it costs f at most √(Σ_e p_e ε_e²); eps
bounds that. Rows of the weights: f, the experts, then the previous iterate.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.buffers import zeros
from colk._engine.c_types import Matrix, Readonly, Vector
from colk._engine.dictionary import Dictionary
from colk._engine.fixed_share import FixedShare
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.newton_iterate import NewtonIterate
from colk._engine.simd import loops
from colk._engine.window import Window

__all__ = ["ExpertMixture", "count_experts"]

# The experts, and the factor of P for the fast one.
SECOND, FAST, FIRST = 0, 1, 2  # cdef Py_ssize_t
EXPERTS: int = 3
SPEED: float = 4.0
# Losses are divided by MOST_LOSS times the mean loss and clipped at 1. RATE and SHARE are those of
# the update of p.
MOST_LOSS, RATE, SHARE = 10.0, 0.5, 0.001  # cdef double
# The variance at a sample grows by 1/γ, where γ = 1 − FAST_LAPSE·p_fast − FIRST_LAPSE·p_first. With
# a larger share for the first-order expert, a low γ would keep the second-order expert behind it on
# stationary streams.
FAST_LAPSE, FIRST_LAPSE = 0.3, 0.15  # cdef double


def count_experts() -> int:
    """Return the number of experts; each has its own weights."""
    return EXPERTS


class ExpertMixture(NewtonIterate):
    """An iterate that is the mean of the experts, weighted by p.

    Parameters
    ----------
    dictionary, window, P
        As for `NewtonIterate`.
    first_step : float
        First-order step size, divided by κ(x, x); smaller if the curvature exceeds 1/step.
    """

    first_step: Readonly[float]
    mixture: FixedShare  # p
    mixture_weights: Readonly[Vector]  # (experts,): p
    lost: Vector  # (experts,): their losses at this step, in [0, 1]·weight
    predictions: Matrix  # (experts·window, outputs): f_e at the points of the window
    slopes: Matrix  # (experts·window, outputs): their slopes a
    curvatures: Matrix  # (experts, window): their curvatures b
    multiples: Matrix  # (experts, outputs): pending multiples of Uh (first-order: of Uz)
    gains: Matrix  # (experts, 2): of steps in the span of the atoms, and with x added
    mixed: Vector  # (window,): losses of f

    def __init__(
        self, dictionary: Dictionary, window: Window, P: InverseCurvature, first_step: float
    ) -> None:
        super().__init__(dictionary, window, P)
        size, q = self.window.size, self.n_outputs
        self.first_step, self.mixture = (
            first_step,
            FixedShare(np.full(EXPERTS, 1.0 / EXPERTS), SHARE),
        )
        self.mixture_weights = self.mixture.weights
        self.predictions, self.slopes = zeros((2, EXPERTS * size, q))
        self.curvatures, self.mixed = zeros((EXPERTS, size)), zeros(size)
        self.multiples, self.gains = zeros((EXPERTS, q)), zeros((EXPERTS, 2))
        self.lost = zeros(EXPERTS)

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns."""
        return {"mixture": self.mixture.fields()}

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        return {"mixture": self.mixture.pack()}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        self.mixture.unpack(packed["mixture"])

    def row_of(self, e: int) -> int:  # cdef noexcept
        """First row of the weights of expert e."""
        return int((1 + e) * self.n_outputs)

    # -- slopes and curvatures of each expert at its own values ------------------------------

    def keep_mixed_losses(self) -> None:  # cdef
        """Save the losses of f before the window gets those of the experts."""
        for b in range(self.window.size):
            self.mixed[b] = self.window.losses[b]

    def show(self, e: int) -> None:  # cdef
        """Write the predictions of expert e to the window."""
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip

    def note(self, e: int, lost: float) -> None:  # cdef
        """Save the values of expert e; slopes and curvatures are 0 if they overflow."""
        self.lost[e] = lost
        for b in range(self.window.size):
            place, is_finite = e * self.window.size + b, self.length_of(b) < loops.LARGEST  # type: int, bool
            self.curvatures[e, b] = self.window.curvatures[b] if is_finite else 0.0
            for c in range(self.n_outputs):
                slope: float = self.window.coefficients[b, c]
                self.predictions[place, c] = self.window.predictions[b, c]
                self.slopes[place, c] = slope if is_finite else 0.0

    def mix_predictions(self) -> None:  # cdef
        """Restore the losses and predictions of f in the window."""
        for b in range(self.window.size):
            self.window.losses[b] = self.mixed[b]
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = 0.0
                for e in range(EXPERTS):
                    value = self.predictions[e * self.window.size + b, c]
                    self.window.predictions[b, c] += self.mixture_weights[e] * value

    def update_weights(self) -> None:  # cdef
        """Update p by the losses, and γ from p."""
        least: float = self.lost[0]
        for e in range(EXPERTS):
            least = min(least, self.lost[e])
        for e in range(EXPERTS):
            self.mixture.lost[e] = RATE * (self.lost[e] - least)
        self.mixture.update()
        self.P.set_forgetting(
            1.0 - FAST_LAPSE * self.mixture_weights[FAST]
            - FIRST_LAPSE * self.mixture_weights[FIRST]
        )  # fmt: skip

    # -- the pending update ------------------------------------------------------------------

    def add_pending(self) -> None:  # cdef
        """Add the pending multiples of Uh, now computed, to the experts, and mix f."""
        n = self.dictionary.size
        if self.is_pending:
            self.add_multiple(SECOND)
            self.add_multiple(FAST)
            self.add_beside()
            loops.spread(
                self.dictionary.factor, n, self.P.rows, inverse_curvature.FORMER, self.P.rows,
                inverse_curvature.PRODUCT,
            )  # fmt: skip
            self.add_multiple(FIRST)
        self.is_pending = False
        for c in range(self.n_outputs):
            loops.scale(self.dictionary.weights_t, c, 0.0, n)
            for e in range(EXPERTS):
                loops.add(
                    self.dictionary.weights_t, c, self.dictionary.weights_t, self.row_of(e) + c,
                    self.mixture_weights[e], n,
                )  # fmt: skip

    def add_multiple(self, e: int) -> None:  # cdef
        """Add the pending multiples of the product with U to expert e."""
        for c in range(self.n_outputs):
            loops.add(
                self.dictionary.weights_t, self.row_of(e) + c,
                self.P.rows, inverse_curvature.PRODUCT,
                self.multiples[e, c], self.dictionary.size,
            )  # fmt: skip

    # -- a point -----------------------------------------------------------------------------

    def plan(
        self,
        b: int,
        variance: float,
        extended: float,
        squares: float,
        beyond: float,
        prior: float,
    ) -> float:  # cdef noexcept
        """Compare the experts' steps with and without x as an atom.

        Returns a bound on the H-norm of the difference for f.
        """
        wide: float = beyond / (prior * prior)  # the part of ‖h‖² in the new direction of H
        price, cost = 0.0, 0.0  # squared H-norms: of the part beyond the span, and within it
        for e in range(EXPERTS):
            gain, wide_gain = self.gain_of(e, b, variance), self.gain_of(e, b, extended)  # type: float, float
            length: float
            self.gains[e, 0], self.gains[e, 1], length = gain, wide_gain, self.expert_length(e, b)
            outer, inner = length * wide_gain, length * (gain - wide_gain)  # type: float, float
            price += self.mixture_weights[e] * outer * outer * (beyond if e == FIRST else wide)
            cost += self.mixture_weights[e] * inner * inner * squares
        self.new_price, self.wide_gain = price, self.gains[SECOND, 1]
        self.length, self.curvature = self.expert_length(SECOND, b), self.curvatures[SECOND, b]
        return math.sqrt(price + cost)

    def gain_of(self, e: int, b: int, variance: float) -> float:  # cdef noexcept
        """Factor of a in the move of expert e along h (the first-order expert: along z)."""
        curvature: float = self.curvatures[e, b]
        if e == FIRST:
            most: float = 1.0 / curvature if self.first_step * curvature > 1.0 else self.first_step
            return float(most / self.dictionary.gram[b, b])
        speed: float = SPEED if e == FAST else 1.0
        return float(speed / (1.0 + speed * curvature * variance))

    # cdef noexcept
    def move(self, b: int, h: int, enters: bool, squares: float, novelty: float) -> float:
        """Move the experts by point b; return a bound on the squared H-norm of f's step.

        `squares` is ‖h‖². The first-order expert moves along z; its squared norm is κ(x, x) if x is
        an atom, and otherwise that of the part in the span of the atoms.
        """
        n, entered, own = self.dictionary.size, 0, self.dictionary.gram[b, b]  # type: int, int, float
        if enters:
            n, entered = n - 1, 1
        self.P.keep_whitened(n, math.sqrt(novelty) if enters else 0.0)
        first_squares, moved = own if enters else own - max(novelty, 0.0), 0.0  # type: float, float
        for e in range(EXPERTS):
            place, gain = e * self.window.size + b, self.gains[e, entered]  # type: int, float
            amount: float = gain * self.expert_length(e, b)
            moved += (
                self.mixture_weights[e] * amount * amount
                * (first_squares if e == FIRST else squares)
            )  # fmt: skip
            for c in range(self.n_outputs):
                self.multiples[e, c] = -gain * self.slopes[place, c]
        self.gain = self.gains[SECOND, entered]
        self.last, self.is_pending = h, True
        return moved

    def expert_length(self, e: int, b: int) -> float:  # cdef noexcept
        """|a| of point b for expert e."""
        squares = 0.0
        for c in range(self.n_outputs):
            slope = self.slopes[e * self.window.size + b, c]
            squares += slope * slope
        return math.sqrt(squares)

    def relinearize(self, b: int) -> None:  # cdef
        """Set slopes to a + b(f_e − f_e,t)(x), with the steps of the window's earlier points."""
        for e in range(EXPERTS):
            place = e * self.window.size + b
            for c in range(self.n_outputs):
                now = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip
                self.slopes[place, c] += self.curvatures[e, b] * (now - self.predictions[place, c])

    # -- dropping atoms ----------------------------------------------------------------------

    def price(self, j: int) -> float:  # cdef noexcept
        """Return Σ_e p_e‖w_e,j‖²/(K⁻¹)_jj ≥ the squared H-norm that dropping atom j costs f."""
        squares = 0.0
        for e in range(EXPERTS):
            for c in range(self.n_outputs):
                w: float = self.dictionary.weights_t[self.row_of(e) + c, j]
                squares += self.mixture_weights[e] * w * w
        return float(squares / self.dictionary.diagonal[j])

    def cheapest(self) -> int:  # cdef noexcept
        """Return the atom that costs least to drop; ties go to the newest atom."""
        best, least = self.dictionary.size - 1, math.inf  # type: int, float
        for j in range(self.dictionary.size):
            price = self.price(j)
            if price <= least:
                best, least = j, price
        return best

    def drop(self, j: int) -> float:  # cdef noexcept
        """Drop atom j; return its cost plus a bound on the rounding error."""
        hidden: float = loops.ROUNDING * self.dictionary.own[j] * self.dictionary.diagonal[j]
        cost: float = float(self.price(j) * (1.0 + hidden))
        self.P.drop(self.dictionary, j)
        self.dictionary.drop_atom(j)
        return cost
