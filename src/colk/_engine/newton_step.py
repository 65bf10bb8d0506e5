"""The second-order step: curvature in the orthonormal coordinates that KOMP computes anyway.

With z = Uᵀκ(D, x), a function in the span of the atoms is f(x) = θᵀz. P is the inverse of the
accumulated curvature (`inverse_curvature.py`), and a sample of slope a moves f by θ ← θ − P⁺ a z.
The stream makes the same four calls as COLK's, and moves the function of `newton_iterate.py`.
"""

import math
from typing import Any, ClassVar

import cython
import numpy as np

from colk import _stored as stored
from colk._engine import curvature, expert_mixture, gradient_step, lookahead, prior_search
from colk._engine import inverse_curvature as inverse
from colk._engine.expert_mixture import ExpertMixture
from colk._engine.gradient_step import KernelStream
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.lookahead import Lookahead
from colk._engine.loss_statistics import LossStatistics
from colk._engine.newton_iterate import NewtonIterate
from colk._engine.prior_search import PriorSearch
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["NewtonStream"]

# Number of samples in the running means of the spreads.
LATEST = 1000


class NewtonStream(KernelStream):
    """A kernel stream that divides slopes by the accumulated curvature.

    Parameters
    ----------
    P : InverseCurvature
        The inverse of the curvature, before the first sample.
    trust : float
        Largest move of a sample's own prediction, in units of 1 + the largest |target|.
    restart : bool
        Whether P restarts if the watcher of the losses raises an alarm.
    eps_bound, eps_share : float
        Largest H-norm of a step's compression error: eps_bound + eps_share × the RMS step norm.
    most_atoms : int
        Largest number of atoms.
    searches_prior : bool
        Whether to search for λ.
    first_step : float, optional
        First-order step size; if given, f is a mixture of experts.
    **common
        The arguments of `KernelStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **KernelStream.tallies,
        **dict.fromkeys(("squared_slope", "mean_curvature"), stored.Number(finite=False)),
        "restarts": stored.Count(),
    }

    P: InverseCurvature
    iterate: NewtonIterate
    experts: ExpertMixture  # the iterate if it is a mixture; else None
    search: PriorSearch  # None without a search for λ
    trust: float
    late: float  # prior of a new direction if an atom must be dropped for it, in units of λ
    lookahead: Lookahead
    eps: float  # bound on the H-norm of this step's error
    statistics: LossStatistics
    restarts: int  # number of times that P restarted
    squared_slope: float  # mean a²·gain, which estimates the squared slopes at an exact f
    mean_curvature: float  # mean b
    noise: Array  # (outputs,): mean squared residual·gain

    def __init__(
        self,
        P: InverseCurvature,
        trust: float,
        restart: bool,
        eps_bound: float,
        eps_share: float,
        most_atoms: int,
        searches_prior: bool = False,
        first_step: float | None = None,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.P, self.trust, self.late = P, trust, 1.0
        self.eps_bound, self.eps_share, self.most_atoms = eps_bound, eps_share, most_atoms
        self.restart, self.restarts = restart, 0
        self.is_kinked = len(self.loss.kinks) > 0
        self.statistics = LossStatistics()
        self.squared_slope = self.mean_curvature = self.eps = 0.0
        self.noise = np.zeros(self.n_outputs)
        self.has_experts, self.has_search, functions = first_step is not None, searches_prior, 0
        if first_step is None:
            self.iterate = NewtonIterate(self.dictionary, self.window, P)
        else:
            self.experts = ExpertMixture(self.dictionary, self.window, P, first_step)
            self.iterate = self.experts
            functions = expert_mixture.EXPERTS
        if searches_prior:
            self.search = PriorSearch(self.iterate, self.dictionary, self.window, self.loss)
            self.late = prior_search.LATE
            functions = prior_search.PRIORS
        if self.remembered > 0:  # f_{t−1} follows f and these functions
            self.remembered = (1 + functions) * self.n_outputs
        self.lookahead = Lookahead(self.dictionary, P)
        # A step that needs f_{t−1} evaluates the ghosts of the last step by itself.
        alone = self.window.size == 1 and self.remembered == 0
        self.looks_ahead = alone and self.dictionary.kernel.is_shift_invariant
        self.make_room()

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns for a stream of this shape."""
        return {
            **super().fields(),
            "P": self.P.fields(),
            "noise": stored.Array(self.noise.shape[0], at_least=0.0),
            **self.statistics.fields(),
            **(self.experts.fields() if self.has_experts else {}),
            **(self.search.fields() if self.has_search else {}),
        }

    def packed(self) -> dict[str, Any]:
        """Body of `pack`; the caller holds the lock."""
        return {
            **super().packed(),
            "P": self.P.pack(self.dictionary.size),
            "noise": np.array(self.noise),
            **self.statistics.pack(),
            **(self.experts.pack() if self.has_experts else {}),
            **(self.search.pack() if self.has_search else {}),
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state, which may have fewer outputs."""
        super().unpack(packed)
        self.P.unpack(packed["P"], self.dictionary.capacity)
        np.asarray(self.noise)[: len(packed["noise"])] = packed["noise"]
        self.statistics.unpack(packed)
        if self.has_experts:
            self.experts.unpack(packed)
        if self.has_search:
            self.search.unpack(packed)

    def make_room(self) -> int:
        """Make room for another step, in P and then in the dictionary."""
        self.P.grow(self.dictionary.size, self.dictionary.capacity_for(self.gained))
        self.dictionary.reserve(self.gained)
        self.lookahead.forget()
        return 0

    # -- the step ----------------------------------------------------------------------------

    def step(self) -> float:
        """Make one step of Algorithm 1 with curvature; return the H-norm of the error."""
        g = self.track(self.tracking_rate.rate(self.steps))
        slopes = self.quasi_gradient(g)  # a = ⟨h'(f_t(ξ)), ℓ'(g)⟩
        self.statistics.follow(self.window, self.steps == 0, 1.0 / min(self.steps + 1, LATEST))
        self.evaluate_curvatures(g)  # b
        left_out = self.move(slopes)  # θ ← θ − P⁺ a z
        return left_out + self.compress(self.eps - left_out)  # f = KOMP(f~, ε)

    def move(self, slopes: Array) -> float:
        """θ ← θ − P⁺ a z, point by point; return the H-norm of the parts outside the span."""
        if self.restart and self.watcher.has_alarm:
            self.P.restart(self.dictionary.size)
            self.restarts, self.watcher.has_alarm = self.restarts + 1, False
        self.remember_and_shrink(1.0)
        self.eps, left_out = self.eps_bound + self.eps_share * math.sqrt(self.squared_move), 0.0
        for b in range(self.window.size):
            left_out += self.move_by(b, self.eps - left_out)
        return left_out

    def compress(self, eps: float) -> float:
        """Drop dependent and surplus atoms, and cheap ones by KOMP; return the H-norm lost."""
        if self.dictionary.added == 0:
            return 0.0
        moved, spent, dependent, eps = 0.0, 0.0, True, max(eps, 0.0)
        self.flush()
        while self.dictionary.size > 0:
            j = self.dictionary.near_dependent() if dependent else self.dictionary.size
            dependent = j < self.dictionary.size
            if not dependent:
                j = self.iterate.cheapest()
                if self.dictionary.size <= self.most_atoms:
                    if moved + math.sqrt(spent + self.iterate.price(j)) > eps:
                        break
                elif self.has_search:
                    moved += self.search.refit_without(j)
                else:
                    self.refit_beside(j)
            spent += self.iterate.drop(j)
        return moved + math.sqrt(spent)

    def conclude(self, lost: float) -> int:
        """Choose λ when that is due; update ‖f‖ for the trace."""
        if self.has_search and self.steps + 1 == self.search.due:
            self.flush()
            with cython.gil:
                self.postponed = self.search.attempt(self.steps + 1)
        if self.traced:
            self.flush()
            self.squared_norm = gradient_step.exact_squared_norm(self.dictionary, 0, self.n_outputs)
        return 0

    # -- slopes and curvatures ---------------------------------------------------------------

    def evaluate_curvatures(self, g: Array) -> int:
        """Compute the curvatures at the points of the window, and the experts' own slopes."""
        if self.has_search and self.steps >= prior_search.FIRST_TRIAL:
            for b in range(self.batch):
                self.search.add_losses(self.stride * b + self.shift)
        if not self.has_experts:
            return self.curve()
        self.experts.keep_mixed_losses()
        for e in range(expert_mixture.EXPERTS):
            self.experts.show(e)
            self.evaluate_losses()
            self.gather(g)
            self.curve()
            self.experts.note(e, self.counted_loss())
        self.experts.mix_predictions()
        self.experts.update_weights()
        return 0

    def counted_loss(self) -> float:
        """Return the mean over every ξ of weight·min(loss/unit, 1), unit = MOST_LOSS·mean loss."""
        unit, total = expert_mixture.MOST_LOSS * self.statistics.level, 0.0
        for b in range(self.batch):
            xi, counted = self.stride * b + self.shift, 0.0
            if unit > 0.0:
                counted = min(max(self.window.losses[xi] / unit, 0.0), 1.0)
            total += self.share * self.window.weights[xi] * counted
        return total

    def curve(self) -> int:
        """Compute b ≥ |a|/reach at the points, so that no prediction moves further than `trust`."""
        width = self.statistics.distance if self.is_kinked else 0.0
        curvature.start(self.window, self.loss, width)
        for b in range(self.batch):
            theta = self.stride * b
            xi = theta + self.shift
            by_theta = self.window.weights[theta] * self.share
            by_xi = by_theta * self.window.weights[xi]
            if self.is_of_losses:
                curvature.add_of_losses(
                    self.window, self.risk, theta, xi, by_theta, by_xi, self.statistics.spread
                )
            else:
                curvature.add_of_predictions(self.window, self.risk, theta, xi, by_theta, by_xi)
        reach = self.trust * (1.0 + self.largest_target)
        for b in range(self.window.size):
            least = self.iterate.length_of(b) / reach
            if not self.window.curvatures[b] >= least:
                self.window.curvatures[b] = least
            self.window.curvatures[b] = min(self.window.curvatures[b], loops.LARGEST)
        return 0

    # -- a point -----------------------------------------------------------------------------

    def look(self) -> int:
        """Evaluate κ(D, x), z of the first point, f and the losses."""
        self.evaluate_columns()
        self.check_gram()
        self.whiten(0)
        self.predict_window()
        return self.evaluate_losses()

    def look_ahead(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Compute z of the sample in the window together with those of the next rows."""
        if self.dictionary.size < lookahead.FEWEST_ATOMS:
            return 0
        return self.lookahead.proceed(X, weight, row, stop)

    def evaluate_columns(self) -> int:
        """Compute κ(D, x) for the points x of the window, unless the lookahead has computed it."""
        if self.lookahead.ready > 0:
            return self.lookahead.move_to_front()
        self.P.expect(0)
        return KernelStream.evaluate_columns(self)

    def whiten(self, b: int) -> None:
        """Compute z = Uᵀκ(D, x) of point b; the same pass over U brings w up to date."""
        n = self.dictionary.size
        if n >= lookahead.FEWEST_ATOMS and self.lookahead.find(b, self.window.size):
            self.iterate.spread_pending()
        else:
            loops.whiten_and_spread(
                self.dictionary.factor, n, self.dictionary.columns, b,
                self.P.rows, inverse.WHITENED, self.iterate.last,
                self.P.rows, inverse.PRODUCT,
            )  # fmt: skip
        self.iterate.add_pending()

    def flush(self) -> int:
        """Apply the pending update and discard the lookahead, because the caller may change f."""
        self.iterate.bring_up_to_date()
        self.lookahead.forget()
        return 0

    def move_by(self, b: int, eps: float) -> float:
        """Move f and P by point b, which may become an atom; return the H-norm left out."""
        n, own, z = self.dictionary.size, self.dictionary.gram[b, b], inverse.WHITENED
        if own < gradient_step.VANISHING:
            return 0.0
        if b > 0:
            self.whiten(b)
            self.iterate.relinearize(b)
        h, prior = self.P.multiply(n), self.fresh_prior()
        variance = max(loops.dot(self.P.rows, z, self.P.rows, h, n), 0.0)
        novelty = own - loops.dot(self.P.rows, z, self.P.rows, z, n)
        squares = loops.dot(self.P.rows, h, self.P.rows, h, n)
        beyond = max(novelty, 0.0)
        extended = variance + beyond / prior
        error = self.iterate.plan(b, variance, extended, squares, beyond, prior)
        enters = novelty > loops.NOVELTY_FLOOR * own and error > eps
        if enters and n >= self.most_atoms:
            enters = self.iterate.new_price > self.iterate.price(self.iterate.cheapest())
        if enters:
            variance, error = extended, 0.0
            squares += novelty / (prior * prior)
            self.append(b, novelty)
            self.P.extend(n, h, novelty, prior)
        self.note_length(self.iterate.move(b, h, enters, squares, novelty))
        self.move_beside(h, variance)
        self.note_noise(b)
        self.P.add_curvature(
            self.iterate.curvature, self.mean_curvature, self.iterate.gain, variance, own
        )
        return error

    def move_beside(self, h: int, variance: float) -> None:
        """Hook: move functions beside f along the same h; `variance` is that of x."""

    def refit_beside(self, j: int) -> None:
        """Hook: prepare functions beside f for the eviction of atom j."""

    def fresh_prior(self) -> float:
        """The precision of a new direction."""
        return self.P.prior * (1.0 if self.dictionary.size < self.most_atoms else self.late)

    def append(self, b: int, novelty: float) -> None:
        """Make point b an atom, with weight 0 until the pending update."""
        n = self.dictionary.size
        loops.spread(
            self.dictionary.factor, n, self.P.rows, inverse.WHITENED,
            self.P.rows, inverse.PRODUCT,
        )  # fmt: skip
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[b, row] = 0.0
        self.dictionary.append_row(b, self.P.rows, inverse.PRODUCT, novelty)
        self.lookahead.forget()
        for later in range(b + 1, self.window.size):
            self.dictionary.columns[later, n] = self.dictionary.gram[later, b]

    def note_length(self, square: float) -> None:
        """Update the running mean of squared step norms with a point's step."""
        if self.follows_moves:
            rate = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
            self.squared_move += rate * (square - self.squared_move)

    def note_noise(self, b: int) -> None:
        """Track the residuals and slopes that an exact f would have.

        A residual before the step exceeds the noise because of the error of f: for a squared loss
        by the factor 1 + bτ, which is 1/gain. Later samples weigh more, because the first residuals
        are mostly errors of f. The mean curvature, which scales forgetting, is not weighted.
        """
        rate = 4.0 / ((min(self.steps, 4 * LATEST) + 4) * self.window.size)
        gain, length = self.iterate.wide_gain, self.iterate.length
        self.squared_slope += rate * (length * length * gain - self.squared_slope)
        usual = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
        self.mean_curvature += usual * (self.iterate.curvature - self.mean_curvature)
        for c in range(min(self.n_outputs, self.window.targets.shape[1])):
            residual = self.window.predictions[b, c] - self.window.targets[b, c]
            self.noise[c] += rate * (residual * residual * gain - self.noise[c])

    # -- inspection --------------------------------------------------------------------------

    def snapshot_inverse_curvature(self) -> Array:
        """P, a copy of shape (M, M)."""
        self.enter()
        try:
            return self.P.dense(self.dictionary)
        finally:
            self.leave()

    def variances(self, X: Array) -> tuple[Array, Array]:
        """Return the variances (mean a²/mean b)·(zᵀPz + s/λ) of f at X (n,), and of the noise."""
        self.enter()
        try:
            unit = self.squared_slope / self.mean_curvature if self.mean_curvature > 0.0 else 0.0
            reached = self.P.variances(self.dictionary, X, self.fresh_prior())
            return np.asarray(unit * reached), np.array(self.noise)
        finally:
            self.leave()
