"""A risk of predictions and targets themselves: the paper's general form, in plain functions."""

from collections.abc import Callable
from typing import Any

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_fraction, check_rows, check_vector
from colk.functions.addresses import Signature
from colk.functions.base import OfArrays
from colk.functions.pickling import reduce_functions
from colk.losses import Loss
from colk.risks.base import Risk, average, shares
from colk.trackers import Momentum, Tracker
from colk.window import Window

__all__ = ["Composition"]

Plain = Callable[..., Any]


class Composition(Risk):
    """E_θ[outer(f_θ, y_θ, g)] with g = E_ξ[inner(f_ξ, y_ξ)] ∈ R^m; the loss is not used.

    Every function reads 1-D arrays, copies of its own: a prediction f (q,), a target y (r,) and, of
    the outer ones, g (m,). It returns its result, in the shape given below: a tuple, an array, or
    a plain number where there is only one.

    With Numba installed, plain functions are compiled at the first use, once a process; without,
    they are called as they are, some 80 times as slowly: 2 µs a call instead of 0.03. What they
    raise reaches the caller. A `Composition` pickles wherever its functions do: by their names, so
    they must be defined in a module. Certify it with `colk.testing.check_risk`.

    Parameters
    ----------
    inner : callable (f, y)
        Returns inner(f, y), of shape (m,).
    inner_slope : callable (f, y)
        Returns ∂inner_i/∂f_c, of shape (m, q).
    outer : callable (f, y, g)
        Returns the number outer(f, y, g).
    outer_slope_prediction : callable (f, y, g)
        Returns ∂outer/∂f, of shape (q,).
    outer_slope_inner : callable (f, y, g)
        Returns ∂outer/∂g, of shape (m,). Each of the five may be a function of C, `double (double
        *f, double *y, double *g, double *result)`, that returns 0, or NaN if it failed.
    n_inner, n_outputs, n_targets : int
        The sizes m, q and r.
    is_convex, is_monotone : bool
        What is claimed of the risk as a function of the predictions; `is_monotone` adds nothing.

    Examples
    --------
    The squared error plus the squared bias, (E[f − y])²:

    >>> def bias(f, y):
    ...     return f[0] - y[0]
    >>> def bias_slope(f, y):
    ...     return 1.0
    >>> def outer(f, y, g):
    ...     return (f[0] - y[0]) ** 2 + g[0] ** 2
    >>> def outer_slope_prediction(f, y, g):
    ...     return 2.0 * (f[0] - y[0])
    >>> def outer_slope_inner(f, y, g):
    ...     return 2.0 * g[0]
    >>> risk = Composition(bias, bias_slope, outer, outer_slope_prediction, outer_slope_inner)
    >>> from colk.losses import Squared
    >>> risk.value_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    9.0
    >>> risk.gradient_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    array([3., 5.])
    """

    _inner: OfArrays
    _inner_slope: OfArrays
    _outer: OfArrays
    _outer_slope_prediction: OfArrays
    _outer_slope_inner: OfArrays
    n_outputs: int
    n_targets: int
    _size: int
    _is_convex: bool
    _is_monotone: bool

    def __init__(
        self,
        inner: Plain,
        inner_slope: Plain,
        outer: Plain,
        outer_slope_prediction: Plain,
        outer_slope_inner: Plain,
        n_inner: int = 1,
        n_outputs: int = 1,
        n_targets: int = 1,
        is_convex: bool = False,
        is_monotone: bool = False,
    ) -> None:
        m = self._size = check_count(n_inner, "n_inner")
        q = self.n_outputs = check_count(n_outputs, "n_outputs")
        r = self.n_targets = check_count(n_targets, "n_targets")

        def function(given: Plain, name: str, shape: tuple[int, ...]) -> OfArrays:
            signature = Signature("arrays", shape, name.startswith("outer"), (q, r, m))
            return OfArrays(given, signature, name)

        self._inner = function(inner, "inner", (m,))
        self._inner_slope = function(inner_slope, "inner_slope", (m, q))
        self._outer = function(outer, "outer", ())
        self._outer_slope_prediction = function(
            outer_slope_prediction, "outer_slope_prediction", (q,)
        )
        self._outer_slope_inner = function(outer_slope_inner, "outer_slope_inner", (m,))
        self._is_convex, self._is_monotone = bool(is_convex), bool(is_monotone)

    def _functions(self) -> dict[str, OfArrays]:
        return {
            "inner": self._inner,
            "inner_slope": self._inner_slope,
            "outer": self._outer,
            "outer_slope_prediction": self._outer_slope_prediction,
            "outer_slope_inner": self._outer_slope_inner,
        }

    def _parameters(self) -> dict[str, Any]:
        return {
            **{name: function.given for name, function in self._functions().items()},
            "n_inner": self.n_inner,
            "n_outputs": self.n_outputs,
            "n_targets": self.n_targets,
            "is_convex": self.is_convex,
            "is_monotone": self.is_monotone,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_functions(self)

    @property
    def functions(self) -> tuple[Plain, ...]:
        """The five functions, in the order of the constructor."""
        return tuple(function.given for function in self._functions().values())

    @property
    def n_inner(self) -> int:
        """How many numbers are tracked."""
        return self._size

    @property
    def is_convex(self) -> bool:
        """Whether the risk is convex in the predictions."""
        return self._is_convex

    @property
    def is_monotone(self) -> bool:
        """What was claimed; it adds nothing."""
        return self._is_monotone

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        """Refuse predictions and targets of other sizes than the functions were made for."""
        if n_outputs != self.n_outputs:
            raise ValueError(
                f"the composition was made for predictions of {self.n_outputs} numbers, "
                f"these have {n_outputs}; give it n_outputs={n_outputs}"
            )
        if n_targets != self.n_targets:
            raise ValueError(
                f"the composition was made for targets of {self.n_targets} numbers, "
                f"these have {n_targets}; give it n_targets={n_targets}"
            )

    def start(self, w: Window, xi: int) -> int:
        """Set g to inner(f_ξ, y_ξ)."""
        self._inner.write(w.predictions, xi, w.targets, xi, w.g, w.work, 0)
        for i in range(self._size):
            w.g[i] = w.work[i]
        return 0

    def track(self, w: Window, xi: int, tracker: Tracker, rate: float) -> int:
        """Move g by inner of the sample, under f and, for a tracker that remembers, before it."""
        if rate >= 1.0:
            return self.start(w, xi)
        m = self._size
        with cython.gil:
            remembers = tracker.remembers
        self._inner.write(w.predictions, xi, w.targets, xi, w.g, w.work, 0)
        if remembers:
            self._inner.write(w.previous, xi, w.targets, xi, w.g, w.work, m)
        for i in range(m):
            before = w.work[m + i] if remembers else w.work[i]
            w.work[m + i] = tracker.update(w.g[i], before, w.work[i], rate)
        for i in range(m):
            w.g[i] = w.work[m + i]
        return 0

    def pair_slopes(self, w: Window, theta: int, xi: int) -> int:
        """c_θ = ∂outer/∂f at θ, and c_ξ = Σ_i ∂outer/∂g_i at θ · ∂inner_i/∂f at ξ."""
        f, y, g, work = w.predictions, w.targets, w.g, w.work
        q, m = self.n_outputs, self._size
        self._outer_slope_prediction.write(f, theta, y, theta, g, work, 0)
        self._outer_slope_inner.write(f, theta, y, theta, g, work, q)
        self._inner_slope.write(f, xi, y, xi, g, work, q + m)
        for c in range(q):
            w.slopes[0, c] = work[c]
            w.slopes[1, c] = 0.0
            for i in range(m):
                w.slopes[1, c] += work[q + i] * work[q + m + i * q + c]
        return 0

    def sample_value(self, w: Window, theta: int) -> float:
        """Return the outer function at one sample: its mean over the stream is the risk."""
        self._outer.write(w.predictions, theta, w.targets, theta, w.g, w.work, 0)
        value: float = w.work[0]
        return value

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

        `before` are the predictions of the same samples by the function that is remembered; by
        default they are the same, as if the function stood still. The tracker is `Momentum()` by
        default.
        """
        F, Y = self._rows(f, y)
        earlier = F if before is None else self._rows(before, y)[0]
        beta, tracker = check_fraction(rate, "rate"), Momentum() if tracker is None else tracker
        path = np.empty((len(F), self._size))
        w = Window(1, 1, self.n_targets, self.n_outputs, self._size)
        predictions, previous, targets, g = map(
            np.asarray, (w.predictions, w.previous, w.targets, w.g)
        )
        for t in range(len(F)):
            predictions[0], previous[0], targets[0] = F[t], earlier[t], Y[t]
            self.track(w, 0, tracker, beta if t > 0 else 1.0)
            path[t] = g
        return path

    def estimate_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Exact g of shape (m,) at predictions `f` of targets `y`."""
        F, Y = self._rows(f, y)
        inner = self.tabulate("inner", F, Y, np.zeros(self.n_inner))
        return average(inner, shares(len(F), sample_weight))

    def value_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Exact empirical risk of predictions `f` of targets `y`."""
        F, Y = self._rows(f, y)
        g = self.estimate_at(loss, F, Y, sample_weight)
        outer = self.tabulate("outer", F, Y, g)[:, 0]
        return float(average(outer, shares(len(F), sample_weight)))

    def gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Gradient of `value_at` in the predictions, in the shape of `f`."""
        F, Y = self._rows(f, y)
        weights = shares(len(F), sample_weight)
        g = self.estimate_at(loss, F, Y, weights)
        by_inner = average(self.tabulate("outer_slope_inner", F, Y, g), weights)
        jacobians = self.tabulate("inner_slope", F, Y, g).reshape(len(F), self.n_inner, -1)
        slopes = self.tabulate("outer_slope_prediction", F, Y, g) + by_inner @ jacobians
        return (weights[:, None] * slopes).reshape(np.shape(f))

    def tabulate(self, name: str, f: ArrayLike, y: ArrayLike, g: ArrayLike) -> Array:
        """One of the five functions over rows: shape (n, m), (n, m·q), (n, 1), (n, q) or (n, m)."""
        F, Y = self._rows(f, y)
        function = self._functions()[name]
        out = np.zeros((len(F), int(np.prod(function.signature.shape))))
        function.tabulate(F, Y, check_vector(g, self._size, "g"), out.reshape(-1))
        return out

    def _rows(self, f: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        F = _as_rows(f, len(np.atleast_1d(f)), self.n_outputs, "f")
        return F, _as_rows(y, len(F), self.n_targets, "y")


def _as_rows(values: ArrayLike, n_rows: int, width: int, name: str) -> Array:
    rows = check_rows(values, n_rows, name)
    found = 1 if rows.ndim == 1 else rows.shape[1]
    if found != width:
        raise ValueError(f"{name} has {found} columns, the composition was made for {width}")
    return np.require(rows.reshape(n_rows, width), np.float64, ["C", "A", "W"])
