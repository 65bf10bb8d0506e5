"""Optimal weights on given atoms by Newton's method that uses only sums over rows.

The result is that of `newton_solver`, for every loss and risk and any division into blocks. Without
a sample, the blocks send the curvature, an M × M matrix, for each step. With a sample, its
curvature is the preconditioner of conjugate gradients, and the blocks send M numbers.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from colk._engine.blas_threads import one_blas_thread
from colk._validation import Array
from colk.losses import Huber, LogCosh, Loss, Squared
from colk.risks import LossRisk, Mean, Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.conjugate_gradients import conjugate_gradients
from colk.rkhs.polishing.newton_solver import Solution, line_search, smoothing_stages
from colk.rkhs.polishing.risk_curvature import has_kink
from colk.rkhs.polishing.row_terms import SumObjective
from colk.rkhs.polishing.span import Solver, Span
from colk.rkhs.polishing.sums import (
    Evaluation,
    couplings,
    evaluate,
    exact_value,
    is_sum,
    product_block,
    smoothing_units,
)

__all__ = ["solve_by_sums"]

_CONJUGATE_STEPS = 60
# Iterations with an old factor; if a step needs more, a new factor is made for the next one.
_FEW_STEPS = 8
# A relative change of the objective below this is within rounding errors.
_NOISE = 1e-13
# Accuracy of the least squares from which a robust loss starts, if the weights are 0.
_ROUGH = 1e-2


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

    Returns
    -------
    function : KernelExpansion
        The function with its new weights.
    solution : Solution
        Their coordinates, the objective and the accuracy.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.rkhs.polishing import RowBlocks, polish
    >>> rng = np.random.default_rng(0)
    >>> X, share = rng.uniform(size=(300, 1)), np.full(300, 1 / 300)
    >>> y, f = np.sin(6 * X[:, 0]), KernelExpansion(Gaussian(0.3), X[:9], np.zeros(9))
    >>> found, _ = solve_by_sums(RowBlocks.of(X, y, share), f, Squared(), regularization=1e-3)
    >>> found.distance(polish(f, X, y, Squared(), regularization=1e-3).function) < 1e-8
    True
    """
    risk = Mean() if risk is None else risk
    start = function
    if isinstance(loss, (Huber, LogCosh)) and not function.weights.any():
        # From f = 0 most residuals are in the linear part of a robust loss.
        search = _SumSearch(blocks, start, Squared(), Mean(), regularization, sample)
        rough = smoothing_stages(search, tolerance=_ROUGH, max_steps=max_steps)
        start = _with(function, search.span, rough.coordinates)
    search = _SumSearch(blocks, start, loss, risk, regularization, sample)
    solution = smoothing_stages(search, tolerance=tolerance, max_steps=max_steps)
    return _with(function, search.span, solution.coordinates), solution


def _with(function: KernelExpansion, span: Span, v: Array) -> KernelExpansion:
    weights = (span.basis @ v).reshape(function.weights.shape)
    return KernelExpansion(function.kernel, function.atoms, weights)


class _SumSearch:
    """A search for the minimum, in coordinates v with ‖f‖ = ‖v‖; see `smoothing_stages`."""

    def __init__(
        self,
        blocks: Blocks,
        function: KernelExpansion,
        loss: Loss,
        risk: Risk,
        decay: float,
        sample: Blocks | None,
    ) -> None:
        self.blocks, self.sample, self.decay = blocks, sample, decay
        self.span = Span(function.kernel, function.atoms[:1], function.atoms)
        # Sums of k may be multiplied by Bᵀ afterwards if that costs no digits.
        basis = None if self.span.is_well_conditioned else self.span.basis
        self.exact = self.objective = SumObjective(
            function.kernel, function.atoms, loss, risk, function.n_outputs, basis=basis
        )
        self.v = self.span.coordinates(function.weights.reshape(function.n_atoms, -1))
        self.is_kinked = bool(loss.kinks and isinstance(risk, LossRisk)) or not risk.is_smooth
        self.is_sum = is_sum(risk)
        self.is_convex = risk.is_convex
        if isinstance(risk, LossRisk):
            self.is_convex = bool(loss.is_convex and risk.is_convex and risk.is_monotone)
        self.units = (1.0, 1.0)
        self.is_smoothed = self.is_kinked or has_kink(risk)
        if self.is_smoothed:
            self.units = smoothing_units(blocks, self.exact, self._weights(self.v))
        self.factor: Solver | None = None
        self.is_uneven = False  # whether the factor ignores differences between outputs
        self.here: Evaluation | None = None

    def _weights(self, v: Array) -> Array:
        return np.asarray(self.span.basis @ v)

    # -- methods that `smoothing_stages` calls -------------------------------------------------

    def reference(self) -> float:
        """Return the norm of the gradient at f = 0."""
        objective = self.exact.smoothed(*self.units)
        few = self.blocks if self.sample is None else self.sample
        at_zero = evaluate(few, objective, np.zeros_like(self._weights(self.v)), False)
        return float(np.linalg.norm(self.span.basis.T @ at_zero.sums.slopes)) or 1.0

    def smooth(self, share: float) -> bool:
        """Set these smoothing widths; return whether the objective is exact."""
        if not self.is_smoothed:
            return True
        objective = self.exact.smoothed(share * self.units[0], share * self.units[1])
        if self.objective.width != objective.width or self.objective.risk != objective.risk:
            self.objective, self.here = objective, None
        return not self.is_kinked and objective.risk == self.exact.risk

    def value(self) -> float:
        """Return the exact objective."""
        if not self.is_smoothed:
            self.here = self._evaluate(self.v) if self.here is None else self.here
            return self._penalised(self.here, self.v)
        risk = exact_value(self.blocks, self.exact, self._weights(self.v))
        return risk + self._penalty(self.v)

    def lower_bound(self) -> float:
        """Return a lower bound on the exact risk of other predictions, to first order."""
        return -np.inf if self.here is None else self.here.lower_bound

    def descend(self, target: float, max_steps: int) -> tuple[int, float]:
        """Make Newton steps until the norm of the gradient is at most `target`."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._descend(target, max_steps)

    # -- steps -----------------------------------------------------------------------------------

    def _penalty(self, v: Array) -> float:
        return 0.5 * self.decay * float(np.sum(v * v))

    def _penalised(self, found: Evaluation, v: Array) -> float:
        return found.value + self._penalty(v)

    def _gradient(self, found: Evaluation, v: Array) -> Array:
        return np.asarray(self.span.basis.T @ found.sums.slopes + self.decay * v)

    def _evaluate(self, v: Array) -> Evaluation:
        return evaluate(self.blocks, self.objective, self._weights(v), False)

    def _descend(self, target: float, max_steps: int) -> tuple[int, float]:
        here = self._evaluate(self.v) if self.here is None else self.here
        gradient = self._gradient(here, self.v)
        norm = first = float(np.linalg.norm(gradient))
        for step in range(max_steps):
            self.here = here
            if norm <= target:
                return step, norm
            accuracy = max(min(0.1, max(norm / first, 1e-6)), min(0.3 * target / norm, 0.5))
            direction = self._direction(here, gradient, accuracy)
            slope, value = float(np.sum(gradient * direction)), self._penalised(here, self.v)
            found = self._step(direction, slope, value)
            if found is None:
                return step + 1, norm
            (self.v, here), before = found, norm
            gradient = self._gradient(here, self.v)
            norm = float(np.linalg.norm(gradient))
            if -slope <= _NOISE * abs(value) and norm > 0.5 * before:
                self.here = here
                return step + 1, norm  # rounding errors dominate
        self.here = here
        return max_steps, norm

    def _step(
        self, direction: Array, slope: float, value: float
    ) -> tuple[Array, Evaluation] | None:
        """Return a point along the direction that halves the slope, or None."""
        found: dict[float, tuple[Array, Evaluation]] = {}

        def probe(step: float) -> tuple[float, float]:
            v = self.v + step * direction
            there = self._evaluate(v)
            found.clear()
            found[step] = v, there
            tilt = float(np.sum(self._gradient(there, v) * direction))
            return self._penalised(there, v), tilt

        step = line_search(probe, value, slope)
        if step == 0.0:
            return None
        if step not in found:
            probe(step)
        return found[step]

    def _direction(self, here: Evaluation, gradient: Array, accuracy: float) -> Array:
        """Return a Newton step of this accuracy."""
        is_new = self.factor is None or not self.is_sum or self.is_kinked
        factor = self._factored() if is_new or self.factor is None else self.factor
        joined = couplings(self.objective.risk, here.inner, here.sums)
        helper: Callable[[Array], Array] = factor
        if joined is not None and len(joined[1]):
            helper = _corrected(factor, self._coordinates_of(joined[0]), joined[1])
        if is_new and self.sample is None and joined is not None and not self.is_uneven:
            direction = -helper(gradient)
        else:
            steps = _CONJUGATE_STEPS if is_new or self.is_uneven else _FEW_STEPS
            product = self._product(here, joined)
            direction, used = conjugate_gradients(helper, product, gradient, accuracy, steps)
            if used >= steps:
                self.factor = None
        # Rounding errors of the correction may spoil it.
        return direction if float(np.sum(gradient * direction)) < 0.0 else -factor(gradient)

    def _coordinates_of(self, U: Array) -> Array:
        """Return BᵀU (k, rank, q) of sums of k of shape (k, M, q)."""
        return np.asarray(self.span.basis.T @ U)

    def _factored(self) -> Solver:
        """Return the factor of the curvature at this point, of all rows or of the sample."""
        where = self.blocks if self.sample is None else self.sample
        sums = evaluate(where, self.objective, self._weights(self.v), True).sums
        matrix = cast(Array, sums.curvature)
        if self.objective.basis is None:
            matrix = self.span.basis.T @ matrix @ self.span.basis
        joins_outputs = self.objective.n_outputs > 1 and not self.is_sum
        self.is_uneven = self.objective.couples_outputs or joins_outputs or sums.uneven > 0
        self.factor = Solver([matrix], self.decay)
        return self.factor

    def _product(
        self, here: Evaluation, joined: tuple[Array, Array] | None
    ) -> Callable[[Array], Array]:
        """Return the product of the second derivative with coordinates."""
        weights = self._weights(self.v)

        def by_sums(d: Array) -> Array:
            total = self.blocks.total(
                product_block, self.objective, weights, here.inner, self._weights(d)
            )[0]
            out = self.span.basis.T @ total + self.decay * d
            if joined is not None and len(joined[1]):
                U = self._coordinates_of(joined[0])
                out = out + np.tensordot(joined[1] * _inner_products(U, d), U, axes=1)
            return np.asarray(out)

        def by_differences(d: Array) -> Array:
            h = 1e-4 * (float(np.linalg.norm(self.v)) + 1e-3) / float(np.linalg.norm(d))
            sides = [self._gradient(self._evaluate(v), v) for v in (self.v + h * d, self.v - h * d)]
            return np.asarray((sides[0] - sides[1]) / (2.0 * h))

        return by_differences if joined is None else by_sums


def _corrected(factor: Solver, U: Array, c: Array) -> Callable[[Array], Array]:
    """Return the solver of A + Σ c U Uᵀ, U (k, rank, q) (Sherman, Morrison and Woodbury)."""
    helped = np.stack([factor(u) for u in U])
    inner = np.diag(1.0 / c) + np.stack([_inner_products(U, h) for h in helped], axis=1)

    def solve(right: Array) -> Array:
        plain = factor(right)
        shares = np.linalg.solve(inner, _inner_products(U, plain))
        return np.asarray(plain - np.tensordot(shares, helped, axes=1))

    return solve


def _inner_products(U: Array, v: Array) -> Array:
    """Return ⟨u, v⟩ for each u in U, of shape (k,)."""
    return np.tensordot(U, v, axes=v.ndim)
