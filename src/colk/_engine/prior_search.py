"""The search for λ of the second-order step, by samples that the function has not seen yet.

P⁻¹ = λI + C with C the accumulated curvature: another λ' turns P into P(I + (λ' − λ)P)⁻¹, and θ
into the minimiser of the same parabola with λ' in it. After FIRST_TRIAL steps, and whenever their
number has doubled since, the functions that several λ make of f are stored beside it, as rows of
weights that change only as KOMP drops atoms. Until the next such moment their losses are summed up,
at samples before these are learned from; then the best λ is taken. Losses at learned samples would
choose too small a λ, since atoms are chosen by their residuals.

Refitting f to all samples assumes a stationary target, so an atom that leaves for another one keeps
the posterior of the others.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.contracts import LossContract
from colk._engine.dictionary import Dictionary
from colk._engine.newton_iterate import NewtonIterate
from colk._engine.simd import loops
from colk._engine.window import Window
from colk._validation import Array

__all__ = ["LATE", "PriorSearch", "count_priors"]

# Number of λ, in steps of √10 about the first, and the place of the first.
PRIORS, MIDDLE = 5, 2
# Steps before the first choice.
FIRST_TRIAL = 200
# A tenth of the first λ must be better by this share of the loss: the trial functions do not get
# the atoms that enter later, and with a small λ more of these fit noise.
RELUCTANCE = 0.05
# If an atom has to leave for a new one, the prior of a new direction is LATE·λ: earlier samples had
# a part in that direction, too, and that was not kept.
LATE = 2.0


def count_priors() -> int:
    """Return the number of λ that are tried, each with weights of its own."""
    return PRIORS


class PriorSearch:
    """The λ that a Newton stream uses, from a tenth to ten times that of P.

    Parameters
    ----------
    iterate : NewtonIterate
        f, with its pending update and P.
    dictionary, window, loss
        Those of the stream. After f the dictionary has rows for every λ.
    """

    due: int  # steps at the next choice
    first_prior: float
    losses: Array  # (PRIORS,): sums since the last choice
    values: Array  # (window, outputs): predictions with another λ
    slopes: Array  # (window, outputs): of the losses there

    def __init__(
        self, iterate: NewtonIterate, dictionary: Dictionary, window: Window, loss: LossContract
    ) -> None:
        self.iterate, self.P, self.loss = iterate, iterate.P, loss
        self.dictionary, self.window = dictionary, window
        self.due, self.first_prior = FIRST_TRIAL, self.P.prior
        self.losses, self.n_outputs = np.zeros(PRIORS), self.window.predictions.shape[1]
        self.values, self.slopes = np.zeros((2, self.window.size, self.n_outputs))

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns."""
        return {
            "due": stored.Count(),
            "lost": stored.Array(PRIORS),
            "prior": stored.Number(above=0.0),
        }

    def pack(self) -> dict[str, Any]:
        """Return plain numbers and arrays from which `unpack` goes on bit by bit."""
        return {"due": self.due, "lost": np.array(self.losses), "prior": self.P.prior}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore what was packed."""
        self.due = packed["due"]
        self.P.set_prior(packed["prior"])
        np.asarray(self.losses)[:] = packed["lost"]

    def add_losses(self, b: int) -> int:
        """Add the losses of every λ at point b, which f has not seen yet."""
        for i in range(PRIORS):
            for c in range(self.n_outputs):
                self.values[b, c] = loops.dot(
                    self.dictionary.weights_t, (1 + i) * self.n_outputs + c,
                    self.dictionary.columns, b, self.dictionary.size,
                )  # fmt: skip
            loss = self.loss.evaluate(self.values, self.window.targets, b, self.slopes)
            self.losses[i] += self.window.weights[b] * min(loss, loops.LARGEST)
        return 0

    def choose(self, steps: int) -> int:
        """Take the λ of least loss, and store the functions that every λ makes of f from here."""
        n, q = self.dictionary.size, self.n_outputs
        factor = np.tril(np.asarray(self.dictionary.factor)[:n, :n])
        weights = np.asarray(self.dictionary.weights_t)
        variances, axes = np.linalg.eigh(self.P.raw(n))
        variances = np.clip(variances, 0.0, 1.0 / self.P.prior)
        along = axes.T @ np.linalg.solve(factor.T, weights[:q, :n].T)
        spread, before = factor.T @ axes, self.P.prior
        chosen = self.best()
        if chosen != before:
            shrunk = 1.0 + (chosen - before) * variances
            self.P.set_prior(chosen)
            self.P.replace_matrix((axes * (variances / shrunk)) @ axes.T)
            weights[:q, :n] = (spread @ (along / shrunk[:, None])).T
        for i in range(PRIORS):
            shrunk = 1.0 + (prior_of(self.first_prior, i) - before) * variances
            weights[(1 + i) * q : (2 + i) * q, :n] = (spread @ (along / shrunk[:, None])).T
        np.asarray(self.losses)[:] = 0.0
        self.due = 2 * steps
        return 0

    def best(self) -> float:
        """Return the λ of least loss, plus a charge on λ below the first."""
        best, least, unit = self.P.prior, math.inf, abs(np.asarray(self.losses)).min()
        if not 0.0 < unit < math.inf:
            return best
        for i in range(PRIORS):
            loss = self.losses[i] / unit + RELUCTANCE * 0.5 * max(MIDDLE - i, 0)
            if loss < least:
                best, least = prior_of(self.first_prior, i), loss
        return best

    def refit_without(self, j: int) -> float:
        """Refit f and P to all samples without atom j; returns the H-norm by which f moves.

        It is the step of a sample of infinite curvature that says w_j = 0. The projection alone
        would be the nearest function without atom j, not the best.
        """
        n, z = self.dictionary.size, inverse_curvature.WHITENED
        for i in range((n + 7) & -8):
            self.P.rows[z, i] = self.dictionary.factor[i, j] if j <= i < n else 0.0
        h = self.P.multiply(n)
        variance, squares = loops.dot(self.P.rows, z, self.P.rows, h, n), 0.0
        if not variance > 0.0:
            return 0.0
        for c in range(self.n_outputs):
            self.iterate.pending[c] = -self.dictionary.weights_t[c, j] / variance
            squares += self.iterate.pending[c] * self.iterate.pending[c]
        squares *= loops.dot(self.P.rows, h, self.P.rows, h, n)
        self.P.subtract(1.0 / variance)
        self.iterate.last, self.iterate.is_pending = h, True
        self.iterate.bring_up_to_date()
        return math.sqrt(squares)


def prior_of(first: float, i: int) -> float:
    """Return the i-th λ about the first."""
    return float(first * 10.0 ** (0.5 * (i - MIDDLE)))
