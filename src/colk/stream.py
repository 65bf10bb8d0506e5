"""A stream of samples through the window, and the quasi-gradient that every method shares.

Samples fill the window; a full window is a step. A method lays the values κ(d_j, x) or φ_j(x) that
its predictions are linear in into the columns of its dictionary, asks `assess` for the coefficients
of the quasi-gradient, and moves its weights as it likes. Rows of the weights: the iterate, its
average, and what the tracker remembers, the previous iterate.
"""

import math
import threading
from typing import Any

import cython
import numpy as np

from colk import lanes
from colk._validation import Array
from colk.averaging import Averaging
from colk.dictionary import Dictionary
from colk.losses.base import Loss
from colk.pairing import Roles
from colk.risks.base import Risk
from colk.schedules import PowerDecay
from colk.trackers import Tracker
from colk.window import Window

__all__ = ["TRACE", "Stream"]

# Predictions beyond this many times the largest target are divergence.
RUNAWAY = 1e6

# Columns of a trace, followed by g.
TRACE = ("loss", "outer", "n_atoms", "added", "dropped", "error", "clipped", "step_size", "norm")

# Tallies that outlive a step.
TALLIES = (
    "steps", "loss_sum", "weight_sum", "error_sum", "largest_target", "squared_norm",
)  # fmt: skip


class Stream:
    """The state of a learner: its terms, its window, its weights, and its tallies.

    Parameters
    ----------
    loss, risk, tracker, step_size, tracking_rate, averaging
        The terms.
    regularization, gradient_bound : float
        λ, and the bound C of Assumption 5.
    roles : Roles
        Which samples of the window play θ and ξ.
    window : Window
        The window.
    dictionary : Dictionary
        The weights, and what they weigh.
    traced : bool
        Whether every step leaves a line.
    """

    diverged: bool  # whether the last `advance` stopped because a step would diverge

    def __init__(
        self,
        loss: Loss,
        risk: Risk,
        tracker: Tracker,
        step_size: PowerDecay,
        tracking_rate: PowerDecay,
        averaging: Averaging | None,
        regularization: float,
        gradient_bound: float,
        roles: Roles,
        window: Window,
        dictionary: Dictionary,
        gained: int,
        remembers: bool,
        traced: bool,
    ) -> None:
        self.loss, self.risk, self.tracker = loss, risk, tracker
        self.step_size, self.tracking_rate = step_size, tracking_rate
        self.averaging = averaging  # type: ignore[assignment]  # None where there is none
        self.regularization, self.gradient_bound = regularization, gradient_bound
        self.batch, self.stride, self.shift = roles.batch, roles.stride, roles.shift
        self.window, self.dictionary = window, dictionary
        self.gained, self.traced = gained, traced
        self.n_outputs = self.window.predictions.shape[1]
        self.averaged = 0 if averaging is None else self.n_outputs
        self.remembered = self.n_outputs + self.averaged if remembers else 0
        self.lock, self.busy, self.diverged = threading.RLock(), False, False
        self.steps = self.clipped = self.line = 0
        self.loss_sum = self.weight_sum = self.error_sum = 0.0
        self.largest_target = self.largest_before = self.squared_norm = 0.0
        self.mean_loss = self.outer = 0.0
        self.lines = np.zeros((1, len(TRACE) + self.window.g.shape[0]))
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
        while True:
            with cython.nogil:
                taken = self.run(X, Y, weight, taken, stop)
            if taken == stop or self.diverged:
                return taken - start
            self.dictionary.reserve(self.gained)

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
            self.largest_before = self.largest_target
            self.window.take(X, Y, weight, row)
            for c in range(Y.shape[1]):
                self.largest_target = max(self.largest_target, abs(Y[row, c]))
            if self.window.filled == self.window.size:
                for i in range(self.window.g.shape[0]):
                    self.window.g_before[i] = self.window.g[i]
                if self.step() == 0:
                    self.restore()
                    self.diverged = True
                    return row
                self.window.slide(self.shift if self.stride == 1 else 0)
        return stop

    def restore(self) -> None:
        """Undo what a step that was not made has changed."""
        if self.window.filled == self.window.size:
            self.window.filled -= 1
            self.largest_target = self.largest_before
            for i in range(self.window.g.shape[0]):
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

    def step(self) -> int:
        """Make a step with the window's samples; 0, and nothing done, where it would diverge."""
        return 0

    # -- the quasi-gradient ------------------------------------------------------------------

    def assess(self, rate: float, track_first: bool) -> int:
        """Predictions, g_{t+1} and the coefficients of the quasi-gradient at the window's samples.

        g is renewed first, or last: then the gradient sees the old g. Returns 1 where the step may
        be made, 0 where it would diverge.
        """
        self.predict_window()
        self.weigh()
        if track_first or self.steps == 0:
            # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ)), then ⟨h'(f_t(ξ)), ℓ'(g_{t+1})⟩
            self.track(rate)
            self.gather()
        else:
            self.gather()
            self.track(rate)
        if not self.is_sound():
            return 0
        if self.traced:
            self.outer = self.risk.sample_value(self.window, 0)
        self.note_losses()
        return 1

    def predict_window(self) -> None:
        """f_t at every point of the window, and f_{t−1} at every ξ where the tracker remembers it.

        f_{t−1} is exact: its weights are kept on the atoms that stayed, and the atoms that the last
        step dropped are still there as ghosts.
        """
        n = self.dictionary.size
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = lanes.dot(
                    self.dictionary.weights_t, c, self.dictionary.columns, b, n
                )
        if self.remembered == 0:
            return
        for b in range(self.batch):
            xi = self.stride * b + self.shift
            for c in range(self.n_outputs):
                row = self.remembered + c
                total = lanes.dot(
                    self.dictionary.weights_t, row, self.dictionary.columns, xi, n
                )
                for j in range(self.dictionary.n_ghosts):
                    total += (
                        self.dictionary.ghosts[self.dictionary.n_features + row, j]
                        * self.dictionary.ghost_columns[xi, j]
                    )
                self.window.previous[xi, c] = total

    def weigh(self) -> int:
        """Losses at the samples of the window, under the remembered function too; their slopes."""
        if self.remembered > 0:
            for b in range(self.batch):
                xi = self.stride * b + self.shift
                self.window.previous_losses[xi] = self.loss.evaluate(
                    self.window.previous, self.window.targets, xi, self.window.loss_slopes
                )
        for b in range(self.window.size):
            self.window.losses[b] = self.loss.evaluate(
                self.window.predictions, self.window.targets, b, self.window.loss_slopes
            )
        return 0

    def track(self, rate: float) -> int:
        """g_{t+1}: the mean over the batch of what the tracker makes of each ξ."""
        m = self.window.g.shape[0]
        if m == 0:
            return 0
        for i in range(m):
            self.window.g_mean[i] = 0.0
        for b in range(self.batch):
            xi = self.stride * b + self.shift
            for i in range(m):
                self.window.g[i] = self.window.g_before[i]
            if self.steps == 0:
                self.risk.start(self.window, xi)
            else:
                weighted = min(1.0, rate * self.window.weights[xi])
                self.risk.track(self.window, xi, self.tracker, weighted)
            for i in range(m):
                self.window.g_mean[i] += self.window.g[i] / self.batch
        for i in range(m):
            self.window.g[i] = self.window.g_mean[i]
        return 0

    def gather(self) -> int:
        """Coefficients of κ(x_b, ·) in the quasi-gradient, and how many pairs were clipped."""
        self.clipped = 0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.coefficients[b, c] = 0.0
        for b in range(self.batch):
            theta = self.stride * b
            xi = theta + self.shift
            self.risk.pair_slopes(self.window, theta, xi)
            self.clipped += self.clip()
            by_theta = self.window.weights[theta] / self.batch
            by_xi = by_theta * self.window.weights[xi]
            for c in range(self.n_outputs):
                self.window.coefficients[theta, c] += by_theta * self.window.slopes[0, c]
                self.window.coefficients[xi, c] += by_xi * self.window.slopes[1, c]
        return 0

    def clip(self) -> bool:
        """Scale (c_θ, c_ξ) back to the gradient bound; returns whether it was longer."""
        squares, largest = 0.0, 0.0
        for c in range(self.n_outputs):
            for i in range(2):
                squares += self.window.slopes[i, c] * self.window.slopes[i, c]
                largest = max(largest, abs(self.window.slopes[i, c]))
        if squares <= self.gradient_bound * self.gradient_bound or not largest < math.inf:
            return False
        squares = 0.0  # once more, relative to the largest: no square overflows
        for c in range(self.n_outputs):
            for i in range(2):
                self.window.slopes[i, c] /= largest
                squares += self.window.slopes[i, c] * self.window.slopes[i, c]
        for c in range(self.n_outputs):
            for i in range(2):
                self.window.slopes[i, c] *= self.gradient_bound / math.sqrt(squares)
        return True

    def is_sound(self) -> bool:
        """Whether nothing ran away: predictions and coefficients within their limits, g finite."""
        limit, total = RUNAWAY * (1.0 + self.largest_target), 0.0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                if not (
                    abs(self.window.predictions[b, c]) <= limit
                    and abs(self.window.coefficients[b, c]) < lanes.LARGEST
                ):
                    return False
        for i in range(self.window.g.shape[0]):  # a sum is finite where all of its terms are
            total += abs(self.window.g[i])
        return total < math.inf

    def note_losses(self) -> None:
        """Add the losses of the samples that f has not met, before the step, to the sums."""
        self.mean_loss = 0.0
        for b in range(self.batch):
            new = b + self.shift if self.stride == 1 else self.stride * b
            self.weight_sum += self.window.weights[new]
            self.loss_sum += self.window.weights[new] * self.window.losses[new]
            self.mean_loss += self.window.losses[new] / self.batch

    # -- what steps have in common -----------------------------------------------------------

    def remember_and_shrink(self, factor: float) -> None:
        """F ← (1 − αλ) f, after its weights are remembered as those of f_{t−1}."""
        n = self.dictionary.size
        self.dictionary.forget()
        if self.remembered > 0:
            for c in range(self.n_outputs):
                lanes.approach(
                    self.dictionary.weights_t,
                    self.remembered + c,
                    self.dictionary.weights_t,
                    c,
                    1.0,
                    n,
                )
        self.dictionary.scale_rows(0, self.n_outputs, factor)

    def averaging_rate(self) -> float:
        """ρ of the average after this step; 0 where there is none."""
        return self.averaging.rate_at(self.steps) if self.averaged > 0 else 0.0

    def average(self, rate: float) -> None:
        """f̄ ← f̄ + ρ(f − f̄)."""
        if self.averaged > 0:
            for c in range(self.n_outputs):
                lanes.approach(
                    self.dictionary.weights_t,
                    self.averaged + c,
                    self.dictionary.weights_t,
                    c,
                    rate,
                    self.dictionary.size,
                )

    def record(self, dropped: int, error: float, step: float) -> None:
        """Note what a step did, where that is asked for."""
        if not self.traced:
            return
        k = self.line
        self.lines[k, 0], self.lines[k, 1] = self.mean_loss, self.outer
        self.lines[k, 2], self.lines[k, 3] = self.dictionary.size, self.dictionary.added
        self.lines[k, 4], self.lines[k, 5] = dropped, error
        self.lines[k, 6], self.lines[k, 7] = self.clipped, step
        self.lines[k, 8] = math.sqrt(self.squared_norm)
        for i in range(self.window.g.shape[0]):
            self.lines[k, 9 + i] = self.window.g[i]
        self.line = k + 1

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
                **{name: getattr(self, name) for name in TALLIES},
            }
        finally:
            self.leave()

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        self.window.unpack(packed["window"])
        self.dictionary.unpack(packed["dictionary"])
        for name in TALLIES:
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
