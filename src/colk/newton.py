"""The second-order step: curvature in the orthonormal coordinates that KOMP computes anyway.

With z = Uᵀκ(D, x) a function of the span is f(x) = θᵀz, and P, the inverse of the accumulated
curvature λI + Σ b zzᵀ, says how far a sample of slope a moves it: θ ← θ − P⁺ a z. Here f is kept by
its weights w = Uθ. A direction that is new has the prior's variance 1/λ: a point that enters adds
one entry to the diagonal of P. An atom that leaves takes its coordinate along, after the rotations
that make it the last one of U have turned P as well.

A sample changes P by −m hhᵀ, h = Pz, and w by multiples of Uh. Both are put off: P catches up with
several samples in one pass, and until then is P − Σ_r m_r h_r h_rᵀ; w does in the pass over U that
the next sample needs for its z.
"""

import math
from typing import Any, ClassVar

import numpy as np

from colk import lanes, step
from colk._validation import Array
from colk.buffers import aligned
from colk.compressors import pursuit
from colk.compressors.pursuit import KOMP
from colk.step import KernelStream

__all__ = ["NewtonStream"]

# Rows of `vectors`: z, Uh, and from the first on the h that P lacks, at most so many.
HALF, SOLUTION, FIRST = 0, 1, 2
MOST_PENDING = 8
# So many atoms for each of them: that many products with h cost little beside one with P.
ATOMS_PENDING = 16
# Below this variance at x nothing is forgotten there.
LEAST_VARIANCE = 1e-9
# Samples over which spreads are followed.
LATEST = 1000
# A change is abrupt where the share of losses in what used to be their upper tail, followed at the
# one rate, exceeds a bound; the tail begins where a slower rate finds it.
TAIL, TAIL_RATE, SHARE_RATE, MOST_BEYOND = 0.1, 0.01, 0.05, 0.6


class NewtonStream(KernelStream):
    """A kernel stream that divides slopes by the curvature of what it has seen.

    Parameters
    ----------
    prior : float
        λ, the precision of every direction of H before the first sample.
    forgetting : float
        γ, in (0, 1]: the variance at a sample grows by 1/γ, and nowhere else.
    trust : float
        Most that a sample moves its own prediction, in units of 1 + the largest target.
    restart : bool
        Whether P starts anew where most losses are suddenly beyond their former tail.
    **common
        The arguments of `KernelStream`.
    """

    tallies: ClassVar[tuple[str, ...]] = (
        *KernelStream.tallies, "level", "spread", "distance", "pending", "tail_loss", "beyond",
        "rested_until", "restarts", "squared_slope", "mean_curvature",
    )  # fmt: skip

    rule: KOMP
    prior: float
    forgetting: float
    trust: float
    covariance: Array  # (capacity, capacity): P, of which the lower half counts
    vectors: Array  # (FIRST + MOST_PENDING, capacity)
    amounts: Array  # (MOST_PENDING,): m_r
    owed: Array  # (outputs,): multiples of Uh that w lacks
    pending: int  # how many h_r P lacks
    owing: bool  # whether w lacks the last of them
    turns: Array  # (2, capacity): cosines and sines
    level: float  # of the losses: their mean
    spread: float  # of the losses about it
    distance: float  # mean |f − y|
    tail_loss: float  # above which a share TAIL of the losses lies
    beyond: float  # share of the latest losses that do
    restarts: int  # how often P started anew
    squared_slope: float  # mean a²·gain: slopes at an f that is exact
    mean_curvature: float  # mean b
    noise: Array  # (outputs,): mean squared residual·gain

    def __init__(
        self, prior: float, forgetting: float, trust: float, restart: bool, **common: Any
    ) -> None:
        super().__init__(**common)
        self.restart, self.restarts, self.rested_until = restart, 0, LATEST
        self.tail_loss = self.beyond = self.squared_slope = self.mean_curvature = 0.0
        self.noise = np.zeros(self.n_outputs)
        self.rule, self.prior = self.compressor, prior
        self.forgetting, self.trust = forgetting, trust
        self.follows_norm, self.squared_norm = False, math.nan
        self.is_kinked = len(self.loss.kinks) > 0
        self.level = self.spread = self.distance = 0.0
        self.pending, self.owing, self.last = 0, False, FIRST
        self.amounts, self.owed = np.zeros(MOST_PENDING), np.zeros(self.n_outputs)
        self.covariance, self.vectors = np.zeros((1, 1)), np.zeros((FIRST + MOST_PENDING, 1))
        self.make_room()

    def make_room(self) -> int:
        """Make room for another step, in P and the vectors as in the dictionary."""
        self.dictionary.reserve(self.gained)
        n, capacity = min(self.dictionary.size, self.covariance.shape[0]), self.dictionary.capacity
        grown = aligned(capacity, capacity), aligned(FIRST + MOST_PENDING, capacity)
        grown[0][:n, :n] = np.asarray(self.covariance)[:n, :n]
        grown[1][:, :n] = np.asarray(self.vectors)[:, :n]
        self.covariance, self.vectors = grown
        self.turns = aligned(2, capacity)
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
            self.start_anew()
        self.remember_and_shrink(1.0)
        eps, error = self.rule.bound + self.rule.part * math.sqrt(self.squared_move), 0.0
        for b in range(self.window.size):
            error += self.take(b, eps - error)
        if self.dictionary.added > 0:
            error += self.prune(max(eps - error, 0.0))
        self.error_sum += error
        if self.traced:
            self.rest()
            self.squared_norm = step.exact_squared_norm(self.dictionary, self.n_outputs)
        self.steps = t + 1
        self.record(before + self.dictionary.added - self.dictionary.size, error, 1.0)
        return 1

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

    def start_anew(self) -> None:
        """P = I/λ: what was learned stays, and may be changed as if it were a guess."""
        n = self.dictionary.size
        for i in range(n):
            for j in range((n + 7) & -8):
                self.covariance[i, j] = 0.0
            self.covariance[i, i] = 1.0 / self.prior
        self.pending, self.rested_until = 0, self.steps + LATEST
        self.restarts += 1

    def curve_window(self) -> int:
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
            self.window.curvatures[b] = min(self.window.curvatures[b], lanes.LARGEST)
        return 0

    def length(self, b: int) -> float:
        """|a| of point b."""
        squares = 0.0
        for c in range(self.n_outputs):
            squares += self.window.coefficients[b, c] * self.window.coefficients[b, c]
        return math.sqrt(squares)

    def halve(self, b: int) -> None:
        """z of point b; on the way w is given what it lacks."""
        n = self.dictionary.size
        lanes.halve_and_spread(
            self.dictionary.factor, n, self.dictionary.columns, b,
            self.vectors, HALF, self.last, self.vectors, SOLUTION,
        )  # fmt: skip
        if self.owing:
            for c in range(self.n_outputs):
                lanes.add(self.dictionary.weights_t, c, self.vectors, SOLUTION, self.owed[c], n)
        self.owing = False

    def rest(self) -> int:
        """Give w what it lacks: between calls others look at it."""
        if self.owing:
            self.halve(0)
        return 0

    def take(self, b: int, eps: float) -> float:
        """Move f and P by point b; it enters where leaving it out would cost more than eps.

        Returns the H-norm of what is left out of the step in the span of the atoms and x.
        """
        n, bend, own = self.dictionary.size, self.window.curvatures[b], self.dictionary.gram[b, b]
        if own < step.VANISHING:
            return 0.0
        if b > 0:
            self.halve(b)
            self.relinearize(b)
        h, length = self.multiply(), self.length(b)
        variance = max(lanes.dot(self.vectors, HALF, self.vectors, h, n), 0.0)
        novelty = own - lanes.dot(self.vectors, HALF, self.vectors, HALF, n)
        squares = lanes.dot(self.vectors, h, self.vectors, h, n)
        extended = variance + max(novelty, 0.0) / self.prior
        gain, wide_gain = 1.0 / (1.0 + bend * variance), 1.0 / (1.0 + bend * extended)
        price = length * wide_gain * math.sqrt(max(novelty, 0.0)) / self.prior
        inside = length * (gain - wide_gain)
        error = math.sqrt(price * price + inside * inside * squares)
        enters = novelty > lanes.NOVELTY_FLOOR * own and error > eps
        if enters and n >= self.rule.at_most:
            j = pursuit.cheapest(self.dictionary)
            enters = price * price > self.dictionary.price(j)
        if enters:
            gain, variance, error = wide_gain, extended, 0.0
            squares += novelty / (self.prior * self.prior)
            self.append(b, h, novelty)
        self.note(length * gain, squares)
        self.note_noise(b, gain, length, bend)
        for c in range(self.n_outputs):
            self.owed[c] = -gain * self.window.coefficients[b, c]
        self.last, self.owing = FIRST + self.pending, True
        self.amounts[self.pending] = self.shrinkage(bend, gain, variance, own)
        self.pending += 1
        if self.pending >= min(MOST_PENDING, 1 + self.dictionary.size // ATOMS_PENDING):
            self.settle_pending()
        return error

    def multiply(self) -> int:
        """The row of h = Pz, behind those that P lacks."""
        n, h = self.dictionary.size, FIRST + self.pending
        lanes.multiply_symmetric(self.covariance, n, self.vectors, HALF, h)
        for r in range(self.pending):
            shared = lanes.dot(self.vectors, FIRST + r, self.vectors, HALF, n)
            lanes.add(self.vectors, h, self.vectors, FIRST + r, -self.amounts[r] * shared, n)
        return h

    def relinearize(self, b: int) -> None:
        """Let the slope be a + b(f − f_t)(x), what the points before it in the window leave of it."""
        for c in range(self.n_outputs):
            now = lanes.dot(
                self.dictionary.weights_t, c, self.dictionary.columns, b, self.dictionary.size
            )
            moved = now - self.window.predictions[b, c]
            self.window.coefficients[b, c] += self.window.curvatures[b] * moved

    def append(self, b: int, h: int, novelty: float) -> None:
        """Make point b an atom, of weight 0 until w is given what it lacks; h gains √s/λ."""
        n = self.dictionary.size
        lanes.halve_and_spread(
            self.dictionary.factor, n, self.dictionary.columns, b,
            self.vectors, SOLUTION, HALF, self.dictionary.solutions, b,
        )  # fmt: skip
        self.settle_pending()
        for i in range(n):
            self.vectors[FIRST, i] = self.vectors[h, i]
        for i in range(n, (n + 8) & -8):
            self.vectors[FIRST, i] = 0.0
        self.vectors[FIRST, n] = math.sqrt(novelty) / self.prior
        for row in range(self.dictionary.n_rows):
            self.dictionary.amounts[b, row] = 0.0
        self.dictionary.append_row(b, novelty)
        self.covariance[n, n] = 1.0 / self.prior
        for later in range(b + 1, self.window.size):
            self.dictionary.columns[later, n] = self.dictionary.gram[later, b]

    def note(self, amount: float, squares: float) -> None:
        """Take the squared H-norm of a point's step into the mean of about the latest."""
        if self.follows_moves:
            rate = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
            self.squared_move += rate * (amount * amount * squares - self.squared_move)

    def note_noise(self, b: int, gain: float, length: float, bend: float) -> None:
        """Follow what is left of residuals and slopes where f would be exact.

        A residual before the step is larger than the noise by what f lacks: for a squared loss by
        1 + bτ, which is 1/gain.
        """
        rate = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)
        self.squared_slope += rate * (length * length * gain - self.squared_slope)
        self.mean_curvature += rate * (bend - self.mean_curvature)
        for c in range(min(self.n_outputs, self.window.targets.shape[1])):
            residual = self.window.predictions[b, c] - self.window.targets[b, c]
            self.noise[c] += rate * (residual * residual * gain - self.noise[c])

    def shrinkage(self, bend: float, gain: float, variance: float, own: float) -> float:
        """The m of P ← P − m hhᵀ: b·gain, less what is forgotten, no further than the prior."""
        if self.forgetting == 1.0 or bend == 0.0 or variance <= LEAST_VARIANCE:
            return bend * gain
        forgotten = gain * (bend - (1.0 / self.forgetting - 1.0) / variance)
        return max(forgotten, min((1.0 - own / (self.prior * variance)) / variance, bend * gain))

    # -- atoms that leave --------------------------------------------------------------------

    def prune(self, eps: float) -> float:
        """KOMP: drop the cheapest atoms within eps, crowded ones and those too many at any price.

        Returns the H-norm of what is lost.
        """
        budget, spent, crowded = eps * eps, 0.0, True
        self.rest()
        while self.dictionary.size > 0:
            j = pursuit.find_crowded(self.dictionary) if crowded else self.dictionary.size
            crowded = j < self.dictionary.size
            if not crowded:
                j = pursuit.cheapest(self.dictionary)
                free = self.dictionary.size <= self.rule.at_most
                if free and spent + self.dictionary.price(j) > budget:
                    break
            self.turn_out(j)
            spent += self.dictionary.drop_atom(j)
        return math.sqrt(spent)

    def settle_pending(self) -> None:
        """Give P what it lacks."""
        if self.pending > 0:
            lanes.subtract_squares(
                self.covariance, self.dictionary.size, self.vectors, FIRST,
                self.amounts, self.pending,
            )  # fmt: skip
        self.pending = 0

    def turn_out(self, j: int) -> None:
        """Turn P as dropping atom j will turn Uᵀ, and delete the coordinate that leaves."""
        n, last = self.dictionary.size, self.dictionary.size - 1
        self.settle_pending()
        top = self.dictionary.factor[j, j]
        for i in range(j, last):
            side = self.dictionary.factor[i + 1, j]
            length = math.sqrt(top * top + side * side)
            self.turns[0, i], self.turns[1, i] = side / length, top / length
            top = length
        if j < last:
            mirror(self.covariance, n)
            lanes.turn_rows(self.covariance, n, j, self.turns, self.dictionary.carry)
            transpose(self.covariance, n)
            lanes.turn_rows(self.covariance, n, j, self.turns, self.dictionary.carry)
        for i in range(n):
            self.covariance[last, i] = 0.0
            self.covariance[i, last] = 0.0

    # -- looking at it -----------------------------------------------------------------------

    def snapshot_covariance(self) -> Array:
        """P, a copy of shape (M, M), for coordinates of which U has a positive diagonal."""
        self.enter()
        try:
            n = self.dictionary.size
            signs = np.sign(np.diag(np.asarray(self.dictionary.factor)[:n, :n]))
            lower = np.tril(np.asarray(self.covariance)[:n, :n])
            P, h = lower + np.tril(lower, -1).T, np.asarray(self.vectors)[FIRST:, :n]
            for r in range(self.pending):
                P -= self.amounts[r] * np.outer(h[r], h[r])
            return np.asarray(P * np.outer(signs, signs))
        finally:
            self.leave()

    def variances(self, X: Array) -> tuple[Array, Array]:
        """Variances at X of f (n,) and of the noise (outputs,).

        zᵀPz + s/λ, times what a loss has for a noise: mean a² over mean b.
        """
        P = self.snapshot_covariance()
        atoms = self.dictionary.atoms
        L = np.linalg.cholesky(self.dictionary.kernel.gram(atoms)) if len(atoms) else P
        Z = np.linalg.solve(L, self.dictionary.kernel.gram(atoms, X)).T
        novelty = np.maximum(self.dictionary.kernel.diagonal(X) - (Z**2).sum(axis=1), 0.0)
        scale = self.squared_slope / self.mean_curvature if self.mean_curvature > 0.0 else 0.0
        reached = np.maximum(((Z @ P) * Z).sum(axis=1), 0.0) + novelty / self.prior
        return np.asarray(scale * reached), np.array(self.noise)

    # -- files and pickles -------------------------------------------------------------------

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        packed, n = super().pack(), self.dictionary.size
        packed["covariance"] = np.array(np.asarray(self.covariance)[:n, :n])
        packed["vectors"] = np.array(np.asarray(self.vectors)[:, :n])
        packed["amounts"], packed["noise"] = np.array(self.amounts), np.array(self.noise)
        return packed

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed."""
        super().unpack(packed)
        n = self.dictionary.size
        self.make_room()
        np.asarray(self.covariance)[:] = 0.0
        np.asarray(self.covariance)[:n, :n] = packed["covariance"]
        np.asarray(self.vectors)[:, :n] = packed["vectors"]
        np.asarray(self.amounts)[:] = packed["amounts"]
        np.asarray(self.noise)[:] = packed["noise"]


def mirror(P: Array, n: int) -> None:
    """Write the lower half into the upper one."""
    for i in range(n):
        for k in range(i):
            P[k, i] = P[i, k]


def transpose(P: Array, n: int) -> None:
    """Swap rows and columns."""
    for i in range(n):
        for k in range(i):
            kept = P[k, i]
            P[k, i] = P[i, k]
            P[i, k] = kept
