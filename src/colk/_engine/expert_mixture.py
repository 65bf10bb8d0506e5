"""A mixture of three experts on one dictionary, weighted by their losses (fixed share).

One expert makes second-order steps; a fast one makes them as if P were SPEED times as large; one
makes first-order steps. f = Σ_e p_e f_e. The weights p fall with the exponentials of the losses;
at each step a share of them is spread evenly. If f_e loses ε_e, f loses at most √(Σ_e p_e ε_e²),
which is what eps bounds. Rows of the weights: f, the experts, then the previous iterate.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.dictionary import Dictionary
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.newton_iterate import NewtonIterate
from colk._engine.simd import loops
from colk._engine.window import Window
from colk._validation import Array

__all__ = ["ExpertMixture", "count_experts"]

# The experts, and the factor of P for the fast one.
SECOND, FAST, FIRST = 0, 1, 2
EXPERTS, SPEED = 3, 4.0
# A loss counts up to MOST_LOSS times the mean loss, its unit; p falls by the exponential of RATE
# times it; and SHARE of p is spread evenly.
MOST_LOSS, RATE, SHARE = 10.0, 0.5, 0.001
# The variance grows by 1/γ at a sample: γ is 1 less these shares of their p. With more for the
# first-order expert a low γ would keep the second-order one behind it on stationary streams.
FAST_LAPSE, FIRST_LAPSE = 0.3, 0.15


def count_experts() -> int:
    """Return the number of experts, each with weights of its own."""
    return EXPERTS


class ExpertMixture(NewtonIterate):
    """An iterate that is the mean of experts by their weights p.

    Parameters
    ----------
    dictionary, window, P
        As for `NewtonIterate`.
    first_step : float
        First-order step size over κ(x, x); less if the curvature is above 1/step.
    """

    first_step: float
    mixture_weights: Array  # (experts,): p
    lost: Array  # (experts,): in this step
    predictions: Array  # (experts·window, outputs): f_e at the points of the window
    slopes: Array  # (experts·window, outputs): their slopes a
    curvatures: Array  # (experts, window): their curvatures b
    multiples: Array  # (experts, outputs): pending multiples of Uh, of Uz for the first-order one
    gains: Array  # (experts, 2): of steps in the span of the atoms, and with x in it
    mixed: Array  # (window,): losses of f

    def __init__(
        self, dictionary: Dictionary, window: Window, P: InverseCurvature, first_step: float
    ) -> None:
        super().__init__(dictionary, window, P)
        size, q = self.window.size, self.n_outputs
        self.first_step, self.mixture_weights = first_step, np.full(EXPERTS, 1.0 / EXPERTS)
        self.predictions, self.slopes = np.zeros((2, EXPERTS * size, q))
        self.curvatures, self.mixed = np.zeros((EXPERTS, size)), np.zeros(size)
        self.multiples, self.gains = np.zeros((EXPERTS, q)), np.zeros((EXPERTS, 2))
        self.lost = np.zeros(EXPERTS)

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns."""
        return {"says": stored.Array(EXPERTS, above=0.0, adds_to=1.0)}

    def pack(self) -> dict[str, Any]:
        """Return plain numbers and arrays from which `unpack` goes on bit by bit."""
        return {"says": np.array(self.mixture_weights)}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore what was packed."""
        np.asarray(self.mixture_weights)[:] = packed["says"]

    def row_of(self, e: int) -> int:
        """The row of weights with which expert e begins."""
        return int((1 + e) * self.n_outputs)

    # -- slopes and curvatures of each expert at its own values ------------------------------

    def keep_mixed_losses(self) -> None:
        """Keep the losses of f, while the window holds those of the experts."""
        for b in range(self.window.size):
            self.mixed[b] = self.window.losses[b]

    def show(self, e: int) -> None:
        """Let the predictions of the window be those of expert e."""
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip

    def note(self, e: int, lost: float) -> None:
        """Keep predictions, slopes and curvatures of expert e; without them if they overflow."""
        self.lost[e] = lost
        for b in range(self.window.size):
            place, is_finite = e * self.window.size + b, self.length_of(b) < loops.LARGEST
            self.curvatures[e, b] = self.window.curvatures[b] if is_finite else 0.0
            for c in range(self.n_outputs):
                slope = self.window.coefficients[b, c]
                self.predictions[place, c] = self.window.predictions[b, c]
                self.slopes[place, c] = slope if is_finite else 0.0

    def mix_predictions(self) -> None:
        """Let losses and predictions of the window be those of f again."""
        for b in range(self.window.size):
            self.window.losses[b] = self.mixed[b]
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = 0.0
                for e in range(EXPERTS):
                    value = self.predictions[e * self.window.size + b, c]
                    self.window.predictions[b, c] += self.mixture_weights[e] * value

    def update_weights(self) -> None:
        """Let p fall with the exponentials of the losses; γ follows."""
        least, total = self.lost[0], 0.0
        for e in range(EXPERTS):
            least = min(least, self.lost[e])
        for e in range(EXPERTS):
            self.mixture_weights[e] *= math.exp(RATE * (least - self.lost[e]))
            total += self.mixture_weights[e]
        for e in range(EXPERTS):
            weight = (1.0 - SHARE) * self.mixture_weights[e] / total
            self.mixture_weights[e] = weight + SHARE / EXPERTS
        self.P.set_forgetting(
            1.0 - FAST_LAPSE * self.mixture_weights[FAST]
            - FIRST_LAPSE * self.mixture_weights[FIRST]
        )  # fmt: skip

    # -- the pending update ------------------------------------------------------------------

    def add_pending(self) -> None:
        """Add the pending multiples of Uh, which is known now, to the experts, and mix f."""
        n = self.dictionary.size
        if self.is_pending:
            self.add_multiple(SECOND)
            self.add_multiple(FAST)
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

    def add_multiple(self, e: int) -> None:
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
    ) -> float:
        """Compare the steps of the experts without and with x among the atoms.

        Returns a bound on the H-norm of what f lacks without it.
        """
        wide = beyond / (prior * prior)  # what a new direction of H adds to the squares of h
        price, cost = 0.0, 0.0  # squared H-norms: of what x adds, and of what f lacks without it
        for e in range(EXPERTS):
            gain, wide_gain = self.gain_of(e, b, variance), self.gain_of(e, b, extended)
            self.gains[e, 0], self.gains[e, 1], length = gain, wide_gain, self.expert_length(e, b)
            outer, inner = length * wide_gain, length * (gain - wide_gain)
            price += self.mixture_weights[e] * outer * outer * (beyond if e == FIRST else wide)
            cost += self.mixture_weights[e] * inner * inner * squares
        self.new_price, self.wide_gain = price, self.gains[SECOND, 1]
        self.length, self.curvature = self.expert_length(SECOND, b), self.curvatures[SECOND, b]
        return math.sqrt(price + cost)

    def gain_of(self, e: int, b: int, variance: float) -> float:
        """The multiple of a by which expert e moves along h, or the first-order one along z."""
        curvature = self.curvatures[e, b]
        if e == FIRST:
            most = 1.0 / curvature if self.first_step * curvature > 1.0 else self.first_step
            return float(most / self.dictionary.gram[b, b])
        speed = SPEED if e == FAST else 1.0
        return float(speed / (1.0 + speed * curvature * variance))

    def move(self, b: int, h: int, enters: bool, squares: float, novelty: float) -> float:
        """Move the experts by point b; returns a bound on the squared H-norm of f's step.

        `squares` is ‖h‖²; the first-order expert moves along z, of squared norm κ(x, x) if x is an
        atom, and otherwise of the part of it in the span of the atoms.
        """
        n, entered, own = self.dictionary.size, 0, self.dictionary.gram[b, b]
        if enters:
            n, entered = n - 1, 1
        self.P.keep_whitened(n, math.sqrt(novelty) if enters else 0.0)
        first_squares, moved = own if enters else own - max(novelty, 0.0), 0.0
        for e in range(EXPERTS):
            place, gain = e * self.window.size + b, self.gains[e, entered]
            amount = gain * self.expert_length(e, b)
            moved += (
                self.mixture_weights[e] * amount * amount
                * (first_squares if e == FIRST else squares)
            )  # fmt: skip
            for c in range(self.n_outputs):
                self.multiples[e, c] = -gain * self.slopes[place, c]
        self.gain = self.gains[SECOND, entered]
        self.last, self.is_pending = h, True
        return moved

    def expert_length(self, e: int, b: int) -> float:
        """|a| of point b for expert e."""
        squares = 0.0
        for c in range(self.n_outputs):
            slope = self.slopes[e * self.window.size + b, c]
            squares += slope * slope
        return math.sqrt(squares)

    def relinearize(self, b: int) -> None:
        """Let slopes be a + b(f_e − f_e,t)(x), with the steps of the window's earlier points."""
        for e in range(EXPERTS):
            place = e * self.window.size + b
            for c in range(self.n_outputs):
                now = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip
                self.slopes[place, c] += self.curvatures[e, b] * (now - self.predictions[place, c])

    # -- atoms that leave --------------------------------------------------------------------

    def price(self, j: int) -> float:
        """Σ_e p_e‖w_e,j‖²/(K⁻¹)_jj: a bound on the squared H-norm that f loses with atom j."""
        squares = 0.0
        for e in range(EXPERTS):
            for c in range(self.n_outputs):
                w = self.dictionary.weights_t[self.row_of(e) + c, j]
                squares += self.mixture_weights[e] * w * w
        return float(squares / self.dictionary.diagonal[j])

    def cheapest(self) -> int:
        """The atom that costs least to drop, the newest of equals."""
        best, least = self.dictionary.size - 1, math.inf
        for j in range(self.dictionary.size):
            price = self.price(j)
            if price <= least:
                best, least = j, price
        return best

    def drop(self, j: int) -> float:
        """Drop atom j; returns its price, plus what rounding can have hidden of it."""
        hidden = loops.ROUNDING * self.dictionary.own[j] * self.dictionary.diagonal[j]
        cost = float(self.price(j) * (1.0 + hidden))
        self.P.drop(self.dictionary, j)
        self.dictionary.drop_atom(j)
        return cost
