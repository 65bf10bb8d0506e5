"""The second-order step: curvature in the orthonormal coordinates that KOMP computes anyway.

With z = Uᵀκ(D, x) a function of the span is f(x) = θᵀz, and P, the inverse of the accumulated
curvature (`inverse_curvature.py`), says how far a sample of slope a moves it: θ ← θ − P⁺ a z. Here
f is kept by its weights w = Uθ. They change by multiples of Uh, h = Pz, and that is put off to the
pass over U that the next sample needs for its z.
"""

import math
from typing import Any, ClassVar

import numpy as np

from colk import _stored as stored
from colk._engine import gradient_step, inverse_curvature, lookahead
from colk._engine.gradient_step import KernelStream
from colk._engine.inverse_curvature import Covariance
from colk._engine.lookahead import Ahead
from colk._engine.simd import loops
from colk._validation import Array
from colk.compressors import pursuit
from colk.compressors.pursuit import KOMP

__all__ = ["NewtonStream"]

# Samples over which spreads are followed.
LATEST = 1000
# A change is abrupt where the share of losses in what used to be their upper tail, followed at the
# one rate, exceeds a bound; the tail begins where a slower rate finds it.
TAIL, TAIL_RATE, SHARE_RATE, MOST_BEYOND = 0.1, 0.01, 0.05, 0.6


class NewtonStream(KernelStream):
    """A kernel stream that divides slopes by the curvature of what it has seen.

    Parameters
    ----------
    P : Covariance
        The inverse of the curvature, of no sample yet.
    trust : float
        Most that a sample moves its own prediction, in units of 1 + the largest target.
    restart : bool
        Whether P starts anew where most losses are suddenly beyond their former tail.
    **common
        The arguments of `KernelStream`.
    """

    tallies: ClassVar[dict[str, stored.Field]] = {
        **KernelStream.tallies,
        **dict.fromkeys(
            (
                "level",
                "spread",
                "distance",
                "tail_loss",
                "beyond",
                "squared_slope",
                "mean_curvature",
            ),
            stored.Number(finite=False),
        ),
        "rested_until": stored.Count(),
        "restarts": stored.Count(),
    }

    rule: KOMP
    P: Covariance
    trust: float
    late: float  # the prior of a direction for which an atom has to leave, in units of λ
    ahead: Ahead
    owed: Array  # (outputs,): multiples of Uh that w lacks
    owing: bool  # whether w lacks any
    last: int  # the row of that h
    level: float  # of the losses: their mean
    spread: float  # of the losses about it
    distance: float  # mean |f − y|
    tail_loss: float  # above which a share TAIL of the losses lies
    beyond: float  # share of the latest losses that do
    restarts: int  # how often P started anew
    squared_slope: float  # mean a²·gain: slopes at an f that is exact
    mean_curvature: float  # mean b
    noise: Array  # (outputs,): mean squared residual·gain

    def __init__(self, P: Covariance, trust: float, restart: bool, **common: Any) -> None:
        super().__init__(**common)
        self.P, self.trust, self.late = P, trust, 1.0
        self.rule = self.compressor  # type: ignore[assignment]
        self.restart, self.restarts, self.rested_until = restart, 0, LATEST
        self.follows_norm, self.squared_norm = False, math.nan
        self.is_kinked = len(self.loss.kinks) > 0
        self.level = self.spread = self.distance = self.tail_loss = self.beyond = 0.0
        self.squared_slope = self.mean_curvature = 0.0
        self.owing, self.last = False, inverse_curvature.FIRST
        self.noise, self.owed = np.zeros((2, self.n_outputs))
        self.ahead = Ahead(self.dictionary, P)
        # Ghosts of the last step are looked at by the step itself: no f_{t−1} is known lookahead.
        alone = self.window.size == 1 and self.remembered == 0
        self.foresees = alone and self.dictionary.kernel.is_shift_invariant
        self.make_room()

    def make_room(self) -> int:
        """Make room for another step, in P as in the dictionary."""
        self.dictionary.reserve(self.gained)
        self.P.grow(self.dictionary.size, self.dictionary.capacity)
        self.ahead.forget()
        return 0

    # -- the step ----------------------------------------------------------------------------

    def step(self) -> int:
        """Take the points of the window in, one after the other; 0 where it would diverge."""
        t, before = self.steps, self.dictionary.size
        if self.lay_window() == 0:
            return 0
        self.halve(0)
        if self.assess(self.tracking_rate.rate(t), True) == 0:
            return 0
        self.follow_spreads(1.0 / min(t + 1, LATEST))
        self.curve_window()
        if self.restart and self.has_changed():
            self.P.start_anew(self.dictionary.size)
            self.restarts, self.rested_until = self.restarts + 1, t + LATEST
        self.remember_and_shrink(1.0)
        eps, error = self.rule.bound + self.rule.part * math.sqrt(self.squared_move), 0.0
        for b in range(self.window.size):
            error += self.take(b, eps - error)
        if self.dictionary.added > 0:
            error += self.prune(max(eps - error, 0.0))
        self.error_sum += error
        self.review(t + 1)
        if self.traced:
            self.rest()
            self.squared_norm = gradient_step.exact_squared_norm(self.dictionary, self.n_outputs)
        self.steps = t + 1
        self.record(before + self.dictionary.added - self.dictionary.size, error, 1.0)
        return 1

    def review(self, steps: int) -> int:
        """Change settings after so many steps, where a method does."""
        return 0

    def follow_spreads(self, rate: float) -> None:
        """How far losses are from their mean, and predictions from their targets."""
        share, columns = 1.0 / self.window.size, min(self.n_outputs, self.window.targets.shape[1])
        for b in range(self.window.size):
            loss, gap = self.window.losses[b], 0.0
            for c in range(columns):
                gap += abs(self.window.predictions[b, c] - self.window.targets[b, c]) / columns
            if self.steps == 0:
                self.level += share * loss
                self.spread += share * abs(loss)
                self.distance += share * gap
            else:
                self.spread += rate * share * (abs(loss - self.level) - self.spread)
                self.level += rate * share * (loss - self.level)
                self.distance += rate * share * (gap - self.distance)

    def has_changed(self) -> bool:
        """Whether most of the latest losses lie beyond the former tail of them all."""
        for b in range(self.window.size):
            loss = self.window.losses[b]
            if self.steps == 0:
                self.tail_loss = loss
            above = 1.0 if loss > self.tail_loss else 0.0
            self.beyond += SHARE_RATE * (above - self.beyond)
            self.tail_loss -= TAIL_RATE * math.sqrt(TAIL) * self.spread * (1.0 - above / TAIL)
        return self.beyond > MOST_BEYOND and self.steps >= self.rested_until

    def curve_window(self) -> int:
        """Slopes and curvatures of the points of the window."""
        return self.curve()

    def curve(self) -> int:
        """Curvatures b of the points of the window, at least 0: Gauss–Newton in the risk's outer.

        Never so small that a sample would move its own prediction, by up to |a|/b, too far.
        """
        for b in range(self.window.size):
            self.window.curvatures[b] = 0.0
            width = self.distance if self.is_kinked else 0.0
            self.window.loss_curvatures[b] = self.loss.curvature(
                self.window.predictions, self.window.targets, b, self.window.loss_slopes, width
            )
        for b in range(self.batch):
            theta = self.stride * b
            xi = theta + self.shift
            self.risk.pair_curvatures(self.window, theta, xi, self.spread)
            by_theta = self.window.weights[theta] * self.share
            self.window.curvatures[theta] += by_theta * self.window.pair_curvatures[0]
            by_xi = by_theta * self.window.weights[xi]
            self.window.curvatures[xi] += by_xi * self.window.pair_curvatures[1]
        reach = self.trust * (1.0 + self.largest_target)
        for b in range(self.window.size):
            least = self.length(b) / reach
            if not self.window.curvatures[b] >= least:
                self.window.curvatures[b] = least
            self.window.curvatures[b] = min(self.window.curvatures[b], loops.LARGEST)
        return 0

    def length(self, b: int) -> float:
        """|a| of point b."""
        squares = 0.0
        for c in range(self.n_outputs):
            squares += self.window.coefficients[b, c] * self.window.coefficients[b, c]
        return math.sqrt(squares)

    def foresee(self, X: Array, weight: Array, row: int, stop: int) -> int:
        """Find z of the sample in the window with those of the rows behind it."""
        if self.dictionary.size < lookahead.FEWEST_ATOMS:
            return 0
        return self.ahead.proceed(X, weight, row, stop)

    def lay_columns(self) -> int:
        """κ(D, x) for the points x of the window, unless it was found lookahead."""
        if self.ahead.laid > 0:
            return self.ahead.bring()
        self.P.expect(0)
        return KernelStream.lay_columns(self)

    def halve(self, b: int) -> None:
        """Find z of point b; on the way w is given what it lacks."""
        n = self.dictionary.size
        if n >= lookahead.FEWEST_ATOMS and self.ahead.find(b, self.window.size):
            self.spread_last()
        else:
            loops.halve_and_spread(
                self.dictionary.factor, n, self.dictionary.columns, b,
                self.P.rows, inverse_curvature.HALF, self.last,
                self.P.rows, inverse_curvature.SOLUTION,
            )  # fmt: skip
        self.catch_up()

    def spread_last(self) -> None:
        """Find Uh, where w lacks it."""
        if self.owing:
            loops.spread(
                self.dictionary.factor, self.dictionary.size,
                self.P.rows, self.last, self.P.rows, inverse_curvature.SOLUTION,
            )  # fmt: skip

    def catch_up(self) -> None:
        """Give w what it lacks, now that Uh is known."""
        if self.owing:
            for c in range(self.n_outputs):
                amount, n = self.owed[c], self.dictionary.size
                loops.add(
                    self.dictionary.weights_t, c, self.P.rows, inverse_curvature.SOLUTION, amount, n
                )
        self.owing = False

    def rest(self) -> int:
        """Give w what it lacks, and look no further: between calls others look at it."""
        self.spread_last()
        if self.owing:
            self.catch_up()
        self.ahead.forget()
        return 0

    def take(self, b: int, eps: float) -> float:
        """Move f and P by point b; it enters where leaving it out would cost more than eps.

        Returns the H-norm of what is left out of the step in the span of the atoms and x.
        """
        n, bend, own = self.dictionary.size, self.window.curvatures[b], self.dictionary.gram[b, b]
        if own < gradient_step.VANISHING:
            return 0.0
        if b > 0:
            self.halve(b)
            self.relinearize(b)
        h, length, half = self.P.multiply(n), self.length(b), inverse_curvature.HALF
        variance = max(loops.dot(self.P.rows, half, self.P.rows, h, n), 0.0)
        novelty = own - loops.dot(self.P.rows, half, self.P.rows, half, n)
        squares = loops.dot(self.P.rows, h, self.P.rows, h, n)
        prior = self.fresh_prior()
        extended = variance + max(novelty, 0.0) / prior
        gain, wide_gain = 1.0 / (1.0 + bend * variance), 1.0 / (1.0 + bend * extended)
        price = length * wide_gain * math.sqrt(max(novelty, 0.0)) / prior
        inside = length * (gain - wide_gain)
        error = math.sqrt(price * price + inside * inside * squares)
        enters = novelty > loops.NOVELTY_FLOOR * own and error > eps
        if enters and n >= self.rule.at_most:
            enters = price * price > self.price(self.cheapest())
        if enters:
            gain, variance, error = wide_gain, extended, 0.0
            squares += novelty / (prior * prior)
            self.append(b, novelty)
            self.P.extend(n, h, novelty, prior)
        self.note_length(length * length * gain * gain * squares)
        self.note_noise(b, wide_gain, length, bend)
        for c in range(self.n_outputs):
            self.owed[c] = -gain * self.window.coefficients[b, c]
        self.last, self.owing = h, True
        self.P.shrink(bend, self.mean_curvature, gain, variance, own)
        return error

    def fresh_prior(self) -> float:
        """The precision of a direction that is new."""
        return self.P.prior * (1.0 if self.dictionary.size < self.rule.at_most else self.late)

    def relinearize(self, b: int) -> None:
        """Let the slope be a + b(f − f_t)(x): what the points before it in the window leave."""
        for c in range(self.n_outputs):
            now = loops.dot(
                self.dictionary.weights_t, c, self.dictionary.columns, b, self.dictionary.size
            )
            moved = now - self.window.predictions[b, c]
            self.window.coefficients[b, c] += self.window.curvatures[b] * moved

    def append(self, b: int, novelty: float) -> None:
        """Make point b an atom, of weight 0 until w is given what it lacks."""
        n = self.dictionary.size
        loops.spread(
            self.dictionary.factor,
            n,
            self.P.rows,
            inverse_curvature.HALF,
            self.dictionary.solutions,
            b,
        )
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[b, row] = 0.0
        self.dictionary.append_row(b, novelty)
        self.ahead.forget()
        for later in range(b + 1, self.window.size):
            self.dictionary.columns[later, n] = self.dictionary.gram[later, b]

    def note_length(self, square: float) -> None:
        """Take the squared H-norm of a point's step into the mean of about the latest."""
        if self.follows_moves:
            rate = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
            self.squared_move += rate * (square - self.squared_move)

    def note_noise(self, b: int, gain: float, length: float, bend: float) -> None:
        """Follow what is left of residuals and slopes where f would be exact.

        A residual before the step is larger than the noise by what f lacks: for a squared loss by
        1 + bτ, which is 1/gain. Later ones weigh more: the first show what was not learned yet.
        Curvatures, by which samples are forgotten, count alike.
        """
        rate = 4.0 / ((min(self.steps, 4 * LATEST) + 4) * self.window.size)
        self.squared_slope += rate * (length * length * gain - self.squared_slope)
        usual = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
        self.mean_curvature += usual * (bend - self.mean_curvature)
        for c in range(min(self.n_outputs, self.window.targets.shape[1])):
            residual = self.window.predictions[b, c] - self.window.targets[b, c]
            self.noise[c] += rate * (residual * residual * gain - self.noise[c])

    # -- atoms that leave --------------------------------------------------------------------

    def prune(self, eps: float) -> float:
        """KOMP: drop the cheapest atoms within eps, crowded ones and those too many at any price.

        Returns the H-norm of what is lost.
        """
        moved, spent, crowded = 0.0, 0.0, True
        self.rest()
        while self.dictionary.size > 0:
            j = pursuit.find_crowded(self.dictionary) if crowded else self.dictionary.size
            crowded = j < self.dictionary.size
            if not crowded:
                j = self.cheapest()
                if self.dictionary.size <= self.rule.at_most:
                    if moved + math.sqrt(spent + self.price(j)) > eps:
                        break
                else:
                    moved += self.hand_over(j)
            spent += self.drop(j)
        return moved + math.sqrt(spent)

    def hand_over(self, j: int) -> float:
        """Let others have the part of atom j, one too many, before it leaves; how far f moves."""
        return 0.0  # its projection alone: what was learned long ago may be outdated

    def price(self, j: int) -> float:
        """The squared H-norm that dropping atom j costs."""
        return self.dictionary.price(j)

    def cheapest(self) -> int:
        """The atom that costs least to drop, the newest of equals."""
        return pursuit.cheapest(self.dictionary)

    def drop(self, j: int) -> float:
        """Drop atom j, and turn P as U is turned; returns its cost."""
        self.P.turn_out(self.dictionary, j)
        return self.dictionary.drop_atom(j)

    # -- looking at it -----------------------------------------------------------------------

    def snapshot_covariance(self) -> Array:
        """P, a copy of shape (M, M)."""
        self.enter()
        try:
            return self.P.dense(self.dictionary)
        finally:
            self.leave()

    def variances(self, X: Array) -> tuple[Array, Array]:
        """Variances at X of f (n,) and of the noise (outputs,).

        zᵀPz + s/λ, λ that of a new direction, times what a loss has for a noise: mean a² over b's.
        """
        P = self.snapshot_covariance()
        atoms = self.dictionary.atoms
        L = np.linalg.cholesky(self.dictionary.kernel.gram(atoms)) if len(atoms) else P
        Z = np.linalg.solve(L, self.dictionary.kernel.gram(atoms, X)).T
        novelty = np.maximum(self.dictionary.kernel.diagonal(X) - (Z**2).sum(axis=1), 0.0)
        scale = self.squared_slope / self.mean_curvature if self.mean_curvature > 0.0 else 0.0
        reached = np.maximum(((Z @ P) * Z).sum(axis=1), 0.0) + novelty / self.fresh_prior()
        return np.asarray(scale * reached), np.array(self.noise)

    # -- files and pickles -------------------------------------------------------------------

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        curvature = {"P": self.P.pack(self.dictionary.size), "noise": np.array(self.noise)}
        return {**super().pack(), **curvature}

    def fields(self) -> dict[str, stored.Field]:
        """What `pack` returns for a stream of this shape."""
        noise = stored.Array(self.noise.shape[0], at_least=0.0)
        return {**super().fields(), "P": self.P.fields(), "noise": noise}

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        super().unpack(packed)
        self.P.unpack(packed["P"], self.dictionary.capacity)
        np.asarray(self.noise)[: len(packed["noise"])] = packed["noise"]  # outputs may be more now
