"""Samples as risks see them: rows in memory, or sums over rows that are elsewhere.

A risk couples the rows of a sample by a few statistics: g, and the mean slopes of the outer
function in g. They are sums over rows, or found in a few rounds of sums. Given these numbers, the
slope and the curvature of a row do not depend on other rows, and the second derivative of the risk
is a sum over rows plus a few terms that couple them. A risk therefore needs only a `LossSample`; it
does not know whether the rows are in memory, in blocks or on other machines.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = [
    "APART",
    "Bends",
    "HeldSample",
    "Joint",
    "LossPart",
    "LossSample",
    "Slopes",
    "Statistics",
]

_EMPTY = np.zeros(0)


class LossPart(Protocol):
    """Some rows of a sample; a risk reads the attributes that it needs."""

    @property
    def share(self) -> Array:
        """Weights (n,), which sum to 1 over all rows."""

    @property
    def losses(self) -> Array:
        """Losses (n,)."""

    @property
    def loss_slopes(self) -> Array:
        """Slopes (n, q) of the losses in the predictions."""

    @property
    def loss_curvature(self) -> Array:
        """Second derivatives (n, q) of the losses, at least 0."""

    def loss_product(self, change: Array) -> Array:
        """Return the second derivatives of the losses times a change (n, q)."""

    @property
    def predictions(self) -> Array:
        """Predictions (n, q)."""

    @property
    def targets(self) -> Array:
        """Targets (n,) or (n, r)."""


class LossSample(Protocol):
    """All rows of a sample, wherever they are."""

    def total(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """Return the sums of `function(part, *arguments)`, a tuple, over parts of the sample."""

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest loss of rows with weights above 0."""

    def tail_start(self, share: float, accuracy: float = 0.0) -> float:
        """Return the smallest loss that at most this share of the rows exceeds.

        The result may be too large by `accuracy`.
        """

    def together(self) -> tuple[Array, Array]:
        """Return the losses and the weights of all rows."""


@dataclass(frozen=True, eq=False)
class HeldSample:
    """A sample in memory; it is both a `LossSample` and its only `LossPart`.

    Parameters
    ----------
    share : array of shape (n,)
        Weights that sum to 1.
    losses : array of shape (n,)
        Losses; not used by risks of predictions.
    predictions, targets : array of shape (n, q), array of shape (n, r)
        Predictions and targets; not used by risks of losses.

    Examples
    --------
    >>> sample = HeldSample(np.full(4, 0.25), np.array([3.0, 1.0, 2.0, 8.0]))
    >>> sample.ends(), sample.tail_start(0.25)
    ((1.0, 8.0), 3.0)
    """

    share: Array
    losses: Array = field(default_factory=lambda: _EMPTY)
    predictions: Array = field(default_factory=lambda: _EMPTY)
    targets: Array = field(default_factory=lambda: _EMPTY)

    @property
    def loss_slopes(self) -> Array:
        """1 for each row: derivatives are taken in the losses themselves."""
        return np.ones((len(self.share), 1))

    @property
    def loss_curvature(self) -> Array:
        """0 for each row."""
        return np.zeros((len(self.share), 1))

    def loss_product(self, change: Array) -> Array:
        """Return 0 for each row."""
        return np.zeros_like(change)

    def total(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """Return `function(self, *arguments)`."""
        return function(self, *arguments)

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest loss of rows with weights above 0."""
        counted = self.losses[self.share > 0.0]
        if len(counted) == 0:
            return math.inf, -math.inf
        return float(counted.min()), float(counted.max())

    def tail_start(self, share: float, accuracy: float = 0.0) -> float:
        """Return the smallest loss that at most this share of the rows exceeds."""
        order = np.argsort(self.losses, kind="stable")[::-1]
        above = np.cumsum(self.share[order])
        # The first loss from the top that fills the tail, with a tolerance for rounded weights.
        first = np.searchsorted(above, share * (1.0 + 1e-12), side="right")
        return float(self.losses[order[min(int(first), len(self.losses) - 1)]])

    def together(self) -> tuple[Array, Array]:
        """Return the losses and the weights."""
        return self.losses, self.share


class Statistics(NamedTuple):
    """What couples the rows of a sample under a risk.

    Rows whose loss is `place` share what the slopes lack to a sum of 1, `rest`; see
    `LossRisk.tied_loss`.
    """

    value: float  # the risk
    g: Array  # (m,)
    slopes: Array  # (m,): E ∂outer/∂g of expectations, 0 for stationary components
    sizes: Array  # (m,): E |inner|, the scale of g
    unit: float = 1.0  # E |ℓ|, or the root mean square of the predictions plus 1
    place: float = 0.0
    mass: float = 0.0  # weight of these rows; 0 if there are none
    rest: float = 0.0


class Slopes(NamedTuple):
    """First derivatives of a risk at some rows, multiplied by the weights of the rows."""

    values: Array  # (n,): the outer function
    by_loss: Array  # (n,): in the losses; 0 for a risk of predictions
    slopes: Array  # (n, q): in the predictions


class Joint(NamedTuple):
    """The coupling of the rows, Σ_r c_r (V m_r)(V m_r)ᵀ, where each row has one row of V."""

    columns: NDArray[
        np.intp
    ]  # the components of g whose columns V has, then those that are expectations
    n_inner: int  # how many columns are derivatives in g
    mix: Array  # (r, k): m
    coefficients: Array  # (r,): c


# No coupling, as under a sum over samples.
APART = Joint(np.zeros(0, np.intp), 0, np.zeros((0, 0)), np.zeros(0))


class Bends(NamedTuple):
    """Second derivatives of a risk at some rows, multiplied by the weights of the rows."""

    diagonal: Array  # (n, q), at least 0: without the coupling of rows and of outputs
    vectors: Array  # (n, k, q): V
