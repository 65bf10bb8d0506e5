"""A stream of samples through the window: the loop that every method shares.

Samples fill the window; a full window is a step. A method lays the values κ(d_j, x) or φ_j(x) that
its predictions are linear in into the columns of its dictionary, and moves its weights as it likes.
Rows of the weights: the iterate and what else prices an atom, then the average of the iterate, then
what a method remembers.
"""

import math
import threading
from typing import Any, ClassVar

import cython
import numpy as np

from colk import _stored as stored
from colk._engine.dictionary import Dictionary
from colk._engine.simd import loops
from colk._engine.window import Window
from colk._validation import Array
from colk.schedules import Averaging, PowerDecay

__all__ = ["Stream"]

# Values beyond this many times the largest target are divergence.
RUNAWAY = 1e6


class Stream:
    """The state of a learner: its window, its weights, and its tallies.

    Parameters
    ----------
    step_size, averaging
        The terms.
    regularization : float
        λ.
    window : Window
        The window.
    dictionary : Dictionary
        The weights, and what they weigh.
    gained : int
        Places behind the atoms that a step writes to; no step adds more of them.
    kept : int
        Samples of a window that the next one begins with, 0 or 1.
    columns : int
        Numbers in the line of a step.
    traced : bool
        Whether every step leaves a line.
    """

    # The numbers that outlive a step, beside window and dictionary, and what a file checks of them.
    tallies: ClassVar[dict[str, stored.Field]] = {
        "steps": stored.Count(),
        "error_sum": stored.Number(finite=False),  # sums may overflow
        "largest_target": stored.Number(at_least=0.0),
    }

    averaging: Averaging  # None where there is none
    diverged: bool  # whether the last `advance` stopped because a step would diverge

    def __init__(
        self,
        step_size: PowerDecay,
        averaging: Averaging | None,
        regularization: float,
        window: Window,
        dictionary: Dictionary,
        gained: int,
        kept: int,
        columns: int,
        traced: bool,
    ) -> None:
        self.step_size, self.regularization = step_size, regularization
        self.averaging = averaging  # type: ignore[assignment]
        self.window, self.dictionary = window, dictionary
        self.gained, self.kept, self.traced = gained, kept, traced
        self.n_outputs = self.window.predictions.shape[1]
        self.averaged = 0 if averaging is None else self.dictionary.n_priced
        self.lock, self.busy, self.diverged = threading.RLock(), False, False
        self.steps, self.line, self.foresees = 0, 0, False
        self.error_sum = self.largest_target = self.largest_before = 0.0
        self.lines = np.zeros((1, columns))
        self.row, self.weight = np.zeros((1, self.window.points.shape[1])), np.ones(1)
        self.target = np.zeros((1, self.window.targets.shape[1]))

    # -- one thread at a time ----------------------------------------------------------------

    def enter(self) -> int:
        """Keep other threads out; they wait. A call from within a step is refused."""
        self.lock.acquire()
        if self.busy:
            self.lock.release()
            raise RuntimeError(
                "a learner was called from within its own step, by a function of the user's; "
                "call it after the step"
            )
        self.busy = True
        return 0

    def leave(self) -> int:
        """Let other threads in."""
        self.busy = False
        self.lock.release()
        return 0

    # -- the loop ----------------------------------------------------------------------------

    def advance(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """Learn from the rows start, …, stop − 1; returns how many were taken.

        Fewer than all where a step would diverge: then `diverged` is set, and the state is that
        before the step. So it is where a user's function raises.
        """
        self.enter()
        try:
            return self.proceed(X, Y, weight, start, stop)
        except BaseException:
            self.restore()
            raise
        finally:
            self.leave()

    def proceed(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """`advance`, for who has entered."""
        self.diverged, taken = False, start
        try:
            while True:
                with cython.nogil:
                    taken = self.run(X, Y, weight, taken, stop)
                if taken == stop or self.diverged:
                    return taken - start
                self.make_room()
        finally:
            self.rest()

    def rest(self) -> int:
        """Bring the weights up to date, where a method puts that off."""
        return 0

    def make_room(self) -> int:
        """Make room for another step."""
        self.dictionary.reserve(self.gained)
        return 0

    def run(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """Fill the window, a step each time that it is full; returns where it stopped.

        It stops where the dictionary is full, and where a step would diverge.
        """
        for row in range(start, stop):
            if weight[row] == 0.0:
                continue
            if (
                self.window.filled + 1 == self.window.size
                and self.dictionary.size + self.gained > self.dictionary.capacity
            ):
                return row
            self.largest_before, place = self.largest_target, self.window.filled
            loops.copy(self.window.points, place, X, row, X.shape[1])
            for c in range(Y.shape[1]):
                self.window.targets[place, c] = Y[row, c]
                self.largest_target = max(self.largest_target, abs(Y[row, c]))
            self.window.weights[place] = weight[row]
            self.window.filled = place + 1
            if self.window.filled == self.window.size:
                for i in range(self.window.g.shape[0]):
                    self.window.g_before[i] = self.window.g[i]
                if self.foresees:
                    self.foresee(X, weight, row, stop)
                if self.step() == 0:
                    self.restore()
                    self.diverged = True
                    return row
                self.window.slide(self.kept)
        return stop

    def restore(self) -> None:
        """Undo what a step that was not made has changed; the g that it found remains as a mean."""
        if self.window.filled == self.window.size:
            self.window.filled -= 1
            self.largest_target = self.largest_before
            for i in range(self.window.g.shape[0]):
                self.window.g_mean[i] = self.window.g[i]
                self.window.g[i] = self.window.g_before[i]

    def learn_one(self, x: Any, y: Any, weight: Any) -> int:
        """Learn from one sample, a list or tuple and a number: `advance` without arrays.

        Returns 1; 0 where the step would diverge; −1, and nothing done, where the sample is not
        plain finite numbers: it needs a closer look.
        """
        self.enter()
        try:
            if not self.place(x, y, weight):
                return -1
            return self.proceed(self.row, self.target, self.weight, 0, 1)
        except BaseException:
            self.restore()
            raise
        finally:
            self.leave()

    def place(self, x: Any, y: Any, weight: Any) -> bool:
        """Write a sample to the row; False where that takes more than to look at each number."""
        if len(x) != self.row.shape[1] or self.target.shape[1] != 1:
            return False
        total = 0.0
        for feature in range(self.row.shape[1]):
            value = x[feature]
            if not isinstance(value, (float, int)):
                return False
            self.row[0, feature] = value
            total += self.row[0, feature]
        if not isinstance(y, (float, int)) or type(weight) is not float:
            return False
        self.target[0, 0], self.weight[0] = y, weight
        return math.isfinite(total + self.target[0, 0]) and 0.0 < self.weight[0] < math.inf

    def foresee(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Prepare the step of a row together with those of the rows behind it."""
        return 0

    def step(self) -> int:
        """Make a step with the window's samples; 0, and nothing done, where it would diverge."""
        return 0

    # -- what steps have in common -----------------------------------------------------------

    def averaging_rate(self) -> float:
        """ρ of the average after this step; 0 where there is none."""
        return self.averaging.rate_at(self.steps) if self.averaged > 0 else 0.0

    def average(self, rate: float) -> None:
        """f̄ ← f̄ + ρ(f − f̄)."""
        if self.averaged > 0:
            for c in range(self.n_outputs):
                loops.approach(
                    self.dictionary.weights_t,
                    self.averaged + c,
                    self.dictionary.weights_t,
                    c,
                    rate,
                    self.dictionary.size,
                )

    # -- tracing, files and pickles ----------------------------------------------------------

    def open_trace(self, n_steps: int) -> None:
        """Make room for the lines of so many steps."""
        if self.traced:
            self.lines, self.line = np.zeros((n_steps, self.lines.shape[1])), 0

    def close_trace(self) -> Array:
        """The lines since `open_trace`, which are the caller's now."""
        return np.array(np.asarray(self.lines)[: self.line])

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        self.enter()
        try:
            return {
                "window": self.window.pack(),
                "dictionary": self.dictionary.pack(),
                **{name: getattr(self, name) for name in self.tallies},
            }
        finally:
            self.leave()

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns for a stream of this shape."""
        return {
            "window": self.window.fields(),
            "dictionary": self.dictionary.fields(),
            **self.tallies,
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        self.window.unpack(packed["window"])
        self.dictionary.unpack(packed["dictionary"])
        for name in self.tallies:
            setattr(self, name, packed[name])

    def snapshot(self, row: int) -> tuple[Array, Array]:
        """Atoms (M, p), and weights (M, outputs) of the function that begins at this row."""
        self.enter()
        try:
            weights = self.dictionary.weights[:, row : row + self.n_outputs]
            return self.dictionary.atoms, weights
        finally:
            self.leave()

    def evaluate(self, X: Array, row: int) -> Array:
        """Values at the points X of the function whose outputs begin at this row."""
        self.enter()
        try:
            return self.dictionary.evaluate(X, row, self.n_outputs)
        finally:
            self.leave()
