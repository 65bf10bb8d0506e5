"""Base class of risks of a loss: formulas for one loss, exact values on a sample, updates."""

from typing import ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.contracts import TrackerContract
from colk._engine.simd import loops
from colk._engine.terms import check_term, is_outside, overridden
from colk._validation import Array, check_fraction, check_vector
from colk.losses import Loss
from colk.risks import second_order
from colk.risks.base import Risk, Rows, average, shares
from colk.risks.roots import inner_sum, solve
from colk.risks.samples import Bends, HeldSample, Joint, LossPart, LossSample, Slopes, Statistics
from colk.trackers import Momentum, Tracker

# Distance of the finite difference of slopes, relative to 1 + |ℓ|.
DIFFERENCE = 1e-6


class LossRisk(Risk):
    """A risk of a loss: E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ, g)].

    There are two kinds of components of g. The first `n_expectations` are expectations and enter
    the gradient by the chain rule. At the others the outer expectation is stationary, so they do
    not enter (envelope theorem); their inner slopes are 0. If inner_i depends on g_i, the exact g_i
    is the root of E inner_i(ℓ, g) = g_i.

    To define a risk, write a class with `n_inner` and the five methods below, from `inner_at` to
    `outer_slope_inner_at`, or pass five functions to `CustomRisk`.

    Examples
    --------
    >>> from colk.risks import LossRisk, Variance
    >>> risk = Variance(weight=0.5)
    >>> isinstance(risk, LossRisk), risk.estimate([1.0, 3.0]), risk.value([1.0, 3.0])
    (True, array([2.]), 2.5)
    """

    _hooks: ClassVar[tuple[str, ...]] = (
        "inner_at",
        "inner_slope_at",
        "outer_at",
        "outer_slope_loss_at",
        "outer_slope_inner_at",
    )
    _sealed: ClassVar[tuple[str, ...]] = ("start", "track", "chain", "outer_curvature", "track_at")

    is_of_losses: ClassVar[bool] = True

    is_sum = property(lambda self: self.n_inner == 0, doc="Whether it is a sum over samples.")
    starts_from_mean = property(
        lambda self: self.n_inner > 0, doc="Whether a fit takes atoms and λ from the mean loss."
    )
    n_expectations = property(
        lambda self: min(self.n_inner, 1),
        doc="Number of leading components of g that are expectations; the others are stationary.",
    )

    is_implicit = property(
        lambda self: is_outside(type(self)),
        doc="Whether inner_i may depend on g_i, so that the exact g_i solves an equation.",
    )

    # -- the formulas, for one loss ----------------------------------------------------------

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """Return inner_i(ℓ, g); its expectation is g_i if g is exact."""
        with cython.gil:
            return float(
                overridden(self, "inner_at")(loss, np.array(loops.numbers(g, self.n_inner)), i)
            )

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """Return ∂inner_i/∂ℓ for an expectation; 0 for a stationary component."""
        with cython.gil:
            return float(
                overridden(self, "inner_slope_at")(
                    loss, np.array(loops.numbers(g, self.n_inner)), i
                )
            )

    def outer_at(self, loss: float, g: Array) -> float:
        """outer(ℓ, g)."""
        with cython.gil:
            return float(
                overridden(self, "outer_at")(loss, np.array(loops.numbers(g, self.n_inner)))
            )

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        with cython.gil:
            return float(
                overridden(self, "outer_slope_loss_at")(
                    loss, np.array(loops.numbers(g, self.n_inner))
                )
            )

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g_i."""
        with cython.gil:
            return float(
                overridden(self, "outer_slope_inner_at")(
                    loss, np.array(loops.numbers(g, self.n_inner)), i
                )
            )

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return g_i after a sample, from its losses under the previous f and under f."""
        return tracker.update(g[i], self.inner_at(before, g, i), self.inner_at(now, g, i), rate)

    # -- the methods that a step calls--------------------------------------------------------

    def start(self, g: Array, m: int, loss: float) -> int:
        for i in range(m):  # in order: inner_i may use g_{<i}
            g[i] = self.inner_at(loss, g, i)
        return 0

    def track(
        self,
        g: Array,
        m: int,
        before: float,
        now: float,
        tracker: TrackerContract,
        rate: float,
        work: Array,
    ) -> int:
        # All components use g before the sample: a g₁ that has already moved towards ℓ would bias
        # (ℓ − g₁)₊^p by a share of order β, and its momentum correction by order 1.
        for i in range(m):
            work[i] = self.track_at(tracker, g, i, before, now, rate)
        for i in range(m):
            g[i] = work[i]
        return 0

    def chain(self, theta: float, xi: float, g: Array, m: int, factors: Array) -> int:
        """∂outer/∂ℓ at ℓ_θ, and Σ_i ∂outer/∂g_i at ℓ_θ · ∂inner_i/∂ℓ at ℓ_ξ.

        The second is 0 if no component of g is an expectation (Mean, CVaR, Entropic).
        """
        factors[0], factors[1] = self.outer_slope_loss_at(theta, g), 0.0
        for i in range(m):
            slope = self.inner_slope_at(xi, g, i)
            if slope != 0.0:
                factors[1] += self.outer_slope_inner_at(theta, g, i) * slope
        return 0

    def outer_curvature(self, theta: float, g: Array, m: int, width: float) -> float:
        """Return ∂²outer/∂ℓ² from the slopes at ℓ ± width, which smooths kinks."""
        apart = max(width, DIFFERENCE * (1.0 + abs(theta)))
        above = self.outer_slope_loss_at(theta + apart, g)
        return max((above - self.outer_slope_loss_at(theta - apart, g)) / (2.0 * apart), 0.0)

    # -- the formulas over a sample of losses ------------------------------------------------

    def inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """Return inner(ℓ, g) of shape (n, m); its expectation is g if g is exact."""
        return self._table("inner_at", loss, g)

    def inner_slope(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """Return ∂inner/∂ℓ of shape (n, m); 0 for stationary components."""
        return self._table("inner_slope_at", loss, g)

    def outer(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """Return outer(ℓ, g) of shape (n,)."""
        return self._table("outer_at", loss, g)[:, 0]

    def outer_slope_loss(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """Return ∂outer/∂ℓ of shape (n,)."""
        return self._table("outer_slope_loss_at", loss, g)[:, 0]

    def outer_slope_inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """Return ∂outer/∂g of shape (n, m)."""
        return self._table("outer_slope_inner_at", loss, g)

    def _table(self, formula: str, loss: ArrayLike, g: ArrayLike) -> Array:
        losses, inner = check_vector(loss, None, "loss"), check_vector(g, self.n_inner, "g")
        is_single = formula in ("outer_at", "outer_slope_loss_at")
        out = np.empty((len(losses), 1 if is_single else len(inner)))
        self._tabulate(LossRisk._hooks.index(formula), losses, inner, out)
        return out

    def _tabulate(self, which: int, losses: Array, g: Array, out: Array) -> int:
        """Evaluate one of the formulas, given by its index in `_hooks`, at all losses."""
        means = loops.data(g)
        for row in range(out.shape[0]):
            for i in range(out.shape[1]):
                if which == 0:
                    out[row, i] = self.inner_at(losses[row], means, i)
                elif which == 1:
                    out[row, i] = self.inner_slope_at(losses[row], means, i)
                elif which == 2:
                    out[row, i] = self.outer_at(losses[row], means)
                elif which == 3:
                    out[row, i] = self.outer_slope_loss_at(losses[row], means)
                else:
                    out[row, i] = self.outer_slope_inner_at(losses[row], means, i)
        return 0

    def _track_losses(
        self, tracker: TrackerContract, before: Array, now: Array, rate: float, path: Array
    ) -> int:
        """Write g after each loss; the first loss initialises it."""
        m, work = path.shape[1], np.zeros(path.shape[1] + 1)
        g = np.zeros(m + 1)
        for t in range(path.shape[0]):
            if t == 0 or rate >= 1.0:
                self.start(loops.data(g), m, now[t])
            else:
                self.track(loops.data(g), m, before[t], now[t], tracker, rate, loops.data(work))
            for i in range(m):
                path[t, i] = g[i]
        return 0

    def estimate(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return the exact g, of shape (m,), of a sample of losses (n,)."""
        return self.estimate_from(weighed(losses, sample_weight))

    def value(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the exact risk of a sample of losses (n,)."""
        return self.statistics(weighed(losses, sample_weight)).value

    def gradient(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return the gradient of `value` in the losses, of shape (n,)."""
        return self.value_and_gradient(losses, sample_weight)[1]

    def value_and_gradient(
        self, losses: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Array]:
        """Return `value` and `gradient` together, with one estimate of g."""
        sample = weighed(losses, sample_weight)
        found = self.statistics(sample)
        return found.value, _by_loss(self, found, sample)

    def influence(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return one number for each loss; their mean is `value`, on another sample to first order.

        They are outer(ℓ, g) + ⟨u, inner(ℓ, g) − g⟩ with u = E ∂outer/∂g. Their standard error is
        that of the risk.
        """
        sample = weighed(losses, sample_weight)
        values, weights = sample.together()
        g = self.estimate_from(sample)
        out = self.outer(values, g)
        k = min(self.n_expectations, self.n_inner)
        if k > 0:
            by_inner = average(self.outer_slope_inner(values, g)[:, :k], weights)
            out = out + (self.inner(values, g)[:, :k] - g[:k]) @ by_inner
        return out

    # -- sums over a sample, wherever its rows are --------------------------------------------

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the exact g, of shape (m,), from sums over a sample."""
        if type(self).estimate is not LossRisk.estimate:  # a method of the user's own
            return np.asarray(self.estimate(*sample.together()))
        g = np.ones(self.n_inner)
        for i in range(len(g)):  # in order: inner_i may use g_{<i}
            if self.is_implicit:
                g[i] = solve(self, sample, g, i)
            else:
                g[i] = sample.total(inner_sum, self, g.copy(), i)[0]
        return g

    def tied_loss(self, g: Array) -> float | None:
        """Return the loss at which the risk has a kink, or None.

        Rows with this loss share what the slopes lack to a sum of 1, as a subgradient.
        """
        return None

    def statistics(self, sample: LossSample) -> Statistics:
        if self.is_mean:
            return Statistics(sample.total(_mean_sum)[0], *(np.zeros(0),) * 3)
        g = self.estimate_from(sample)
        value, unit, sizes, moves, by_inner = sample.total(_first_sums, self, g)
        # The slope of a stationary component may be infinite.
        slopes = np.where(moves > 0.0, by_inner, 0.0)
        found = Statistics(float(value), g, slopes, sizes, float(unit))
        place = self.tied_loss(g)
        if place is None:
            return found
        mass, total = sample.total(_tied_sums, self, found, place)
        return found._replace(place=place, mass=float(mass), rest=1.0 - float(total))

    def slopes(self, found: Statistics, part: LossPart) -> Slopes:
        if self.is_mean:
            share = part.share
            return Slopes(share * part.losses, share, share[:, None] * part.loss_slopes)
        by_loss = _by_loss(self, found, part)
        values = part.share * self.outer(part.losses, found.g)
        return Slopes(values, by_loss, by_loss[:, None] * part.loss_slopes)

    def joint(self, found: Statistics, sample: LossSample) -> Joint | None:
        return second_order.joint_of_losses(self, found, sample)

    def bends(self, found: Statistics, part: LossPart, joint: Joint) -> Bends:
        n, q = part.loss_slopes.shape
        if self.is_mean:
            return Bends(part.share[:, None] * part.loss_curvature, np.zeros((n, 0, q)))
        by_loss = np.maximum(_by_loss(self, found, part), 0.0)
        bend = second_order.bend_of_losses(self, found, part)
        diagonal = by_loss[:, None] * part.loss_curvature + bend[:, None] * part.loss_slopes**2
        vectors = second_order.vectors_of_losses(self, found, joint, part)
        return Bends(diagonal, vectors[:, :, None] * part.loss_slopes[:, None, :])

    def product(self, found: Statistics, part: LossPart, change: Array) -> Array:
        bent = part.loss_product(change)
        if self.is_mean:
            return np.asarray(part.share[:, None] * bent)
        by_loss = np.maximum(_by_loss(self, found, part), 0.0)
        along = (part.loss_slopes * change).sum(axis=1)
        along = along * second_order.bend_of_losses(self, found, part)
        return np.asarray(by_loss[:, None] * bent + along[:, None] * part.loss_slopes)

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        return self.estimate(loss.value(f, y), sample_weight)

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        return self.value(loss.value(f, y), sample_weight)

    def value_and_gradient_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[float, Array]:
        value, by_loss = self.value_and_gradient(loss.value(f, y), sample_weight)
        return value, (loss.slope(f, y).T * by_loss).T

    def follow(
        self,
        losses: ArrayLike,
        before: ArrayLike | None = None,
        *,
        rate: float = 0.1,
        tracker: Tracker | None = None,
    ) -> Array:
        """Return g, of shape (n, m), as a learner tracks it on a stream of losses (n,).

        The first loss initialises g. `before` are the losses of the same samples under the previous
        function. Default: the same losses, as if the function did not change. `rate` is β, in (0,
        1]. `tracker` is `Momentum()` by default.
        """
        now = check_vector(losses, None, "losses")
        earlier = now if before is None else check_vector(before, len(now), "before")
        path = np.empty((len(now), self.n_inner))
        chosen = check_term(Momentum() if tracker is None else tracker, Tracker, "tracker")
        self._track_losses(chosen, earlier, now, check_fraction(rate, "rate"), path)
        return path


def weighed(losses: ArrayLike, sample_weight: ArrayLike | None) -> HeldSample:
    """Return a sample of losses (n,) in memory; its weights sum to 1."""
    values = check_vector(losses, None, "losses")
    return HeldSample(shares(len(values), sample_weight), values)


def _by_loss(risk: LossRisk, found: Statistics, part: LossPart) -> Array:
    """Return the derivative of the risk in the losses of these rows."""
    out = risk.outer_slope_loss(part.losses, found.g)
    if found.slopes.any():
        out = out + risk.inner_slope(part.losses, found.g) @ found.slopes
    out = part.share * out
    if found.mass > 0.0:
        tied = part.losses == found.place
        out[tied] += part.share[tied] * (found.rest / found.mass)
    return np.asarray(out)


def _mean_sum(part: LossPart) -> tuple[float]:
    return (float(np.sum(part.share * part.losses)),)


def _first_sums(
    part: LossPart, risk: LossRisk, g: Array
) -> tuple[float, float, Array, Array, Array]:
    """Return E outer, E |ℓ|, E |inner|, E |∂inner/∂ℓ| and E ∂outer/∂g."""
    losses, share = part.losses, part.share
    value = float(np.sum(share * risk.outer(losses, g)))
    tables = (
        np.abs(risk.inner(losses, g)),
        np.abs(risk.inner_slope(losses, g)),
        risk.outer_slope_inner(losses, g),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [(table.T * share).sum(axis=1) for table in tables]
    unit = float(np.sum(share * np.abs(losses)))
    return value, unit, sums[0], sums[1], sums[2]


def _tied_sums(
    part: LossPart, risk: LossRisk, found: Statistics, place: float
) -> tuple[float, float]:
    """Return the share of the rows with this loss, and the sum of the slopes."""
    mass = float(np.sum(part.share[part.losses == place]))
    return mass, float(np.sum(_by_loss(risk, found, part)))
