"""The objective of a function on given atoms, and some rows as a risk sees them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.table import KernelTable
from colk.losses import Loss
from colk.risks import Risk
from colk.rkhs.polishing.row_losses import RowLosses, couples_outputs

__all__ = ["RowPart", "SmoothedObjective"]


@dataclass(frozen=True, eq=False)
class SmoothedObjective:
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
    >>> import numpy as np
    >>> from colk.kernels import Linear
    >>> from colk.losses import Hinge
    >>> from colk.risks import CVaR
    >>> objective = SmoothedObjective(Linear(), np.ones((1, 1)), Hinge(), CVaR(0.1), 1)
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

    def smoothed(self, width: float, softness: float) -> "SmoothedObjective":
        """Return the objective with smoothed kinks: of the loss, and of the risk."""
        return replace(
            self,
            width=width if self.has_kinked_loss else 0.0,
            risk=self.risk.softened(softness),
        )

    @property
    def has_kinked_loss(self) -> bool:
        """Whether the loss has kinks, and the risk is one of losses."""
        return bool(self.loss.kinks) and self.risk.is_of_losses

    @property
    def is_kinked(self) -> bool:
        """Whether the loss or the risk has a kink."""
        return self.has_kinked_loss or not self.risk.is_smooth

    @property
    def is_convex(self) -> bool:
        """Whether the objective is convex in the predictions."""
        if not self.risk.is_of_losses:
            return bool(self.risk.is_convex)
        return bool(self.loss.is_convex and self.risk.is_convex and self.risk.is_monotone)

    @property
    def joins_outputs(self) -> bool:
        """Whether outputs share one curvature, the largest, because the loss couples them."""
        return self.risk.is_of_losses and couples_outputs(self.loss, self.n_outputs)

    @property
    def is_separable(self) -> bool:
        """Whether the objective is a sum over samples and outputs."""
        return bool(self.risk.is_sum) and not self.joins_outputs

    def losses_of(self, targets: Array) -> RowLosses | None:
        """Return the losses of some rows, or None if the risk does not use them."""
        if not self.risk.is_of_losses:
            return None
        return RowLosses(self.loss, targets, self.n_outputs, self.width)


class RowPart:
    """Some rows as a risk sees them: see `colk.risks.samples.LossPart`.

    Parameters
    ----------
    losses : RowLosses or None
        The losses, if the risk uses them.
    predictions, targets, share : arrays
        Predictions (n, q), and targets and weights as in `Block`.
    values : array of shape (n,), optional
        The losses at the predictions, if they are known.
    is_shared : bool
        Whether outputs that the loss couples have the largest curvature of any of them.
    """

    def __init__(
        self,
        losses: RowLosses | None,
        predictions: Array,
        targets: Array,
        share: Array,
        values: Array | None = None,
        is_shared: bool = True,
    ) -> None:
        self._losses, self._values, self._is_shared = losses, values, is_shared
        self.predictions, self.targets, self.share = predictions, targets, share

    @property
    def row_losses(self) -> RowLosses:
        """The losses as functions of the predictions."""
        assert self._losses is not None
        return self._losses

    @cached_property
    def _evaluated(self) -> tuple[Array, Array]:
        return self.row_losses.evaluate(self.predictions)

    @property
    def losses(self) -> Array:
        """Losses (n,)."""
        return self._evaluated[0] if self._values is None else self._values

    @property
    def loss_slopes(self) -> Array:
        """Slopes (n, q)."""
        return self._evaluated[1]

    @cached_property
    def loss_curvature(self) -> Array:
        """Second derivatives (n, q), at least 0."""
        return self.row_losses.curvature(self.predictions, self.loss_slopes, self._is_shared)

    def loss_product(self, change: Array) -> Array:
        """Return the second derivatives times a change (n, q)."""
        if not couples_outputs(self.row_losses.loss, self.row_losses.n_outputs):
            return self.loss_curvature * change
        return self.row_losses.product(self.predictions, self.loss_slopes, change)

    @property
    def steepness(self) -> Array | float:
        """Sum of the jumps of each row at kinks, (n,); 0 if there are none."""
        return 0.0 if self._losses is None or not self._losses.kinks else self._losses.steepness
