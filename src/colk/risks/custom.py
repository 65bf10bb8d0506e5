"""Risks from plain Python functions of a loss, or of predictions and targets."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.contracts import TrackerContract
from colk._engine.terms import check_term
from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import OfArrays, OfLoss
from colk._engine.user_functions.pickling import reduce_functions
from colk._validation import Array, check_count, check_fraction, check_vector
from colk.losses import Loss
from colk.losses.base import as_rows
from colk.losses.custom import claimed
from colk.risks.base import LossRisk, Risk, Rows, average, shares
from colk.trackers import Momentum, Tracker

Plain = Callable[..., Any]


def check_given(
    risk: str, names: Sequence[str], functions: Sequence[Plain | None]
) -> tuple[Plain, ...]:
    """Return the functions of a risk; raise TypeError that names the missing ones."""
    missing = [name for name, each in zip(names, functions, strict=True) if each is None]
    if missing:
        raise TypeError(
            f"{risk} needs five functions, {', '.join(names)}, because derivatives are not "
            f"computed; missing: {', '.join(missing)}"
        )
    return tuple(each for each in functions if each is not None)


class CustomRisk(LossRisk):
    """A risk E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)] ∈ R^m from five user-defined functions.

    With `n_inner` = 1, g and the results of the functions are plain numbers. With more, g is an
    array of that size, and `inner`, `inner_slope` and `outer_slope_inner` return tuples or arrays.

    Functions are compiled, called and pickled like those of a `CustomLoss`: a call takes 0.01 µs
    with Numba, 0.2 µs without. Check the risk with `colk.testing.check_risk`.

    A learner's momentum tracker corrects g by the change of the last step, which may briefly move g
    out of the range of `inner`. If `outer` needs, for example, g > 0, use
    `tracker=MovingAverage()`.

    Parameters
    ----------
    inner, inner_slope : callable
        inner(ℓ) and its derivative.
    outer, outer_slope_loss, outer_slope_inner : callable
        outer(ℓ, g) and its derivatives in ℓ and in g. Each of the five may be a C function, `double
        (double loss, double *g, ssize_t i)`, that returns component i. The attribute `functions`
        holds them as a tuple.
    n_inner : int
        m, at least 1. Default: 1.
    is_convex, is_monotone : bool
        Properties of the risk as a function of the losses. Default: False. colk relies on them and
        does not check them.

    Examples
    --------
    The mean plus the variance; it could also be written with `n_inner` = 2 and g = (E ℓ, E ℓ²):

    >>> risk = CustomRisk(
    ...     inner=lambda loss: loss,
    ...     inner_slope=lambda loss: 1.0,
    ...     outer=lambda loss, g: loss + (loss - g) ** 2,
    ...     outer_slope_loss=lambda loss, g: 1.0 + 2.0 * (loss - g),
    ...     outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
    ... )
    >>> risk.value([1.0, 3.0])
    3.0
    """

    __reduce__ = reduce_functions
    _names = ("inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner")
    n_inner = n_expectations = claimed("n_inner")
    is_convex, is_monotone = claimed("is_convex"), claimed("is_monotone")

    def __init__(
        self,
        inner: Plain | None = None,
        inner_slope: Plain | None = None,
        outer: Plain | None = None,
        outer_slope_loss: Plain | None = None,
        outer_slope_inner: Plain | None = None,
        n_inner: int = 1,
        *,
        is_convex: bool = False,
        is_monotone: bool = False,
    ) -> None:
        given = (inner, inner_slope, outer, outer_slope_loss, outer_slope_inner)
        self.functions = check_given(type(self).__name__, self._names, given)
        m = check_count(n_inner, "n_inner")
        of_loss = Signature("loss", (m,), False, (0, 0, m))
        number = Signature("loss", (), True, (0, 0, m))
        numbers = Signature("loss", (m,), True, (0, 0, m))
        self._inner = OfLoss(self.functions[0], of_loss, "inner")
        self._inner_slope = OfLoss(self.functions[1], of_loss, "inner_slope")
        self._outer = OfLoss(self.functions[2], number, "outer")
        self._outer_slope_loss = OfLoss(self.functions[3], number, "outer_slope_loss")
        self._outer_slope_inner = OfLoss(self.functions[4], numbers, "outer_slope_inner")
        self._given = {"n_inner": m, "is_convex": bool(is_convex), "is_monotone": bool(is_monotone)}

    def _parameters(self) -> dict[str, Any]:
        return {**dict(zip(self._names, self.functions, strict=True)), **self._given}

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return g_i after a sample; inner is called at the previous loss only if there is one."""
        value = earlier = self._inner.at(now, g, i)
        with cython.gil:
            if tracker.remembers:
                earlier = self._inner.at(before, g, i)
        return tracker.update(g[i], earlier, value, rate)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return self._inner.at(loss, g, i)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return self._inner_slope.at(loss, g, i)

    def outer_at(self, loss: float, g: Array) -> float:
        return self._outer.at(loss, g, 0)

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return self._outer_slope_loss.at(loss, g, 0)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        return self._outer_slope_inner.at(loss, g, i)


class Composition(Risk):
    """E_θ[outer(f_θ, y_θ, g)] with g = E_ξ[inner(f_ξ, y_ξ)] ∈ R^m: the paper's general form.

    The loss is not used. Every function gets its own copies of 1-D arrays: a prediction f (q,), a
    target y (r,) and, for the outer functions, g (m,). It returns a tuple, an array, or a plain
    number for a single value, in the shape given below. The rest is as in `CustomRisk`, but a call
    is slower: 0.03 µs with Numba and 2 µs without.

    Parameters
    ----------
    inner, inner_slope : callable (f, y)
        inner(f, y), of shape (m,), and ∂inner_i/∂f_c, of shape (m, q).
    outer, outer_slope_prediction, outer_slope_inner : callable (f, y, g)
        The number outer(f, y, g); ∂outer/∂f, of shape (q,); and ∂outer/∂g, of shape (m,). Each of
        the five may be a C function, `double (double *f, double *y, double *g, double *result)`,
        that returns 0, or NaN if it failed. The attribute `functions` holds them as a tuple.
    n_inner, n_outputs, n_targets : int
        The sizes m, q and r. Default: 1 each.
    is_convex, is_monotone : bool
        Properties of the risk as a function of the predictions. Default: False. `is_monotone` has
        no effect.

    Examples
    --------
    The squared error plus the squared bias, (E[f − y])²:

    >>> risk = Composition(
    ...     inner=lambda f, y: f[0] - y[0],
    ...     inner_slope=lambda f, y: 1.0,
    ...     outer=lambda f, y, g: (f[0] - y[0]) ** 2 + g[0] ** 2,
    ...     outer_slope_prediction=lambda f, y, g: 2.0 * (f[0] - y[0]),
    ...     outer_slope_inner=lambda f, y, g: 2.0 * g[0],
    ... )
    >>> from colk.losses import Squared
    >>> risk.value_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    9.0
    >>> risk.gradient_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    array([3., 5.])
    """

    __reduce__ = reduce_functions
    _names = ("inner", "inner_slope", "outer", "outer_slope_prediction", "outer_slope_inner")
    n_inner = claimed("n_inner")
    n_outputs: ClassVar[int] = claimed("n_outputs")
    n_targets: ClassVar[int] = claimed("n_targets")
    is_convex, is_monotone = claimed("is_convex"), claimed("is_monotone")
    functions = property(lambda self: tuple(each.given for each in self._functions().values()))

    def __init__(
        self,
        inner: Plain | None = None,
        inner_slope: Plain | None = None,
        outer: Plain | None = None,
        outer_slope_prediction: Plain | None = None,
        outer_slope_inner: Plain | None = None,
        n_inner: int = 1,
        n_outputs: int = 1,
        n_targets: int = 1,
        is_convex: bool = False,
        is_monotone: bool = False,
    ) -> None:
        each = (inner, inner_slope, outer, outer_slope_prediction, outer_slope_inner)
        functions = check_given(type(self).__name__, self._names, each)
        m = check_count(n_inner, "n_inner")
        q, r = check_count(n_outputs, "n_outputs"), check_count(n_targets, "n_targets")

        def function(given: Plain, name: str, *shape: int) -> OfArrays:
            signature = Signature("arrays", shape, name.startswith("outer"), (q, r, m))
            return OfArrays(given, signature, name)

        self._inner = function(functions[0], "inner", m)
        self._inner_slope = function(functions[1], "inner_slope", m, q)
        self._outer = function(functions[2], "outer")
        self._by_prediction = function(functions[3], "outer_slope_prediction", q)
        self._by_inner = function(functions[4], "outer_slope_inner", m)
        self._given = {
            "n_inner": m,
            "n_outputs": q,
            "n_targets": r,
            "is_convex": bool(is_convex),
            "is_monotone": bool(is_monotone),
        }

    def _functions(self) -> dict[str, OfArrays]:
        first = (self._inner, self._inner_slope, self._outer)
        return {each.role: each for each in (*first, self._by_prediction, self._by_inner)}

    def _parameters(self) -> dict[str, Any]:
        return {**{name: each.given for name, each in self._functions().items()}, **self._given}

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        for name, what, size in (
            ("n_outputs", "predictions", n_outputs),
            ("n_targets", "targets", n_targets),
        ):
            if size != self._given[name]:
                raise ValueError(
                    f"the composition was made for {what} of {self._given[name]} numbers, "
                    f"these have {size}; give it {name}={size}"
                )

    def start_at(self, F: Array, Y: Array, xi: int, g: Array) -> int:
        self._inner.write(F, xi, Y, xi, g, g, 0)
        return 0

    def track_at_row(
        self, F: Array, before: Array, Y: Array, xi: int, g: Array, tracker: TrackerContract,
        rate: float, work: Array,
    ) -> int:  # fmt: skip
        if rate >= 1.0:
            return self.start_at(F, Y, xi, g)
        m = g.shape[0]
        self._inner.write(F, xi, Y, xi, g, work, 0)
        for i in range(m):
            work[m + i] = work[i]
        with cython.gil:
            if tracker.remembers:
                self._inner.write(before, xi, Y, xi, g, work, m)
        for i in range(m):
            g[i] = tracker.update(g[i], work[m + i], work[i], rate)
        return 0

    def chain_at(
        self, F: Array, Y: Array, theta: int, xi: int, g: Array, slopes: Array, work: Array
    ) -> int:
        """c_θ = ∂outer/∂f at θ, and c_ξ = Σ_i ∂outer/∂g_i at θ · ∂inner_i/∂f at ξ."""
        q, m = slopes.shape[1], g.shape[0]
        self._by_prediction.write(F, theta, Y, theta, g, work, 0)
        self._by_inner.write(F, theta, Y, theta, g, work, q)
        self._inner_slope.write(F, xi, Y, xi, g, work, q + m)
        for c in range(q):
            slopes[0, c] = work[c]
            slopes[1, c] = 0.0
            for i in range(m):
                slopes[1, c] += work[q + i] * work[q + m + i * q + c]
        return 0

    def outer_at_row(self, F: Array, Y: Array, theta: int, g: Array, work: Array) -> float:
        self._outer.write(F, theta, Y, theta, g, work, 0)
        return work[0]

    def follow(
        self,
        f: ArrayLike,
        y: ArrayLike,
        before: ArrayLike | None = None,
        *,
        rate: float = 0.1,
        tracker: Tracker | None = None,
    ) -> Array:
        """Return g, of shape (n, m), as a learner tracks it on a stream of predictions.

        See `LossRisk.follow`; `before` are the predictions of the previous function.
        """
        F, Y = self._rows(f, y)
        earlier = F if before is None else self._rows(before, y)[0]
        chosen = check_term(Momentum() if tracker is None else tracker, Tracker, "tracker")
        path = np.empty((len(F), self.n_inner))
        self._track_rows(chosen, earlier, F, Y, check_fraction(rate, "rate"), path)
        return path

    def _track_rows(
        self, tracker: Tracker, before: Array, F: Array, Y: Array, rate: float, path: Array
    ) -> int:
        """Write g after each row; the first row initialises it."""
        g, work = np.zeros(path.shape[1]), np.zeros(2 * path.shape[1])
        for t in range(path.shape[0]):
            self.track_at_row(F, before, Y, t, g, tracker, rate if t > 0 else 1.0, work)
            for i in range(path.shape[1]):
                path[t, i] = g[i]
        return 0

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        inner = self.tabulate("inner", f, y, np.zeros(self.n_inner))
        return average(inner, shares(len(inner), sample_weight))

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        outer = self.tabulate("outer", f, y, self.estimate_at(loss, f, y, sample_weight))[:, 0]
        return float(average(outer, shares(len(outer), sample_weight)))

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        g = self.estimate_at(loss, f, y, sample_weight)
        weights = shares(np.shape(f)[0], sample_weight)
        by_inner = average(self.tabulate("outer_slope_inner", f, y, g), weights)
        jacobians = self.tabulate("inner_slope", f, y, g).reshape(len(weights), self.n_inner, -1)
        slopes = self.tabulate("outer_slope_prediction", f, y, g) + by_inner @ jacobians
        return (weights[:, None] * slopes).reshape(np.shape(f))

    def tabulate(self, name: str, f: ArrayLike, y: ArrayLike, g: ArrayLike) -> Array:
        """Return one of the five functions at all rows, of shape (n, size of its result)."""
        F, Y = self._rows(f, y)
        function = self._functions()[name]
        out = np.zeros((len(F), int(np.prod(function.signature.shape))))
        function.tabulate(F, Y, check_vector(g, self.n_inner, "g"), out.reshape(-1))
        return out

    def _rows(self, f: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        F = as_rows(f, "f")
        Y = as_rows(y, "y", len(F))
        for rows, width, name in ((F, self.n_outputs, "f"), (Y, self.n_targets, "y")):
            if (found := rows.shape[1]) != width:
                raise ValueError(
                    f"{name} has {found} columns, the composition was made for {width}"
                )
        return F, Y
