"""Learn quantiles of residuals on a stream as functions of x, with several bandwidths."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.compressors import KOMP
from colk.conformal.conditional import fit_conditional
from colk.conformal.tails import RecentValues
from colk.errors import FileFormatError
from colk.kernels import Laplacian
from colk.kernels.bandwidth import standard_bandwidth
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Quantiles

__all__ = ["LOCAL_VIEWS", "LocalQuantiles"]

# Few atoms, because the spread is smoother than the function and must adapt fast.
_ATOMS = 100

# Bandwidths of the learners in units of the standard bandwidth of the Laplacian.
_BANDWIDTHS = (0.3, 1.0, 3.0)
LOCAL_VIEWS = len(_BANDWIDTHS)

# The unit of the residuals is the _TYPICAL quantile of the latest _MEMORY absolute values, and
# residuals are clipped at _FAR units, so that a gross target does not matter for long.
_MEMORY, _TYPICAL, _FAR = 200, 0.8, 10.0

# `fit` needs this many samples to find how their spread depends on x.
_FEWEST = 30


@stored.stores(
    coverage=stored.Number(above=0.0, at_most=1.0),
    features=stored.Optional(stored.Object(RunningScale)),
    sizes=stored.Array("n_recent", at_least=0.0),
    learners=stored.ListOf(stored.Object(QuantileCOLK)),
)
class LocalQuantiles:
    """The two quantiles of a residual that each leave out (1 − coverage)/2, as functions of x.

    Three learners with different bandwidths (`colk.learners.QuantileCOLK` with forgetting="auto")
    learn them from the residuals of a stream; `TrackedInterval` mixes their
    results. Features are scaled by their running means and standard deviations, residuals by a
    running quantile of their size. A gap (NaN) counts as the mean. After `fit`, one learner has the
    quantiles of `fit_conditional`.

    Parameters
    ----------
    coverage : float
        Share of residuals between the two quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.conformal.local import LocalQuantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(3000, 1))
    >>> quantiles = LocalQuantiles(coverage=0.9)
    >>> quantiles.update(X, (1.2 + X[:, 0]) * rng.normal(size=3000))
    >>> low, high = quantiles.predict([[-0.9], [0.9]]).transpose(2, 1, 0)
    >>> bool(((high - low)[:, 1] > 3.0 * (high - low)[:, 0]).any())  # for one of the learners
    True
    """

    def __init__(self, coverage: float) -> None:
        self.coverage = coverage
        self._features: RunningScale | None = None
        self._sizes = RecentValues((_MEMORY,))
        self._learners: list[QuantileCOLK] = []

    def _to_file(self) -> dict[str, Any]:
        return {
            "coverage": self.coverage,
            "features": self._features,
            "sizes": self._sizes.rows()[:, 0],
            "learners": self._learners,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "LocalQuantiles":
        found, features, learners = cls(values["coverage"]), values["features"], values["learners"]
        if len(learners) not in ((0,) if features is None else (1, LOCAL_VIEWS)):
            raise FileFormatError("quantiles of residuals need a scale and their learners")
        if len(values["sizes"]) > _MEMORY:
            raise FileFormatError("too many sizes of residuals are stored")
        for learner in learners:
            if features.n_columns != learner.n_features or learner.loss != found._loss:
                raise FileFormatError("the learner of the residuals has other features or levels")
        found._features, found._learners = features, list(learners)
        for size in values["sizes"].tolist():
            found._sizes.add(size)
        return found

    @property
    def _loss(self) -> Quantiles:
        tail = 0.5 * (1.0 - self.coverage)
        return Quantiles((tail, 1.0 - tail))

    @property
    def n_views(self) -> int:
        """Number of learners: 1 after `fit`."""
        return len(self._learners) or LOCAL_VIEWS

    @property
    def n_features(self) -> int:
        """Number of features; 0 before the first update."""
        return 0 if self._features is None else self._features.n_columns

    @property
    def _unit(self) -> float:
        unit = self._sizes.quantile(0, 0, 1.0 - _TYPICAL) if self._sizes.count else 0.0
        return unit if unit > 0.0 else 1.0

    def predict(self, X: Any) -> Array:
        """Return the two quantiles of each learner at each point, of shape (n, learners, 2).

        They are 0 before the first update.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        if self._features is None:
            return np.zeros((len(X), self.n_views, 2))
        points = self._features.scaled(self._filled(X, self._features))
        return self._unit * np.stack([each.predict(points) for each in self._learners], axis=1)

    def features(self, X: Array, predicted: Array) -> Array:
        """Return the points, after `fit` with the prediction as one more feature.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        predicted : array of shape (n, 2)
            The predicted ends.
        """
        return X if self.n_views > 1 else np.column_stack([X, predicted.mean(axis=1)])

    def fit(self, X: Array, predicted: Array, residuals: Array) -> Array:
        """Start from exchangeable samples; return both quantiles of each one if it is left out.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        predicted : array of shape (n, 2)
            The predicted ends.
        residuals : array of shape (n, 2)
            Targets minus both predicted ends.
        """
        if np.shape(X)[1] == 0 or len(residuals) < _FEWEST:
            return np.zeros(residuals.shape)
        points = np.column_stack([np.asarray(X, dtype=np.float64), predicted.mean(axis=1)])
        gaps = np.isnan(points)
        points[gaps] = np.broadcast_to(np.nanmean(points, axis=0), points.shape)[gaps]
        self._features = RunningScale(points.shape[1]).merged(points, np.ones(len(points)))
        self._sizes = RecentValues((_MEMORY,), 1, np.abs(residuals).mean(axis=1, keepdims=True))
        scaled = np.clip(residuals / self._unit, -_FAR, _FAR)
        found = fit_conditional(self._features.scaled(points), scaled, self._loss)
        self._learners = [found.learner]
        return self._unit * found.left_out

    def update(self, X: Any, residuals: Array) -> None:
        """Learn from samples in their order.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        residuals : array of shape (n,)
            Targets minus predictions.
        """
        n_features = np.shape(X)[1]
        if n_features == 0:
            return
        if self._features is None:
            self._features = RunningScale(n_features)
            standard = standard_bandwidth("laplacian", n_features)
            self._learners = [
                QuantileCOLK(
                    Laplacian(bandwidth * standard), self._loss, forgetting="auto", restart=True,
                    compressor=KOMP(eps=0.05, max_atoms=_ATOMS),
                )
                for bandwidth in _BANDWIDTHS
            ]  # fmt: skip
        points = self._filled(X, self._features)
        self._features.absorb(points)  # which scales the points
        for size in np.abs(residuals[-_MEMORY:]).tolist():
            self._sizes.add(size)
        scaled = np.clip(residuals / self._unit, -_FAR, _FAR)
        for learner in self._learners:
            learner.learn(points, scaled)

    @staticmethod
    def _filled(X: Any, features: RunningScale) -> Array:
        """Return a copy of the points in which gaps are filled with the feature means."""
        points = np.array(X, dtype=np.float64, order="C")
        return np.where(np.isnan(points), features.means, points)
