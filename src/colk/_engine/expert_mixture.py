"""Three experts on one dictionary, weighed by what they lose.

One makes second-order steps; a hasty one makes them as if P were several times as large; one makes
first-order steps. f = Σ_e p_e f_e, and p follows the exponentials of the losses, a share of it
spread evenly at each step. What f loses where f_e loses ε_e is at most √(Σ_e p_e ε_e²): that is
what eps bounds. Rows of the weights: f, the experts, then what a tracker remembers.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import gradient_step, inverse_curvature
from colk._engine.newton_step import NewtonStream
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["ExpertStream"]

# The experts, and by how much the hasty one takes P for larger.
SECOND, HASTY, FIRST = 0, 1, 2
EXPERTS, HASTE = 3, 4.0
# An expert's loss counts up to so many times the mean loss, its unit; p falls by the exponential of
# RATE times it; and of p this share is spread evenly.
MOST_LOSS, RATE, SHARE = 10.0, 0.5, 0.001
# The variance grows by 1/γ at a sample: γ is 1 less these shares of their p. With more for the
# first-order expert a low γ would keep the second-order one behind it on streams that stand still.
HASTY_LAPSE, FIRST_LAPSE = 0.3, 0.15


class ExpertStream(NewtonStream):
    """A second-order stream beside others, of which the better ones have the say.

    Parameters
    ----------
    first_step : float
        The step size of the first order, over κ(x, x); less where the curvature is above 1/step.
    **common
        The arguments of `NewtonStream`.
    """

    first_step: float
    says: Array  # (experts,): p
    lost: Array  # (experts,): in this step
    predictions: Array  # (experts·window, outputs): f_e at the points of the window
    slopes: Array  # (experts·window, outputs): their slopes a
    bends: Array  # (experts, window): their curvatures
    lacks: Array  # (experts, outputs): multiples of Uh that experts lack, the first-order one of Uz
    gains: Array  # (experts, 2): of steps in the span of the atoms, and with x in it
    mixed: Array  # (window,): losses of f

    def __init__(self, first_step: float, **common: Any) -> None:
        super().__init__(**common)
        size, q = self.window.size, self.n_outputs
        self.first_step, self.says = first_step, np.full(EXPERTS, 1.0 / EXPERTS)
        if self.remembered > 0:
            self.remembered = (1 + EXPERTS) * q
        self.predictions, self.slopes = np.zeros((2, EXPERTS * size, q))
        self.bends, self.mixed = np.zeros((EXPERTS, size)), np.zeros(size)
        self.lacks, self.gains, self.lost = (
            np.zeros((EXPERTS, q)), np.zeros((EXPERTS, 2)), np.zeros(EXPERTS)
        )  # fmt: skip

    def row_of(self, e: int) -> int:
        """The row of weights with which expert e begins."""
        return int((1 + e) * self.n_outputs)

    # -- the step ----------------------------------------------------------------------------

    def curve_window(self) -> int:
        """Slopes and curvatures at the points of the window, of each expert at its own values."""
        for b in range(self.window.size):
            self.mixed[b] = self.window.losses[b]
        for e in range(EXPERTS):
            self.evaluate_expert(e)
            self.weigh()
            self.gather()
            self.curve()
            self.lost[e] = self.counted_loss()
            self.note_expert(e)
        for b in range(self.window.size):
            self.window.losses[b] = self.mixed[b]
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = 0.0
                for e in range(EXPERTS):
                    value = self.predictions[e * self.window.size + b, c]
                    self.window.predictions[b, c] += self.says[e] * value
        self.weigh_experts()
        return 0

    def evaluate_expert(self, e: int) -> None:
        """Let the predictions of the window be those of expert e."""
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip

    def note_expert(self, e: int) -> None:
        """Keep predictions, slopes and curvatures of expert e; where they overflow it stands."""
        for b in range(self.window.size):
            place, sound = e * self.window.size + b, self.length(b) < loops.LARGEST
            self.bends[e, b] = self.window.curvatures[b] if sound else 0.0
            for c in range(self.n_outputs):
                slope = self.window.coefficients[b, c]
                self.predictions[place, c] = self.window.predictions[b, c]
                self.slopes[place, c] = slope if sound else 0.0

    def counted_loss(self) -> float:
        """The loss at every ξ, which f has not met, up to MOST_LOSS mean losses, its unit."""
        unit, total = MOST_LOSS * self.level, 0.0
        for b in range(self.batch):
            xi, counted = self.stride * b + self.shift, 0.0
            if unit > 0.0:
                counted = min(max(self.window.losses[xi] / unit, 0.0), 1.0)
            total += self.share * self.window.weights[xi] * counted
        return total

    def weigh_experts(self) -> None:
        """Weigh the experts by the exponentials of their losses; γ follows."""
        least, total = self.lost[0], 0.0
        for e in range(EXPERTS):
            least = min(least, self.lost[e])
        for e in range(EXPERTS):
            self.says[e] *= math.exp(RATE * (least - self.lost[e]))
            total += self.says[e]
        for e in range(EXPERTS):
            self.says[e] = (1.0 - SHARE) * self.says[e] / total + SHARE / EXPERTS
        self.P.remember(1.0 - HASTY_LAPSE * self.says[HASTY] - FIRST_LAPSE * self.says[FIRST])

    def catch_up(self) -> None:
        """Give the experts what they lack, now that Uh is known, and mix f."""
        n = self.dictionary.size
        if self.owing:
            self.give(SECOND)
            self.give(HASTY)
            loops.spread(
                self.dictionary.factor, n, self.P.rows, inverse_curvature.FORMER, self.P.rows,
                inverse_curvature.SOLUTION,
            )  # fmt: skip
            self.give(FIRST)
        self.owing = False
        for c in range(self.n_outputs):
            loops.scale(self.dictionary.weights_t, c, 0.0, n)
            for e in range(EXPERTS):
                loops.add(
                    self.dictionary.weights_t, c, self.dictionary.weights_t, self.row_of(e) + c,
                    self.says[e], n,
                )  # fmt: skip

    def give(self, e: int) -> None:
        """Give expert e what it lacks, multiples of the product with U."""
        for c in range(self.n_outputs):
            loops.add(
                self.dictionary.weights_t, self.row_of(e) + c,
                self.P.rows, inverse_curvature.SOLUTION,
                self.lacks[e, c], self.dictionary.size,
            )  # fmt: skip

    def take(self, b: int, eps: float) -> float:
        """Move the experts and P by point b; it enters where leaving it out costs more than eps.

        Returns a bound on the H-norm of what is left out of the step of f.
        """
        n, own = self.dictionary.size, self.dictionary.gram[b, b]
        if own < gradient_step.VANISHING:
            return 0.0
        if b > 0:
            self.halve(b)
            self.relinearize(b)
        h, half = self.P.multiply(n), inverse_curvature.HALF
        variance = max(loops.dot(self.P.rows, half, self.P.rows, h, n), 0.0)
        novelty = own - loops.dot(self.P.rows, half, self.P.rows, half, n)
        squares = loops.dot(self.P.rows, h, self.P.rows, h, n)
        # what a direction of H that is new adds to the squares of h and of z
        beyond = max(novelty, 0.0)
        extended, wide = variance + beyond / self.P.prior, beyond / (self.P.prior * self.P.prior)
        price, cost = 0.0, 0.0  # squared H-norms: of what x adds, and of what f lacks without it
        for e in range(EXPERTS):
            gain, wide_gain = self.gain(e, b, variance), self.gain(e, b, extended)
            self.gains[e, 0], self.gains[e, 1], length = gain, wide_gain, self.length_of(e, b)
            outer, inner = length * wide_gain, length * (gain - wide_gain)
            price += self.says[e] * outer * outer * (beyond if e == FIRST else wide)
            cost += self.says[e] * inner * inner * squares
        error = math.sqrt(price + cost)
        enters = novelty > loops.NOVELTY_FLOOR * own and error > eps
        if enters and n >= self.rule.at_most:
            enters = price > self.price(self.cheapest())
        self.P.keep_half(n, math.sqrt(novelty) if enters else 0.0)
        if enters:
            variance, squares, error = extended, squares + wide, 0.0
            self.append(b, novelty)
            self.P.extend(n, h, novelty, self.P.prior)
        self.move(b, 1 if enters else 0, squares, own if enters else own - beyond)
        gain, bend = self.gains[SECOND, 1 if enters else 0], self.bends[SECOND, b]
        self.note_noise(b, self.gains[SECOND, 1], self.length_of(SECOND, b), bend)
        self.last, self.owing = h, True
        self.P.shrink(bend, self.mean_curvature, gain, variance, own)
        return error

    def gain(self, e: int, b: int, variance: float) -> float:
        """By what multiple of a expert e moves along h, or the first-order one along z."""
        bend = self.bends[e, b]
        if e == FIRST:
            most = 1.0 / bend if self.first_step * bend > 1.0 else self.first_step
            return float(most / self.dictionary.gram[b, b])
        haste = HASTE if e == HASTY else 1.0
        return float(haste / (1.0 + haste * bend * variance))

    def move(self, b: int, entered: int, squares: float, first_squares: float) -> None:
        """Note what experts lack now, and how far f moves, from the squares of h and of z."""
        moved = 0.0
        for e in range(EXPERTS):
            place, gain = e * self.window.size + b, self.gains[e, entered]
            amount = gain * self.length_of(e, b)
            moved += self.says[e] * amount * amount * (first_squares if e == FIRST else squares)
            for c in range(self.n_outputs):
                self.lacks[e, c] = -gain * self.slopes[place, c]
        self.note_length(moved)

    def length_of(self, e: int, b: int) -> float:
        """|a| of point b for expert e."""
        squares = 0.0
        for c in range(self.n_outputs):
            slope = self.slopes[e * self.window.size + b, c]
            squares += slope * slope
        return math.sqrt(squares)

    def relinearize(self, b: int) -> None:
        """Let slopes be a + b(f_e − f_e,t)(x): what the points before it in the window leave."""
        for e in range(EXPERTS):
            place = e * self.window.size + b
            for c in range(self.n_outputs):
                now = loops.dot(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, b,
                    self.dictionary.size,
                )  # fmt: skip
                self.slopes[place, c] += self.bends[e, b] * (now - self.predictions[place, c])

    # -- atoms that leave --------------------------------------------------------------------

    def price(self, j: int) -> float:
        """Σ_e p_e‖w_e,j‖²/(K⁻¹)_jj: a bound on the squared H-norm that f loses with atom j."""
        squares = 0.0
        for e in range(EXPERTS):
            for c in range(self.n_outputs):
                w = self.dictionary.weights_t[self.row_of(e) + c, j]
                squares += self.says[e] * w * w
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
        """Drop atom j; returns its price, and what rounding can have hidden of it."""
        hidden = loops.ROUNDING * self.dictionary.own[j] * self.dictionary.diagonal[j]
        cost = float(self.price(j) * (1.0 + hidden))
        self.P.turn_out(self.dictionary, j)
        self.dictionary.drop_atom(j)
        return cost

    # -- files and pickles -------------------------------------------------------------------

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        return {**super().pack(), "says": np.array(self.says)}

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns for a stream of this shape."""
        return {**super().fields(), "says": stored.Array(EXPERTS, above=0.0, adds_to=1.0)}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        super().unpack(packed)
        np.asarray(self.says)[:] = packed["says"]
