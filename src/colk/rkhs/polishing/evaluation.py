"""The smoothed objective and its gradient at coordinates, by sums over blocks of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from colk._validation import Array
from colk.risks.samples import APART, HeldSample, LossSample, Statistics
from colk.rkhs.polishing.block_sample import BlockSample
from colk.rkhs.polishing.block_sums import (
    BlockSums,
    HeldBlock,
    level_block,
    predict_block,
    spread_block,
    sums_block,
)
from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.objective import RowPart, SmoothedObjective
from colk.rkhs.polishing.span import Span

__all__ = ["NOTHING", "Evaluator", "Point"]

# What couples the rows of a sum over samples: nothing.
NOTHING = Statistics(0.0, np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Point:
    """The smoothed objective at some coordinates.

    Attributes
    ----------
    v : array of shape (rank, q)
        Coordinates with ‖f‖ = ‖v‖.
    factor : array of shape (M, q)
        The same for blocks; see `Span.for_table`.
    predictions : object or None
        Predictions of the blocks, if they were kept.
    found : Statistics
        What couples the rows.
    sample : LossSample or None
        The rows, if they are coupled.
    sums : BlockSums
        Sums over all rows.
    value : float
        The risk plus λ/2 ‖v‖².
    gradient : array of shape (rank, q)
        Its gradient.
    """

    v: Array
    factor: Array
    predictions: Any
    found: Statistics
    sample: LossSample | None
    sums: BlockSums
    value: float
    gradient: Array

    @property
    def norm(self) -> float:
        """Norm of the gradient."""
        return float(np.linalg.norm(self.gradient))


class Evaluator:
    """The objective as a function of coordinates v with ‖f‖ = ‖v‖.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    span : Span
        The coordinates.
    objective : Objective
        The objective, with its kinks.
    decay : float
        λ.
    held : HeldBlock, optional
        The only block, if all rows are in memory.
    sample : Blocks, optional
        Rows that represent all rows in sums that need not be exact.
    """

    def __init__(
        self,
        blocks: Blocks,
        span: Span,
        objective: SmoothedObjective,
        decay: float,
        *,
        held: HeldBlock | None = None,
        sample: Blocks | None = None,
    ) -> None:
        self.blocks, self.span, self.decay = blocks, span, decay
        self.exact = self.objective = objective
        self._held, self._representative = held, sample
        self._here: tuple[SmoothedObjective, Point] | None = None

    @property
    def is_sum(self) -> bool:
        """Whether the objective is a sum over samples."""
        return bool(self.exact.risk.is_sum)

    @property
    def is_smoothed(self) -> bool:
        """Whether the objective has kinks, or a risk whose kink is smoothed."""
        return self.exact.is_kinked or bool(self.exact.risk.has_kink)

    def smooth(self, width: float, softness: float) -> bool:
        """Smooth kinks over these widths; return whether the objective is exact."""
        if not self.is_smoothed:
            return True
        objective = self.exact.smoothed(width, softness)
        if self.objective.width != objective.width or self.objective.risk != objective.risk:
            self.objective = objective
        return not self.exact.is_kinked and self.objective.risk == self.exact.risk

    def regularize(self, decay: float) -> None:
        """Change λ."""
        self.decay, self._here = decay, None

    def _penalty(self, v: Array) -> float:
        return 0.5 * self.decay * float(np.sum(v * v))

    def at(self, v: Array) -> Point:
        """Return the smoothed objective at some coordinates; the last point is kept."""
        if self._here is None or self._here[0] is not self.objective or self._here[1].v is not v:
            self._here = self.objective, self._point(self.blocks, v)
        return self._here[1]

    def _point(self, blocks: Blocks, v: Array) -> Point:
        objective, factor = self.objective, self.span.for_table(v)
        if objective.risk.is_sum and self._held is None:
            predictions = sample = None
            call = sums_block, None, objective, factor, NOTHING
            found, sums = NOTHING, blocks.total(*call)
            value = sums.value
        else:
            predictions = blocks.each(predict_block, objective, factor)
            sample, found = None, NOTHING
            if not objective.risk.is_sum:
                sample = self._sample(blocks, objective, predictions)
                found = objective.risk.statistics(sample)
            sums = blocks.total(sums_block, objective, factor, found, per_block=[predictions])
            value = sums.value if sample is None else found.value
        gradient = self.span.from_table(sums.slopes) + self.decay * v
        value = value + self._penalty(v)
        return Point(v, factor, predictions, found, sample, sums, value, gradient)

    def _sample(self, blocks: Blocks, objective: SmoothedObjective, predictions: Any) -> LossSample:
        if self._held is None or blocks is not self.blocks:
            return BlockSample(blocks, objective, predictions)
        part = self._held.part(objective, predictions[0])
        losses = part.losses if objective.risk.is_of_losses else np.zeros(0)
        return HeldSample(part.share, losses, part.predictions, part.targets)

    def value(self, v: Array) -> float:
        """Return the exact objective at some coordinates."""
        if self.objective is self.exact:
            return self.at(v).value
        blocks, objective, factor = self.blocks, self.exact, self.span.for_table(v)
        kept = None if self._here is None or self._here[1].v is not v else self._here[1].predictions
        if kept is None:
            kept = blocks.each(predict_block, objective, factor)
        sample = self._sample(blocks, objective, kept)
        return objective.risk.statistics(sample).value + self._penalty(v)

    def value_at(self, v: Array) -> float:
        """Return the exact objective at some coordinates, without a gradient."""
        predictions = self.blocks.each(predict_block, self.exact, self.span.for_table(v))
        sample = self._sample(self.blocks, self.exact, predictions)
        return self.exact.risk.statistics(sample).value + self._penalty(v)

    def rows_at(self, v: Array) -> tuple[Array, Array, Array]:
        """Return predictions, slopes and curvatures (n, q) of rows in memory.

        Curvatures leave out the coupling of rows and of outputs.
        """
        assert self._held is not None
        point, objective = self.at(v), self.objective
        share, losses = self._held.share, self._held.losses_of(objective)
        part = RowPart(losses, point.predictions[0], self._held.targets, share, is_shared=False)
        slopes = objective.risk.slopes(point.found, part).slopes
        return part.predictions, slopes, objective.risk.bends(point.found, part, APART).diagonal

    def risk_of(self, F: Array) -> float:
        """Return the exact risk of predictions (n, q) of rows in memory."""
        return self.exact.risk.statistics(self._sample(self.blocks, self.exact, [F])).value

    def lower_bound(self, v: Array) -> float:
        """Return a lower bound on the exact risk of other predictions, to first order.

        The gradient of a smoothed CVaR, or mean semideviation of order 1, in the losses is a
        probability that the exact risk admits, so Σ q_i ℓ_i bounds the exact risk from below. A
        smoothed loss is too large by at most its jumps times a quarter of the width. The result is
        −∞ if no bound is known.
        """
        point, exact, risk = self.at(v), self.exact, self.objective.risk
        if not risk.is_of_losses:
            return -np.inf if exact.is_kinked else point.value - self._penalty(v)
        value = point.value - self._penalty(v)
        if risk.has_kink:
            value = point.sums.bound if risk != exact.risk else value
        elif exact.is_kinked and not risk.is_sum:
            return -np.inf
        return float(value - point.sums.jumps * self.objective.width / 4.0)

    def reference(self, v: Array) -> float:
        """Return the norm of the gradient at f = 0."""
        few = self.blocks if self._representative is None else self._representative
        return self._point(few, np.zeros_like(v)).norm or 1.0

    def units(self, v: Array) -> tuple[float, float]:
        """Return the first smoothing widths, of predictions and of losses."""
        if not self.exact.risk.is_of_losses:
            return 1.0, 1.0
        factor = self.span.for_table(v)
        predictions = self.blocks.each(predict_block, self.exact, factor)
        own = {"per_block": [predictions]}
        mean, level, steepness = self.blocks.total(level_block, self.exact, **own)
        spread = self.blocks.total(spread_block, self.exact, mean, **own)[0]
        width = level / steepness if steepness > 0.0 else 0.0
        return width or 1.0, max(spread, 0.1 * level) or 1.0
