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
        What becomes of the new points of a gradient_step.
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

    def step(self) -> int:
        """Learn from the transition in the window; 0 where the step would diverge."""
        t, before = self.steps, self.dictionary.size
        step_size, rate = self.step_size.rate(t), self.tracking_rate.rate(t)
        share = self.averaging_rate()
        # κ(D, x) and κ(D, x'); δ = r + γV(x') − V(x); z
        laid = self.lay_transition()
        if not self.self_similarity < loops.LARGEST:
            return 0
        self.look(laid, rate)
        if not self.is_sound():
            return 0
        # V~ = (1 − αλ)V + α(a κ(x, ·) − γ b κ(x', ·)),  z~ = z + β(δ − z(x))κ(x, ·)
        self.lay_amounts(step_size, rate)
        self.dictionary.forget()
        self.dictionary.scale_rows(0, 1, 1.0 - step_size * self.regularization)
        # V, z = KOMP(V~, z~; ε)
        staged = gradient_step.stage(self.dictionary, laid)
        self.compressor.settle(self.dictionary, staged, step_size, t)
        self.average(share)
        self.error_sum += math.sqrt(self.dictionary.spent[0])
        self.steps = t + 1
        self.note(before)
        return 1

    def lay_transition(self) -> int:
        """κ(D, ·) at x, and at x' unless it is terminal; returns how many points that are."""
        p = self.dictionary.n_features
        for k in range(p):
            self.dictionary.points[0, k] = self.window.points[0, k]
            self.dictionary.points[1, k] = self.window.points[0, p + k]
        self.next_discount = self.window.points[0, 2 * p]
        laid = 2 if self.next_discount > 0.0 else 1
        self.dictionary.evaluate_columns(self.dictionary.points, laid, False)
        self.self_similarity = self.dictionary.gram[0, 0]
        # written so that NaN is kept
        if laid > 1 and not self.dictionary.gram[1, 1] <= self.self_similarity:
            self.self_similarity = self.dictionary.gram[1, 1]
        return laid

    def look(self, laid: int, rate: float) -> None:
        """V at both states, δ and z."""
        n = self.dictionary.size
        self.value = loops.dot(self.dictionary.weights_t, 0, self.dictionary.columns, 0, n)
        self.next_value = 0.0
        if laid > 1:
            self.next_value = loops.dot(self.dictionary.weights_t, 0, self.dictionary.columns, 1, n)
        self.difference = (
            self.window.targets[0, 0] + self.next_discount * self.next_value - self.value
        )
        self.tracked = self.follow(rate)

    def lay_amounts(self, step_size: float, rate: float) -> None:
        """Weights of x and x' in V and in z."""
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[0, row] = self.dictionary.amounts[1, row] = 0.0
        self.dictionary.amounts[0, 0] = step_size * self.pull()
        self.dictionary.amounts[1, 0] = -step_size * self.next_discount * self.push()
        if self.dictionary.n_priced > 1:
            self.dictionary.amounts[0, 1] = self.renew(rate) / self.eps_ratio

    def is_sound(self) -> bool:
        """Whether nothing ran away, and no square of δ will overflow."""
        limit = stream.RUNAWAY * (1.0 + self.largest_target)
        return (
            abs(self.value) <= limit
            and abs(self.next_value) <= limit
            and abs(self.tracked) <= limit
            and abs(self.difference) < loops.LARGEST
        )

    def note(self, before: int) -> None:
        """Note what a step did, where that is asked for."""
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
