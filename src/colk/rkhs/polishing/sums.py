"""Sums over blocks of rows from which Newton's method finds weights: values, slopes, curvature.

With k = κ(D, x) and weights w, a block sends its share of the objective, the gradient Σ a k and, if
requested, the curvature Σ b k kᵀ or its product with a direction. Two more sums of k give the
rank-one terms by which a risk couples the rows. All functions are pure and can be pickled.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colk._engine.products import transposed_product
from colk._validation import Array
from colk.risks import (
    AUC,
    CVaR,
    Dispersion,
    Entropic,
    LossRisk,
    MeanSemideviation,
    Risk,
)
from colk.rkhs.polishing.blocks import Block, Blocks, turns
from colk.rkhs.polishing.inner_statistics import LossSample, inner_of, losses_block
from colk.rkhs.polishing.risk_curvature import has_kink
from colk.rkhs.polishing.row_terms import Inner, SumObjective, curvature_times, row_terms

__all__ = [
    "BlockSums",
    "Evaluation",
    "couplings",
    "evaluate",
    "exact_value",
    "predict_block",
    "product_block",
    "smoothing_units",
    "sums_block",
]

# Rows whose curvature is below this share of the largest one of their turn are left out.
_NEGLIGIBLE = 1e-12


class BlockSums(NamedTuple):
    """The sums of a block."""

    value: float  # Σ s outer(ℓ, g)
    bound: float  # Σ a ℓ, where a is the derivative of the risk in the loss
    jumps: float  # Σ a Σ_k j_k over the kinks of the loss
    slopes: Array  # (M, q): Σ k a ℓ'
    bends: Array | None  # (M, q): Σ k s outer'' ℓ'
    pulls: Array | None  # (M, q): Σ k s ℓ'
    outer_curvature: float  # D = Σ s outer''
    curvature: Array | None  # (rank, rank): Σ b z zᵀ, b the largest curvature of the outputs
    uneven: int  # rows whose outputs have different curvatures


def predict_block(block: Block, objective: SumObjective, weights: Array) -> Array:
    """Return the values (n, q) of the function with these weights (M, q)."""
    F = np.empty((len(block.points), weights.shape[1]))
    for rows in turns(len(F)):
        np.matmul(objective.table.at(block.points[rows]), weights, out=F[rows])
    return F


def sums_block(
    block: Block,
    F: Array | None,
    objective: SumObjective,
    weights: Array,
    inner: Inner | None,
    second_order: bool,
) -> BlockSums:
    """Return the sums of a block.

    Parameters
    ----------
    block : Block
        The rows.
    F : array of shape (n, q), optional
        The predictions, if they are known.
    objective : SumObjective
        The objective.
    weights : array of shape (M, q)
        Weights of the atoms.
    inner : Inner or None
        The statistics that couple the rows; None for the mean.
    second_order : bool
        Whether to sum the curvature.
    """  # fmt: skip
    n_atoms, q = weights.shape
    joined = inner is not None
    value = bound = jumps = outer = 0.0
    uneven = 0
    slopes = np.zeros((n_atoms, q))
    bends, pulls = (np.zeros((n_atoms, q)), np.zeros((n_atoms, q))) if joined else (None, None)
    rank = n_atoms if objective.basis is None else objective.basis.shape[1]
    curvature = np.zeros((rank, rank)) if second_order else None
    for rows in turns(len(block.points)):
        k = objective.table.at(block.points[rows])
        targets, share = block.targets[rows], block.share[rows]
        f = k @ weights if F is None else np.ascontiguousarray(F[rows])
        found = row_terms(objective, inner, f, targets, share, second_order)
        value += float(np.sum(found.values))
        bound += float(np.sum(found.by_loss * found.losses))
        jumps += _jumps(objective, targets, found.by_loss)
        slopes += transposed_product(k, found.slopes)
        if bends is not None and pulls is not None and found.bends.shape[1]:
            bends += transposed_product(k, found.bends)
            pulls += transposed_product(k, found.pulls)
            outer += float(np.sum(found.outer_curvature))
        if curvature is not None:
            b = found.curvature.max(axis=1)
            uneven += int(np.sum(found.curvature.min(axis=1) < b))
            _add_curvature(curvature, k, b, objective.basis)
    return BlockSums(value, bound, jumps, slopes, bends, pulls, outer, curvature, uneven)


def _jumps(objective: SumObjective, targets: Array, by_loss: Array) -> float:
    if not objective.loss.kinks or not isinstance(objective.risk, LossRisk):
        return 0.0
    terms = objective.terms(targets).terms
    return float(sum(np.sum(by_loss * jump.sum(axis=1)) for jump in terms.jumps))


def _add_curvature(total: Array, k: Array, b: Array, basis: Array | None) -> None:
    """Add Σ b z zᵀ."""
    largest = float(b.max(initial=0.0))
    if not largest > 0.0:
        return
    active = b > _NEGLIGIBLE * largest
    if not active.all():
        k, b = k[active], b[active]
    z = k if basis is None else k @ basis
    scaled = z * np.sqrt(b)[:, None]
    total += scaled.T @ scaled


def product_block(
    block: Block,
    objective: SumObjective,
    weights: Array,
    inner: Inner | None,
    direction: Array,
) -> tuple[Array]:
    """Return Σ k b (kᵀd), (M, q): the curvature times a direction (M, q), without its matrix.

    Parameters
    ----------
    block, objective, weights, inner
        As in `sums_block`.
    direction : array of shape (M, q)
        d.
    """
    total = np.zeros_like(direction)
    both = np.hstack([weights, direction])
    q = weights.shape[1]
    for rows in turns(len(block.points)):
        k = objective.table.at(block.points[rows])
        values = k @ both
        f, change = np.ascontiguousarray(values[:, :q]), values[:, q:]
        targets, share = block.targets[rows], block.share[rows]
        bent = curvature_times(objective, inner, f, targets, share, change)
        total += transposed_product(k, bent)
    return (total,)


# -- sums over all blocks --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The objective without λ/2 ‖f‖² at some weights.

    Attributes
    ----------
    value : float
        The smoothed risk.
    lower_bound : float
        A lower bound on the exact risk of other predictions, to first order; −∞ if none is known.
    sums : BlockSums
        The sums over all rows.
    inner : Inner or None
        The statistics that couple the rows.
    """

    value: float
    lower_bound: float
    sums: BlockSums
    inner: Inner | None


def is_sum(risk: Risk) -> bool:
    """Return whether a risk is a sum over the rows."""
    return isinstance(risk, LossRisk) and risk.n_inner == 0


def evaluate(
    blocks: Blocks, objective: SumObjective, weights: Array, second_order: bool
) -> Evaluation:
    """Return the sums over all blocks at these weights.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    objective : SumObjective
        The objective.
    weights : array of shape (M, q)
        Weights of the atoms.
    second_order : bool
        Whether to sum the curvature.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.risks import Variance
    >>> from colk.rkhs.polishing.blocks import RowBlocks
    >>> blocks = RowBlocks.of(np.ones((2, 1)), np.array([1.0, 3.0]), np.full(2, 0.5))
    >>> objective = SumObjective(Linear(), np.ones((1, 1)), Squared(), Variance(0.5), 1)
    >>> evaluate(blocks, objective, np.zeros((1, 1)), second_order=False).value  # losses 1 and 9
    13.0
    """
    risk, inner, predictions = objective.risk, None, None
    if is_sum(risk):
        sums = blocks.total(sums_block, None, objective, weights, None, second_order)
        return Evaluation(sums.value, _lower_bound(objective, sums, sums.value), sums, None)
    predictions = blocks.each(predict_block, objective, weights)
    inner, value = inner_of(risk, _sample(blocks, objective, predictions))
    sums = blocks.total(
        sums_block, objective, weights, inner, second_order, per_block=[predictions]
    )
    return Evaluation(value, _lower_bound(objective, sums, value), sums, inner)


def _sample(blocks: Blocks, objective: SumObjective, predictions: Any) -> LossSample:
    losses = None
    if isinstance(objective.risk, LossRisk):
        losses = blocks.each(losses_block, objective, per_block=[predictions])
    return LossSample(blocks, predictions, losses)


def _lower_bound(objective: SumObjective, sums: BlockSums, value: float) -> float:
    """Return the same bound as `RoundedTerms.lower_bound`."""
    risk, kinked = objective.risk, bool(objective.loss.kinks)
    if not isinstance(risk, LossRisk):
        return value if risk.is_smooth else -np.inf
    if has_kink(risk):
        value = sums.bound
    elif risk.n_inner > 0 and (kinked or not risk.is_smooth):
        return -np.inf
    return value - sums.jumps * objective.width / 4.0


def exact_value(blocks: Blocks, objective: SumObjective, weights: Array) -> float:
    """Return the exact risk, of an objective that is not smoothed.

    Parameters
    ----------
    blocks, objective, weights
        As in `evaluate`.
    """
    predictions = blocks.each(predict_block, objective, weights)
    if is_sum(objective.risk):
        return float(blocks.total(value_block, objective, per_block=[predictions])[0])
    return inner_of(objective.risk, _sample(blocks, objective, predictions))[1]


def value_block(block: Block, F: Array, objective: SumObjective) -> tuple[float]:
    """Return Σ s ℓ of a block."""
    return (float(np.sum(block.share * losses_block(block, F, objective))),)


def couplings(risk: Risk, inner: Inner | None, sums: BlockSums) -> tuple[Array, Array] | None:
    """Return U (k, M, q) and c (k,): the terms Σ c U Uᵀ by which a risk couples the rows.

    They are those of `risk_curvature`, as sums over the rows. The result is None if they are not
    known.
    """
    if inner is None or sums.bends is None or sums.pulls is None:
        return (np.zeros((0, *sums.slopes.shape)), np.zeros(0)) if inner is None else None
    p, s, D = sums.bends, sums.pulls, sums.outer_curvature
    if isinstance(risk, AUC):
        return np.stack([p, s]), np.array([-1.0, 1.0])
    if not isinstance(risk, (CVaR, Entropic, Dispersion, MeanSemideviation)):
        return None
    if not D > 0.0:
        return np.zeros((0, *p.shape)), np.zeros(0)
    terms, coefficients = [p], [-1.0 / D]
    if isinstance(risk, (Dispersion, MeanSemideviation)):
        terms.append(s - p / D)
        coefficients.append(D)
    if isinstance(risk, MeanSemideviation) and risk.order > 1.0 and inner.g[1] > 0.0:
        deviation = float(inner.g[1]) ** (1.0 / risk.order)
        terms.append(sums.slopes - s)
        coefficients.append(-(risk.order - 1.0) / (risk.weight * deviation))
    return np.stack(terms), np.array(coefficients)


def smoothing_units(blocks: Blocks, objective: SumObjective, weights: Array) -> tuple[float, float]:
    """Return the first smoothing widths, of predictions and of losses, as `Terms.unit`."""
    if not isinstance(objective.risk, LossRisk):
        return 1.0, 1.0
    predictions = blocks.each(predict_block, objective, weights)
    losses = blocks.each(losses_block, objective, per_block=[predictions])
    mean, level, steepness = blocks.total(level_block, objective, per_block=[losses])
    spread = blocks.total(spread_block, mean, per_block=[losses])[0]
    width = level / steepness if steepness > 0.0 else 0.0
    return width or 1.0, max(spread, 0.1 * level) or 1.0


def level_block(block: Block, losses: Array, objective: SumObjective) -> tuple[float, float, float]:
    """Return Σ sℓ, Σ s|ℓ| and the sum of the jumps at kinks."""
    share = block.share
    jumps = _jumps(objective, block.targets, share) if len(share) else 0.0
    return float(np.sum(share * losses)), float(np.sum(share * np.abs(losses))), jumps


def spread_block(block: Block, losses: Array, mean: float) -> tuple[float]:
    """Return Σ s|ℓ − c|."""
    return (float(np.sum(block.share * np.abs(losses - mean))),)
