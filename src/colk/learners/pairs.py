"""Pairs of samples θ and ξ: learning from those that are drawn apart, and clipped pairs."""

from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.quasigradient import QuasiGradientStream
from colk._validation import Array, check_points
from colk.errors import ClippedWarning, warn_caller
from colk.learners.watched import WatchedLearner
from colk.losses import Loss
from colk.risks import Risk
from colk.schedules import Pairing

__all__ = ["PairLearner"]

# A learner warns if more than this share of the pairs is clipped, after this many steps.
MOST_CLIPPED = 0.1
FEWEST_STEPS = 100


class PairLearner(WatchedLearner):
    """A learner whose steps take samples of θ, and of ξ."""

    loss: Loss
    risk: Risk
    pairing: Pairing
    xi_per_theta: int
    gradient_bound: float
    _n_outputs: int | None
    _stream: QuasiGradientStream | None
    _has_warned = False

    @abstractmethod
    def _learn(self, X: Array, Y: Array, weight: Array, is_vector: bool) -> None:
        """Learn from checked samples."""

    def learn_pairs(
        self, theta: tuple[ArrayLike, ArrayLike], xi: tuple[ArrayLike, ArrayLike]
    ) -> Self:
        """Learn from samples (X, y) of θ and of ξ, which may have different laws.

        Each θ takes the next `xi_per_theta` samples of ξ. The outer function sees the samples of θ,
        the inner one those of ξ. For a `Composition` a narrower y is filled up with zeros.

        Examples
        --------
        >>> import numpy as np
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> from colk.risks import Variance
        >>> X = np.linspace(0.0, 1.0, 30)[:, None]
        >>> learner = COLK(Gaussian(0.3), risk=Variance(0.1), xi_per_theta=2)
        >>> learner.learn_pairs((X[:10], X[:10, 0]), (X[10:], X[10:, 0])).steps
        10
        """
        k = self.xi_per_theta
        if self.pairing != "independent" or self.risk.n_inner == 0:
            raise ValueError(
                "learn_pairs needs a risk with an inner value, and pairing='independent'"
            )
        points = [check_points(X, self._n_features) for X, _ in (theta, xi)]
        if points[1].shape != (k * len(points[0]), points[0].shape[1]):
            raise ValueError(
                f"learn_pairs needs xi_per_theta={k} samples of ξ for each θ, with as many "
                f"features: X of θ has shape {points[0].shape}, X of ξ {points[1].shape}"
            )
        rows = [
            self.risk.check_targets(self.loss, X, self._filled(y), self._n_outputs)
            for X, (_, y) in zip(points, (theta, xi), strict=True)
        ]
        X, Y = (_interleaved(each[0], each[1], k) for each in (points, rows))
        self._learn(X, Y, np.ones(len(X)), np.ndim(theta[1]) == 1)
        self._warn_of_clips()
        return self

    @property
    def clipped_share(self) -> float:
        """Share of the pairs so far whose gradient was scaled back to `gradient_bound`."""
        if self._stream is None or self._stream.steps == 0:
            return 0.0
        with self._stream.lock:
            pairs = self._stream.steps * self._stream.batch * self._stream.samples
            return float(self._stream.clipped_sum / pairs)

    def _warn_of_clips(self) -> None:
        """Warn once if more than a tenth of the pairs were clipped."""
        share = self.clipped_share
        if share > MOST_CLIPPED and self.steps >= FEWEST_STEPS and not self._has_warned:
            self._has_warned = True
            warn_caller(
                f"{100.0 * share:.0f} % of the gradients exceeded gradient_bound="
                f"{self.gradient_bound:g} and were scaled back to it, so the result depends on it: "
                "scale the targets, or choose another loss, bound or step_size",
                ClippedWarning,
            )

    def _filled(self, y: ArrayLike) -> ArrayLike:
        """Add columns of zeros up to the number of targets that the risk was made for."""
        rows = np.asarray(y)
        missing = getattr(self.risk, "n_targets", 1) - (rows.shape[1] if rows.ndim == 2 else 1)
        if missing <= 0:
            return rows
        return np.pad(rows.reshape(len(rows), -1), ((0, 0), (0, missing)))


def _interleaved(theta: Array, xi: Array, k: int) -> Array:
    """Return each row of θ followed by its k rows of ξ."""
    groups = np.concatenate([theta[:, None], xi.reshape(len(theta), k, -1)], axis=1)
    return np.ascontiguousarray(groups.reshape(-1, theta.shape[1]))
