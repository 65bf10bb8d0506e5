"""λ of the second-order step, chosen by samples that the function has not met.

P⁻¹ = λI + C with C the curvature seen: another λ' makes P(I + (λ' − λ)P)⁻¹ of P, and of θ what
minimises the same parabola with λ' in it. At moments that double, what each of some λ would make of
f is laid beside it, as rows of weights that stay as they are but for what KOMP drops. Until the
next moment their losses are added up at samples before these are learned from; then the best λ is
taken. Losses at samples that were learned from would choose too small a λ, since atoms are chosen
by their residuals.

That f is made anew for all samples supposes that they have one truth. Hence all that they told is
kept where an atom has to leave for another.
"""

import math
from typing import Any, ClassVar

import cython
import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.newton_step import NewtonStream
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["PriorStream", "count_priors"]

# How many λ, in steps of √10 about the first.
PRIORS, MIDDLE = 5, 2
# Steps before the first moment.
FIRST_TRIAL = 200
# A tenth of the first λ must be better by this share of the loss: what is tried has no atoms that
# enter later, of which a small λ makes more of the noise.
RELUCTANCE = 0.05
# Where atoms have to leave for new ones, the prior of a new direction is so many times λ: samples
# before it told of that direction as well, but what they told was not kept.
LATE = 2.0


class PriorStream(NewtonStream):
    """A second-order stream that chooses its λ, from a tenth to ten times that of P.

    Parameters
    ----------
    **common
        The arguments of `NewtonStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {**NewtonStream.tallies, "due": stored.Count()}

    due: int  # steps at the next moment
    first_prior: float
    lost: Array  # (PRIORS,): sums of the losses since the last moment
    values_tried: Array  # (window, outputs): predictions with another λ
    slopes: Array  # (window, outputs): of the losses there

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.due, self.first_prior, self.late = FIRST_TRIAL, self.P.prior, LATE
        self.lost = np.zeros(PRIORS)
        self.values_tried, self.slopes = np.zeros((2, self.window.size, self.n_outputs))
        if self.remembered > 0:
            self.remembered = (1 + PRIORS) * self.n_outputs

    def curve_window(self) -> int:
        """Slopes and curvatures of the points of the window; on the way losses with other λ."""
        if self.steps >= FIRST_TRIAL:
            for b in range(self.batch):
                self.try_priors(self.stride * b + self.shift)
        return self.curve()

    def try_priors(self, b: int) -> int:
        """Add the losses at point b, which f has not met."""
        for i in range(PRIORS):
            for c in range(self.n_outputs):
                self.values_tried[b, c] = loops.dot(
                    self.dictionary.weights_t, (1 + i) * self.n_outputs + c,
                    self.dictionary.columns, b, self.dictionary.size,
                )  # fmt: skip
            loss = self.loss.evaluate(self.values_tried, self.window.targets, b, self.slopes)
            self.lost[i] += self.window.weights[b] * min(loss, loops.LARGEST)
        return 0

    def review(self, steps: int) -> int:
        """At a moment: take the best λ, and try all of them from there on."""
        if steps == self.due:
            self.rest()
            with cython.gil:
                self.choose_prior()
            self.due = 2 * steps
        return 0

    def choose_prior(self) -> int:
        """Take the λ that lost least, and lay what every λ makes of f beside it."""
        n, q = self.dictionary.size, self.n_outputs
        factor = np.tril(np.asarray(self.dictionary.factor)[:n, :n])
        weights = np.asarray(self.dictionary.weights_t)
        variances, axes = np.linalg.eigh(self.P.raw(n))
        variances = np.clip(variances, 0.0, 1.0 / self.P.prior)
        along = axes.T @ np.linalg.solve(factor.T, weights[:q, :n].T)
        spread, before = factor.T @ axes, self.P.prior
        chosen = self.best_prior()
        if chosen != before:
            shrunk = 1.0 + (chosen - before) * variances
            self.P.assume(chosen)
            self.P.lay((axes * (variances / shrunk)) @ axes.T)
            weights[:q, :n] = (spread @ (along / shrunk[:, None])).T
        for i in range(PRIORS):
            shrunk = 1.0 + (prior_of(self.first_prior, i) - before) * variances
            weights[(1 + i) * q : (2 + i) * q, :n] = (spread @ (along / shrunk[:, None])).T
        np.asarray(self.lost)[:] = 0.0
        return 0

    def best_prior(self) -> float:
        """The λ of the least loss, which must be the less the further it is below the first."""
        best, least, unit = self.P.prior, math.inf, abs(np.asarray(self.lost)).min()
        if not 0.0 < unit < math.inf:
            return best
        for i in range(PRIORS):
            loss = self.lost[i] / unit + RELUCTANCE * 0.5 * max(MIDDLE - i, 0)
            if loss < least:
                best, least = prior_of(self.first_prior, i), loss
        return best

    def hand_over(self, j: int) -> float:
        """Let f and P be what the samples make of them without atom j; returns how far f moves.

        As by a sample of infinite curvature that tells that w_j is 0. The projection alone would be
        the nearest function without atom j, not the best.
        """
        n, half = self.dictionary.size, inverse_curvature.HALF
        for i in range((n + 7) & -8):
            self.P.rows[half, i] = self.dictionary.factor[i, j] if j <= i < n else 0.0
        h = self.P.multiply(n)
        variance, squares = loops.dot(self.P.rows, half, self.P.rows, h, n), 0.0
        if not variance > 0.0:
            return 0.0
        for c in range(self.n_outputs):
            self.owed[c] = -self.dictionary.weights_t[c, j] / variance
            squares += self.owed[c] * self.owed[c]
        squares *= loops.dot(self.P.rows, h, self.P.rows, h, n)
        self.P.note(1.0 / variance)
        self.last, self.owing = h, True
        self.rest()
        return math.sqrt(squares)

    # -- files and pickles -------------------------------------------------------------------

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        return {**super().pack(), "lost": np.array(self.lost), "prior": self.P.prior}

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns for a stream of this shape."""
        own = {"lost": stored.Array(PRIORS), "prior": stored.Number(above=0.0)}
        return {**super().fields(), **own}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        super().unpack(packed)
        self.P.assume(packed["prior"])
        np.asarray(self.lost)[:] = packed["lost"]


def count_priors() -> int:
    """How many λ are tried, each with weights of its own."""
    return PRIORS


def prior_of(first: float, i: int) -> float:
    """The i-th λ about the first."""
    return float(first * 10.0 ** (0.5 * (i - MIDDLE)))
