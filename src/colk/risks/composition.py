"""The paper's general form of a risk, from functions of predictions and targets."""

import math
from typing import Any, ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Matrix, Readonly, Vector
from colk._engine.contracts import TrackerContract
from colk._engine.terms import check_term
from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import OfArrays
from colk._engine.user_functions.pickling import reduce_functions
from colk._validation import Array, check_count, check_fraction, check_vector
from colk.losses import Loss
from colk.losses.base import as_rows
from colk.losses.custom import claimed
from colk.risks.base import Risk
from colk.risks.custom import Plain, check_given
from colk.risks.derivatives import Derivatives, as_derivatives, complete
from colk.risks.samples import Bends, Joint, LossPart, LossSample, Slopes, Statistics
from colk.risks.second_order import joint_terms
from colk.trackers import Momentum, Tracker

# Relative step of differences.
_STEP = 1e-5


class Composition(Risk):
    """E_θ[outer(f_θ, y_θ, g)] with g = E_ξ[inner(f_ξ, y_ξ)] ∈ R^m: the paper's general form.

    The loss is not used. Every function gets its own copies of 1-D arrays: a prediction f (q,), a
    target y (r,), perhaps the point x (p,) and, for the outer functions, g (m,). It returns a
    tuple, an array, or a plain number for a single value, in the shape given below. The rest is as
    in `CustomRisk`, but a call is slower: 0.03 µs with Numba and 2 µs without.

    Predictions and targets may have different sizes in the learners of `colk.learners`; y is then
    all that a function needs to know of a sample. If r and q differ, or functions take x, there is
    no loss to record, and `prequential_loss` and the losses of a trace are NaN. Estimators need r =
    q and no x, because they predict in the units of y.

    Parameters
    ----------
    inner, inner_slope : callable (f, y) or (f, y, x)
        inner(f, y), of shape (m,), and ∂inner_i/∂f_c, of shape (m, q).
    outer, outer_slope_prediction, outer_slope_inner : callable (f, y, g) or (f, y, x, g)
        The number outer(f, y, g); ∂outer/∂f, of shape (q,); and ∂outer/∂g, of shape (m,). Each of
        the five may be a C function, `double (double *f, double *y, double *g, double *result)`,
        that returns 0, or NaN if it failed; x follows y in the same array. The attribute
        `functions` holds them as a tuple.
    n_inner, n_outputs, n_targets : int
        The sizes m, q and r. Default: 1 each.
    is_convex, is_monotone : bool
        Properties of the risk as a function of the predictions. Default: False. `is_monotone` has
        no effect.
    n_inputs : int
        The size p of x if the functions take it. Default: 0, they do not. A learner passes x;
        `value_at` and the other methods take rows (y, x) as targets.
    derivatives : {"differences", "jax", "torch"}, optional
        How to find slopes that are not given: by JAX or PyTorch, for functions that are written
        with their operations, or by differences, to develop a function. Default: all are given.
    first_g : sequence of m numbers, optional
        The first g of a stream. Default: `inner` at its first sample, which is unsuitable if outer
        divides by a g that may be 0 there.

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
    n_inputs, derivatives = claimed("n_inputs"), claimed("derivatives")
    first_g = claimed("first_g")
    has_loss = property(lambda self: self.n_inputs == 0)
    is_convex, is_monotone = claimed("is_convex"), claimed("is_monotone")

    _inner: OfArrays
    _inner_slope: OfArrays
    _outer: OfArrays
    _by_prediction: OfArrays
    _by_inner: OfArrays
    _given: Readonly[dict[str, Any]]
    functions: Readonly[tuple[Any, ...]]
    _start: Vector

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
        n_inputs: int = 0,
        derivatives: Derivatives | None = None,
        first_g: ArrayLike | None = None,
    ) -> None:
        self.functions = (inner, inner_slope, outer, outer_slope_prediction, outer_slope_inner)
        each = complete(self.functions, as_derivatives(derivatives))
        functions = check_given(type(self).__name__, self._names, each)
        m = check_count(n_inner, "n_inner")
        q, r = check_count(n_outputs, "n_outputs"), check_count(n_targets, "n_targets")
        p = check_count(n_inputs, "n_inputs", at_least=0)
        first = None if first_g is None else check_vector(first_g, m, "first_g")
        self._start = np.zeros(0) if first is None else first

        def function(given: Plain, name: str, *shape: int) -> OfArrays:
            signature = Signature("arrays", shape, name.startswith("outer"), (q, r, m), p)
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
            "n_inputs": p,
            "derivatives": derivatives,
            "first_g": None if first is None else tuple(first.tolist()),
        }

    def _functions(self) -> dict[str, OfArrays]:
        first = (self._inner, self._inner_slope, self._outer)
        return {each.role: each for each in (*first, self._by_prediction, self._by_inner)}

    def _parameters(self) -> dict[str, Any]:
        return {**dict(zip(self._names, self.functions, strict=True)), **self._given}

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        p = self.n_inputs
        for name, what, size, wanted in (
            ("n_outputs", "predictions", n_outputs, self.n_outputs),
            ("n_targets", "targets" if p == 0 else "targets and x", n_targets, self.n_targets + p),
        ):
            if size != wanted:
                raise ValueError(
                    f"the composition was made for {what} of {wanted} numbers, these have {size}; "
                    f"change its {name}, or use a learner of colk.learners: estimators need "
                    "n_targets = n_outputs and n_inputs = 0"
                )

    def check_targets(
        self, loss: Loss, X: Array, y: ArrayLike, n_outputs: int | None = None
    ) -> Array:
        """Return the rows (y, x) that the functions see; the composition knows its sizes."""
        Y, p = as_rows(y, "y", len(X)), self.n_inputs
        for name, what, size in (("n_targets", "y", Y.shape[1]), ("n_inputs", "X", X.shape[1])):
            if size != self._given[name] and (what == "y" or p > 0):
                raise ValueError(
                    f"{what} has {size} columns, the composition was made for {name}="
                    f"{self._given[name]}"
                )
        if p > 0:
            return np.ascontiguousarray(np.hstack([Y, X]))
        return loss.check_targets(Y, self.n_outputs) if loss.couples_outputs else Y

    def start_at(self, F: Array, Y: Array, xi: int, g: Array) -> int:
        if self._start.shape[0] == 0:
            self._inner.write(F, xi, Y, xi, g, g, 0)
        for i in range(self._start.shape[0]):
            g[i] = self._start[i]
        return 0

    def track_at_row(
        self, F: Array, before: Array, Y: Array, xi: int, g: Array, tracker: TrackerContract,
        rate: float, work: Array,
    ) -> int:  # fmt: skip
        if rate >= 1.0:
            self._inner.write(F, xi, Y, xi, g, g, 0)
            return 0
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

    # cdef gil
    def _track_rows(
        self,
        tracker: TrackerContract,
        before: Matrix,
        F: Matrix,
        Y: Matrix,
        rate: float,
        path: Matrix,
    ) -> int:
        """Write g after each row; the first row initialises it."""
        g, work = np.zeros(path.shape[1]), np.zeros(2 * path.shape[1])  # type: Vector, Vector
        for t in range(path.shape[0]):
            if t == 0:
                self.start_at(F, Y, t, g)
            else:
                self.track_at_row(F, before, Y, t, g, tracker, rate, work)
            for i in range(path.shape[1]):
                path[t, i] = g[i]
        return 0

    def statistics(self, sample: LossSample) -> Statistics:
        g, sizes, square, count = sample.total(_inner_sums, self)
        value, slopes = sample.total(_outer_sums, self, g)
        unit = math.sqrt(square / count) + 1.0
        return Statistics(float(value), g, slopes, sizes, unit)

    def slopes(self, found: Statistics, part: LossPart) -> Slopes:
        values = part.share * self._table("outer", part, found.g)[:, 0]
        slopes = self._slopes(found, part.predictions, part.targets)
        return Slopes(values, np.zeros(len(values)), part.share[:, None] * slopes)

    def _slopes(self, found: Statistics, f: Array, y: Array) -> Array:
        jacobians = self.tabulate("inner_slope", f, y, found.g)
        through = found.slopes @ jacobians.reshape(len(f), self.n_inner, -1)
        return self.tabulate("outer_slope_prediction", f, y, found.g) + through

    def _table(self, name: str, part: LossPart, g: Array) -> Array:
        return self.tabulate(name, part.predictions, part.targets, g)

    def joint(self, found: Statistics, sample: LossSample) -> Joint:
        mixed, second = sample.total(_joint_sums, self, found)
        return joint_terms(found, mixed, second)

    def bends(self, found: Statistics, part: LossPart, joint: Joint) -> Bends:
        diagonal = np.abs(self._difference(found, part, np.ones_like(part.predictions)))
        columns = [_by_inner(self, found, part, int(i)) for i in joint.columns[: joint.n_inner]]
        moving = joint.columns[joint.n_inner :]
        jacobians = self._table("inner_slope", part, found.g)
        jacobians = jacobians.reshape(len(part.share), self.n_inner, -1)[:, moving]
        own = np.stack(columns, axis=1) if columns else jacobians[:, :0]
        share = part.share[:, None, None]
        return Bends(part.share[:, None] * diagonal, share * np.hstack([own, jacobians]))

    def product(self, found: Statistics, part: LossPart, change: Array) -> Array:
        return part.share[:, None] * self._difference(found, part, change)

    def _difference(self, found: Statistics, part: LossPart, change: Array) -> Array:
        """Return the second derivative of each row times a change, by a difference of slopes."""
        largest = float(np.abs(change).max(initial=0.0))
        if largest == 0.0:
            return np.zeros_like(change)
        h = _STEP * found.unit / largest
        F, y = part.predictions, part.targets
        sides = [self._slopes(found, F + step * change, y) for step in (h, -h)]
        return (sides[0] - sides[1]) / (2.0 * h)

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
        sizes = self.n_outputs, self.n_targets + self.n_inputs
        for rows, width, name in zip((F, Y), sizes, "fy", strict=True):
            if (found := rows.shape[1]) != width:
                raise ValueError(
                    f"{name} has {found} columns, the composition was made for {width}"
                )
        return F, Y


def _inner_sums(part: LossPart, risk: Composition) -> tuple[Array, Array, float, int]:
    """Return g, E |inner|, Σ f² and the number of predictions."""
    F = part.predictions
    inner = risk.tabulate("inner", F, part.targets, np.zeros(risk.n_inner))
    sums = [(table.T * part.share).sum(axis=1) for table in (inner, np.abs(inner))]
    return sums[0], sums[1], float(np.sum(F * F)), F.size


def _outer_sums(part: LossPart, risk: Composition, g: Array) -> tuple[float, Array]:
    """Return E outer and E ∂outer/∂g."""
    f, y, share = part.predictions, part.targets, part.share
    value = float(np.sum(share * risk.tabulate("outer", f, y, g)[:, 0]))
    return value, (risk.tabulate("outer_slope_inner", f, y, g).T * share).sum(axis=1)


def _moved(found: Statistics, i: int) -> tuple[Array, float]:
    """Return a move of g_i for a difference, and its size."""
    step = _STEP * float(found.sizes[i] or found.unit)
    return step * (np.arange(len(found.g)) == i), step


def _by_inner(risk: Composition, found: Statistics, part: LossPart, i: int) -> Array:
    """Return ∂²outer/∂f∂g_i of each row, (n, q)."""
    (move, step), f, y = _moved(found, i), part.predictions, part.targets
    sides = [risk.tabulate("outer_slope_prediction", f, y, found.g + s) for s in (move, -move)]
    return np.asarray((sides[0] - sides[1]) / (2.0 * step))


def _joint_sums(part: LossPart, risk: Composition, found: Statistics) -> tuple[Array, Array]:
    """Return E |∂²outer/∂f∂g| (m,), and E ∂²outer/∂g² (m, m)."""
    m, share, f, y = len(found.g), part.share, part.predictions, part.targets
    mixed, second = np.empty(m), np.empty((m, m))
    for i in range(m):
        mixed[i] = np.sum(share * np.abs(_by_inner(risk, found, part, i)).sum(axis=1))
        move, step = _moved(found, i)
        sides = [risk.tabulate("outer_slope_inner", f, y, found.g + s) for s in (move, -move)]
        second[:, i] = ((sides[0] - sides[1]).T * share).sum(axis=1) / (2.0 * step)
    return mixed, second
