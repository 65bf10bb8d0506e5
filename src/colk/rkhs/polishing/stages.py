"""The stages of a search: kinks are smoothed over decreasing widths until a certificate holds.

The state between two steps is a few numbers and three small arrays. A search that is given the
state of another one goes on to the same bits, so a fit whose process was killed can resume.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from colk._engine.blas_threads import one_blas_thread
from colk._validation import Array
from colk.losses import Huber, LogCosh, Loss, Squared
from colk.risks import Mean, Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.interior_point import follow_path
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.span import Solver

__all__ = ["Report", "SearchState", "Solution", "solve", "solve_by_sums"]

# Factor by which smoothing widths decrease, and the last width; below it rounding errors dominate.
_NARROWING = 0.15
_NARROWEST = 1e-9
# Accuracy of the least squares from which a robust loss starts, if the weights are 0.
_ROUGH = 1e-2


@dataclass(frozen=True, eq=False)
class SearchState:
    """The state of a search between two steps.

    Attributes
    ----------
    coordinates, best : array of shape (rank, q)
        The present coordinates, and the best ones of the stages so far; ‖f‖ is their norm.
    value : float
        The exact objective at the best ones.
    widths : tuple of (float, float)
        The first smoothing widths, of predictions and of losses.
    share : float
        The present widths, as a share of the first ones.
    reference : float
        Norm of the gradient at f = 0.
    first, target : float
        Norms of the gradient at the beginning of the stage and, as required, at its end; 0 if the
        stage has not begun.
    gap, gradient_norm : float
        As in `Solution`, after the stages so far.
    n_steps : int
        Number of steps.
    factored_at : array of shape (rank, q), optional
        Where the second derivative was factored, if the next step may use it.
    is_done, converged : bool
        Whether the search has ended, and whether the tolerance was met.
    """

    coordinates: Array
    best: Array
    value: float
    widths: tuple[float, float]
    share: float
    reference: float
    first: float = 0.0
    target: float = 0.0
    gap: float = np.inf
    gradient_norm: float = np.inf
    n_steps: int = 0
    factored_at: Array | None = None
    is_done: bool = False
    converged: bool = False


Report = Callable[[SearchState], object]


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


class _Stages:
    """The rules of the stages.

    Parameters
    ----------
    search : Search
        The search.
    tolerance, max_steps
        As in `solve`.
    """

    def __init__(self, search: Search, tolerance: float, max_steps: int) -> None:
        self._search, self._tolerance, self._max_steps = search, tolerance, max_steps
        exact = search.exact
        self._is_convex = exact.is_convex
        # A risk gives large weights to few samples, so a small gradient alone does not show that
        # the objective is near its minimum.
        self._is_certified = exact.is_convex and not search.is_sum

    def begin(self, v: Array) -> SearchState:
        """Return the first state."""
        search = self._search
        widths = search.units(v) if search.is_smoothed else (1.0, 1.0)
        value = search.value(v)
        search.smooth(*widths)
        share = 1.0 if search.exact.is_kinked else 1e-3
        return SearchState(v, v, value, widths, share, search.reference(v))

    def run(self, state: SearchState, report: Report | None = None) -> SearchState:
        """Advance until the search has ended, and report each state."""
        while not state.is_done:
            state = self.advance(state)
            if report is not None:
                report(state)
        return state

    def resumed(self, state: SearchState) -> SearchState:
        """Make the factor that the state refers to."""
        if state.factored_at is not None:
            self._search.refactor(state.factored_at)
        return state

    def advance(self, state: SearchState) -> SearchState:
        """Return the state after the next step, or after the end of a stage."""
        search, v = self._search, state.coordinates
        is_exact = search.smooth(*(state.share * width for width in state.widths))
        if state.first == 0.0:
            target, first = self._target(state, is_exact), search.at(v).norm
            state = replace(state, target=target, first=first)
        if search.at(v).norm <= state.target or state.n_steps >= self._max_steps:
            return self._ended(state, is_exact)
        v, is_over = search.step(v, state.first, state.target)
        kept = search.factored_at if search.factor is not None else None
        state = replace(state, coordinates=v, n_steps=state.n_steps + 1, factored_at=kept)
        return self._ended(state, is_exact) if is_over else state

    def _target(self, state: SearchState, is_exact: bool) -> float:
        """Return the norm of the gradient at which a stage ends."""
        decay, target = self._search.decay, self._tolerance * state.reference
        if not is_exact:
            # A smoothed problem need not be solved more accurately than the smoothing error, and
            # a gap below the tolerance needs a gradient as small as that.
            error = max(0.04 * state.share, self._tolerance if self._is_convex else 0.0)
            return float(np.sqrt(0.5 * error * decay * abs(state.value)))
        if self._is_certified:
            return min(target, float(np.sqrt(self._tolerance * decay * abs(state.value))))
        return target

    def _ended(self, state: SearchState, is_exact: bool) -> SearchState:
        """Return the state after a stage: the end, or the beginning of the next stage."""
        search, v = self._search, state.coordinates
        norm, value, before = search.at(v).norm, search.value(v), state.value
        if value <= before and np.isfinite(value):
            state = replace(state, best=v, value=value)
        met, best, gap = norm <= state.target, state.value, state.gap
        if self._is_convex:
            penalty = 0.5 * search.decay * float(np.sum(v * v))
            least = search.lower_bound(v) + penalty - norm**2 / (2.0 * search.decay)
            gap = min(gap, max(best - least, 0.0))
        state = replace(state, gradient_norm=norm, gap=gap, first=0.0)
        is_late = state.n_steps >= self._max_steps
        if is_exact:
            is_close = not self._is_certified or gap <= self._tolerance * abs(best)
            converged = bool(met and is_close)
            is_done = converged or not met or not best < before or is_late
            return replace(state, converged=converged, is_done=is_done)
        if np.isfinite(gap):
            converged = bool(gap <= self._tolerance * abs(best))
        else:
            converged = met and state.share <= self._tolerance
        is_done = converged or is_late or state.share <= _NARROWEST
        share = state.share if is_done else _NARROWING * state.share
        return replace(state, converged=converged, is_done=is_done, share=share)


def _solution(state: SearchState) -> Solution:
    return Solution(
        state.best, state.value, state.gradient_norm, state.gap, state.n_steps, state.converged
    )


def solve(
    rows: HeldBlock,
    loss: Loss,
    risk: Risk,
    regularization: float,
    start: Array,
    *,
    tolerance: float,
    max_steps: int,
    factor: Solver | None = None,
) -> Solution:
    """Minimise the risk plus λ/2 ‖v‖² with all rows in memory, from coordinates `start`.

    Without kinks it stops if the norm of the gradient is `tolerance` times that at f = 0; with
    kinks, and for convex risks, if the gap is at most `tolerance` times the objective. The
    objective never exceeds that at `start`. An approximate `factor` of the second derivative saves
    the first factorisation.

    The mean of a piecewise linear loss has a solver of its own, an interior-point method: with
    pinball loss, 1,000 rows and 400 atoms it takes a fifth of the time of smoothing.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.rkhs.polishing.span import Span
    >>> span = Span(Linear(), np.array([[1.0], [2.0]]), None)
    >>> rows = HeldBlock(span, np.array([1.0, 2.0]), np.full(2, 0.5))
    >>> settings = {"tolerance": 1e-9, "max_steps": 10}
    >>> found = solve(rows, Squared(), Mean(), 1e-9, np.zeros((1, 1)), **settings)
    >>> found.converged, span.predict(found.coordinates)[:, 0].round(6)
    (True, array([1., 2.]))
    """
    search = Search.held(rows, loss, risk, regularization, start.shape[1])
    losses = rows.losses_of(search.exact)
    if losses is not None and risk.is_mean and losses.is_piecewise_linear:
        v, gap, norm, steps = follow_path(
            rows.span,
            losses,
            rows.share,
            regularization,
            start,
            tolerance=tolerance,
            steps=max_steps,
        )
        value = search.value(v)
        return Solution(v, value, norm, gap, steps, bool(gap <= tolerance * abs(value)))
    search.factor = factor
    stages = _Stages(search, tolerance, max_steps)
    return _solution(stages.run(stages.begin(start)))


@one_blas_thread()
def solve_by_sums(
    blocks: Blocks,
    function: KernelExpansion,
    loss: Loss,
    risk: Risk | None = None,
    regularization: float = 1e-6,
    *,
    sample: Blocks | None = None,
    tolerance: float = 1e-4,
    max_steps: int = 100,
    state: SearchState | None = None,
    report: Report | None = None,
) -> tuple[KernelExpansion, Solution]:
    """Minimise the risk plus λ/2 ‖f‖² over the weights of a function, by sums over blocks.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    function : KernelExpansion
        The atoms and the initial weights.
    loss : Loss
        The loss.
    risk : Risk, optional
        `Mean()` by default.
    regularization : float
        λ > 0. Default: 1e-6.
    sample : Blocks, optional
        Rows that represent all rows, with shares that sum to 1. Their curvature replaces that of
        all rows in the preconditioner. By default the curvature of all rows is summed.
    tolerance, max_steps
        As in `polish`.
    state : SearchState, optional
        The state of an earlier call with the same arguments, which goes on from there.
    report : callable, optional
        Called with the state after each step.

    Returns
    -------
    function : KernelExpansion
        The function with its new weights.
    solution : Solution
        Their coordinates, the objective and the accuracy.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rkhs.polishing import RowBlocks, polish
    >>> rng = np.random.default_rng(0)
    >>> X, share = rng.uniform(size=(300, 1)), np.full(300, 1 / 300)
    >>> y, f = np.sin(6 * X[:, 0]), KernelExpansion(Gaussian(0.3), X[:9], np.zeros(9))
    >>> found, _ = solve_by_sums(RowBlocks.of(X, y, share), f, Squared(), regularization=1e-3)
    >>> found.distance(polish(f, X, y, Squared(), regularization=1e-3).function) < 1e-8
    True
    """
    terms = loss, Mean() if risk is None else risk, regularization, sample
    search = Search.of_blocks(blocks, function, *terms)
    stages = _Stages(search, tolerance, max_steps)
    if state is None:
        start = search.span.coordinates(function.weights.reshape(function.n_atoms, -1))
        if isinstance(loss, (Huber, LogCosh)) and not start.any():
            # From f = 0 most residuals are in the linear part of a robust loss.
            squares = Search.of_blocks(blocks, function, Squared(), Mean(), regularization, sample)
            rough = _Stages(squares, _ROUGH, max_steps)
            start = rough.run(rough.begin(start)).best
        state = stages.begin(start)
    else:
        state = stages.resumed(state)
    found = _solution(stages.run(state, report))
    weights = (search.span.basis @ found.coordinates).reshape(function.weights.shape)
    return KernelExpansion(function.kernel, function.atoms, weights), found
