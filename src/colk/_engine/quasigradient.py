"""The quasi-gradient of a compositional risk, which all methods but policy evaluation follow.

A method lays its columns, asks `assess` for the coefficients of the quasi-gradient, and moves its
weights as it likes. Rows of the weights: the iterate, its average, and what the tracker remembers,
the previous iterate.
"""

import math
from typing import Any, ClassVar

from colk import _stored as stored
from colk._engine import stream
from colk._engine.simd import loops
from colk._engine.stream import Stream
from colk._engine.window import Window
from colk.losses.base import Loss
from colk.risks.base import Risk
from colk.schedules import PowerDecay, Roles
from colk.trackers import Tracker

__all__ = ["TRACE", "QuasiGradientStream"]

# Columns of a trace, followed by g.
TRACE = ("loss", "outer", "n_atoms", "added", "dropped", "error", "clipped", "step_size", "norm")


class QuasiGradientStream(Stream):
    """A stream whose steps descend along the quasi-gradient of a risk.

    Parameters
    ----------
    loss, risk, tracker, tracking_rate
        The terms.
    gradient_bound : float
        The bound C of Assumption 5.
    roles : Roles
        Which samples of the window play θ and ξ.
    window : Window
        The window.
    remembers : bool
        Whether the previous iterate is kept, as rows behind all others.
    **common
        The arguments of `Stream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **Stream.tallies,
        **dict.fromkeys(("loss_sum", "weight_sum", "squared_norm"), stored.Number(finite=False)),
    }

    def __init__(
        self,
        loss: Loss,
        risk: Risk,
        tracker: Tracker,
        tracking_rate: PowerDecay,
        gradient_bound: float,
        roles: Roles,
        window: Window,
        remembers: bool,
        **common: Any,
    ) -> None:
        super().__init__(
            window=window,
            kept=roles.shift if roles.stride == 1 else 0,
            columns=len(TRACE) + risk.n_inner,
            **common,
        )
        self.loss, self.risk, self.tracker = loss, risk, tracker
        self.tracking_rate, self.gradient_bound = tracking_rate, gradient_bound
        self.batch, self.stride, self.shift = roles.batch, roles.stride, roles.shift
        self.share = 1.0 / roles.batch
        self.remembered = self.n_outputs + self.averaged if remembers else 0
        self.is_scalar = self.n_outputs == 1 and not loss.couples_outputs
        self.clipped = 0
        self.loss_sum = self.weight_sum = self.squared_norm = 0.0
        self.mean_loss = self.outer = 0.0

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
                self.window.predictions[b, c] = loops.dot(
                    self.dictionary.weights_t, c, self.dictionary.columns, b, n
                )
        if self.remembered == 0:
            return
        for b in range(self.batch):
            xi = self.stride * b + self.shift
            for c in range(self.n_outputs):
                row = self.remembered + c
                total = loops.dot(self.dictionary.weights_t, row, self.dictionary.columns, xi, n)
                for j in range(self.dictionary.n_ghosts):
                    total += (
                        self.dictionary.ghosts[self.dictionary.n_features + row, j]
                        * self.dictionary.ghost_columns[xi, j]
                    )
                self.window.previous[xi, c] = total

    def weigh(self) -> int:
        """Losses at the samples of the window, under the remembered function too; their slopes."""
        if self.is_scalar:
            return self.weigh_numbers()
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

    def weigh_numbers(self) -> int:
        """`weigh` for one output, where a loss is a function of two numbers."""
        if self.remembered > 0:
            for b in range(self.batch):
                xi = self.stride * b + self.shift
                self.window.previous_losses[xi] = self.loss.loss_at(
                    self.window.previous[xi, 0], self.window.targets[xi, 0]
                )
        for b in range(self.window.size):
            f, y = self.window.predictions[b, 0], self.window.targets[b, 0]
            self.window.losses[b] = self.loss.loss_at(f, y)
            self.window.loss_slopes[b, 0] = self.loss.slope_at(f, y)
        return 0

    def track(self, rate: float) -> int:
        """g_{t+1}: the mean over the batch of what the tracker makes of each ξ."""
        m = self.window.g.shape[0]
        if m == 0:
            return 0
        if self.batch == 1:  # its own mean
            return self.follow(self.shift, rate)
        for i in range(m):
            self.window.g_mean[i] = 0.0
        for b in range(self.batch):
            for i in range(m):
                self.window.g[i] = self.window.g_before[i]
            self.follow(self.stride * b + self.shift, rate)
            for i in range(m):
                self.window.g_mean[i] += self.window.g[i] * self.share
        for i in range(m):
            self.window.g[i] = self.window.g_mean[i]
        return 0

    def follow(self, xi: int, rate: float) -> int:
        """What the tracker makes of g at one ξ."""
        if self.steps == 0:
            return self.risk.start(self.window, xi)
        weighted = min(1.0, rate * self.window.weights[xi])
        return self.risk.track(self.window, xi, self.tracker, weighted)

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
            by_theta = self.window.weights[theta] * self.share
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
        if squares <= self.gradient_bound * self.gradient_bound:
            return False
        for c in range(self.n_outputs):
            for i in range(2):
                largest = max(largest, abs(self.window.slopes[i, c]))
        if not largest < math.inf:
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
        limit, total = stream.RUNAWAY * (1.0 + self.largest_target), 0.0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                if not (
                    abs(self.window.predictions[b, c]) <= limit
                    and abs(self.window.coefficients[b, c]) < loops.LARGEST
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
            self.mean_loss += self.window.losses[new] * self.share

    # -- what steps have in common -----------------------------------------------------------

    def remember_and_shrink(self, factor: float) -> None:
        """Set f ← (1 − αλ) f, after its weights are remembered as those of f_{t−1}."""
        self.dictionary.forget()
        if self.remembered == 0:
            self.dictionary.scale_rows(0, self.n_outputs, factor)
            return
        for c in range(self.n_outputs):
            loops.keep_and_scale(
                self.dictionary.weights_t, self.remembered + c, c, factor, self.dictionary.size
            )

    def record(self, dropped: int, error: float, step: float) -> None:
        """Note what a step did, where that is asked for."""
        k = self.line
        if not self.traced or k == self.lines.shape[0]:
            return
        self.lines[k, 0], self.lines[k, 1] = self.mean_loss, self.outer
        self.lines[k, 2], self.lines[k, 3] = self.dictionary.size, self.dictionary.added
        self.lines[k, 4], self.lines[k, 5] = dropped, error
        self.lines[k, 6], self.lines[k, 7] = self.clipped, step
        self.lines[k, 8] = math.sqrt(self.squared_norm)
        for i in range(self.window.g.shape[0]):
            self.lines[k, 9 + i] = self.window.g[i]
        self.line = k + 1
