"""The step of kernel policy evaluation for one transition, and its variants.

V moves by α(a κ(x, ·) − γ b κ(x', ·)). The methods differ in the coefficients a and b; each is the
temporal difference δ, a tracked value z in its place, or 0. The rows of the weights are V, then z
if it is a function, then the average of V. Row z holds z/eps_ratio. The price of an atom is the sum
of squares over both rows, so one budget of eps² keeps ‖V − V~‖ ≤ eps and ‖z − z~‖ ≤ eps_ratio·eps.
"""

import math
from typing import Any, ClassVar

from colk._engine import gradient_step, stream
from colk._engine.c_types import Readonly
from colk._engine.simd import loops
from colk._engine.stream import Stream
from colk.compressors.base import Compressor
from colk.schedules import PowerDecay

__all__ = [
    "TRACE",
    "CorrectedStream",
    "FunctionTrackingStream",
    "MomentumTrackingStream",
    "ResidualStream",
    "ScalarTrackingStream",
    "ValueStream",
]

# Columns of a trace.
TRACE = ("difference", "tracked", "n_atoms", "added", "dropped", "value_error", "tracker_error")


class ValueStream(Stream):
    """TD(0), the semi-gradient: a = δ and b = 0.

    A sample of the window is a transition. Its point is (x, x', γ), with γ = 0 if x' is terminal,
    and its target is the reward.

    Parameters
    ----------
    compressor : Compressor
        The compressor of the expansion.
    tracking_rate : PowerDecay
        β, the rate at which z is updated.
    eps_ratio : float
        Bound on the compression error of z per step, divided by that of V.
    **common
        The arguments of `Stream`.
    """

    n_priced: ClassVar[int] = 1  # rows in the price of an atom: V, and z if it is a function
    n_tracked: ClassVar[int] = 0  # tracked numbers that are not functions
    n_remembered: ClassVar[int] = 0  # rows for the previous V, after the average

    next_discount: Readonly[float]  # γ, or 0 if x' is terminal
    value: Readonly[float]  # V(x)
    next_value: Readonly[float]  # V(x')
    difference: Readonly[float]  # δ
    tracked: Readonly[float]  # z, which replaces δ in the step of V
    self_similarity: Readonly[float]  # the larger of κ(x, x) and κ(x', x')
    compressor: Readonly[Compressor]
    tracking_rate: Readonly[PowerDecay]
    eps_ratio: Readonly[float]

    def __init__(
        self, compressor: Compressor, tracking_rate: PowerDecay, eps_ratio: float, **common: Any
    ) -> None:
        super().__init__(gained=2, kept=0, columns=len(TRACE), **common)
        self.compressor, self.tracking_rate, self.eps_ratio = compressor, tracking_rate, eps_ratio
        self.compressor.prepare(self.dictionary)
        self.next_discount = self.value = self.next_value = 0.0
        self.difference = self.tracked = self.self_similarity = 0.0

    # -- coefficients of the method ----------------------------------------------------------

    def follow(self, rate: float) -> float:  # cdef noexcept
        """Return the tracked value: z(x) or z; 0 for methods without a tracker."""
        return 0.0

    def pull(self) -> float:  # cdef noexcept
        """Coefficient a of κ(x, ·) in the step of V."""
        return self.difference

    def push(self) -> float:  # cdef noexcept
        """Coefficient b of −γκ(x', ·) in the step of V."""
        return 0.0

    def renew(self, rate: float) -> float:  # cdef noexcept
        """Coefficient of κ(x, ·) in the step of z, if z is a function."""
        return 0.0

    # -- the step ----------------------------------------------------------------------------

    def make_step(self) -> int:  # cdef
        """Learn from the transition in the window; update averages, sums and the trace."""
        before: int
        share, before = self.averaging_rate(), self.dictionary.size
        self.step()
        self.average(share)
        self.error_sum += math.sqrt(self.dictionary.spent[0])
        self.steps += 1
        self.record(before)
        return 0

    def step(self) -> int:  # cdef
        """Make one step; refuse it if it would diverge."""
        t = self.steps
        step_size, rate = self.step_size.rate(t), self.tracking_rate.rate(t)
        count = self.evaluate_columns()  # κ(D, x) and κ(D, x')
        self.evaluate_difference(count, rate)  # δ = r + γV(x') − V(x), and z
        self.move(step_size, rate)  # V~ = (1 − αλ)V + α(a κ(x, ·) − γ b κ(x', ·)), and z~
        staged = gradient_step.stage(self.dictionary, count)
        self.compressor.settle(self.dictionary, staged, step_size, t)  # V, z = KOMP(V~, z~; ε)
        return 0

    def evaluate_columns(self) -> int:  # cdef Py_ssize_t
        """Compute κ(D, ·) at x, and at x' unless it is terminal; return the number of points."""
        p = self.dictionary.n_features
        for k in range(p):
            self.dictionary.points[0, k] = self.window.points[0, k]
            self.dictionary.points[1, k] = self.window.points[0, p + k]
        self.next_discount = self.window.points[0, 2 * p]
        count = 2 if self.next_discount > 0.0 else 1
        self.dictionary.evaluate_columns(self.dictionary.points, count, False)
        self.self_similarity = self.dictionary.gram[0, 0]
        # the comparison is negated so that NaN is kept
        if count > 1 and not self.dictionary.gram[1, 1] <= self.self_similarity:
            self.self_similarity = self.dictionary.gram[1, 1]
        if not self.self_similarity < loops.LARGEST:
            self.refuse()
        return count

    def evaluate_difference(self, count: int, rate: float) -> int:  # cdef
        """Compute V at both states, δ and z; refuse the step if it would diverge."""
        n = self.dictionary.size
        self.value = loops.dot(self.dictionary.weights_t, 0, self.dictionary.columns, 0, n)
        self.next_value = 0.0
        if count > 1:
            self.next_value = loops.dot(self.dictionary.weights_t, 0, self.dictionary.columns, 1, n)
        self.difference = (
            self.window.targets[0, 0] + self.next_discount * self.next_value - self.value
        )
        self.tracked = self.follow(rate)
        return 0 if self.is_sound() else self.refuse()

    def move(self, step_size: float, rate: float) -> None:  # cdef
        """Set V~ = (1 − αλ)V + α(a κ(x, ·) − γ b κ(x', ·)) and z~ = z + β(δ − z(x))κ(x, ·)."""
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[0, row] = self.dictionary.amounts[1, row] = 0.0
        self.dictionary.amounts[0, 0] = step_size * self.pull()
        self.dictionary.amounts[1, 0] = -step_size * self.next_discount * self.push()
        if self.dictionary.n_priced > 1:
            self.dictionary.amounts[0, 1] = self.renew(rate) / self.eps_ratio
        self.dictionary.begin_step()
        self.dictionary.scale_rows(0, 1, 1.0 - step_size * self.regularization)

    def is_sound(self) -> bool:  # cdef noexcept
        """Whether all values are within their limits, and the square of δ does not overflow."""
        limit: float = stream.RUNAWAY * (1.0 + self.largest_target)
        return (
            abs(self.value) <= limit
            and abs(self.next_value) <= limit
            and abs(self.tracked) <= limit
            and abs(self.difference) < loops.LARGEST
        )

    def record(self, before: int) -> None:  # cdef
        """Write a line about the step, if steps are traced."""
        k, n, added = self.line, self.dictionary.size, self.dictionary.added
        if not self.traced or k == self.lines.shape[0]:
            return
        self.lines[k, 0], self.lines[k, 1] = self.difference, self.tracked
        self.lines[k, 2], self.lines[k, 3], self.lines[k, 4] = n, added, before + added - n
        self.lines[k, 5] = math.sqrt(self.dictionary.spent[0])
        if self.dictionary.n_priced > 1:
            self.lines[k, 6] = self.eps_ratio * math.sqrt(self.dictionary.spent[1])
        self.line = k + 1


class ResidualStream(ValueStream):
    """The residual gradient: a = b = δ."""

    def push(self) -> float:
        """Return δ."""
        return self.difference


class CorrectedStream(ValueStream):
    """TD with gradient correction: a = δ and b = z(x), where z tracks E[δ | x] as a function."""

    n_priced: ClassVar[int] = 2

    def follow(self, rate: float) -> float:
        """Return z(x) from before this transition."""
        return self.eps_ratio * loops.dot(
            self.dictionary.weights_t, 1, self.dictionary.columns, 0, self.dictionary.size
        )

    def push(self) -> float:
        """Return z(x)."""
        return self.tracked

    def renew(self, rate: float) -> float:
        """Return β(δ − z(x))."""
        return rate * (self.difference - self.tracked)


class FunctionTrackingStream(CorrectedStream):
    """The gradient of the Bellman error: a = b = z(x)."""

    def pull(self) -> float:
        """Return z(x)."""
        return self.tracked


class ScalarTrackingStream(ValueStream):
    """The gradient of the Bellman error with a = b = z, one number that averages δ."""

    n_tracked: ClassVar[int] = 1

    def follow(self, rate: float) -> float:
        """Set z ← (1 − β)z + βδ, as in PKGTD, and return z, which then contains this δ."""
        self.window.g[0] += rate * (self.difference - self.window.g[0])
        return float(self.window.g[0])

    def pull(self) -> float:
        """Return z."""
        return self.tracked

    def push(self) -> float:
        """Return z."""
        return self.tracked


class MomentumTrackingStream(ScalarTrackingStream):
    """The same, where z is the paper's tracker: z ← (1 − β)(z − δ under the previous V) + δ.

    The previous V is the last row of the weights, with the atoms that the last step dropped.
    """

    n_remembered: ClassVar[int] = 1

    def evaluate_columns(self) -> int:  # cdef Py_ssize_t
        """Compute κ(D, ·) also at the atoms that the last step dropped."""
        count = ValueStream.evaluate_columns(self)
        if self.dictionary.n_ghosts > 0:
            self.dictionary.kernel.columns(
                self.dictionary.ghost_atoms, self.dictionary.n_ghosts, self.dictionary.points,
                count, self.dictionary.ghost_columns, 0,
            )  # fmt: skip
        return count

    def previous_at(self, b: int) -> float:  # cdef noexcept
        """Return the previous V at x (b = 0) or x' (b = 1)."""
        row: int = self.dictionary.n_rows - 1
        total: float = loops.dot(
            self.dictionary.weights_t, row, self.dictionary.columns, b, self.dictionary.size
        )
        for j in range(self.dictionary.n_ghosts):
            total += (
                self.dictionary.ghosts[self.dictionary.n_features + row, j]
                * self.dictionary.ghost_columns[b, j]
            )
        return total

    def follow(self, rate: float) -> float:  # cdef noexcept
        """Set z ← (1 − β)(z − δ under the previous V) + δ, and return it."""
        before: float = self.window.targets[0, 0] - self.previous_at(0)
        if self.next_discount > 0.0:
            before += self.next_discount * self.previous_at(1)
        kept: float = self.window.g[0] - before if self.steps > 0 else 0.0
        self.window.g[0] = (1.0 - rate) * kept + self.difference
        return float(self.window.g[0])

    def move(self, step_size: float, rate: float) -> None:  # cdef
        """Keep V as the previous one; the rest is as in the base class."""
        last, n = self.dictionary.n_rows - 1, self.dictionary.size  # type: int, int
        loops.keep_and_scale(self.dictionary.weights_t, last, 0, 1.0, n)
        ValueStream.move(self, step_size, rate)
