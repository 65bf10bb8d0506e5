"""The search for λ of the second-order step, by losses at samples before they are learned.

P⁻¹ = λI + C, where C is the accumulated curvature. Another λ' changes P to P(I + (λ' − λ)P)⁻¹ and θ
to the minimiser of the same quadratic with λ' in place of λ. A choice is due after FIRST_TRIAL
steps and each time their number has doubled. At a choice, the functions for several λ are stored
next to f, as rows of weights that change only if KOMP drops atoms. Until the next choice, their
losses at samples before learning from them are summed; then the λ with the least sum is taken.
Losses at samples already learned would favour a λ that is too small, because atoms are chosen by
their residuals.

The search takes one λ and does not mix the functions by `fixed_share.py`: P belongs to one λ, and
five learners that are mixed err 6 to 34 % more with the same number of atoms
(`colk_lab.tables.mixtures`).

Refitting f to all samples assumes a stationary target, so evicting an atom keeps the posterior.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine import inverse_curvature
from colk._engine.buffers import zeros
from colk._engine.c_types import Matrix, Readonly, Vector
from colk._engine.contracts import LossContract
from colk._engine.dictionary import Dictionary
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.newton_iterate import NewtonIterate
from colk._engine.simd import loops
from colk._engine.window import Window
from colk._validation import Array

__all__ = ["LATE", "PriorSearch", "count_priors"]

# Number of λ, in steps of √10 around the first one, and the index of the first one.
PRIORS, MIDDLE = 5, 2  # cdef Py_ssize_t
# Steps before the first choice.
FIRST_TRIAL: int = 200
# A tenth of the first λ must reduce the loss by more than this share, because the trial functions
# do not get later atoms, and with a small λ more of these fit noise.
RELUCTANCE: float = 0.05
# If a new atom replaces another one, the prior of its direction is LATE·λ, because earlier samples
# had a component in that direction that was not kept.
LATE: float = 2.0


def count_priors() -> int:
    """Return the number of λ that are tried; each has its own weights."""
    return PRIORS


class PriorSearch:  # final
    """Search for the λ of a Newton stream, from a tenth to ten times that of P.

    Parameters
    ----------
    iterate : NewtonIterate
        f, with its pending update and P.
    dictionary, window, loss
        The dictionary, the window and the loss of the stream. The dictionary has rows for every λ
        after those of f.
    """

    due: Readonly[int]  # number of steps at the next choice
    first_prior: Readonly[float]
    losses: Vector  # (PRIORS,): sums since the last choice
    values: Matrix  # (window, outputs): predictions with another λ
    slopes: Matrix  # (window, outputs): of the losses there
    loss: LossContract
    iterate: NewtonIterate
    dictionary: Dictionary
    window: Window
    P: InverseCurvature
    n_outputs: int

    def __init__(
        self, iterate: NewtonIterate, dictionary: Dictionary, window: Window, loss: LossContract
    ) -> None:
        self.iterate, self.P, self.loss = iterate, iterate.P, loss
        self.dictionary, self.window = dictionary, window
        self.due, self.first_prior = FIRST_TRIAL, self.P.prior
        self.losses, self.n_outputs = zeros(PRIORS), self.window.predictions.shape[1]
        self.values, self.slopes = zeros((2, self.window.size, self.n_outputs))

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns."""
        return {
            "due": stored.Count(),
            "lost": stored.Array(PRIORS),
            "prior": stored.Number(above=0.0),
        }

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        return {"due": self.due, "lost": np.array(self.losses), "prior": self.P.prior}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        self.due = packed["due"]
        self.P.set_prior(packed["prior"])
        np.asarray(self.losses)[:] = packed["lost"]

    def add_losses(self, b: int) -> int:  # cdef
        """Add the losses of every λ at point b, which f has not seen yet."""
        for i in range(PRIORS):
            for c in range(self.n_outputs):
                self.values[b, c] = loops.dot(
                    self.dictionary.weights_t, (1 + i) * self.n_outputs + c,
                    self.dictionary.columns, b, self.dictionary.size,
                )  # fmt: skip
            loss: float = self.loss.evaluate(self.values, self.window.targets, b, self.slopes)
            self.losses[i] += self.window.weights[b] * min(loss, loops.LARGEST)
        return 0

    def attempt(self, steps: int) -> BaseException | None:
        """Make a choice; return an error, such as a lack of memory, after which f is as before.

        The next step then makes the choice.
        """
        try:
            self.choose(steps)
        except BaseException as error:
            self.due = steps + 1
            return error
        return None

    def choose(self, steps: int) -> int:  # cpdef
        """Take the λ of least loss, and store the function of every λ for the next choice."""
        n, q = self.dictionary.size, self.n_outputs
        factor = np.tril(np.asarray(self.dictionary.factor)[:n, :n])
        weights = np.asarray(self.dictionary.weights_t)
        variances, axes = np.linalg.eigh(self.P.raw(n))
        variances = np.clip(variances, 0.0, 1.0 / self.P.prior)
        along = axes.T @ np.linalg.solve(factor.T, weights[:q, :n].T)
        spread, before = factor.T @ axes, self.P.prior
        chosen = self.best()
        shrunk = 1.0 + (chosen - before) * variances
        matrix = (axes * (variances / shrunk)) @ axes.T
        found = [(spread @ (along / shrunk[:, None])).T]
        rows, beside = self.shrunk_beside(axes, spread, shrunk)
        for i in range(PRIORS):
            shrunk = 1.0 + (prior_of(self.first_prior, i) - before) * variances
            found.append((spread @ (along / shrunk[:, None])).T)
        if chosen != before:  # from here on nothing can fail
            self.P.set_prior(chosen)
            self.P.replace_matrix(matrix)
            weights[:q, :n], weights[rows, :n] = found[0], beside
        for i in range(PRIORS):
            weights[(1 + i) * q : (2 + i) * q, :n] = found[1 + i]
        np.asarray(self.losses)[:] = 0.0
        self.due = 2 * steps
        return 0

    def shrunk_beside(self, axes: Array, spread: Array, shrunk: Array) -> tuple[slice, Array]:
        """Return the rows of the functions beside f, and their weights with the chosen λ."""
        n, first = len(shrunk), self.iterate.first_beside
        rows = slice(first, first + self.iterate.beside.shape[0])
        weights = np.asarray(self.dictionary.weights_t)
        factor = np.tril(np.asarray(self.dictionary.factor)[:n, :n])
        along = axes.T @ np.linalg.solve(factor.T, weights[rows, :n].T)
        return rows, (spread @ (along / shrunk[:, None])).T

    def best(self) -> float:  # cdef gil
        """Return the λ of least loss, with a penalty on λ below the first."""
        best, least, unit = self.P.prior, math.inf, abs(np.asarray(self.losses)).min()  # type: float, float, float
        if not 0.0 < unit < math.inf:
            return best
        for i in range(PRIORS):
            loss: float = self.losses[i] / unit + RELUCTANCE * 0.5 * max(MIDDLE - i, 0)
            if loss < least:
                best, least = prior_of(self.first_prior, i), loss
        return best

    def refit_without(self, j: int) -> float:  # cdef noexcept
        """Refit f and P to all samples without atom j; return the H-norm of the change of f.

        This is the step of a sample with infinite curvature and the condition w_j = 0. A projection
        would give the nearest function without atom j, not the one with the least objective.
        """
        n, z = self.dictionary.size, inverse_curvature.WHITENED
        self.iterate.whiten_atom(j)
        h = self.P.multiply(n)
        variance, squares = loops.dot(self.P.rows, z, self.P.rows, h, n), 0.0  # type: float, float
        if not variance > 0.0:
            return 0.0
        for c in range(self.n_outputs):
            self.iterate.pending[c] = -self.dictionary.weights_t[c, j] / variance
            squares += self.iterate.pending[c] * self.iterate.pending[c]
        squares *= loops.dot(self.P.rows, h, self.P.rows, h, n)
        self.iterate.take_weights_beside(j, variance)
        self.P.subtract(1.0 / variance)
        self.iterate.last, self.iterate.is_pending = h, True
        self.iterate.bring_up_to_date()
        return math.sqrt(squares)


def prior_of(first: float, i: int) -> float:  # cdef noexcept
    """Return the i-th λ of the grid around the first."""
    return float(first * 10.0 ** (0.5 * (i - MIDDLE)))
