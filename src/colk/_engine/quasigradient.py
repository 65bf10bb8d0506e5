"""The quasi-gradient of a compositional risk, for all methods except policy evaluation.

Every method's step makes the same calls in the order of Algorithm 1: `track`, `quasi_gradient`,
then the update of its weights. Rows of the weights: the iterate, its average, and the previous
iterate if the tracker needs it.
"""

import math
from typing import Any, ClassVar

from colk import _stored as stored
from colk._engine import stream
from colk._engine.contracts import LossContract, RateContract, RiskContract, TrackerContract
from colk._engine.loss_watcher import LossWatcher
from colk._engine.simd import loops
from colk._engine.stream import Stream
from colk._engine.window import Roles, Window
from colk._validation import Array

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
        Which samples of the window are θ and ξ.
    window : Window
        The window.
    remembers : bool
        Whether to keep the previous iterate, as the last rows of the weights.
    **common
        The arguments of `Stream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **Stream.tallies,
        **dict.fromkeys(("loss_sum", "weight_sum", "squared_norm"), stored.Number(finite=False)),
        "clipped_sum": stored.Number(at_least=0.0),
    }
    later_tallies: ClassVar[frozenset[str]] = Stream.later_tallies | {"clipped_sum"}

    watcher: LossWatcher  # None if the losses are not watched

    def __init__(
        self,
        loss: LossContract,
        risk: RiskContract,
        tracker: TrackerContract,
        tracking_rate: RateContract,
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
        self.samples = roles.samples
        self.share, self.pair_share = 1.0 / roles.batch, 1.0 / (roles.batch * roles.samples)
        self.remembered = self.n_outputs + self.averaged if remembers else 0
        self.is_scalar = self.n_outputs == 1 and not loss.couples_outputs
        self.is_of_losses, self.is_mean = risk.is_of_losses, risk.is_mean
        fits = loss.couples_outputs or self.window.targets.shape[1] == self.n_outputs
        self.has_loss = risk.has_loss and fits
        self.clipped = 0
        self.loss_sum = self.weight_sum = self.squared_norm = 0.0
        self.mean_loss = self.outer = self.clipped_sum = 0.0
        self.watcher = None  # type: ignore[assignment]

    # -- a step and its bookkeeping ----------------------------------------------------------

    def make_step(self) -> int:
        """Evaluate the losses, make a step, then update averages, sums and the trace."""
        share, before = self.averaging_rate(), self.dictionary.size
        self.look()
        lost = self.step()
        self.error_sum += lost
        if self.traced:
            self.note_outer()
        self.note_losses()
        self.conclude(lost)
        self.average(self.lasting_rate(share))
        self.record(before + self.dictionary.added - self.dictionary.size, lost)
        self.steps += 1
        return 0 if self.watcher is None else self.show_losses()

    def look(self) -> int:
        """Evaluate f and the losses at the samples of the window."""
        self.predict_window()
        return self.evaluate_losses()

    def step(self) -> float:
        """Make one step of the algorithm; return the H-norm of the compression error."""
        return 0.0

    def conclude(self, lost: float) -> int:
        """Hook for the work of a method between two steps."""
        return 0

    def lasting_rate(self, rate: float) -> float:
        """Return ρ of the average: the scheduled rate, or more if compression requires it."""
        return rate

    # -- the first two calls -----------------------------------------------------------------

    def track(self, rate: float) -> Array:
        """Set g ← (1 − β)(g − h(f_{t−1}(ξ))) + h(f_t(ξ)), or apply another tracker.

        For several ξ, g is the mean of the updates by each of them.
        """
        m = self.window.g.shape[0]
        if m > 0 and self.batch * self.samples == 1:
            self.track_sample(self.shift, rate)
        elif m > 0:
            for i in range(m):
                self.window.g_mean[i] = 0.0
            for pair in range(self.batch * self.samples):
                for i in range(m):
                    self.window.g[i] = self.window.g_before[i]
                self.track_sample(self.xi_of(pair), rate)
                for i in range(m):
                    self.window.g_mean[i] += self.window.g[i] * self.pair_share
            for i in range(m):
                self.window.g[i] = self.window.g_mean[i]
        return loops.data(self.window.g)

    def quasi_gradient(self, g: Array) -> Array:
        """Return ⟨h'(f_t(ξ)), ℓ'(g)⟩, the coefficients of κ(x_b, ·) for each sample.

        Ends the loop if the step would diverge.
        """
        self.gather(g)
        self.check_soundness()
        return loops.data_of_rows(self.window.coefficients)

    # -- parts of these calls ----------------------------------------------------------------

    def xi_of(self, pair: int) -> int:
        """Return the position in the window of the ξ of a pair; its θ is that of the same batch."""
        return self.stride * (pair // self.samples) + self.shift + pair % self.samples

    def predict_window(self) -> None:
        """Evaluate f_t at all points of the window, and f_{t−1} at every ξ if the tracker needs it.

        f_{t−1} is exact: its weights on the remaining atoms are kept, and the atoms that the last
        step dropped are kept as ghosts.
        """
        n = self.dictionary.size
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.predictions[b, c] = loops.dot(
                    self.dictionary.weights_t, c, self.dictionary.columns, b, n
                )
        if self.remembered == 0:
            return
        for pair in range(self.batch * self.samples):
            xi = self.xi_of(pair)
            for c in range(self.n_outputs):
                row = self.remembered + c
                total = loops.dot(self.dictionary.weights_t, row, self.dictionary.columns, xi, n)
                for j in range(self.dictionary.n_ghosts):
                    total += (
                        self.dictionary.ghosts[self.dictionary.n_features + row, j]
                        * self.dictionary.ghost_columns[xi, j]
                    )
                self.window.previous[xi, c] = total

    def evaluate_losses(self) -> int:
        """Evaluate losses and slopes of the window, and the losses of f_{t−1} at every ξ.

        They are NaN if the targets are not those of a loss.
        """
        if not self.has_loss:
            for b in range(self.window.size):
                self.window.losses[b] = math.nan
            return 0
        if self.is_scalar:
            return self.evaluate_scalar_losses()
        if self.remembered > 0:
            for pair in range(self.batch * self.samples):
                xi = self.xi_of(pair)
                self.window.previous_losses[xi] = self.loss.evaluate(
                    self.window.previous, self.window.targets, xi, self.window.loss_slopes
                )
        for b in range(self.window.size):
            self.window.losses[b] = self.loss.evaluate(
                self.window.predictions, self.window.targets, b, self.window.loss_slopes
            )
        return 0

    def evaluate_scalar_losses(self) -> int:
        """`evaluate_losses` for one output, where the loss is a function of two numbers."""
        if self.remembered > 0:
            for pair in range(self.batch * self.samples):
                xi = self.xi_of(pair)
                self.window.previous_losses[xi] = self.loss.loss_at(
                    self.window.previous[xi, 0], self.window.targets[xi, 0]
                )
        for b in range(self.window.size):
            f, y = self.window.predictions[b, 0], self.window.targets[b, 0]
            self.window.losses[b] = self.loss.loss_at(f, y)
            self.window.loss_slopes[b, 0] = self.loss.slope_at(f, y)
        return 0

    def track_sample(self, xi: int, rate: float) -> int:
        """Update g with one ξ; the first sample of a stream initialises it."""
        weighted = min(1.0, rate * self.window.weights[xi]) if self.steps > 0 else 1.0
        if not self.is_of_losses and self.steps == 0:
            return self.risk.start_at(
                self.window.predictions, self.window.targets, xi, self.window.g
            )
        if not self.is_of_losses:
            return self.risk.track_at_row(
                self.window.predictions, self.window.previous, self.window.targets, xi,
                self.window.g, self.tracker, weighted, self.window.work,
            )  # fmt: skip
        if weighted >= 1.0:
            return self.risk.start(
                loops.data(self.window.g), self.window.g.shape[0], self.window.losses[xi]
            )
        return self.risk.track(
            loops.data(self.window.g), self.window.g.shape[0],
            self.window.previous_losses[xi], self.window.losses[xi],
            self.tracker, weighted, loops.data(self.window.work),
        )  # fmt: skip

    def gather(self, g: Array) -> int:
        """Sum the coefficients of all pairs; count the clipped pairs."""
        self.clipped = 0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.window.coefficients[b, c] = 0.0
        for pair in range(self.batch * self.samples):
            theta, xi = self.stride * (pair // self.samples), self.xi_of(pair)
            self.chain(g, theta, xi)
            self.clipped += self.clip()
            by_theta = self.window.weights[theta] * self.pair_share
            by_xi = by_theta * self.window.weights[xi]
            for c in range(self.n_outputs):
                self.window.coefficients[theta, c] += by_theta * self.window.slopes[0, c]
                if self.window.slopes[1, c] != 0.0:  # it is 0 for the mean, where ξ is θ
                    self.window.coefficients[xi, c] += by_xi * self.window.slopes[1, c]
        return 0

    def chain(self, g: Array, theta: int, xi: int) -> int:
        """Write c_θ and c_ξ of one pair by the chain rule; of the mean, c_θ is ℓ'(f_θ)."""
        if self.is_mean:
            for c in range(self.n_outputs):
                self.window.slopes[0, c] = self.window.loss_slopes[theta, c]
                self.window.slopes[1, c] = 0.0
            return 0
        if not self.is_of_losses:
            return self.risk.chain_at(
                self.window.predictions, self.window.targets, theta, xi, self.window.g,
                self.window.slopes, self.window.work,
            )  # fmt: skip
        self.risk.chain(
            self.window.losses[theta], self.window.losses[xi], g, self.window.g.shape[0],
            loops.data(self.window.factors),
        )  # fmt: skip
        for c in range(self.n_outputs):
            self.window.slopes[0, c] = self.window.factors[0] * self.window.loss_slopes[theta, c]
            self.window.slopes[1, c] = 0.0
            if self.window.factors[1] != 0.0:
                self.window.slopes[1, c] = self.window.factors[1] * self.window.loss_slopes[xi, c]
        return 0

    def clip(self) -> bool:
        """Scale (c_θ, c_ξ) back to the gradient bound; return whether they exceeded it."""
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
        squares = 0.0  # again, relative to the largest, so that no square overflows
        for c in range(self.n_outputs):
            for i in range(2):
                self.window.slopes[i, c] /= largest
                squares += self.window.slopes[i, c] * self.window.slopes[i, c]
        for c in range(self.n_outputs):
            for i in range(2):
                self.window.slopes[i, c] *= self.gradient_bound / math.sqrt(squares)
        return True

    def check_soundness(self) -> int:
        """End the loop if the step would diverge."""
        return 0 if self.is_sound() else self.refuse()

    def is_sound(self) -> bool:
        """Whether predictions and coefficients are within their limits, and g is finite."""
        limit, total = stream.RUNAWAY * (1.0 + self.largest_target), 0.0
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                if not (
                    abs(self.window.predictions[b, c]) <= limit
                    and abs(self.window.coefficients[b, c]) < loops.LARGEST
                ):
                    return False
        for i in range(self.window.g.shape[0]):  # a sum is finite only if all of its terms are
            total += abs(self.window.g[i])
        return total < math.inf

    def note_outer(self) -> int:
        """Evaluate the outer function at the first sample, for the trace."""
        if self.is_of_losses:
            self.outer = self.risk.outer_at(self.window.losses[0], loops.data(self.window.g))
        else:
            self.outer = self.risk.outer_at_row(
                self.window.predictions, self.window.targets, 0, self.window.g, self.window.work
            )
        return 0

    def note_losses(self) -> None:
        """Add the losses of the new samples, and the clipped pairs, to the sums."""
        self.mean_loss = 0.0
        self.clipped_sum += self.clipped
        for b in range(self.batch):
            new = b + self.shift if self.stride == 1 else self.stride * b
            self.weight_sum += self.window.weights[new]
            self.loss_sum += self.window.weights[new] * self.window.losses[new]
            self.mean_loss += self.window.losses[new] * self.share

    def show_losses(self) -> int:
        """Show the watcher the losses and the points of the new samples."""
        for new in range(self.kept, self.window.size):
            self.watcher.take(self.window.losses[new], self.window.points, new)
        return 0

    def remember_and_shrink(self, factor: float) -> None:
        """Set f ← (1 − αλ) f; save the weights as those of f_{t−1} if the tracker needs them."""
        self.dictionary.begin_step()
        if self.remembered == 0:
            self.dictionary.scale_rows(0, self.n_outputs, factor)
            return
        for c in range(self.n_outputs):
            loops.keep_and_scale(
                self.dictionary.weights_t, self.remembered + c, c, factor, self.dictionary.size
            )

    def record(self, dropped: int, lost: float) -> None:
        """Write the line of a step if steps are traced."""
        k = self.line
        if not self.traced or k == self.lines.shape[0]:
            return
        self.lines[k, 0], self.lines[k, 1] = self.mean_loss, self.outer
        self.lines[k, 2], self.lines[k, 3] = self.dictionary.size, self.dictionary.added
        self.lines[k, 4], self.lines[k, 5] = dropped, lost
        self.lines[k, 6], self.lines[k, 7] = self.clipped, self.step_size.rate(self.steps)
        self.lines[k, 8] = math.sqrt(self.squared_norm)
        for i in range(self.window.g.shape[0]):
            self.lines[k, 9 + i] = self.window.g[i]
        self.line = k + 1
