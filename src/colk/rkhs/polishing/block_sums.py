"""Sums of derivatives of an objective over the rows of a block.

A block of rows may be held in memory together with its kernel values, or its kernel values are
computed again for each sum, some rows at a time. All functions of blocks are pure and can be
pickled, so that an engine may run them anywhere.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from colk._engine.products import transposed_product
from colk._validation import Array
from colk.losses import Loss
from colk.risks.samples import Joint, Statistics
from colk.rkhs.polishing.blocks import Block, add, turns
from colk.rkhs.polishing.objective import RowPart, SmoothedObjective
from colk.rkhs.polishing.row_losses import RowLosses
from colk.rkhs.polishing.span import Span, distinct, weighted_squares

__all__ = [
    "BlockSums",
    "CurvatureSums",
    "HeldBlock",
    "curvature_block",
    "level_block",
    "losses_block",
    "part_block",
    "predict_block",
    "product_block",
    "spread_block",
    "sums_block",
]


class KernelValues(Protocol):
    """Kernel values of some rows: the table T with rows t."""

    def values(self, factor: Array) -> Array:
        """Return T times a factor (., q)."""

    def sums(self, slopes: Array) -> Array:
        """Return Tᵀ times slopes (n, q)."""

    def squares(self, curvature: Array) -> Array:
        """Return Σ b t tᵀ for each column of the curvature, or one if all are equal."""


class _Turn:
    """Kernel values κ(x, D) of the rows of a turn."""

    def __init__(self, table: Array, basis: Array | None) -> None:
        self._table, self._basis = table, basis

    def values(self, factor: Array) -> Array:
        return np.asarray(self._table @ factor)

    def sums(self, slopes: Array) -> Array:
        return transposed_product(self._table, slopes)

    def squares(self, curvature: Array) -> Array:
        table = self._table if self._basis is None else self._table @ self._basis
        return np.stack([weighted_squares(table, b) for b in distinct(curvature).T])


class HeldBlock:
    """All rows in memory, with their kernel values if these are small; it counts as a `Block`.

    Parameters
    ----------
    span : Span
        The kernel values, in coordinates of the span of the atoms.
    targets, share : arrays
        As in `Block`.
    """

    def __init__(self, span: Span, targets: Array, share: Array) -> None:
        self.span, self.targets, self.share = span, targets, share
        self._losses: tuple[Loss, RowLosses] | None = None
        self._values: tuple[Array, Array] | None = None
        self._part: tuple[SmoothedObjective, RowPart] | None = None

    def losses_of(self, objective: SmoothedObjective) -> RowLosses | None:
        """Return the losses, which are checked once."""
        if not objective.risk.is_of_losses:
            return None
        if self._losses is None or self._losses[0] is not objective.loss:
            made = RowLosses(objective.loss, self.targets, objective.n_outputs)
            self._losses = objective.loss, made
        return self._losses[1].smoothed(objective.width)

    def values(self, factor: Array) -> Array:
        """Return the predictions; those of the last factor are kept."""
        if self._values is None or self._values[0] is not factor:
            self._values = factor, self.span.values(factor)
        return self._values[1]

    def part(self, objective: SmoothedObjective, F: Array) -> RowPart:
        """Return the rows at these predictions; the last ones are kept."""
        kept = self._part
        if kept is None or kept[0] is not objective or kept[1].predictions is not F:
            losses = self.losses_of(objective)
            self._part = objective, RowPart(losses, F, self.targets, self.share)
        assert self._part is not None
        return self._part[1]


AnyBlock = Block | HeldBlock


def _parts(
    block: AnyBlock, objective: SmoothedObjective, factor: Array, F: Array | None = None
) -> Iterator[tuple[KernelValues, RowPart]]:
    """Yield the rows of a block with their kernel values, as many as fit into memory at a time."""
    if isinstance(block, HeldBlock):
        yield block.span, block.part(objective, block.values(factor) if F is None else F)
        return
    for rows in turns(len(block.share)):
        columns = _Turn(objective.table.at(block.points[rows]), objective.basis)
        f = columns.values(factor) if F is None else np.ascontiguousarray(F[rows])
        targets, share = block.targets[rows], block.share[rows]
        yield columns, RowPart(objective.losses_of(targets), f, targets, share)


def predict_block(block: AnyBlock, objective: SmoothedObjective, factor: Array) -> Array:
    """Return the values (n, q) of the function with these weights, or coordinates."""
    if isinstance(block, HeldBlock):
        return block.values(factor)
    F = np.empty((len(block.share), factor.shape[1]))
    for rows in turns(len(F)):
        np.matmul(objective.table.at(block.points[rows]), factor, out=F[rows])
    return F


def losses_block(block: Block, F: Array, objective: SmoothedObjective) -> Array:
    """Return the losses (n,) at predictions (n, q)."""
    return _part(block, F, objective).losses if len(F) else np.zeros(0)


def part_block(
    block: Block,
    F: Array,
    values: Array,
    has_losses: bool,
    objective: SmoothedObjective,
    function: Callable[..., tuple[Any, ...]],
    arguments: tuple[Any, ...],
) -> tuple[Any, ...] | None:
    """Return `function(part, *arguments)` of the rows of a block; None if it is empty."""
    if len(block.share) == 0:
        return None
    known = values if has_losses else None
    return function(RowPart(None, F, block.targets, block.share, known), *arguments)


class BlockSums(NamedTuple):
    """Sums of first derivatives over the rows of a block."""

    value: float  # Σ s outer
    bound: float  # Σ a ℓ, where a is the derivative of the risk in the loss
    jumps: float  # Σ a Σ_k j_k over the kinks of the loss
    slopes: Array  # Σ t s', where s' is the slope in the predictions


def sums_block(
    block: AnyBlock, F: Array | None, objective: SmoothedObjective, factor: Array, found: Statistics
) -> BlockSums | None:
    """Return the sums of first derivatives.

    Parameters
    ----------
    block : Block
        The rows.
    F : array of shape (n, q), optional
        The predictions, if they are known.
    objective : Objective
        The objective.
    factor : array of shape (M, q)
        Weights of the atoms, or coordinates; see `Span.for_table`.
    found : Statistics
        What couples the rows.
    """  # fmt: skip
    total: BlockSums | None = None
    for columns, part in _parts(block, objective, factor, F):
        slopes = objective.risk.slopes(found, part)
        bound = float(np.sum(slopes.by_loss * part.losses)) if objective.risk.is_of_losses else 0.0
        sums = BlockSums(
            float(np.sum(slopes.values)),
            bound,
            float(np.sum(slopes.by_loss * part.steepness)),
            columns.sums(slopes.slopes),
        )
        total = add(total, sums)
    return total


class CurvatureSums(NamedTuple):
    """Sums of second derivatives over the rows of a block."""

    curvature: Array | None  # (c, ., .): Σ b t tᵀ for each output, or one for all
    vectors: Array | None  # (., k·q): Σ t v, where v is the row of V


def curvature_block(
    block: AnyBlock,
    F: Array | None,
    objective: SmoothedObjective,
    factor: Array,
    found: Statistics,
    joint: Joint,
    with_matrix: bool,
) -> CurvatureSums | None:
    """Return the sums of second derivatives.

    Parameters
    ----------
    block, F, objective, factor, found
        As in `sums_block`.
    joint : Joint
        How the rows are coupled.
    with_matrix : bool
        Whether to sum the curvature.
    """
    total: CurvatureSums | None = None
    for columns, part in _parts(block, objective, factor, F):
        bends = objective.risk.bends(found, part, joint)
        curvature, vectors = None, None
        if with_matrix:
            b = bends.diagonal
            b = b.max(axis=1)[:, None] if objective.joins_outputs else b
            curvature = columns.squares(b)
        if len(joint.columns):
            vectors = columns.sums(bends.vectors.reshape(len(bends.vectors), -1))
        total = add(total, CurvatureSums(curvature, vectors))
    return total


def product_block(
    block: AnyBlock,
    F: Array | None,
    objective: SmoothedObjective,
    factor: Array,
    found: Statistics,
    direction: Array,
) -> tuple[Array] | None:
    """Return Σ t b (tᵀd): the curvature times a direction, without its matrix.

    Parameters
    ----------
    block, F, objective, factor, found
        As in `sums_block`.
    direction : array of shape (M, q)
        d, as the factor.
    """
    total: tuple[Array] | None = None
    for columns, part in _parts(block, objective, factor, F):
        bent = objective.risk.product(found, part, columns.values(direction))
        total = add(total, (columns.sums(bent),))
    return total


def level_block(
    block: AnyBlock, F: Array, objective: SmoothedObjective
) -> tuple[float, ...] | None:
    """Return Σ sℓ, Σ s|ℓ| and the sum of the jumps at kinks."""
    if len(block.share) == 0:
        return None
    part = _part(block, F, objective)
    weighted = part.share * part.losses
    jumps = float(np.sum(part.share * part.steepness))
    return float(np.sum(weighted)), float(np.sum(np.abs(weighted))), jumps


def spread_block(
    block: AnyBlock, F: Array, objective: SmoothedObjective, mean: float
) -> tuple[float] | None:
    """Return Σ s|ℓ − c|."""
    if len(block.share) == 0:
        return None
    part = _part(block, F, objective)
    return (float(np.sum(part.share * np.abs(part.losses - mean))),)


def _part(block: AnyBlock, F: Array, objective: SmoothedObjective) -> RowPart:
    """Return all rows of a block."""
    if isinstance(block, HeldBlock):
        return block.part(objective, F)
    return RowPart(objective.losses_of(block.targets), F, block.targets, block.share)
