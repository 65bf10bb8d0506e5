"""The step of kernel policy evaluation, one transition each, and how its methods differ.

V moves by α(a κ(x, ·) − γ b κ(x', ·)): a method says what pulls V up at x, a, and what pushes it
down at x', b, each of them the temporal difference δ or a tracked value z in its place. Rows of the
weights: V, then z where it is a function, then the average of V. Row z holds z/eps_ratio: the price
of an atom is the sum of squares over both rows, so that one budget of eps² keeps ‖V − V~‖ ≤ eps and
‖z − z~‖ ≤ eps_ratio·eps.
"""

import math
from typing import Any, ClassVar

from colk._engine import gradient_step, stream
from colk._engine.simd import loops
from colk._engine.stream import Stream
from colk.compressors.base import Compressor
from colk.schedules import PowerDecay

__all__ = [
    "TRACE",
    "CorrectedStream",
    "FunctionTrackingStream",
    "ResidualStream",
    "ScalarTrackingStream",
    "ValueStream",
]

# Columns of a trace.
TRACE = ("difference", "tracked", "n_atoms", "added", "dropped", "value_error", "tracker_error")


class ValueStream(Stream):
    """TD(0), the semi-gradient: δ pulls V at x, and nothing pushes it at x'.

    A sample of the window is a transition: its point is (x, x', γ), with γ = 0 where x' is
    terminal, its target is the reward.

    Parameters
    ----------
    compressor : Compressor
        What keeps the expansion small.
    tracking_rate : PowerDecay
        β, the rate at which z is renewed.
    eps_ratio : float
        What z may forget in a step, in units of what V may.
    **common
        The arguments of `Stream`.
    """

    n_priced: ClassVar[int] = 1  # rows that price an atom: V, and z where it is a function
    n_tracked: ClassVar[int] = 0  # numbers that are tracked beside functions

    next_discount: float  # γ, or 0 where x' is terminal
    value: float  # V(x)
    next_value: float  # V(x')
    difference: float  # δ
    tracked: float  # z, what V moves with in place of δ
    self_similarity: float  # the larger of κ(x, x) and κ(x', x')

    def __init__(
        self, compressor: Compressor, tracking_rate: PowerDecay, eps_ratio: float, **common: Any
    ) -> None:
        super().__init__(gained=2, kept=0, columns=len(TRACE), **common)
        self.compressor, self.tracking_rate, self.eps_ratio = compressor, tracking_rate, eps_ratio
        self.compressor.prepare(self.dictionary)
        self.next_discount = self.value = self.next_value = 0.0
        self.difference = self.tracked = self.self_similarity = 0.0

    # -- what makes a method -----------------------------------------------------------------

    def follow(self, rate: float) -> float:
        """What is tracked, at x: z(x), or z; 0 where nothing is."""
        return 0.0

    def pull(self) -> float:
        """Coefficient a of κ(x, ·) in the step of V."""
        return self.difference

    def push(self) -> float:
        """Coefficient b of −γκ(x', ·) in the step of V."""
        return 0.0

    def renew(self, rate: float) -> float:
        """Coefficient of κ(x, ·) in the step of z, where it is a function."""
        return 0.0

    # -- the step ----------------------------------------------------------------------------

    def make_step(self) -> int:
        """Learn from the transition in the window; averages, sums and the trace follow."""
        share, before = self.averaging_rate(), self.dictionary.size
        self.step()
        self.average(share)
        self.error_sum += math.sqrt(self.dictionary.spent[0])
        self.steps += 1
        self.record(before)
        return 0

    def step(self) -> int:
        """Make one step; it ends the loop if it would diverge."""
        t = self.steps
        step_size, rate = self.step_size.rate(t), self.tracking_rate.rate(t)
        count = self.evaluate_columns()  # κ(D, x) and κ(D, x')
        self.evaluate_difference(count, rate)  # δ = r + γV(x') − V(x), and z
        self.move(step_size, rate)  # V~ = (1 − αλ)V + α(a κ(x, ·) − γ b κ(x', ·)), and z~
        staged = gradient_step.stage(self.dictionary, count)
        self.compressor.settle(self.dictionary, staged, step_size, t)  # V, z = KOMP(V~, z~; ε)
        return 0

    def evaluate_columns(self) -> int:
        """κ(D, ·) at x, and at x' unless it is terminal; returns the number of points."""
        p = self.dictionary.n_features
        for k in range(p):
            self.dictionary.points[0, k] = self.window.points[0, k]
            self.dictionary.points[1, k] = self.window.points[0, p + k]
        self.next_discount = self.window.points[0, 2 * p]
        count = 2 if self.next_discount > 0.0 else 1
        self.dictionary.evaluate_columns(self.dictionary.points, count, False)
        self.self_similarity = self.dictionary.gram[0, 0]
        # written so that NaN is kept
        if count > 1 and not self.dictionary.gram[1, 1] <= self.self_similarity:
            self.self_similarity = self.dictionary.gram[1, 1]
        if not self.self_similarity < loops.LARGEST:
            self.refuse()
        return count

    def evaluate_difference(self, count: int, rate: float) -> int:
        """V at both states, δ and z; they end the loop if the step would diverge."""
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

    def move(self, step_size: float, rate: float) -> None:
        """V~ = (1 − αλ)V + α(a κ(x, ·) − γ b κ(x', ·)) and z~ = z + β(δ − z(x))κ(x, ·)."""
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[0, row] = self.dictionary.amounts[1, row] = 0.0
        self.dictionary.amounts[0, 0] = step_size * self.pull()
        self.dictionary.amounts[1, 0] = -step_size * self.next_discount * self.push()
        if self.dictionary.n_priced > 1:
            self.dictionary.amounts[0, 1] = self.renew(rate) / self.eps_ratio
        self.dictionary.begin_step()
        self.dictionary.scale_rows(0, 1, 1.0 - step_size * self.regularization)

    def is_sound(self) -> bool:
        """Whether all values are within their limits, and no square of δ will overflow."""
        limit = stream.RUNAWAY * (1.0 + self.largest_target)
        return (
            abs(self.value) <= limit
            and abs(self.next_value) <= limit
            and abs(self.tracked) <= limit
            and abs(self.difference) < loops.LARGEST
        )

    def record(self, before: int) -> None:
        """Write the line of a step, if steps are traced."""
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
    """The residual gradient: δ pulls at x and pushes at x'."""

    def push(self) -> float:
        """δ."""
        return self.difference


class CorrectedStream(ValueStream):
    """TD with gradient correction: δ pulls, z(x) pushes; z is a function that tracks E[δ | x]."""

    n_priced: ClassVar[int] = 2

    def follow(self, rate: float) -> float:
        """z(x), as it was before it saw this δ."""
        return self.eps_ratio * loops.dot(
            self.dictionary.weights_t, 1, self.dictionary.columns, 0, self.dictionary.size
        )

    def push(self) -> float:
        """z(x)."""
        return self.tracked

    def renew(self, rate: float) -> float:
        """β(δ − z(x))."""
        return rate * (self.difference - self.tracked)


class FunctionTrackingStream(CorrectedStream):
    """The gradient of the Bellman error: z(x) pulls and pushes."""

    def pull(self) -> float:
        """z(x)."""
        return self.tracked


class ScalarTrackingStream(ValueStream):
    """The gradient of the Bellman error with one number z, which tracks E[δ], at every x."""

    n_tracked: ClassVar[int] = 1

    def follow(self, rate: float) -> float:
        """Set z ← (1 − β)z + βδ, as PKGTD has it: V moves with what has seen this δ."""
        self.window.g[0] += rate * (self.difference - self.window.g[0])
        return float(self.window.g[0])

    def pull(self) -> float:
        """The number z."""
        return self.tracked

    def push(self) -> float:
        """The number z."""
        return self.tracked
