"""What every risk can do: exact values and gradients on a sample, and its own functions."""

import math
from typing import ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.terms import Term, check_term, overridden
from colk._engine.window import Window
from colk._validation import Array, check_fraction, check_vector
from colk.losses import Loss
from colk.trackers import Momentum, Tracker

Rows = ArrayLike  # (n,) or (n, q)

# How far apart two slopes are taken whose difference is a curvature, relative to 1 + a size.
DIFFERENCE = 1e-6


def shares(n: int, sample_weight: ArrayLike | None) -> Array:
    """Weights of n samples that sum to 1; equal ones by default."""
    if n == 0:
        raise ValueError("a risk needs at least one sample")
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, n, "sample_weight")
    if (weights < 0.0).any() or weights.sum() == 0.0:
        raise ValueError("sample_weight must be at least 0, and not 0 everywhere")
    return weights / weights.sum()


def average(values: Array, weights: Array) -> Array:
    """Mean of the rows of `values` by weights that sum to 1.

    A pairwise sum: more exact than a product through BLAS, which would also wake its threads.
    """
    return np.sum((values.T * weights).T, axis=0)


class Risk(Term):
    """A functional of predictions and targets, exact on a sample and tracked on a stream.

    A risk that is convex and monotone is convex in the predictions wherever the loss is.

    Examples
    --------
    >>> from colk.risks import Risk, Variance
    >>> issubclass(Variance, Risk), Variance(0.5).n_inner
    (True, 1)
    """

    _hooks: ClassVar[tuple[str, ...]] = ("start", "track", "pair_slopes", "sample_value")
    _sealed: ClassVar[tuple[str, ...]] = ("pair_curvatures",)

    n_inner = property(lambda self: 0, doc="How many numbers are tracked: the size m of g.")
    is_convex = property(lambda self: True, doc="Whether the risk is convex in the losses.")
    is_monotone = property(lambda self: True, doc="Whether it never falls when a loss rises.")
    is_smooth = property(lambda self: True, doc="Whether it has a gradient everywhere.")

    def start(self, w: Window, xi: int) -> int:
        """Set g from the sample at place ξ of the window, the first of the stream."""
        with cython.gil:
            overridden(self, "start")(w, xi)
        return 0

    def track(self, w: Window, xi: int, tracker: Tracker, rate: float) -> int:
        """Move g by the sample at place ξ of the window; a rate of 1 forgets all but it."""
        with cython.gil:
            overridden(self, "track")(w, xi, tracker, rate)
        return 0

    def pair_slopes(self, w: Window, theta: int, xi: int) -> int:
        """Write the coefficients of κ(x_θ, ·) and κ(x_ξ, ·) into the rows of `w.slopes`."""
        with cython.gil:
            overridden(self, "pair_slopes")(w, theta, xi)
        return 0

    def pair_curvatures(self, w: Window, theta: int, xi: int, width: float) -> int:
        """Write the curvatures at x_θ and x_ξ, at least 0, into `w.pair_curvatures`.

        Here that of the outer function along its own slope, by a difference and by its size; at ξ
        a slope has as much curvature as one of that length at θ.
        """
        self.pair_slopes(w, theta, xi)
        squares, others, size = 0.0, 0.0, 1.0
        for c in range(w.slopes.shape[1]):
            w.kept[0, c], w.kept[1, c] = w.slopes[0, c], w.predictions[theta, c]
            squares += w.slopes[0, c] * w.slopes[0, c]
            others += w.slopes[1, c] * w.slopes[1, c]
            size += abs(w.predictions[theta, c])
        w.pair_curvatures[0] = w.pair_curvatures[1] = 0.0
        if squares == 0.0:
            return 0
        length = math.sqrt(squares)
        for c in range(w.slopes.shape[1]):
            w.predictions[theta, c] -= DIFFERENCE * size * w.kept[0, c] / length
        self.pair_slopes(w, theta, xi)
        change = 0.0
        for c in range(w.slopes.shape[1]):
            w.predictions[theta, c] = w.kept[1, c]
            change += w.kept[0, c] * (w.kept[0, c] - w.slopes[0, c])
        w.pair_curvatures[0] = abs(change / (length * DIFFERENCE * size))
        w.pair_curvatures[1] = w.pair_curvatures[0] * math.sqrt(others) / length
        return 0

    def sample_value(self, w: Window, theta: int) -> float:
        """Return the outer function at one sample: its mean over the stream is the risk."""
        with cython.gil:
            return float(overridden(self, "sample_value")(w, theta))

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        """Refuse predictions and targets of sizes that the risk was not made for."""

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Exact g of shape (m,) at predictions `f` of targets `y`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method estimate_at")

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        """Exact empirical risk of predictions `f` of targets `y`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method value_at")

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Gradient of `value_at` in the predictions, in the shape of `f`."""
        raise NotImplementedError(f"{type(self).__name__} must define the method gradient_at")

    def value_and_gradient_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[float, Array]:
        """`value_at` and `gradient_at` together."""
        return self.value_at(loss, f, y, sample_weight), self.gradient_at(loss, f, y, sample_weight)

    def _follow(
        self, w: Window, stream: dict[str, Array], rate: float, tracker: Tracker | None
    ) -> Array:
        """Return g after each sample; by its name, what the window is to see of them."""
        tracker = check_term(Momentum() if tracker is None else tracker, Tracker, "tracker")
        beta = check_fraction(rate, "rate")
        seen = [(np.asarray(getattr(w, name)), rows) for name, rows in stream.items()]
        path = np.empty((len(seen[0][1]), self.n_inner))
        for t in range(len(path)):
            for place, rows in seen:
                place[0] = rows[t]
            self.track(w, 0, tracker, beta if t > 0 else 1.0)
            path[t] = w.g
        return path


class LossRisk(Risk):
    """A risk of a loss: E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ, g)].

    A component of g is either an expectation, and enters the gradient by the chain rule, or where
    the outer expectation is stationary, and does not (envelope theorem): its inner slope is 0.

    A risk of your own is a class with `n_inner` and the methods `inner_at`, `inner_slope_at`,
    `outer_at`, `outer_slope_loss_at` and `outer_slope_inner_at`; or, of as many functions, a
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
    _sealed: ClassVar[tuple[str, ...]] = ("track_at", "through")

    n_expectations = property(
        lambda self: min(self.n_inner, 1),
        doc="How many components of g are expectations: the first; the others are stationary.",
    )

    # -- the formulas, for one loss ----------------------------------------------------------

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """inner_i(ℓ, g): its expectation is g_i where g is exact."""
        with cython.gil:
            return float(overridden(self, "inner_at")(loss, np.asarray(g), i))

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """∂inner_i/∂ℓ of an expectation; 0 for a component that is stationary."""
        with cython.gil:
            return float(overridden(self, "inner_slope_at")(loss, np.asarray(g), i))

    def outer_at(self, loss: float, g: Array) -> float:
        """outer(ℓ, g)."""
        with cython.gil:
            return float(overridden(self, "outer_at")(loss, np.asarray(g)))

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        with cython.gil:
            return float(overridden(self, "outer_slope_loss_at")(loss, np.asarray(g)))

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g_i."""
        with cython.gil:
            return float(overridden(self, "outer_slope_inner_at")(loss, np.asarray(g), i))

    def track_at(
        self, tracker: Tracker, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """g_i after a sample, from its losses under the remembered f and under f."""
        return tracker.update(g[i], self.inner_at(before, g, i), self.inner_at(now, g, i), rate)

    # -- what a step asks of them ------------------------------------------------------------

    def start(self, w: Window, xi: int) -> int:
        for i in range(w.g.shape[0]):  # in order: inner_i may look at g_{<i}
            w.g[i] = self.inner_at(w.losses[xi], w.g, i)
        return 0

    def track(self, w: Window, xi: int, tracker: Tracker, rate: float) -> int:
        if rate >= 1.0:
            return self.start(w, xi)
        # All of them look at g as it was before the sample: a g₁ that has already moved towards ℓ
        # would bias (ℓ − g₁)₊^p by a share of order β, and its momentum correction by order 1.
        for i in range(w.g.shape[0]):
            w.work[i] = self.track_at(tracker, w.g, i, w.previous_losses[xi], w.losses[xi], rate)
        for i in range(w.g.shape[0]):
            w.g[i] = w.work[i]
        return 0

    def pair_slopes(self, w: Window, theta: int, xi: int) -> int:
        """c_θ = ∂outer/∂ℓ · ℓ'(f_θ, y_θ) and c_ξ = Σ_i ∂outer/∂g_i · ∂inner_i/∂ℓ · ℓ'(f_ξ, y_ξ).

        Where no component of g is an expectation (Mean, CVaR, Entropic), c_ξ is 0.
        """
        by_loss = self.outer_slope_loss_at(w.losses[theta], w.g)
        through = self.through(w, theta, xi)
        for c in range(w.slopes.shape[1]):
            w.slopes[0, c] = by_loss * w.loss_slopes[theta, c]
            w.slopes[1, c] = through * w.loss_slopes[xi, c] if through != 0.0 else 0.0
        return 0

    def through(self, w: Window, theta: int, xi: int) -> float:
        """Σ_i ∂outer/∂g_i · ∂inner_i/∂ℓ, outer at θ and inner at ξ."""
        total = 0.0
        for i in range(w.g.shape[0]):
            slope = self.inner_slope_at(w.losses[xi], w.g, i)
            if slope != 0.0:
                total += self.outer_slope_inner_at(w.losses[theta], w.g, i) * slope
        return total

    def pair_curvatures(self, w: Window, theta: int, xi: int, width: float) -> int:
        """|∂outer/∂ℓ|·ℓ'' + ∂²outer/∂ℓ²·ℓ'² at θ; at ξ the same of what g passes on.

        The second slope is that between ℓ − width and ℓ + width: a kink is as wide as the losses'
        spread. A dispersion has the curvature d''·(ℓ'_θ z_θ − ℓ'_ξ z_ξ)²/2, at most the sum of both
        squares. Slopes count by their size: where a step leads up a loss, as at ξ it does half of
        the time, it goes no further for that.
        """
        loss, bend, squares, others = w.losses[theta], 0.0, 0.0, 0.0
        if w.g.shape[0] > 0:
            apart = max(width, DIFFERENCE * (1.0 + abs(loss)))
            above = self.outer_slope_loss_at(loss + apart, w.g)
            bend = max((above - self.outer_slope_loss_at(loss - apart, w.g)) / (2.0 * apart), 0.0)
        for c in range(w.slopes.shape[1]):
            squares += w.loss_slopes[theta, c] * w.loss_slopes[theta, c]
            others += w.loss_slopes[xi, c] * w.loss_slopes[xi, c]
        factor, passed = abs(self.outer_slope_loss_at(loss, w.g)), abs(self.through(w, theta, xi))
        w.pair_curvatures[0] = factor * w.loss_curvatures[theta] + bend * squares
        w.pair_curvatures[1] = passed * w.loss_curvatures[xi] + (
            bend * others if passed > 0.0 else 0.0
        )
        return 0

    def sample_value(self, w: Window, theta: int) -> float:
        return self.outer_at(w.losses[theta], w.g)

    # -- the formulas over a sample of losses ------------------------------------------------

    def inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """inner(ℓ, g) of shape (n, m): its expectation is g where g is exact."""
        return self._table("inner_at", loss, g)

    def inner_slope(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂inner/∂ℓ of shape (n, m), with 0 for the components that are stationary."""
        return self._table("inner_slope_at", loss, g)

    def outer(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """outer(ℓ, g) of shape (n,)."""
        return self._table("outer_at", loss, g)[:, 0]

    def outer_slope_loss(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂outer/∂ℓ of shape (n,)."""
        return self._table("outer_slope_loss_at", loss, g)[:, 0]

    def outer_slope_inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂outer/∂g of shape (n, m)."""
        return self._table("outer_slope_inner_at", loss, g)

    def _table(self, formula: str, loss: ArrayLike, g: ArrayLike) -> Array:
        losses, inner = check_vector(loss, None, "loss"), check_vector(g, self.n_inner, "g")
        is_single = formula in ("outer_at", "outer_slope_loss_at")
        out = np.empty((len(losses), 1 if is_single else len(inner)))
        self._tabulate(LossRisk._hooks.index(formula), losses, inner, out)
        return out

    def _tabulate(self, which: int, losses: Array, g: Array, out: Array) -> int:
        """Write one of the formulas, by its place in `_hooks`, at all losses."""
        for row in range(out.shape[0]):
            for i in range(out.shape[1]):
                if which == 0:
                    out[row, i] = self.inner_at(losses[row], g, i)
                elif which == 1:
                    out[row, i] = self.inner_slope_at(losses[row], g, i)
                elif which == 2:
                    out[row, i] = self.outer_at(losses[row], g)
                elif which == 3:
                    out[row, i] = self.outer_slope_loss_at(losses[row], g)
                else:
                    out[row, i] = self.outer_slope_inner_at(losses[row], g, i)
        return 0

    def estimate(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Exact g of a sample of losses (n,), of shape (m,)."""
        values, weights = weighed(losses, sample_weight)
        g = np.zeros(self.n_inner)
        for i in range(len(g)):  # in order: inner_i may look at g_{<i}
            g[i] = average(self.inner(values, g)[:, i], weights)
        return g

    def value(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Exact risk of a sample of losses (n,)."""
        values, weights = weighed(losses, sample_weight)
        return float(average(self.outer(values, self.estimate(values, weights)), weights))

    def gradient(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Gradient of `value` in the losses, of shape (n,)."""
        values, weights = weighed(losses, sample_weight)
        return self._gradient(values, weights, self.estimate(values, weights))

    def _gradient(self, losses: Array, weights: Array, g: Array) -> Array:
        """Gradient of the risk in the losses, where g is exact."""
        slopes = self.inner_slope(losses, g)
        moving = (slopes != 0.0).any(axis=0)  # where g is stationary, its slope may be infinite
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

        The first loss starts g. `before` are the losses of the same samples under the function that
        is remembered; by default they are the same, as if the function stood still. The tracker is
        `Momentum()` by default, and moves g at a rate β in (0, 1].
        """
        now = check_vector(losses, None, "losses")
        earlier = now if before is None else check_vector(before, len(now), "before")
        w = Window(1, 1, 1, 1, self.n_inner)
        return self._follow(w, {"losses": now, "previous_losses": earlier}, rate, tracker)


def weighed(losses: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, Array]:
    """Losses (n,) and their shares."""
    values = check_vector(losses, None, "losses")
    return values, shares(len(values), sample_weight)
