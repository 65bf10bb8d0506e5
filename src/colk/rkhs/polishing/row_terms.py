"""Slopes and curvatures of an objective at the rows of a block.

A risk couples all rows by a few numbers, which `inner_statistics` computes: g, and the mean slopes
of the outer function in g. Given these numbers, the slope and the curvature of a row do not depend
on other rows, and the second derivative of the risk is a sum over the rows plus a few rank-one
terms.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.table import KernelTable
from colk.losses import Loss, Quantiles
from colk.risks import AUC, Composition, LossRisk, Mean, Risk
from colk.rkhs.polishing.risk_curvature import softened
from colk.rkhs.polishing.smoothing import RoundedTerms, Terms

__all__ = ["Inner", "RowTerms", "SumObjective", "curvature_times", "losses_of", "row_terms"]

_MEAN = Mean()


@dataclass(frozen=True, eq=False)
class SumObjective:
    """A risk of a loss of functions on given atoms, with smoothed kinks.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        The atoms D.
    loss : Loss
        The loss.
    risk : Risk
        The risk.
    n_outputs : int
        q.
    width : float
        Width over which kinks of the loss are smoothed. Default: 0, no smoothing.
    basis : array of shape (M, rank), optional
        B, if curvature must be summed in the coordinates z = Bᵀκ(D, x) because the atoms are
        nearly dependent.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Hinge
    >>> from colk.risks import CVaR
    >>> objective = SumObjective(Linear(), np.ones((1, 1)), Hinge(), CVaR(0.1), 1)
    >>> smooth = objective.smoothed(width=0.1, softness=0.2)
    >>> smooth.width, smooth.risk.smoothing
    (0.1, 0.2)
    """

    kernel: Kernel
    atoms: Array
    loss: Loss
    risk: Risk
    n_outputs: int
    width: float = 0.0
    basis: Array | None = None

    @cached_property
    def table(self) -> KernelTable:
        """Kernel values against the atoms; threads may share it."""
        return KernelTable(self.kernel, self.atoms)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    def smoothed(self, width: float, softness: float) -> "SumObjective":
        """Return the objective with smoothed kinks: of the loss, and of the risk."""
        return replace(self, width=width, risk=softened(self.risk, softness))

    @property
    def couples_outputs(self) -> bool:
        """Whether the loss is not a sum over the outputs."""
        couples = self.loss.couples_outputs and not isinstance(self.loss, Quantiles)
        return couples and self.n_outputs > 1

    def terms(self, targets: Array) -> RoundedTerms:
        """Return the losses of some rows, each of weight 1."""
        of_losses = self.risk if not isinstance(self.risk, LossRisk) else _MEAN
        plain = Terms(self.loss, of_losses, targets, np.ones(len(targets)), self.n_outputs)
        return RoundedTerms(plain, self.width or 1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Inner:
    """The statistics of all rows by which a risk couples them.

    Parameters
    ----------
    g : array of shape (m,)
        The inner value of the risk.
    slopes : array of shape (k,)
        E ∂outer/∂g for the leading components, which are expectations.
    step : float
        Distance of finite differences in the losses.
    largest, mass : float
        If only the largest loss counts (`ChiSquareDRO` and `KLDRO` with a large radius): this loss,
        and the share of the rows that have it. Otherwise the mass is 0.
    """

    g: Array
    slopes: Array
    step: float = 1e-5
    largest: float = 0.0
    mass: float = 0.0


class RowTerms(NamedTuple):
    """The objective at some rows; all values are multiplied by the shares.

    `slopes` are derivatives in the predictions, `curvature` the diagonal of the second derivative
    without the terms that couple rows. `bends` and `pulls` are the vectors that determine the
    rank-one terms, see `couplings`.
    """

    values: Array  # (n,): the outer function
    by_loss: Array  # (n,): derivative of the risk in the losses
    losses: Array  # (n,)
    slopes: Array  # (n, q)
    curvature: Array  # (n, q), or (n, 0) if it was not requested
    outer_curvature: Array  # (n,)
    bends: Array  # (n, q)
    pulls: Array  # (n, q)
    loss_slopes: Array  # (n, q): ℓ', without the shares; (n, 0) for a risk of predictions


def losses_of(objective: SumObjective, F: Array, targets: Array) -> Array:
    """Return the losses (n,) of predictions (n, q); those of a loss with kinks are smoothed."""
    terms = objective.terms(targets)
    return terms.losses(F) if objective.width else terms.terms.evaluate(F)[0]


def row_terms(
    objective: SumObjective,
    inner: Inner | None,
    F: Array,
    targets: Array,
    share: Array,
    second_order: bool,
) -> RowTerms:
    """Return the objective at some rows.

    Parameters
    ----------
    objective : SumObjective
        The objective; the width must be above 0 if the loss has kinks.
    inner : Inner or None
        The statistics that couple the rows; None for the mean.
    F : array of shape (n, q)
        Predictions.
    targets, share
        Targets, and weights of the rows.
    second_order : bool
        Whether to compute the curvature.
    """
    risk = objective.risk
    if isinstance(risk, AUC):
        return _auc_terms(cast(Inner, inner), F, targets, share)
    if isinstance(risk, Composition):
        return _composed_terms(risk, cast(Inner, inner), F, targets, share, second_order)
    if not isinstance(risk, LossRisk):
        raise TypeError(f"{type(risk).__name__} cannot be summed over rows")
    return _loss_terms(objective, risk, inner, F, targets, share, second_order)


def curvature_times(
    objective: SumObjective,
    inner: Inner | None,
    F: Array,
    targets: Array,
    share: Array,
    change: Array,
) -> Array:
    """Return the second derivative of each row times a change (n, q) of the predictions.

    Like the curvature of `row_terms`, it leaves out the terms that couple rows. It includes the
    coupling of the outputs of a row, by a loss that is not a sum over them or by a risk.

    Parameters
    ----------
    objective, inner, F, targets, share
        As in `row_terms`.
    change : array of shape (n, q)
        The change.
    """
    joins_outputs = objective.n_outputs > 1 and isinstance(objective.risk, LossRisk)
    is_joined = joins_outputs and (inner is not None or objective.couples_outputs)
    found = row_terms(objective, inner, F, targets, share, not is_joined)
    if not is_joined:
        return np.asarray(found.curvature * change)
    terms = objective.terms(targets)
    if objective.couples_outputs:
        curved = terms.curvature_product(F, change)
    else:
        curved = np.maximum(terms.loss_curvature(F), 0.0) * change
    along = found.outer_curvature * np.sum(found.loss_slopes * change, axis=1)
    curved = np.maximum(found.by_loss, 0.0)[:, None] * curved
    return np.asarray(curved + along[:, None] * found.loss_slopes)


def _loss_terms(
    objective: SumObjective,
    risk: LossRisk,
    inner: Inner | None,
    F: Array,
    targets: Array,
    share: Array,
    second_order: bool,
) -> RowTerms:
    terms = objective.terms(targets)
    losses, slopes = terms.losses(F), terms.loss_slopes(F)
    none = np.zeros((len(F), 0))
    if inner is None or risk.n_inner == 0:
        curvature = (
            share[:, None] * np.maximum(terms.loss_curvature(F), 0.0) if second_order else none
        )
        pull = share[:, None] * slopes
        return RowTerms(
            share * losses, share, losses, pull, curvature, np.zeros(len(F)), none, none, slopes
        )
    by_loss = _by_loss(risk, inner, losses, share)
    outer = _outer_curvature(risk, inner, losses, share)
    curvature = none
    if second_order:
        curvature = np.maximum(by_loss, 0.0)[:, None] * np.maximum(terms.loss_curvature(F), 0.0)
        curvature = curvature + outer[:, None] * slopes**2
    values = share * risk.outer(losses, inner.g)
    pull, bends, pulls = (each[:, None] * slopes for each in (by_loss, outer, share))
    return RowTerms(values, by_loss, losses, pull, curvature, outer, bends, pulls, slopes)


def _by_loss(risk: LossRisk, inner: Inner, losses: Array, share: Array) -> Array:
    """Return the derivative of the risk in the losses of these rows."""
    if inner.mass > 0.0:
        return np.where(losses == inner.largest, share / inner.mass, 0.0)
    k = len(inner.slopes)
    through = risk.inner_slope(losses, inner.g)[:, :k] @ inner.slopes
    return np.asarray(share * (risk.outer_slope_loss(losses, inner.g) + through))


def _outer_curvature(risk: LossRisk, inner: Inner, losses: Array, share: Array) -> Array:
    """Return the share times ∂²outer/∂ℓ² of each row with constant g."""
    if inner.mass > 0.0:
        return np.zeros(len(losses))
    h = inner.step
    above, below = (risk.outer_slope_loss(losses + side, inner.g) for side in (h, -h))
    return np.asarray(share * np.maximum((above - below) / (2.0 * h), 0.0))


def _auc_terms(inner: Inner, F: Array, targets: Array, share: Array) -> RowTerms:
    """Return the terms of AUC; g is (share of positives, mean score of positives, of negatives)."""
    positive, above, below = inner.g
    f, is_positive = F[:, 0], np.reshape(targets, (len(F), -1))[:, 0] > 0.0
    within = share / np.where(is_positive, positive, 1.0 - positive)
    apart = np.where(is_positive, 1.0, -1.0)
    values = within * (f - np.where(is_positive, above, below)) ** 2
    slopes = 2.0 * within * (f + np.where(is_positive, -1.0 - below, 1.0 - above))
    both, sides = within[:, None], (within * apart)[:, None]
    none = np.zeros((len(F), 0))
    return RowTerms(values, within, values, slopes[:, None], 2.0 * both, within, both, sides, none)


def _composed_terms(
    risk: Composition, inner: Inner, F: Array, targets: Array, share: Array, second_order: bool
) -> RowTerms:

    def slopes_at(f: Array) -> Array:
        jacobians = risk.tabulate("inner_slope", f, targets, inner.g)
        through = inner.slopes @ jacobians.reshape(len(f), risk.n_inner, -1)
        direct = risk.tabulate("outer_slope_prediction", f, targets, inner.g)
        return np.asarray(share[:, None] * (direct + through))

    none = np.zeros((len(F), 0))
    curvature = none
    if second_order:
        difference = slopes_at(F + inner.step) - slopes_at(F - inner.step)
        curvature = np.abs(difference) / (2.0 * inner.step)
    values = share * risk.tabulate("outer", F, targets, inner.g)[:, 0]
    zero = np.zeros(len(F))
    return RowTerms(values, share, values, slopes_at(F), curvature, zero, none, none, none)
