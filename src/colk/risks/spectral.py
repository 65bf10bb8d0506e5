"""Spectral risks as mixtures of conditional values at risk."""

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from colk._engine.c_types import ConstPointer, Readonly, Vector
from colk._engine.contracts import TrackerContract
from colk._validation import Array, check_count, check_fraction, check_number, check_vector
from colk.risks import scalars
from colk.risks.base import Rows, shares
from colk.risks.of_losses import LossRisk
from colk.risks.samples import LossSample
from colk.risks.tail import cvar_of, distance


class Spectral(LossRisk):
    """Σ_k w_k CVaR_{a_k}(ℓ): the mean of the losses with weights that grow with their rank.

    Every spectral risk is such a mixture, or a limit of them. Convex, monotone, and coherent
    without smoothing. The thresholds τ_k are tracked as in `CVaR`, and one spread, that of the
    middle threshold, scales their steps.

    Parameters
    ----------
    tail_fractions : sequence of float
        The a_k, in (0, 1]. A fraction of 1 is the mean.
    weights : sequence of float, optional
        The w_k, at least 0; they are divided by their sum. Default: equal weights.
    smoothing : float
        As in `CVaR`. Default: 0.

    Examples
    --------
    >>> losses = [1.0, 2.0, 3.0, 10.0]
    >>> Spectral((0.25, 1.0)).value(losses)  # half the largest loss, half the mean
    7.0
    >>> pairs = [max(u, v) for u in losses for v in losses]
    >>> round(Spectral.extremile(2.0).value(losses), 2), sum(pairs) / 16
    (5.75, 5.75)
    """

    _fields = ("tail_fractions", "weights", "smoothing")
    n_expectations = 0
    n_inner = property(lambda self: len(self.tail_fractions) + 1)
    is_smooth = property(lambda self: self.smoothing > 0.0)
    has_kink = True

    tail_fractions: Readonly[tuple[float, ...]]
    weights: Readonly[tuple[float, ...]]
    smoothing: Readonly[float]
    n_tails: Readonly[int]
    _fractions: Vector
    _shares: Vector

    def __init__(
        self,
        tail_fractions: Sequence[float] = (0.1, 0.5),
        weights: Sequence[float] | None = None,
        smoothing: float = 0.0,
    ) -> None:
        given = check_vector(tail_fractions, None, "tail_fractions")
        self.tail_fractions = tuple(check_fraction(a, "a tail fraction") for a in given.tolist())
        self.weights = tuple(shares(len(given), weights).tolist())
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)
        self._fractions, self._shares = np.array(self.tail_fractions), np.array(self.weights)
        self.n_tails = len(given)

    @classmethod
    def extremile(cls, order: float, n_tails: int = 8) -> Self:
        """Return the mean of the largest of `order` independent losses, `order` above 1.

        Its mixture over a has the density of Beta(2, order − 1), which Gauss's formula with
        `n_tails` points replaces.
        """
        from scipy.special import roots_jacobi

        check_number(order, "order", above=1.0)
        points, weights = roots_jacobi(check_count(n_tails, "n_tails"), order - 2.0, 1.0)
        return cls(tuple((0.5 + 0.5 * points).tolist()), tuple(weights.tolist()))

    @classmethod
    def exponential(cls, aversion: float, n_tails: int = 8) -> Self:
        """Return the exponential spectral risk: weights ∝ exp(k·rank) for ranks in [0, 1], k > 0.

        Its mixture has the density k²a·exp(−ka)/(1 − exp(−k)), which Gauss's formula with `n_tails`
        points replaces, and the rest of the weight on the mean.
        """
        k = check_number(aversion, "aversion", above=0.0)
        points, weights = np.polynomial.legendre.leggauss(check_count(n_tails, "n_tails"))
        a = 0.5 + 0.5 * points
        mixture = 0.5 * weights * k * k * a * np.exp(-k * a) / -math.expm1(-k)
        on_mean = k * math.exp(-k) / -math.expm1(-k)
        return cls((*a.tolist(), 1.0), (*mixture.tolist(), on_mean))

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        if i == self.n_tails:
            return abs(loss - g[self.n_tails // 2])
        a = self._fractions[i]
        above = scalars.positive_part_slope(loss - g[i], self.smoothing)
        return g[i] - g[self.n_tails] * math.sqrt(a) * (1.0 - above / a)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return 0.0

    def outer_at(self, loss: float, g: ConstPointer) -> float:  # cdef
        total = 0.0
        for k in range(self.n_tails):
            a: float = self._fractions[k]
            tail: float = loss
            if a < 1.0:
                tail = g[k] + scalars.positive_part(loss - g[k], self.smoothing) / a
            total += self._shares[k] * tail
        return total

    def outer_slope_loss_at(self, loss: float, g: ConstPointer) -> float:  # cdef
        total = 0.0
        for k in range(self.n_tails):
            a: float = self._fractions[k]
            slope = 1.0
            if a < 1.0:
                slope = scalars.positive_part_slope(loss - g[k], self.smoothing) / a
            total += self._shares[k] * slope
        return total

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        if i == self.n_tails or self._fractions[i] == 1.0:
            return 0.0
        above = scalars.positive_part_slope(loss - g[i], self.smoothing)
        return self._shares[i] * (1.0 - above / self._fractions[i])

    def start(self, g: Array, m: int, loss: float) -> int:
        for i in range(m):
            g[i] = loss
        g[m - 1] = abs(loss)
        return 0

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        return (1.0 - rate) * g[i] + rate * Spectral.inner_at(self, now, g, i)

    def estimate_from(self, sample: LossSample) -> Array:
        """Return the exact thresholds, and the spread around the middle one."""
        low, _ = sample.ends()
        g = np.array(
            [
                low if a == 1.0 else cvar_of(a, smoothing=self.smoothing).estimate_from(sample)[0]
                for a in self.tail_fractions
            ]
        )
        return np.append(g, sample.total(distance, g[self.n_tails // 2])[0])

    def value_and_gradient(
        self, losses: Rows, sample_weight: Rows | None = None
    ) -> tuple[float, Array]:
        """Return `value` and `gradient`: those of the mixture, with a subgradient at ties."""
        parts = [
            cvar_of(a, smoothing=self.smoothing).value_and_gradient(losses, sample_weight)
            for a in self.tail_fractions
        ]
        value = sum(w * part[0] for w, part in zip(self.weights, parts, strict=True))
        slopes = sum(w * part[1] for w, part in zip(self.weights, parts, strict=True))
        return float(value), np.asarray(slopes)
