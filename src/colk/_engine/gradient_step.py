"""The step of COLK, and of every kernel method along gradients: the paper's Algorithm 1."""

import math
from typing import Any, ClassVar

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.c_types import Pointer, Public, Readonly, Vector
from colk._engine.compression import CompressorContract
from colk._engine.dictionary import Dictionary
from colk._engine.implicit_slopes import ImplicitSlopes
from colk._engine.quasigradient import QuasiGradientStream
from colk._engine.simd import loops
from colk._engine.terms import is_foreign

__all__ = ["GradientStream", "KernelStream", "exact_squared_norm", "stage"]

# If κ(x, x) is below this, κ(x, ·) counts as 0, as for a linear kernel at x = 0.
VANISHING: float = 1e-280
# Number of steps in the running mean of their squared H-norm.
LATEST: int = 1000


class KernelStream(QuasiGradientStream):
    """A stream whose function is a kernel expansion f = Σ w_j κ(d_j, ·).

    Parameters
    ----------
    compressor : CompressorContract
        The compressor that keeps the expansion small.
    **common
        The arguments of `QuasiGradientStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **QuasiGradientStream.tallies,
        "squared_move": stored.Number(at_least=0.0),
    }

    squared_move: Public[
        float
    ]  # mean squared H-norm of the latest steps, if the compressor needs it
    values: Vector  # (outputs,): result of `evaluate_row`
    compressor: Readonly[CompressorContract]
    follows_moves: Readonly[bool]

    def __init__(self, compressor: CompressorContract, **common: Any) -> None:
        super().__init__(**common)
        self.compressor = compressor
        self.is_guarded = self.is_guarded or is_foreign(compressor)
        self.values = zeros(self.n_outputs)
        self.follows_moves, self.squared_move = compressor.is_relative, 0.0
        self.squared_norm = math.nan

    def look(self) -> int:  # cdef
        """Evaluate κ(D, x), f and the losses at the samples of the window."""
        self.evaluate_columns()
        self.check_gram()
        self.predict_window()
        return self.evaluate_losses()

    def check_gram(self) -> int:  # cdef inline
        """End the loop if the H-norm of a step along some κ(x, ·) would overflow."""
        for b in range(self.window.size):
            if not self.dictionary.gram[b, b] < loops.LARGEST:
                self.window.coefficients[b, 0] = self.dictionary.gram[b, b]
                return self.refuse()
        return 0

    def evaluate_columns(self) -> int:  # cdef
        """Compute κ(D, x) for the points x of the window, and their Gram matrix."""
        return self.dictionary.evaluate_columns(
            self.window.points, self.window.size, self.remembered > 0
        )

    def evaluate_row(self, first: int) -> int:  # cdef
        """Write the values of the function whose outputs start at this row of weights.

        Allocates nothing; κ(D, x) is written to the first column.
        """
        self.take_row()
        self.dictionary.evaluate_at(self.point)
        for c in range(self.n_outputs):
            self.values[c] = self.dictionary.combine(first + c)
        return 0


class GradientStream(KernelStream):
    """A kernel stream that descends along the quasi-gradient and compresses f after each step.

    Parameters
    ----------
    norm_bound : float
        Radius of the ball ‖f‖_H ≤ norm_bound, on which f is projected.
    implicit : bool
        Whether to use the slopes at the end of the step.
    **common
        The arguments of `KernelStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **KernelStream.tallies,
        "taken": stored.Number(at_least=0.0),
        "squared_average": stored.Number(at_least=0.0),
        "average_error": stored.Number(at_least=0.0),
    }
    later_tallies: ClassVar[frozenset[str]] = QuasiGradientStream.later_tallies | {
        "taken",
        "squared_average",
        "average_error",
    }

    taken: Public[float]  # mean squared H-norm that compression takes from f̄ per step
    squared_average: Public[float]  # ‖f̄‖² at the last review; 0 before the first
    average_error: Public[float]  # bound on ‖f̄ − the same average without compression‖
    renews: Readonly[bool]  # whether the loss of f̄ by compression is known
    follows_norm: Readonly[
        bool
    ]  # whether each step updates ‖f‖; it can if the error is orthogonal to f
    implicit: ImplicitSlopes
    norm_bound: Readonly[float]
    is_implicit: Readonly[bool]

    def __init__(self, norm_bound: float, implicit: bool, **common: Any) -> None:
        super().__init__(**common)
        self.norm_bound, self.is_implicit = norm_bound, implicit
        self.implicit = ImplicitSlopes(self.window, self.dictionary, self.loss)
        self.compressor.prepare(self.dictionary)
        self.follows_norm = self.compressor.is_orthogonal and (self.traced or norm_bound < math.inf)
        if self.follows_norm:
            self.squared_norm = 0.0
        self.renews = self.averaged > 0 and self.compressor.is_orthogonal
        self.taken = self.squared_average = self.average_error = 0.0

    def step(self) -> float:  # cdef
        """Make one step of Algorithm 1; return the H-norm of the compression error."""
        step = self.step_size.rate(self.steps)
        rate = self.tracking_rate.rate(self.steps)
        g = self.track(rate)  # (1 − β)(g − h(f_{t−1}(ξ))) + h(f_t(ξ))
        coefficients = self.quasi_gradient(g)  # ⟨h'(f_t(ξ)), ℓ'(g)⟩ κ(ξ, ·)
        self.move(step, coefficients)  # f~ = (1 − αλ) f − α c κ(x, ·)
        return self.compress(step)  # f = KOMP(f~, ε)

    def move(self, step: float, coefficients: Pointer) -> int:  # cdef
        """Set f~ = (1 − αλ) f − α Σ_b c_b κ(x_b, ·): shrink f and set the new points' weights.

        An implicit step sets f~ = (f − α Σ_b c_b κ(x_b, ·))/(1 + αλ).
        """
        shrinkage: float = step * self.regularization
        factor: float = 1.0 - shrinkage
        if self.is_implicit:
            factor = 1.0 / (1.0 + shrinkage)
            step *= factor
            self.implicit.solve(step, factor)
        if self.follows_norm:
            self.squared_norm = self.moved_squared_norm(factor, step, coefficients)
        self.remember_and_shrink(factor)
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.dictionary.amounts[b, c] = -step * coefficients[b * self.n_outputs + c]
            for row in range(self.n_outputs, self.dictionary.n_rows):
                self.dictionary.amounts[b, row] = 0.0
        if self.follows_moves:
            self.note_move()
        return 0

    def compress(self, step: float) -> float:  # cdef inline
        """Set f = KOMP(f~, ε), or the result of another compressor; return ‖f − f~‖."""
        staged = stage(self.dictionary, self.window.size)
        lost: float = self.compressor.settle(self.dictionary, staged, step, self.steps)
        if self.renews:  # `lost` includes the loss of the average
            lost = math.sqrt(self.squared_loss(0))
        return lost

    # -- the average -------------------------------------------------------------------------

    def lasting_rate(self, rate: float) -> float:  # cdef noexcept
        """Return ρ, at least √(Q/R), where Q is the squared norm that compression removes from f̄.

        Every dropped atom removes a part of f̄. With ρ of order 1/t the average would restore less
        and less of it and would decay. √(Q/R) is the gain of the Kalman filter for a constant that
        is disturbed by Q in each step and observed with noise R. A sample moves one of M
        directions, so iterates are correlated over about M steps, and R = 2M‖f̄‖².
        """
        if not self.renews:
            return rate
        taken: float = self.squared_loss(self.averaged)
        noise: float = 2.0 * max(self.dictionary.size, 1) * self.squared_average
        if self.taken > rate * rate * noise > 0.0:
            rate = min(math.sqrt(self.taken / noise), 1.0)
        self.taken += rate * (taken - self.taken)
        if taken != 0.0:
            self.average_error += math.sqrt(taken)
        self.average_error *= 1.0 - rate
        if (self.steps + 1) % 1000 == 0:  # a literal: division by a variable is slow
            self.squared_average = exact_squared_norm(
                self.dictionary, self.averaged, self.n_outputs
            )
        return rate

    def squared_loss(self, first: int) -> float:  # cdef inline noexcept
        """Return the squared H-norm that this step took from the function of these rows."""
        total = 0.0
        for c in range(self.n_outputs):
            total += self.dictionary.spent[first + c]
        return total

    # -- norms -------------------------------------------------------------------------------

    def conclude(self, lost: float) -> int:  # cdef
        """Update ‖f‖ and project f on the ball."""
        if self.follows_norm:
            self.squared_norm = max(self.squared_norm - lost * lost, 0.0)
            if self.squared_norm > self.norm_bound * self.norm_bound:
                self.keep_in_ball()
        return 0

    # cdef inline noexcept
    def moved_squared_norm(self, factor: float, step: float, coefficients: Pointer) -> float:
        """Return ‖f~‖² from ‖f‖², f at the new points, and their Gram matrix."""
        total: float = factor * factor * self.squared_norm
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                amount: float = -step * coefficients[b * self.n_outputs + c]
                inner_products: float = factor * self.window.predictions[b, c]
                for a in range(b):
                    inner_products -= (
                        step * coefficients[a * self.n_outputs + c] * self.dictionary.gram[b, a]
                    )
                total += amount * (2.0 * inner_products + amount * self.dictionary.gram[b, b])
        return max(total, 0.0)

    def note_move(self) -> None:  # cdef inline
        """Update the running mean of squared step norms with this step."""
        squares = 0.0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                for a in range(b + 1):
                    both: float = self.dictionary.amounts[b, c] * self.dictionary.amounts[a, c]
                    squares += (1.0 if a == b else 2.0) * both * self.dictionary.gram[b, a]
        self.squared_move += (squares - self.squared_move) / min(self.steps + 1, LATEST)
        self.dictionary.squared_move = self.squared_move

    def keep_in_ball(self) -> None:  # cdef inline
        """Project f on the ball ‖f‖ ≤ norm_bound (the paper's footnote on KOMP)."""
        self.squared_norm = exact_squared_norm(self.dictionary, 0, self.n_outputs)
        if self.squared_norm > self.norm_bound * self.norm_bound:
            self.dictionary.scale_rows(
                0, self.n_outputs, self.norm_bound / math.sqrt(self.squared_norm)
            )
            self.squared_norm = self.norm_bound * self.norm_bound


def stage(d: Dictionary, size: int) -> int:  # cdef noexcept
    """Move the new points with nonzero weights to the front; return their number."""
    staged: int = 0
    for b in range(size):
        moves = False
        for row in range(d.n_fitted):
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


def exact_squared_norm(d: Dictionary, first: int, n_outputs: int) -> float:  # cdef noexcept
    """Return wᵀKw = ‖U⁻¹w‖² of the function whose outputs start at this row.

    Computed by substitution, from the last row of Uᵀ to the first.
    """
    total = 0.0
    for c in range(first, first + n_outputs):
        for j in range(d.size):
            d.carry[j] = d.weights_t[c, j]
        for k in range(d.size):
            i = d.size - 1 - k
            entry: float = d.carry[i] / d.factor[i, i]
            total += entry * entry
            for j in range(i):
                d.carry[j] -= entry * d.factor[i, j]
    return total
