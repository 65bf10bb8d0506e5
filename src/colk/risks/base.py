"""Base classes of risks: exact values and gradients on a sample, and updates on a stream."""

from typing import ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.contracts import RiskContract, TrackerContract
from colk._engine.simd import loops
from colk._engine.terms import check_term, overridden
from colk._validation import Array, check_fraction, check_vector
from colk.losses import Loss
from colk.trackers import Momentum, Tracker

Rows = ArrayLike  # (n,) or (n, q)

# Distance of the finite difference of slopes, relative to 1 + |ℓ|.
DIFFERENCE = 1e-6


def shares(n: int, sample_weight: ArrayLike | None) -> Array:
    """Return weights of n samples that sum to 1; equal weights by default."""
    if n == 0:
        raise ValueError("a risk needs at least one sample")
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, n, "sample_weight")
    if (weights < 0.0).any() or weights.sum() == 0.0:
        raise ValueError("sample_weight must be at least 0, and not 0 everywhere")
    return weights / weights.sum()


def average(values: Array, weights: Array) -> Array:
    """Return the mean of the rows of `values`, by weights that sum to 1.

    It uses a pairwise sum, which is more accurate than BLAS and does not wake its threads.
    """
    return np.sum((values.T * weights).T, axis=0)


class Risk(RiskContract):
    """A functional of predictions and targets, evaluated on a sample or tracked on a stream.

    A convex and monotone risk is convex in the predictions if the loss is.

    Examples
    --------
    >>> from colk.risks import Risk, Variance
    >>> issubclass(Variance, Risk), Variance(0.5).n_inner
    (True, 1)
    """

    _hooks: ClassVar[tuple[str, ...]] = ()  # a base class, without a formula
    _sealed: ClassVar[tuple[str, ...]] = ("start_at", "track_at_row", "chain_at", "outer_at_row")

    # Name of the parameter that turns the risk into the mean as it goes to 0; "" if there is none.
    _strength: ClassVar[str] = ""

    is_of_losses: ClassVar[bool] = False

    n_inner = property(lambda self: 0, doc="Number m of tracked values, the size of g.")
    is_convex = property(lambda self: True, doc="Whether the risk is convex in the losses.")
    is_monotone = property(lambda self: True, doc="Whether it never falls when a loss rises.")
    is_smooth = property(lambda self: True, doc="Whether it has a gradient everywhere.")

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        """Raise ValueError if the risk was made for other sizes of predictions and targets."""

    def check_loss(self, loss: Loss) -> None:
        """Raise ValueError if the risk cannot be used with this loss."""

    def blended(self, share: float) -> "Risk | None":
        """Return a risk between the mean and this risk, at a share in (0, 1] of the way, or None.

        The weight or the tilt of the risk is multiplied by the share. If the risk has no such
        parameter, the result is None for a share below 1.
        """
        if share == 1.0:
            return self
        if self._strength not in self._fields:
            return None
        strength = share * float(getattr(self, self._strength))
        return self.replace(**{self._strength: strength})

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Return the exact g of shape (m,) at predictions `f` of targets `y`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method estimate_at")

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        """Return the exact empirical risk of predictions `f` of targets `y`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method value_at")

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Return the gradient of `value_at` in the predictions, in the shape of `f`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method gradient_at")

    def value_and_gradient_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[float, Array]:
        """Return `value_at` and `gradient_at` together."""
        return self.value_at(loss, f, y, sample_weight), self.gradient_at(loss, f, y, sample_weight)

    def second_derivative_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[Array, Array, Array] | None:
        """Return b (n,), V (n, k) and c (k,) of diag(b) + V diag(c) Vᵀ; None if it is not known.

        This matrix is the second derivative of `value_at` in predictions of one output.
        """
        return None


class LossRisk(Risk):
    """A risk of a loss: E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ, g)].

    There are two kinds of components of g. An expectation enters the gradient by the chain rule. A
    component at which the outer expectation is stationary does not enter (envelope theorem); its
    inner slope is 0.

    To define a risk, write a class with `n_inner` and the methods `inner_at`, `inner_slope_at`,
    `outer_at`, `outer_slope_loss_at` and `outer_slope_inner_at`, or pass five functions to
    `CustomRisk`.

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

    n_expectations = property(
        lambda self: min(self.n_inner, 1),
        doc="Number of leading components of g that are expectations; the others are stationary.",
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
        values, weights = weighed(losses, sample_weight)
        g = np.zeros(self.n_inner)
        for i in range(len(g)):  # in order: inner_i may use g_{<i}
            g[i] = average(self.inner(values, g)[:, i], weights)
        return g

    def value(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the exact risk of a sample of losses (n,)."""
        values, weights = weighed(losses, sample_weight)
        return float(average(self.outer(values, self.estimate(values, weights)), weights))

    def gradient(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return the gradient of `value` in the losses, of shape (n,)."""
        values, weights = weighed(losses, sample_weight)
        return self._gradient(values, weights, self.estimate(values, weights))

    def value_and_gradient(
        self, losses: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Array]:
        """Return `value` and `gradient` together, with one estimate of g."""
        values, weights = weighed(losses, sample_weight)
        g = self.estimate(values, weights)
        value = float(average(self.outer(values, g), weights))
        return value, self._gradient(values, weights, g)

    def influence(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return one number for each loss; their mean is `value`, on another sample to first order.

        They are outer(ℓ, g) + ⟨u, inner(ℓ, g) − g⟩ with u = E ∂outer/∂g. Their standard error is
        that of the risk.
        """
        values, weights = weighed(losses, sample_weight)
        g = self.estimate(values, weights)
        out = self.outer(values, g)
        k = min(self.n_expectations, self.n_inner)
        if k > 0:
            by_inner = average(self.outer_slope_inner(values, g)[:, :k], weights)
            out = out + (self.inner(values, g)[:, :k] - g[:k]) @ by_inner
        return out

    def _gradient(self, losses: Array, weights: Array, g: Array) -> Array:
        """Return the gradient of the risk in the losses, at the exact g."""
        slopes = self.inner_slope(losses, g)
        moving = (slopes != 0.0).any(axis=0)  # the slope of a stationary component may be infinite
        by_inner = average(self.outer_slope_inner(losses, g)[:, moving], weights)
        through = (slopes[:, moving] * by_inner).sum(axis=1)
        return weights * (self.outer_slope_loss(losses, g) + through)

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        return self.estimate(loss.value(f, y), sample_weight)

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        return self.value(loss.value(f, y), sample_weight)

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        return (loss.slope(f, y).T * self.gradient(loss.value(f, y), sample_weight)).T

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


def weighed(losses: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, Array]:
    """Return losses (n,) and their weights, which sum to 1."""
    values = check_vector(losses, None, "losses")
    return values, shares(len(values), sample_weight)
