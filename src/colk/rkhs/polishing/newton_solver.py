"""Newton's method on given atoms; kinks are smoothed over decreasing widths.

If the objective is a sum over samples and outputs, its second derivative is formed and factored. A
risk of one output couples the samples by a few rank-one terms, which a small system adds. Softmax,
several outputs and other risks are coupled otherwise; then the factor without the coupling
preconditions conjugate gradients, whose products with the second derivative are differences of
gradients. If the objective is a sum over samples without kinks, later steps reuse the factor, as
long as a few iterations of conjugate gradients correct for the change. A line search on the
predictions sets the length of a step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

import numpy as np

from colk._validation import Array
from colk.rkhs.polishing.conjugate_gradients import conjugate_gradients
from colk.rkhs.polishing.interior_point import follow_path
from colk.rkhs.polishing.smoothing import RoundedTerms, Terms
from colk.rkhs.polishing.span import Solver, Span

__all__ = ["Point", "Search", "Solution", "descend", "line_search", "smoothing_stages", "solve"]

# Factor by which smoothing widths decrease, and the last width; below it rounding errors dominate.
_NARROWING = 0.15
_NARROWEST = 1e-9
_CONJUGATE_STEPS = 60
# Iterations of conjugate gradients with an old factor. This many take about as long as a new
# factor; if a step needs more than most of them, a new factor pays off in later steps. If outputs
# are coupled, more iterations are needed.
_FEW_STEPS = 4
_COUPLED_STEPS = 16
_MOST_OF_FEW = 0.7
_LINE_STEPS = 40
# A relative change of the objective below this is within rounding errors.
_NOISE = 1e-13


@dataclass(frozen=True)
class Solution:
    """Coordinates of a minimiser, with its accuracy.

    Attributes
    ----------
    coordinates : array of shape (rank, q)
        v.
    value : float
        The exact objective there.
    gradient_norm : float
        H-norm of the gradient; with kinks, that of the smoothed objective.
    gap : float
        Upper bound on the objective minus its minimum; infinite if the objective is not convex.
    n_steps : int
        Number of steps of Newton's method.
    converged : bool
        Whether the tolerance was met.
    """

    coordinates: Array
    value: float
    gradient_norm: float
    gap: float
    n_steps: int
    converged: bool


class Point:
    """The current point of the search: coordinates and their predictions.

    It stores the factor of a second derivative, of an earlier point or of some of the samples.
    """

    def __init__(self, span: Span, decay: float, v: Array, factor: Solver | None = None) -> None:
        self.span, self.decay, self.v, self.F = span, decay, v, span.predict(v)
        self.factor = factor

    def regularize(self, decay: float) -> None:
        """Change λ."""
        self.decay = decay
        if self.factor is not None:
            self.factor = self.factor.with_regularization(decay)

    def value(self, terms: Terms | RoundedTerms) -> float:
        """Return the objective."""
        return terms.value(self.F) + 0.5 * self.decay * float(np.sum(self.v * self.v))

    def gradient(self, terms: RoundedTerms) -> Array:
        """Return the gradient in the coordinates."""
        return self.span.gather(terms.slopes(self.F)) + self.decay * self.v

    def move(self, step: float, direction: Array, F: Array) -> None:
        """Move along a direction; F are the predictions at the new coordinates."""
        self.v, self.F = self.v + step * direction, F


def solve(
    span: Span,
    terms: Terms,
    regularization: float,
    start: Array,
    *,
    tolerance: float,
    max_steps: int,
    factor: Solver | None = None,
) -> Solution:
    """Minimise the risk plus λ/2 ‖v‖², from coordinates `start`.

    Without kinks it stops if the norm of the gradient is `tolerance` times that at f = 0; with
    kinks, and for convex risks, if the gap is at most `tolerance` times the objective. The
    objective never exceeds that at `start`. An approximate `factor` of the second derivative saves
    the first factorisation.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> span = Span(Linear(), np.array([[1.0], [2.0]]), None)
    >>> terms = Terms(Squared(), Mean(), np.array([1.0, 2.0]), np.full(2, 0.5), 1)
    >>> found = solve(span, terms, 1e-9, np.zeros((1, 1)), tolerance=1e-9, max_steps=10)
    >>> found.converged, span.predict(found.coordinates)[:, 0].round(6)
    (True, array([1., 2.]))
    """
    point = Point(span, regularization, start, factor)
    if terms.is_piecewise_linear:
        return _solve_piecewise_linear(point, terms, tolerance, max_steps)
    return smoothing_stages(_RowSearch(point, terms), tolerance=tolerance, max_steps=max_steps)


class Search(Protocol):
    """A search for the minimum of an objective, which `smoothing_stages` directs."""

    decay: float
    is_kinked: bool
    is_convex: bool
    is_sum: bool

    @property
    def v(self) -> Array:
        """The coordinates."""

    def reference(self) -> float:
        """Return the norm of the gradient at f = 0."""

    def smooth(self, share: float) -> bool:
        """Smooth kinks over this share of the first widths; return whether nothing is smoothed."""

    def value(self) -> float:
        """Return the exact objective."""

    def lower_bound(self) -> float:
        """Return a lower bound on the exact risk of other predictions, to first order."""

    def descend(self, target: float, max_steps: int) -> tuple[int, float]:
        """Make steps until the gradient norm is at most `target`; return step count and norm."""


class _RowSearch:
    """A search with the predictions of all rows in memory."""

    def __init__(self, point: Point, terms: Terms) -> None:
        self._point, self._terms, self.decay = point, terms, point.decay
        self.is_kinked, self.is_convex, self.is_sum = terms.is_kinked, terms.is_convex, terms.is_sum
        self._units = terms.unit(point.F)
        self._rounded = RoundedTerms(terms, *self._units)

    @property
    def v(self) -> Array:
        return self._point.v

    def reference(self) -> float:
        at_zero = Point(self._point.span, self.decay, np.zeros_like(self.v))
        return float(np.linalg.norm(at_zero.gradient(self._rounded))) or 1.0

    def smooth(self, share: float) -> bool:
        self._rounded = RoundedTerms(self._terms, share * self._units[0], share * self._units[1])
        return self._rounded.is_exact

    def value(self) -> float:
        return self._point.value(self._terms)

    def lower_bound(self) -> float:
        return self._rounded.lower_bound(self._point.F)

    def descend(self, target: float, max_steps: int) -> tuple[int, float]:
        return descend(self._point, self._rounded, target, max_steps)


def smoothing_stages(search: Search, *, tolerance: float, max_steps: int) -> Solution:
    """Minimise an objective whose kinks are smoothed over decreasing widths.

    Parameters
    ----------
    search : Search
        The search, at its first point.
    tolerance, max_steps
        As in `solve`.
    """
    regularization, best_v, best = search.decay, search.v, search.value()
    reference = search.reference()
    share, count = 1.0 if search.is_kinked else 1e-3, 0
    gap, norm, converged = np.inf, np.inf, False
    # A risk gives large weights to few samples, so a small gradient alone does not show that the
    # objective is near its minimum.
    is_certified = search.is_convex and not search.is_sum
    while True:
        exact = search.smooth(share)
        target = tolerance * reference
        if not exact:
            # A smoothed problem need not be solved more accurately than the smoothing error, and a
            # gap below the tolerance needs a gradient as small as that.
            smoothing_error = max(0.04 * share, tolerance if search.is_convex else 0.0)
            target = np.sqrt(0.5 * smoothing_error * regularization * abs(best))
        elif is_certified:
            target = min(target, np.sqrt(tolerance * regularization * abs(best)))
        steps, norm = search.descend(target, max_steps - count)
        count += steps
        value, before = search.value(), best
        if value <= best and np.isfinite(value):
            best_v, best = search.v, value
        met = norm <= target
        if search.is_convex:
            penalty = 0.5 * regularization * float(np.sum(search.v * search.v))
            least = search.lower_bound() + penalty - norm**2 / (2.0 * regularization)
            gap = min(gap, max(best - least, 0.0))
        if exact:
            is_close = not is_certified or gap <= tolerance * abs(best)
            converged = bool(met and is_close)
            if converged or not met or not best < before or count >= max_steps:
                break
            continue
        if np.isfinite(gap):
            converged = bool(gap <= tolerance * abs(best))
        else:
            converged = met and share <= tolerance
        if converged or count >= max_steps or share <= _NARROWEST:
            break
        share *= _NARROWING
    return Solution(best_v, best, norm, float(gap), count, converged)


def _solve_piecewise_linear(
    point: Point, terms: Terms, tolerance: float, max_steps: int
) -> Solution:
    """Solve the problem for piecewise linear losses, by an interior-point method."""
    v, gap, norm, steps = follow_path(
        point.span, terms, point.decay, point.v, tolerance=tolerance, steps=max_steps
    )
    found = Point(point.span, point.decay, v)
    value = found.value(terms)
    return Solution(v, value, norm, gap, steps, bool(gap <= tolerance * abs(value)))


def descend(point: Point, terms: RoundedTerms, target: float, max_steps: int) -> tuple[int, float]:
    """Make Newton steps on a smoothed objective until the gradient norm is at most `target`."""
    with np.errstate(over="ignore", invalid="ignore"):  # a step may be far too long at first
        return _descend(point, terms, target, max_steps)


def _descend(point: Point, terms: RoundedTerms, target: float, max_steps: int) -> tuple[int, float]:
    gradient = point.gradient(terms)
    norm = first = float(np.linalg.norm(gradient))
    for step in range(max_steps):
        if norm <= target:
            return step, norm
        # A step need not be solved more accurately than the required decrease of the gradient.
        accuracy = max(min(0.1, max(norm / first, 1e-6)), min(0.3 * target / norm, 0.5))
        direction = _direction(point, terms, gradient, accuracy)
        change = point.span.predict(direction)
        slope = float(np.sum(gradient * direction))
        length, F = _search(point, terms, direction, change, slope)
        if length == 0.0:
            return step + 1, norm
        point.move(length, direction, F)
        gradient, before = point.gradient(terms), norm
        norm = float(np.linalg.norm(gradient))
        if -slope <= _NOISE * abs(point.value(terms)) and norm > 0.5 * before:
            return step + 1, norm  # rounding errors dominate
    return max_steps, norm


def _direction(point: Point, terms: RoundedTerms, gradient: Array, accuracy: float) -> Array:
    """Return a Newton step of this accuracy; reuse an earlier factor if it is good enough."""
    curvature, coupling = terms.curvature(point.F), terms.coupling(point.F)
    separable = terms.terms.is_separable
    coupled = partial(terms.curvature_product, point.F)
    curve = partial(np.multiply, curvature) if separable else coupled
    if point.factor is not None and terms.terms.is_sum and not terms.terms.is_kinked:
        few = _FEW_STEPS if separable else _COUPLED_STEPS
        direction, steps = _conjugate(point, point.factor, curve, gradient, accuracy, few)
        if steps > _MOST_OF_FEW * few:
            point.factor = None
        return direction
    point.factor = point.span.solver(curvature, point.decay)
    if separable:
        return -point.factor(gradient)
    if coupling is not None:
        return _corrected(point, *coupling, gradient)
    return _conjugate(point, point.factor, curve, gradient, accuracy, _CONJUGATE_STEPS)[0]


def _corrected(point: Point, vectors: Array, coefficients: Array, gradient: Array) -> Array:
    """Solve with A + U diag(c) Uᵀ (Sherman, Morrison and Woodbury), or with A if rounding fails."""
    factor = cast(Solver, point.factor)
    plain = -factor(gradient)
    if len(coefficients) == 0:
        return plain
    U = point.span.gather(vectors)
    helped = factor(U)
    inner = np.diag(1.0 / coefficients) + U.T @ helped
    direction = np.asarray(plain - helped @ np.linalg.solve(inner, U.T @ plain))
    slope = float(np.sum(gradient * direction))
    # Without rounding errors the step is steeper than the plain one if all c ≤ 0.
    return direction if np.isfinite(slope) and slope < 0.0 else plain


def _conjugate(
    point: Point,
    factor: Solver,
    curve: Callable[[Array], Array],
    gradient: Array,
    accuracy: float,
    steps: int,
) -> tuple[Array, int]:
    """Return the step of conjugate gradients and the number of iterations.

    `curve` multiplies a change of the predictions by the second derivative.
    """

    def product(direction: Array) -> Array:
        moved = point.span.gather(curve(point.span.predict(direction)))
        return moved + point.decay * direction

    return conjugate_gradients(factor, product, gradient, accuracy, steps)


def _search(
    point: Point, terms: RoundedTerms, direction: Array, change: Array, slope: float
) -> tuple[float, Array]:
    """Return a step that halves the slope and lowers the objective, and its predictions."""
    squares = float(np.sum(direction * direction))
    crossed = float(np.sum(point.v * direction))
    norm = float(np.sum(point.v * point.v))

    def probe(step: float) -> tuple[float, float]:
        F = point.F + step * change
        penalty = 0.5 * point.decay * (norm + 2.0 * step * crossed + step * step * squares)
        tilt = float(np.sum(terms.slopes(F) * change)) + point.decay * (crossed + step * squares)
        return terms.value(F) + penalty, tilt

    step = line_search(probe, point.value(terms), slope)
    return step, point.F + step * change


def line_search(probe: Callable[[float], tuple[float, float]], value: float, slope: float) -> float:
    """Return a step that halves the slope and does not raise the objective, or 0.

    Parameters
    ----------
    probe : callable
        Returns the objective and its slope after a step of this length.
    value, slope : float
        The objective and its slope at 0.
    """
    if not slope < 0.0:
        return 0.0
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(_LINE_STEPS):
        here, tilt = probe(step)
        if here > value + _NOISE * abs(value) or not tilt <= -0.5 * slope:
            high = step
            inside = slope / (slope - tilt) if np.isfinite(tilt) and tilt > 0.0 else 0.5
            step = low + (high - low) * min(max(inside, 0.1), 0.7)
        elif tilt < 0.5 * slope and high == np.inf and step < 64.0:
            low, step = step, 2.0 * step
        elif tilt < 0.5 * slope and step < 64.0 and high - low > 1e-3 * high:
            low, step = step, 0.5 * (step + high)
        else:
            return step
    return low
