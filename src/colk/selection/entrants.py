"""An entrant of the race: kernels, a metric, a bandwidth and a ridge, improved on the samples."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel, Mahalanobis
from colk.selection.contenders import Contender
from colk.selection.leave_one_out import LeftOut, ridge_of_all
from colk.selection.samples import RaceSamples

__all__ = ["Entrant", "Kind", "Trial"]

Kind = Literal["none", "diagonal", "matrix"]


class Trial(NamedTuple):
    """A ridge regression with a kernel, whose atoms are all samples, and its left-out losses."""

    loss: float  # their weighted mean
    entrant: "Entrant"
    losses: Array | None  # of the judged samples; None if the kernel has no finite values
    weights: Array | None  # of the regression


@dataclass(frozen=True, eq=False)
class Entrant:
    """A kernel with a metric: the settings of a ridge regression.

    Parameters
    ----------
    contenders : tuple of Contender
        Kernels of one distance, from the roughest to the smoothest.
    place : int
        Which of them it is.
    kind : {"none", "diagonal", "matrix"}
        Whether features have no metric, a factor each, or a matrix.
    metric : array of shape (p,) or (p, r)
        Factors of the features, or the matrix A.
    factor : float
        Bandwidth, as a multiple of the typical distance.
    ridge : float
        Ridge in samples.
    given : float, optional
        The bandwidth, if it follows a rule. Default: `factor` says it.
    """

    contenders: tuple[Contender, ...]
    place: int
    kind: Kind
    metric: Array
    factor: float = 1.0
    ridge: float = 0.1
    given: float | None = None

    @property
    def contender(self) -> Contender:
        """Its kernel."""
        return self.contenders[self.place]

    @property
    def rates(self) -> Array:
        """Size of the metric along each feature, of shape (p,)."""
        if self.metric.ndim == 1:
            return self.metric
        return np.asarray(np.sqrt((self.metric * self.metric).sum(axis=1)))

    def points(self, X: Array) -> Array:
        """Return points in the metric; codes of categories stay."""
        if self.kind == "none":
            return X
        if self.metric.ndim == 2:
            return np.ascontiguousarray(X @ self.metric)
        factors = self.metric.copy()
        factors[list(self.contender.categorical)] = 1.0
        return X * factors

    def usual(self, X: Array) -> float:
        """Return the bandwidth of factor 1: the typical distance of points in the metric."""
        if self.contender.rows is not None:
            return self.contender.width * self.contender.unit("scale", X)
        spread = X.std(axis=0) if len(X) else np.zeros(X.shape[1])
        for k in self.contender.categorical:
            spread[k] = float(len(X) > 0 and np.ptp(X[:, k]) > 0.0)
        in_metric = spread * self.metric if self.metric.ndim == 1 else (X @ self.metric).std(axis=0)
        return self.contender.width * self.contender.size(in_metric)

    def bandwidth(self, X: Array) -> float:
        """Return the bandwidth at samples with these points."""
        if self.given is not None:
            return self.given
        return self.factor * self.usual(X)

    def kernel(self, bandwidth: float) -> Kernel:
        """Return the kernel, of points without the metric."""
        if self.metric.ndim == 2:
            return Mahalanobis(self.contender.with_bandwidth(bandwidth), self.metric)
        return self.contender.with_bandwidth(
            bandwidth, None if self.kind == "none" else self.metric
        )

    def of_points(self, bandwidth: float) -> Kernel:
        """Return the kernel of points in the metric."""
        rates = np.ones(len(self.metric))
        categorical = list(self.contender.categorical)
        if not categorical:
            return self.contender.with_bandwidth(bandwidth)
        rates[categorical] = self.metric[categorical]
        return self.contender.with_bandwidth(bandwidth, rates)

    def trial(self, samples: RaceSamples, n_seen: int = 0) -> Trial:
        """Fit, and judge all samples but the first `n_seen`, which have been seen.

        Parameters
        ----------
        samples : RaceSamples
            Samples.
        n_seen : int
            Number of first samples that found the metric. Default: 0.
        """
        left_out = self._fitted(samples)
        if left_out is None:
            return Trial(np.inf, self, None, None)
        losses = samples.losses(left_out.residuals)[n_seen:]
        loss = float(np.average(losses, weights=samples.weight[n_seen:]))
        if not np.isfinite(loss):
            return Trial(np.inf, self, None, None)
        return Trial(loss, self, losses, left_out.weights)

    def _fitted(self, samples: RaceSamples) -> LeftOut | None:
        bandwidth = self.bandwidth(samples.X)
        if not bandwidth > 0.0 or not np.isfinite(bandwidth):
            return None
        K = self.of_points(bandwidth).gram(self.points(samples.X))
        return ridge_of_all(K, samples.Y, samples.weight, self.ridge)
