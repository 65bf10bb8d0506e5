"""What every risk can do: exact values and gradients on a sample, and its own functions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from colk._core import risks as core
from colk._validation import Array, check_vector
from colk.losses import Loss

__all__ = ["LossRisk", "Risk", "average", "shares"]


def shares(n: int, sample_weight: ArrayLike | None) -> Array:
    """Weights of n samples that sum to 1; equal ones by default."""
    if n == 0:
        raise ValueError("a risk needs at least one sample")
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, n, "sample_weight")
    if (weights < 0.0).any() or weights.sum() == 0.0:
        raise ValueError("sample_weight must be at least 0, and not 0 everywhere")
    normalised: Array = weights / weights.sum()
    return normalised


def average(values: Array, weights: Array) -> Array:
    """Mean of the rows of `values` by weights that sum to 1.

    A pairwise sum: more exact than a product through BLAS, which for one vector would also wake
    its threads.
    """
    mean: Array = np.sum((values.T * weights).T, axis=0)
    return mean


@dataclass(frozen=True)
class Risk(ABC):
    """A functional of predictions and targets, exact on a sample and tracked on a stream."""

    @abstractmethod
    def _constants(self) -> tuple[float, ...]:
        """Return the code of the formula in the core, the size of g, and its constants."""

    def program(self) -> Array:
        """Return what the compiled core reads: a code, the size of g, and constants."""
        return np.array(self._constants(), dtype=np.float64)

    @property
    def n_inner(self) -> int:
        """How many numbers are tracked: the size m of g."""
        return int(self._constants()[1])

    @property
    def is_convex(self) -> bool:
        """Whether the risk is convex in the losses."""
        return True

    @property
    def is_monotone(self) -> bool:
        """Whether the risk never falls when a loss rises.

        A risk that is convex and monotone is convex in the predictions wherever the loss is.
        """
        return True

    @property
    def is_smooth(self) -> bool:
        """Whether the risk has a gradient everywhere, not a subgradient only."""
        return True

    @abstractmethod
    def estimate_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Exact g of shape (m,) at predictions `f` of targets `y`."""

    @abstractmethod
    def value_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Exact empirical risk of predictions `f` of targets `y`."""

    @abstractmethod
    def gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Gradient of `value_at` in the predictions, in the shape of `f`."""

    def value_and_gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Array]:
        """`value_at` and `gradient_at` together."""
        return self.value_at(loss, f, y, sample_weight), self.gradient_at(loss, f, y, sample_weight)


@dataclass(frozen=True)
class LossRisk(Risk):
    """A risk of a loss: E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ, g)].

    A component of g is either an expectation, and enters the gradient by the chain rule, or where
    the outer expectation is stationary, and does not (envelope theorem): its inner slope is 0.
    """

    @property
    def n_expectations(self) -> int:
        """How many components of g are expectations: the first; the others are stationary."""
        return min(self.n_inner, 1)

    def inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """inner(ℓ, g) of shape (n, m): its expectation is g where g is exact."""
        return self._tabulate(core.INNER, loss, g, self.n_inner)

    def inner_slope(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂inner/∂ℓ of shape (n, m), with 0 for the components that are stationary."""
        return self._tabulate(core.INNER_SLOPE, loss, g, self.n_inner)

    def outer(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """outer(ℓ, g) of shape (n,)."""
        return self._tabulate(core.OUTER, loss, g, 1)[:, 0]

    def outer_slope_loss(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂outer/∂ℓ of shape (n,)."""
        return self._tabulate(core.OUTER_SLOPE_LOSS, loss, g, 1)[:, 0]

    def outer_slope_inner(self, loss: ArrayLike, g: ArrayLike) -> Array:
        """∂outer/∂g of shape (n, m)."""
        return self._tabulate(core.OUTER_SLOPE_INNER, loss, g, self.n_inner)

    def estimate(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Exact g of a sample of losses (n,), of shape (m,)."""
        values = check_vector(losses, None, "losses")
        weights = shares(len(values), sample_weight)
        g = np.zeros(self.n_inner)
        for i in range(len(g)):  # in order: inner_i may look at g_{<i}
            g[i] = average(self.inner(values, g)[:, i], weights)
        return g

    def value(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Exact risk of a sample of losses (n,)."""
        values = check_vector(losses, None, "losses")
        weights = shares(len(values), sample_weight)
        return float(average(self.outer(values, self.estimate(values, weights)), weights))

    def gradient(self, losses: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Gradient of `value` in the losses, of shape (n,)."""
        values = check_vector(losses, None, "losses")
        weights = shares(len(values), sample_weight)
        return self._gradient(values, weights, self.estimate(values, weights))

    def _gradient(self, losses: Array, weights: Array, g: Array) -> Array:
        """Gradient of the risk in the losses, where g is exact."""
        by_inner = average(self.outer_slope_inner(losses, g), weights)
        through = (self.inner_slope(losses, g) * by_inner).sum(axis=1)
        gradient: Array = weights * (self.outer_slope_loss(losses, g) + through)
        return gradient

    def estimate_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Exact g of shape (m,) at predictions `f` of targets `y`."""
        return self.estimate(loss.value(f, y), sample_weight)

    def value_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Exact empirical risk of predictions `f` of targets `y`."""
        return self.value(loss.value(f, y), sample_weight)

    def gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Gradient of `value_at` in the predictions, in the shape of `f`."""
        return self.value_and_gradient_at(loss, f, y, sample_weight)[1]

    def value_and_gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Array]:
        """`value_at` and `gradient_at` together, from one exact g."""
        losses, slope = loss.value(f, y), loss.slope(f, y)
        weights = shares(len(losses), sample_weight)
        g = self.estimate(losses, weights)
        by_loss = self._gradient(losses, weights, g)
        return float(average(self.outer(losses, g), weights)), (slope.T * by_loss).T

    def _tabulate(self, which: int, loss: ArrayLike, g: ArrayLike, width: int) -> Array:
        losses = np.require(check_vector(loss, None, "loss"), np.float64, ["C", "A", "W"])
        inner = np.require(check_vector(g, self.n_inner, "g"), np.float64, ["C", "A", "W"])
        out = np.empty((len(losses), width))
        core.risk_rows(self.program(), which, losses, inner, out)
        return out
