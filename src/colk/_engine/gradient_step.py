"""The step of every kernel method, in the order of the paper's Algorithm 1."""

import math
from typing import Any, ClassVar

import cython
import numpy as np

from colk import _stored as stored
from colk._engine.dictionary import Dictionary
from colk._engine.quasigradient import QuasiGradientStream
from colk._engine.simd import loops
from colk._engine.terms import is_foreign
from colk._engine.window import Window
from colk._validation import Array
from colk.compressors.base import Compressor

__all__ = ["KernelStream"]

# κ(x, ·) of a squared norm below this is the function 0: a linear kernel has it at x = 0.
VANISHING = 1e-280
# Steps whose size is followed.
LATEST = 1000


class KernelStream(QuasiGradientStream):
    """A stream that moves a kernel expansion f = Σ w_j κ(d_j, ·), and compresses it.

    Parameters
    ----------
    compressor : Compressor
        What becomes of the new points of a step.
    norm_bound : float
        f is kept in the ball ‖f‖_H ≤ norm_bound.
    **common
        The arguments of `QuasiGradientStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **QuasiGradientStream.tallies,
        "squared_move": stored.Number(at_least=0.0),
    }

    kept_safe: Any  # what a step that a compressor from outside breaks off goes back to
    values: Array  # (outputs,): of `evaluate_row`

    def __init__(self, compressor: Compressor, norm_bound: float, **common: Any) -> None:
        super().__init__(**common)
        self.compressor, self.norm_bound = compressor, norm_bound
        self.is_foreign, self.kept_safe, self.is_implicit = is_foreign(compressor), None, False
        self.values = np.zeros(self.n_outputs)
        self.follows_moves, self.squared_move = compressor.is_relative, 0.0
        # The norm of f is known where nothing but what is orthogonal to f is forgotten.
        self.follows_norm = compressor.is_orthogonal and (self.traced or norm_bound < math.inf)
        if not self.follows_norm:
            self.squared_norm = math.nan

    def step(self) -> int:
        """Algorithm 1 of the paper for the samples in the window; 0 where it would diverge."""
        if self.is_foreign:
            self.guard()
        t, before = self.steps, self.dictionary.size
        step = self.step_size.rate(t)
        shrinkage, share = step * self.regularization, self.averaging_rate()
        factor = 1.0 / (1.0 + shrinkage) if self.is_implicit else 1.0 - shrinkage
        # κ(D, x) at θ and ξ; g_{t+1}; the quasi-gradient
        if self.lay_window() == 0 or self.assess(self.tracking_rate.rate(t), True) == 0:
            return 0
        # f~ = (1 − αλ) f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·)
        move = self.adapt(step, factor)
        squared_norm = self.moved_squared_norm(factor, move) if self.follows_norm else 0.0
        self.remember_and_shrink(factor)
        lay_amounts(self.dictionary, self.window, move)
        if self.follows_moves:
            self.note_move(t)
        staged = stage(self.dictionary, self.window.size)
        # f = KOMP(f~, ε)
        if self.is_foreign:
            error = self.settle(staged, step, t)
        else:
            error = self.compressor.settle(self.dictionary, staged, step, t)
        self.error_sum += error
        if self.follows_norm:
            self.squared_norm = max(squared_norm - error * error, 0.0)
            if self.squared_norm > self.norm_bound * self.norm_bound:
                self.keep_in_ball()
        self.average(share)
        self.steps = t + 1
        self.record(before + self.dictionary.added - self.dictionary.size, error, step)
        return 1

    def guard(self) -> int:
        """Copy the state, where the compressor may raise: it is written outside the package."""
        with cython.gil:
            self.kept_safe = self.dictionary.pack(), self.loss_sum, self.weight_sum
        return 0

    def settle(self, staged: int, step: float, t: int) -> float:
        """Let the compressor take in the new points; where it raises, the state is as it was."""
        with cython.gil:
            try:
                return self.compressor.settle(self.dictionary, staged, step, t)
            except BaseException:
                packed, self.loss_sum, self.weight_sum = self.kept_safe
                self.dictionary.unpack(packed)
                raise

    def lay_window(self) -> int:
        """Lay the columns; 0 where the H-norm of a step towards some κ(x, ·) would overflow."""
        self.lay_columns()
        for b in range(self.window.size):
            if not self.dictionary.gram[b, b] < loops.LARGEST:
                self.window.coefficients[b, 0] = self.dictionary.gram[b, b]
                return 0
        return 1

    def lay_columns(self) -> int:
        """κ(D, x) for the points x of the window, and their own Gram matrix."""
        return self.dictionary.evaluate_columns(
            self.window.points, self.window.size, self.remembered > 0
        )

    def moved_squared_norm(self, factor: float, step: float) -> float:
        """‖f~‖² from ‖f‖² and numbers that are at hand: f's predictions and the points' Gram."""
        total = factor * factor * self.squared_norm
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                amount = -step * self.window.coefficients[b, c]
                inner_products = factor * self.window.predictions[b, c]
                for a in range(b):
                    inner_products -= (
                        step * self.window.coefficients[a, c] * self.dictionary.gram[b, a]
                    )
                total += amount * (2.0 * inner_products + amount * self.dictionary.gram[b, b])
        return max(total, 0.0)

    def note_move(self, t: int) -> None:
        """Take the squared H-norm of step t into the mean of them, later of about the latest."""
        squares = 0.0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                for a in range(b + 1):
                    both = self.dictionary.amounts[b, c] * self.dictionary.amounts[a, c]
                    squares += (1.0 if a == b else 2.0) * both * self.dictionary.gram[b, a]
        self.squared_move += (squares - self.squared_move) / min(t + 1, LATEST)
        self.dictionary.squared_move = self.squared_move

    def keep_in_ball(self) -> None:
        """Project f on the ball ‖f‖ ≤ norm_bound (the paper's footnote on KOMP)."""
        self.squared_norm = exact_squared_norm(self.dictionary, self.n_outputs)
        if self.squared_norm > self.norm_bound * self.norm_bound:
            self.dictionary.scale_rows(
                0, self.n_outputs, self.norm_bound / math.sqrt(self.squared_norm)
            )
            self.squared_norm = self.norm_bound * self.norm_bound

    def evaluate_row(self, first: int) -> int:
        """Write the values at the row of the function whose outputs begin at this row of weights.

        Nothing is allocated: κ(D, x) lies where a step would lay it.
        """
        self.dictionary.evaluate_at(self.row)
        for c in range(self.n_outputs):
            self.values[c] = self.dictionary.combine(first + c)
        return 0

    def adapt(self, step: float, factor: float) -> float:
        """Return the length of a step; a method may change more, now that the slopes are known."""
        return step


def lay_amounts(d: Dictionary, w: Window, step: float) -> None:
    """Weights of the new points: −α times their coefficients in the quasi-gradient."""
    n_outputs = w.coefficients.shape[1]
    for b in range(w.size):
        for row in range(d.n_rows):
            d.amounts[b, row] = -step * w.coefficients[b, row] if row < n_outputs else 0.0


def stage(d: Dictionary, size: int) -> int:
    """Leave only points that move in the block of the dictionary; returns how many."""
    staged = 0
    for b in range(size):
        moves = False
        for row in range(d.n_priced):
            moves = moves or d.amounts[b, row] != 0.0
        if not moves or d.gram[b, b] < VANISHING:
            continue
        d.order[staged] = b
        if staged < b:
            for row in range(d.n_rows):
                d.amounts[staged, row] = d.amounts[b, row]
            for j in range(d.size):
                d.columns[staged, j] = d.columns[b, j]
            for k in range(d.n_features):
                d.points[staged, k] = d.points[b, k]
            for a in range(staged + 1):
                d.gram[staged, a] = d.gram[b, d.order[a]]
        staged += 1
    return staged


def exact_squared_norm(d: Dictionary, n_outputs: int) -> float:
    """wᵀKw = ‖U⁻¹w‖², by substitution from the last row of Uᵀ to the first."""
    total = 0.0
    for c in range(n_outputs):
        for j in range(d.size):
            d.carry[j] = d.weights_t[c, j]
        for k in range(d.size):
            i = d.size - 1 - k
            entry = d.carry[i] / d.factor[i, i]
            total += entry * entry
            for j in range(i):
                d.carry[j] -= entry * d.factor[i, j]
    return total
