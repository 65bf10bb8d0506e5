"""Learn quantiles of residuals on a stream, if their spread depends on x."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.compressors import KOMP
from colk.errors import FileFormatError
from colk.kernels import Laplacian
from colk.kernels.bandwidth import standard_bandwidth
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Quantiles

__all__ = ["ResidualQuantiles"]

# Few atoms, because the spread is smoother than the function and must adapt fast.
_ATOMS = 100


@stored.stores(
    coverage=stored.Number(above=0.0, at_most=1.0),
    features=stored.Optional(stored.Object(RunningScale)),
    unit=stored.Object(RunningScale),
    learner=stored.Optional(stored.Object(QuantileCOLK)),
)
class ResidualQuantiles:
    """The two quantiles of a residual that each leave out (1 − coverage)/2, as functions of x.

    `colk.learners.QuantileCOLK` learns them from the residuals of a stream, with forgetting="auto".
    Features and residuals are scaled inside by their running means and standard deviations. A gap
    (NaN) counts as the mean.

    Parameters
    ----------
    coverage : float
        Share of residuals between the two quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.conformal import ResidualQuantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(3000, 1))
    >>> residuals = (1.2 + X[:, 0]) * rng.normal(size=3000)
    >>> quantiles = ResidualQuantiles(coverage=0.9)
    >>> quantiles.update(X, residuals)
    >>> low, high = quantiles.predict([[-0.9], [0.9]]).T
    >>> bool(high[1] - low[1] > 3.0 * (high[0] - low[0]))
    True
    """

    def __init__(self, coverage: float) -> None:
        self.coverage = coverage
        self._features: RunningScale | None = None
        self._unit = RunningScale()
        self._learner: QuantileCOLK | None = None

    def _to_file(self) -> dict[str, Any]:
        return {
            "coverage": self.coverage,
            "features": self._features,
            "unit": self._unit,
            "learner": self._learner,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ResidualQuantiles":
        found, features, learner = cls(values["coverage"]), values["features"], values["learner"]
        if (features is None) != (learner is None) or values["unit"].n_columns != 1:
            raise FileFormatError("quantiles of residuals need a scale and a learner")
        if learner is not None and (
            features.n_columns != learner.n_features or learner.loss != found._loss
        ):
            raise FileFormatError("the learner of the residuals has other features or levels")
        found._features, found._unit, found._learner = features, values["unit"], learner
        return found

    @property
    def _loss(self) -> Quantiles:
        tail = 0.5 * (1.0 - self.coverage)
        return Quantiles((tail, 1.0 - tail))

    @property
    def n_features(self) -> int:
        """Number of features; 0 before the first update."""
        return 0 if self._features is None else self._features.n_columns

    def predict(self, X: Any) -> Array:
        """Return the two quantiles at each point, of shape (n, 2); 0 before the first update.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        if self._learner is None or self._features is None:
            return np.zeros((len(X), 2))
        points = self._filled(X, self._features)
        values = self._learner.predict(self._features.scaled(points))
        return values * float(self._unit.units[0])

    def update(self, X: Any, residuals: Array) -> None:
        """Learn from samples in their order.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        residuals : array of shape (n,)
            Targets minus predictions.
        """
        if self._features is None:
            n_features = np.shape(X)[1]
            self._features = RunningScale(n_features)
            kernel = Laplacian(standard_bandwidth("laplacian", n_features))
            self._learner = QuantileCOLK(
                kernel, self._loss, forgetting="auto", restart=True,
                compressor=KOMP(eps=0.05, max_atoms=_ATOMS),
            )  # fmt: skip
        assert self._learner is not None
        points = self._filled(X, self._features)
        self._features.absorb(points)
        self._unit.absorb(residuals[:, None].copy())
        self._learner.learn(points, residuals / float(self._unit.units[0]))

    @staticmethod
    def _filled(X: Any, features: RunningScale) -> Array:
        """Return a copy of the points in which gaps are filled with the feature means."""
        points = np.array(X, dtype=np.float64, order="C")
        return np.where(np.isnan(points), features.means, points)
