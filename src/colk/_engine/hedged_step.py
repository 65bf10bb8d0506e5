"""Streams that minimise the mean loss, with a companion that minimises a risk on the same atoms.

The steps of the mean's function are those of `GradientStream` and `NewtonStream`, bit for bit.
The companion (`risk_companion.py`) has its own slopes, and mixes the function that predicts.
"""

from typing import Any

import numpy as np

from colk._engine import inverse_curvature, risk_companion, stream
from colk._engine.c_types import Pointer, Readonly, Vector
from colk._engine.contracts import RiskContract, TrackerContract
from colk._engine.gradient_step import GradientStream
from colk._engine.newton_step import NewtonStream
from colk._engine.quasigradient import TRACE, QuasiGradientStream
from colk._engine.risk_companion import RiskCompanion
from colk._engine.simd import loops

__all__ = ["HedgedGradientStream", "HedgedNewtonStream"]


class HedgedGradientStream(GradientStream):
    """Gradient steps on the mean loss, and beside them on a risk.

    Parameters
    ----------
    beside : RiskContract
        The risk of the companion.
    tracker_beside : TrackerContract
        The tracker of its g.
    risk_step : float
        Step size of the companion, as a share of that of the mean's function.
    **common
        The arguments of `GradientStream`, for the mean loss and windows of one sample.
    """

    companion: Readonly[RiskCompanion]
    risk_step: Readonly[float]
    keeps_values: Readonly[bool]  # whether an atom leaves by projection
    sums: Vector  # (3,): scratch

    def __init__(
        self, beside: RiskContract, tracker_beside: TrackerContract, risk_step: float, **common: Any
    ) -> None:
        super().__init__(**common)
        self.keeps_values, self.sums = self.compressor.is_orthogonal, np.zeros(3)
        # The rows of the companion follow those of the mean's function and of its average.
        self.averaged = self.n_outputs if self.averaged > 0 else 0
        self.companion, self.risk_step = attach_companion(self, beside, tracker_beside), risk_step

    def make_step(self) -> int:  # cdef
        """Make a step and record it, with g and the outer value of the companion."""
        GradientStream.make_step(self)
        return record_beside(self, self.companion)

    def step(self) -> float:  # cdef
        """Make the step of Algorithm 1 for the mean loss, and that of the companion."""
        consider_beside(self, self.companion)
        lost: float = GradientStream.step(self)
        if self.keeps_values and self.dictionary.n_ghosts > 0:
            self.keep_values()
        accept_beside(self, self.companion)
        return lost

    def move(self, step: float, coefficients: Pointer) -> int:  # cdef
        """Set f~, and r~ = (1 − αλ) r − α a/(1 + αbκ(x, x)) κ(x, ·) with the companion's α.

        The gain makes it an implicit step for a loss that is a parabola of curvature b. |a| is
        clipped at the gradient bound.
        """
        GradientStream.move(self, step, coefficients)
        own: float
        own, step = self.dictionary.gram[0, 0], step * self.risk_step
        first = self.companion.first
        self.dictionary.scale_rows(first, self.n_outputs, 1.0 - step * self.regularization)
        gain: float = step / (1.0 + step * self.companion.curvature * own)
        if self.companion.length > self.gradient_bound:
            gain *= self.gradient_bound / self.companion.length
        for c in range(self.n_outputs):
            self.dictionary.amounts[0, first + c] = -gain * self.companion.gradient[0, c]
        return 0

    def keep_values(self) -> None:  # cdef
        """Refit the companion to its values at the atoms, that of the atom that left included.

        The projection has the least error in H-norm, which counts what lies between the samples as
        much as what lies at them. With c = K⁻¹[:, j]/√(K⁻¹)_jj, which `drop_atom` left behind, and
        the other atoms' K, the least squares of the values subtract w_j K⁻¹c/(c_j cᵀc) from the
        projection. The steps of the mean's function do not change.
        """
        n, j, squares = self.dictionary.size, self.dictionary.dropped, 0.0  # type: int, int, float
        last, own = self.dictionary.n_ghosts - 1, self.dictionary.carry[j]  # type: int, float
        for k in range(n + 1):
            squares += self.dictionary.carry[k] * self.dictionary.carry[k]
        for k in range(n):
            self.dictionary.columns[0, k] = self.dictionary.carry[k if k < j else k + 1]
        loops.solve(
            self.dictionary.factor, n, self.dictionary.columns, 1,
            self.dictionary.ghost_columns, self.sums,
        )  # fmt: skip
        for row in range(self.companion.first, self.shown):
            weight: float = self.dictionary.ghosts[self.dictionary.n_features + row, last]
            loops.add(
                self.dictionary.weights_t, row, self.dictionary.ghost_columns, 0,
                -weight / (own * squares), n,
            )  # fmt: skip

    def flush(self) -> int:  # cdef
        """Compute the mixture, which makes the predictions."""
        self.companion.mix()
        return 0


class HedgedNewtonStream(NewtonStream):
    """Second-order steps on the mean loss, and beside them on a risk.

    The companion makes gradient steps r − α a/(1 + αbκ(x, x)) Πκ(x, ·), where Π projects onto the
    span of the atoms. Second-order steps would fit the few samples of a tail too closely. With the
    P of the mean loss, these few samples would count as much as all samples. A P of the tail's own
    risk would contain little information about the samples outside the tail.

    Parameters
    ----------
    beside, tracker_beside
        As for `HedgedGradientStream`.
    risk_step : float
        α, the step size of the companion.
    **common
        The arguments of `NewtonStream`, for the mean loss and windows of one sample.
    """

    companion: Readonly[RiskCompanion]
    risk_step: Readonly[float]

    def __init__(
        self, beside: RiskContract, tracker_beside: TrackerContract, risk_step: float, **common: Any
    ) -> None:
        super().__init__(**common)
        self.companion, self.risk_step = attach_companion(self, beside, tracker_beside), risk_step
        self.iterate.accompany(self.companion.first, self.shown - self.companion.first)

    def make_step(self) -> int:  # cdef
        """Make a step and record it, with g and the outer value of the companion."""
        NewtonStream.make_step(self)
        return record_beside(self, self.companion)

    def step(self) -> float:  # cdef
        """Make the second-order step for the mean loss, and that of the companion."""
        consider_beside(self, self.companion)
        lost: float = NewtonStream.step(self)
        accept_beside(self, self.companion)
        return lost

    def move_beside(self, h: int, variance: float) -> None:  # cdef
        """Move r along κ(x, ·), or along its projection if x is no atom."""
        own, n, first = self.dictionary.gram[0, 0], self.dictionary.size, self.companion.first  # type: float, int, int
        if self.companion.length <= 0.0:
            return
        least: float = self.companion.length / (self.trust * (1.0 + self.largest_target))
        curvature: float = max(self.companion.curvature, least)
        gain: float = self.risk_step / (1.0 + self.risk_step * curvature * own)
        if self.dictionary.added > 0:
            for c in range(self.n_outputs):
                self.dictionary.weights_t[first + c, n - 1] -= gain * self.companion.gradient[0, c]
            return
        loops.spread(
            self.dictionary.factor, n, self.P.rows, inverse_curvature.WHITENED,
            self.P.rows, inverse_curvature.PRODUCT,
        )  # fmt: skip
        for c in range(self.n_outputs):
            loops.add(
                self.dictionary.weights_t, first + c, self.P.rows, inverse_curvature.PRODUCT,
                -gain * self.companion.gradient[0, c], n,
            )  # fmt: skip

    def refit_beside(self, j: int) -> None:  # cdef
        """Refit the companion to all samples without atom j; a projection would lose more."""
        n, z = self.dictionary.size, inverse_curvature.WHITENED
        self.iterate.whiten_atom(j)
        h = self.P.multiply_only(n)
        variance: float = loops.dot(self.P.rows, z, self.P.rows, h, n)
        if variance > 0.0:
            self.iterate.take_weights_beside(j, variance)
            loops.spread(
                self.dictionary.factor, n, self.P.rows, h, self.P.rows, inverse_curvature.PRODUCT
            )
            self.iterate.add_beside()

    def flush(self) -> int:  # cdef
        """Apply the pending update, discard the lookahead, and compute the mixture."""
        NewtonStream.flush(self)
        self.companion.mix()
        return 0


# -- functions of both streams -------------------------------------------------------------------


def attach_companion(
    s: QuasiGradientStream, risk: RiskContract, tracker: TrackerContract
) -> RiskCompanion:  # cdef gil
    """Return a new companion; it is stored with the stream, and its mixture makes predictions."""
    companion = RiskCompanion(s.loss, risk, tracker, s.dictionary, s.window, s.averaged)
    s.parts["companion"], s.lines = companion, companion.first_lines(len(TRACE))
    s.shown = companion.row_of(risk_companion.CANDIDATES)
    return companion


def consider_beside(s: QuasiGradientStream, companion: RiskCompanion) -> int:  # cdef
    """Compute the companion's slopes and scores, before the step of the mean's function."""
    limit: float = stream.RUNAWAY * (1.0 + s.largest_target)
    return companion.consider(s.tracking_rate.rate(s.steps), s.steps, limit)


def accept_beside(s: QuasiGradientStream, companion: RiskCompanion) -> None:  # cdef
    """Complete the companion's step; the loss of the stream is that of the mixture."""
    companion.accept(s.steps)
    s.window.losses[0] = companion.mixed_loss


def record_beside(s: QuasiGradientStream, companion: RiskCompanion) -> int:  # cdef
    """Write g and the outer value of the companion to the line of the step."""
    if s.traced:
        companion.record(s.lines, s.line - 1)
    return 0
