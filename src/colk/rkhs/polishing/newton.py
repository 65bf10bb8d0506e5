"""Newton's method for weights on given atoms, by sums over blocks of rows.

In memory is one block, whose kernel values are kept. Kinks are smoothed over decreasing widths. If
the objective is a sum over samples and outputs, its second derivative is summed and factored; a
risk adds a few rank-one terms, for which a small system is solved. If outputs are coupled, or if
the second derivative is that of a sample, the factor preconditions conjugate gradients, whose
products are sums over the rows too. If the objective is a sum over samples without kinks, later
steps reuse the factor, as long as a few iterations correct for the change.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from colk._validation import Array
from colk.losses import Loss
from colk.risks import Risk
from colk.risks.samples import APART, Joint
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock, curvature_block, product_block
from colk.rkhs.polishing.blocks import Blocks, RowBlocks
from colk.rkhs.polishing.conjugate_gradients import conjugate_gradients
from colk.rkhs.polishing.evaluation import NOTHING, Evaluator, Point
from colk.rkhs.polishing.objective import SmoothedObjective
from colk.rkhs.polishing.span import Solver, Span

__all__ = ["Search"]

_CONJUGATE_STEPS = 60
# Iterations of conjugate gradients with an old factor. This many take about as long as a new
# factor; if a step needs more than most of them, a new factor pays off in later steps. If outputs
# are coupled, or if kernel values are computed again, more iterations are worth a factor.
_FEW_STEPS = 4
_MORE_STEPS = 16
_MOST_OF_FEW = 0.7
_LINE_STEPS = 40
# A relative change of the objective below this is within rounding errors.
_NOISE = 1e-13


class Search(Evaluator):
    """A search for the weights that minimise a risk plus λ/2 ‖f‖²; see `Evaluator`.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> span = Span(Linear(), np.array([[1.0], [2.0]]), None)
    >>> held = HeldBlock(span, np.array([1.0, 2.0]), np.full(2, 0.5))
    >>> search = Search.held(held, Squared(), Mean(), 1e-9, n_outputs=1)
    >>> v, count, norm = search.descend(np.zeros((1, 1)), target=1e-9, max_steps=10)
    >>> span.predict(v)[:, 0].round(6), count
    (array([1., 2.]), 1)
    """

    factor: Solver | None = None
    factored_at: Array | None = None  # its coordinates, if later steps may use it

    @classmethod
    def held(
        cls, rows: HeldBlock, loss: Loss, risk: Risk, decay: float, n_outputs: int
    ) -> "Search":
        """Return a search with all rows in memory."""
        kernel, atoms = rows.span.kernel, rows.span.atoms
        objective = SmoothedObjective(kernel, atoms, loss, risk, n_outputs)
        return cls(RowBlocks([rows]), rows.span, objective, decay, held=rows)  # type: ignore[list-item]

    @classmethod
    def of_blocks(
        cls,
        blocks: Blocks,
        function: KernelExpansion,
        loss: Loss,
        risk: Risk,
        decay: float,
        sample: Blocks | None = None,
    ) -> "Search":
        """Return a search whose blocks compute kernel values for each sum."""
        kernel, atoms = function.kernel, function.atoms
        span = Span.of_atoms(kernel, atoms)
        # Sums of k kᵀ may be multiplied by B afterwards if that costs no digits.
        basis = None if span.is_well_conditioned else span.basis
        objective = SmoothedObjective(kernel, atoms, loss, risk, function.n_outputs, basis=basis)
        return cls(blocks, span, objective, decay, sample=sample)

    def regularize(self, decay: float) -> None:
        """Change λ."""
        if self.factor is not None:
            self.factor = self.factor.with_regularization(decay)
        super().regularize(decay)

    def descend(self, v: Array, target: float, max_steps: int) -> tuple[Array, int, float]:
        """Make steps until the norm of the gradient is at most `target`.

        Returns
        -------
        v : array of shape (rank, q)
            The coordinates.
        count : int
            Number of steps.
        norm : float
            The norm of the gradient there.
        """
        first = self.at(v).norm
        for count in range(max_steps):
            if self.at(v).norm <= target:
                return v, count, self.at(v).norm
            v, is_over = self.step(v, first, target)
            if is_over:
                return v, count + 1, self.at(v).norm
        return v, max_steps, self.at(v).norm

    def step(self, v: Array, first: float, target: float) -> tuple[Array, bool]:
        """Make a Newton step; return the new coordinates, and whether rounding errors dominate.

        `first` is the norm of the first gradient, `target` that at which the search ends.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # a step may be far too long at first
            return self._step(v, first, target)

    def _step(self, v: Array, first: float, target: float) -> tuple[Array, bool]:
        here = self.at(v)
        norm = here.norm
        # A step need not be solved more accurately than the required decrease of the gradient.
        accuracy = max(min(0.1, max(norm / first, 1e-6)), min(0.3 * target / norm, 0.5))
        direction = self._direction(here, accuracy)
        slope = float(np.sum(here.gradient * direction))
        found = {0.0: here}

        def probe(step: float) -> tuple[float, float]:
            there = self.at(v + step * direction)
            found.clear()
            found[step] = there
            return there.value, float(np.sum(there.gradient * direction))

        length = line_search(probe, here.value, slope)
        if length == 0.0:
            self._here = self.objective, here
            return v, True
        if length not in found:
            probe(length)
        there = found[length]
        is_small = -slope <= _NOISE * abs(here.value)
        return there.v, is_small and there.norm > 0.5 * norm

    def _direction(self, here: Point, accuracy: float) -> Array:
        """Return a Newton step of this accuracy; reuse an earlier factor if it is good enough."""
        risk, gradient = self.objective.risk, here.gradient
        keeps = self.is_sum and not self.exact.is_kinked
        is_new = self.factor is None or not keeps
        self.factored_at = here.v if keeps and is_new else self.factored_at
        known = APART if here.sample is None else risk.joint(here.found, here.sample)
        joint = APART if known is None else known
        vectors = self._second(here, joint, is_new)
        factor = cast(Solver, self.factor)
        helper: Callable[[Array], Array] = factor
        if vectors is not None and len(vectors):
            helper = _corrected(factor, vectors, joint.coefficients)
        is_whole = self.objective.n_outputs == 1 or self.objective.is_separable
        if is_new and self._representative is None and is_whole and known is not None:
            direction = -helper(gradient)
        else:
            few = _FEW_STEPS if is_whole and self._held is not None else _MORE_STEPS
            steps = _CONJUGATE_STEPS if is_new else few
            product = self._product(here, vectors, joint.coefficients)
            product = self._differences(here) if known is None else product
            direction, used = conjugate_gradients(helper, product, gradient, accuracy, steps)
            if used > _MOST_OF_FEW * steps and not is_new:
                self.factor = self.factored_at = None
        # Rounding errors of the correction may spoil it.
        is_down = float(np.sum(gradient * direction)) < 0.0
        return np.asarray(direction) if is_down else -factor(gradient)

    def _second(self, here: Point, joint: Joint, is_new: bool) -> Array | None:
        """Make a new factor if asked to; return the sums U (k, rank, q) that couple the rows."""
        vectors, few = None, self._representative
        if is_new and few is not None:
            args = self.objective, here.factor, here.found, APART, True
            self._factor_of(few.total(curvature_block, None, *args).curvature)
        if (is_new and few is None) or len(joint.columns):
            sums = self._total(curvature_block, here, joint, is_new and few is None)
            vectors = sums.vectors
            if sums.curvature is not None:
                self._factor_of(sums.curvature)
        if vectors is None:
            return None
        each = np.split(vectors, len(joint.columns), axis=1)
        columns = np.stack([self.span.from_table(sums) for sums in each])
        return np.tensordot(joint.mix, columns, axes=1)

    def refactor(self, v: Array) -> None:
        """Make the factor at some coordinates, for a sum over samples without kinks."""
        where = self.blocks if self._representative is None else self._representative
        args = self.objective, self.span.for_table(v), NOTHING, APART, True
        self._factor_of(where.total(curvature_block, None, *args).curvature)
        self.factored_at = v

    def _factor_of(self, curvature: Array) -> None:
        self.factor = Solver(self.span.from_squares(curvature), self.decay)

    def _total(self, function: Callable[..., Any], here: Point, *more: Any) -> Any:
        """Return a sum over all rows at a point."""
        args = self.objective, here.factor, here.found, *more
        if here.predictions is None:
            return self.blocks.total(function, None, *args)
        return self.blocks.total(function, *args, per_block=[here.predictions])

    def _product(
        self, here: Point, vectors: Array | None, coefficients: Array
    ) -> Callable[[Array], Array]:
        """Return the product of the second derivative with coordinates."""

        def product(d: Array) -> Array:
            total = self._total(product_block, here, self.span.for_table(d))[0]
            out = self.span.from_table(total) + self.decay * d
            if vectors is not None:
                out = out + np.tensordot(
                    coefficients * _inner_products(vectors, d), vectors, axes=1
                )
            return np.asarray(out)

        return product

    def _differences(self, here: Point) -> Callable[[Array], Array]:
        """Return the same product where a risk is not smooth, by differences of gradients."""

        def product(d: Array) -> Array:
            h = 1e-4 * (float(np.linalg.norm(here.v)) + 1.0) / float(np.linalg.norm(d))
            above, below = (self._point(self.blocks, here.v + s * d) for s in (h, -h))
            return np.asarray((above.gradient - below.gradient) / (2.0 * h))

        return product


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
