"""The loop that all methods share: samples fill the window, and a full window triggers a step.

Predictions are linear in the values κ(d_j, x) or φ_j(x). A method writes these values into the
columns of its dictionary and updates the weights. Rows of the weights: the iterate and other
functions that a method learns, then the average of the iterate, then the functions that a method
remembers.
"""

import math
from typing import Any, ClassVar

import cython
import numpy as np

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.contracts import AveragingContract, RateContract
from colk._engine.dictionary import Dictionary
from colk._engine.locks import Lock
from colk._engine.simd import loops
from colk._engine.terms import is_outside
from colk._engine.window import Window
from colk._validation import Array

__all__ = ["Stream", "WouldDiverge"]

# Values above this multiple of the largest target count as divergence.
RUNAWAY = 1e6


class WouldDiverge(ArithmeticError):  # noqa: N818, it is caught in this module
    """Raised if a step would diverge. It ends the loop; the state is that before the step."""


class Stream:
    """The state of a learner: its window, its weights, and its sums.

    Parameters
    ----------
    step_size, averaging
        The terms.
    regularization : float
        λ.
    window : Window
        The window.
    dictionary : Dictionary
        Atoms or features, and their weights.
    gained : int
        Largest number of atoms that a step adds.
    kept : int
        Number of samples that consecutive windows share, 0 or 1.
    columns : int
        Number of values that a step writes to the trace.
    traced : bool
        Whether every step writes a line to the trace.
    """

    # Stored numbers besides the parts, and their checks.
    tallies: ClassVar[dict[str, stored.Field]] = {
        "steps": stored.Count(),
        "error_sum": stored.Number(finite=False),  # sums may overflow
        "largest_target": stored.Number(at_least=0.0),
    }

    # Tallies that older files do not contain; they start at 0.
    later_tallies: ClassVar[frozenset[str]] = frozenset()

    parts: dict[str, Any]  # objects that are packed with the stream
    averaging: AveragingContract  # None without averaging
    averaged: int  # first row of the weights of the average; 0 without averaging
    shown: int  # first row of the weights of the function that predicts
    row: Array  # (1, p): one sample
    point: Array  # (1, width): the row, or if the stream `maps`, the row times the matrix
    diverged: bool  # whether the last `advance` stopped because a step would diverge
    reached: int  # the row whose step is being made
    postponed: BaseException | None  # an error to raise after the step is complete

    def __init__(
        self,
        step_size: RateContract,
        averaging: AveragingContract | None,
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
        self.parts = {"window": window, "dictionary": dictionary}
        self.gained, self.kept, self.traced = gained, kept, traced
        self.n_outputs = self.window.predictions.shape[1]
        self.averaged = 0 if averaging is None else self.dictionary.n_fitted - self.n_outputs
        self.shown = self.averaged
        self.lock, self.busy, self.diverged = Lock(), False, False
        self.steps, self.line, self.reached, self.looks_ahead = 0, 0, 0, False
        self.is_guarded, self.postponed = is_outside(type(self)), None
        self.error_sum = self.largest_target = self.largest_before = 0.0
        self.lines = zeros((1, columns))
        self.row, self.weight = zeros((1, self.window.points.shape[1])), np.ones(1)
        self.point, self.maps, self.matrix = self.row, False, self.row
        self.target = zeros((1, self.window.targets.shape[1]))

    # -- files and pickles -------------------------------------------------------------------

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns for a stream of this shape."""
        return {**{name: part.fields() for name, part in self.parts.items()}, **self.tallies}

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        self.enter()
        try:
            return self.packed()
        finally:
            self.leave()

    def packed(self) -> dict[str, Any]:
        """Body of `pack`; the caller holds the lock."""
        return {
            **{name: part.pack() for name, part in self.parts.items()},
            **{name: getattr(self, name) for name in self.tallies},
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        for name, part in self.parts.items():
            part.unpack(packed[name])
        for name in self.tallies:
            setattr(
                self, name, packed.get(name, 0.0) if name in self.later_tallies else packed[name]
            )

    # -- one thread at a time ----------------------------------------------------------------

    def enter(self) -> int:
        """Take the lock; other threads wait. A call from within a step raises."""
        self.lock.acquire()
        try:
            return self.begin()
        except RuntimeError:
            self.lock.release()
            raise

    def begin(self) -> int:
        """Body of `enter`; the caller holds the lock, or one that guards the whole model."""
        if self.busy:
            raise RuntimeError(
                "a user's function called the learner from within its own step; "
                "call it after the step"
            )
        self.busy = True
        return 0

    def end(self) -> int:
        """Undo `begin`."""
        self.busy = False
        return 0

    def leave(self) -> int:
        """Undo `enter`."""
        self.end()
        self.lock.release()
        return 0

    # -- the loop ----------------------------------------------------------------------------

    def advance(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """Learn from the rows start, …, stop − 1; return the number of rows learned.

        If a step would diverge, `diverged` is set, and the state is that before the step. The same
        holds if a user's function raises.
        """
        self.enter()
        try:
            return self.advance_locked(X, Y, weight, start, stop)
        finally:
            self.leave()

    def advance_locked(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """Body of `advance`; the caller holds the lock."""
        self.diverged, taken = False, start
        try:
            while True:
                with cython.nogil:
                    taken = self.run(X, Y, weight, taken, stop)
                if self.postponed is not None:
                    self.raise_postponed()
                if taken == stop:
                    return taken - start
                self.make_room()
        except WouldDiverge:
            self.restore()
            self.diverged = True
            return self.reached - start
        except BaseException:
            self.restore()
            raise
        finally:
            self.flush()

    def run(self, X: Array, Y: Array, weight: Array, start: int, stop: int) -> int:
        """Fill the window and make a step each time it is full; return the row where it stopped.

        It stops early if the dictionary is full, or if a completed step has left an error.
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
                self.reached = row
                if self.looks_ahead:
                    self.look_ahead(X, weight, row, stop)
                if self.is_guarded:
                    self.make_guarded_step()
                else:
                    self.make_step()
                self.slide()
                if self.postponed is not None:
                    return row + 1
        return stop

    def raise_postponed(self) -> None:
        """Raise the error that a completed step has left."""
        error, self.postponed = self.postponed, None
        if error is not None:
            raise error

    def slide(self) -> None:
        """Start the next window with the samples that it shares with this one."""
        self.window.filled = self.kept
        if self.kept > 0:
            last = self.window.size - 1
            for feature in range(self.window.points.shape[1]):
                self.window.points[0, feature] = self.window.points[last, feature]
            for c in range(self.window.targets.shape[1]):
                self.window.targets[0, c] = self.window.targets[last, c]
            self.window.weights[0] = self.window.weights[last]

    def restore(self) -> None:
        """Undo the changes of an unfinished step in the window; its g remains in `g_mean`."""
        if self.window.filled == self.window.size:
            self.window.filled -= 1
            self.largest_target = self.largest_before
            for i in range(self.window.g.shape[0]):
                self.window.g_mean[i] = self.window.g[i]
                self.window.g[i] = self.window.g_before[i]

    def make_guarded_step(self) -> int:
        """Make a step that calls user-defined code; undo the step if that code raises."""
        with cython.gil:
            packed = self.packed()
            try:
                return self.make_step()
            except BaseException:
                self.unpack(packed)
                raise

    def refuse(self) -> int:
        """End the loop: the step would diverge."""
        with cython.gil:
            raise WouldDiverge

    # -- hooks of a method -------------------------------------------------------------------

    def make_step(self) -> int:
        """Make a step with the samples of the window and record it."""
        return 0

    def look_ahead(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Prepare the steps of a row and of the rows after it together."""
        return 0

    def flush(self) -> int:
        """Bring the weights up to date, if a method defers their updates."""
        return 0

    def make_room(self) -> int:
        """Make room for another step. If memory runs out, nothing has changed.

        A method with more buffers enlarges these first: they may be larger than the dictionary.
        """
        self.dictionary.reserve(self.gained)
        return 0

    def reserve(self, n_atoms: int) -> None:
        """Make room for this many atoms, and another step."""
        gained, self.gained = self.gained, max(n_atoms - self.dictionary.size, 0) + self.gained
        try:
            self.make_room()
        finally:
            self.gained = gained

    # -- one sample --------------------------------------------------------------------------

    def map_rows(self, matrix: Array) -> None:
        """Take the row of one sample times this matrix, given in rows of whole vectors."""
        self.row, self.matrix, self.maps = zeros((1, len(matrix))), matrix, True

    def take_row(self) -> int:
        """Write the row to the point."""
        if self.maps:
            loops.transform(self.row, 0, self.matrix, self.point, 0)
        return 0

    def learn_one(self, x: Any, y: Any, weight: Any) -> int:
        """Learn from one sample, a list or tuple and a number, without arrays.

        Returns 1; 0 if the step would diverge; −1, with nothing done, if the sample does not
        consist of plain finite numbers.
        """
        self.enter()
        try:
            if not self.place(x, y, weight):
                return -1
            self.take_row()
            return self.advance_locked(self.point, self.target, self.weight, 0, 1)
        finally:
            self.leave()

    def place(self, x: Any, y: Any, weight: Any) -> bool:
        """Write a sample to the row; return whether it consists of plain finite numbers."""
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

    # -- shared parts of steps ---------------------------------------------------------------

    def averaging_rate(self) -> float:
        """Return ρ of the average after this step; 0 without averaging."""
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

    # -- tracing and predictions -------------------------------------------------------------

    def open_trace(self, n_steps: int) -> None:
        """Make room for the lines of `n_steps` steps."""
        if self.traced:
            self.lines, self.line = np.zeros((n_steps, self.lines.shape[1])), 0

    def close_trace(self) -> Array:
        """Return a copy of the lines since `open_trace`."""
        return np.array(np.asarray(self.lines)[: self.line])

    def snapshot(self, row: int) -> tuple[Array, Array]:
        """Return atoms (M, p) and weights (M, outputs) of the function that starts at this row."""
        self.enter()
        try:
            weights = self.dictionary.weights[:, row : row + self.n_outputs]
            return self.dictionary.atoms, weights
        finally:
            self.leave()

    def evaluate(self, X: Array, row: int) -> Array:
        """Return the values at X of the function whose outputs start at this row."""
        self.enter()
        try:
            return self.dictionary.evaluate(X, row, self.n_outputs)
        finally:
            self.leave()
