"""Online quantile regression for River."""

from typing import Any, Literal, cast

import numpy as np
from river import base, conf

from colk import _stored as stored
from colk._engine.locks import locked
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Loss, Quantiles
from colk.model import RIVER_REGRESSOR
from colk.river.features import Features
from colk.river.numbers import NumberModel
from colk.river.stored import FIELDS

__all__ = ["COLKQuantileRegressor"]


@stored.stores(FIELDS, scale=stored.Object(RunningScale))
class COLKQuantileRegressor(NumberModel, base.MiniBatchRegressor):
    """Several quantiles of a stream that never cross, in bounded memory.

    Each level has a function and a constant, and all functions share one dictionary of atoms.
    Learning takes second-order steps, see `colk.learners.QuantileCOLK`. The constants follow the
    share of targets below each quantile, so over time each quantile has its level, even on a
    drifting stream. Put `preprocessing.StandardScaler` before it.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        Levels, strictly between 0 and 1 and increasing.
    kernel, bandwidth, prior, forgetting, eps, max_atoms
        As in `COLKRegressor`. Defaults: "auto", "scale", None, None, None and 200.

    Examples
    --------
    >>> from colk.river import COLKQuantileRegressor
    >>> from river import datasets, preprocessing, stats
    >>> model = preprocessing.StandardScaler() | COLKQuantileRegressor((0.1, 0.5, 0.9))
    >>> below = stats.Mean()
    >>> for x, y in datasets.synth.Friedman(seed=1).take(3000):
    ...     below.update(y <= model["COLKQuantileRegressor"].predict_quantiles(x)[0.9])
    ...     model.learn_one(x, y)
    >>> below.get() > 0.8
    True
    """

    _defaults = RIVER_REGRESSOR

    def __init__(
        self,
        quantiles: Any = (0.05, 0.5, 0.95),
        kernel: Kernel | str = "auto",
        bandwidth: str | float = "scale",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] | None = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
    ) -> None:
        self.quantiles = quantiles
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.prior = prior
        self.forgetting = forgetting
        self.eps = eps
        self.max_atoms = max_atoms
        self._scale = RunningScale()
        self._levels = Quantiles(quantiles).levels
        self._reset()

    def _to_file(self) -> dict[str, Any]:
        return {**super()._to_file(), "scale": self._scale}

    def _set_learned(self, values: dict[str, Any]) -> None:
        learner = self._learner
        levels = self._levels if learner is None else getattr(learner.loss, "levels", None)
        if levels != self._levels or not isinstance(learner, QuantileCOLK | None):
            raise FileFormatError(f"the learner does not have the quantiles {self._levels}")
        if values["scale"].n_columns != 1:
            raise FileFormatError("the scale of the targets must have one column")
        self._scale = values["scale"]

    def _loss(self) -> Loss:
        return Quantiles(self.quantiles)

    def _n_outputs(self) -> int:
        return len(self._levels)

    def predict_quantiles(self, x: Features) -> dict[float, float]:
        """Return the quantile of each level at one sample; 0 before the first sample.

        Parameters
        ----------
        x : dict
            Features; features that were never seen are ignored.
        """
        with self._own_lock:
            scores = self._scores(x)
            if scores is None:
                return dict.fromkeys(self._levels, 0.0)
            values = map(self._scale.unscaled_one, scores)
            return dict(zip(self._levels, values, strict=True))

    def _scores(self, x: Features) -> list[float] | None:
        """The scaled quantiles at x in increasing order; None before the first sample."""
        values = None if self._feed is None else self._feed.scores(self._plain(x))
        if values is None:
            return super()._scores(x)
        offsets = self.learner.offsets.tolist()
        return sorted(f + o for f, o in zip(values, offsets, strict=True))

    def predict_one(self, x: Features) -> float:
        """Return the quantile whose level is nearest to 1/2; 0 before the first sample.

        Parameters
        ----------
        x : dict
            Features; features that were never seen are ignored.
        """
        return self.predict_quantiles(x)[self._middle]

    def predict_interval(self, x: Features) -> conf.interval.Interval:
        """Return the interval between the outermost quantiles at one sample.

        Parameters
        ----------
        x : dict
            Features.
        """
        found = self.predict_quantiles(x)
        return conf.interval.Interval(found[self._levels[0]], found[self._levels[-1]])

    @locked
    def predict_many(self, X: Any) -> Any:
        """Return the quantiles nearest to 1/2 for the rows of a data frame, as a Series.

        Parameters
        ----------
        X : DataFrame
            Features.
        """
        import pandas as pd

        place = self._levels.index(self._middle)
        values = self._many_quantiles(X)[:, place]
        return pd.Series(values, index=X.index)

    @locked
    def predict_quantiles_many(self, X: Any) -> Any:
        """Return a column of quantiles for each level, as a DataFrame.

        Parameters
        ----------
        X : DataFrame
            Features.
        """
        import pandas as pd

        return pd.DataFrame(self._many_quantiles(X), index=X.index, columns=list(self._levels))

    def _many_quantiles(self, X: Any) -> Any:
        scores = self._many_scores(X)
        if scores is None:
            return np.zeros((len(X), len(self._levels)))
        return self._scale.unscaled(scores.ravel()).reshape(scores.shape)

    @property
    def learner(self) -> QuantileCOLK:
        """The learner, which sees scaled targets; it exists after the first sample."""
        if self._learner is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet")
        return cast(QuantileCOLK, self._learner)

    @property
    def _middle(self) -> float:
        return min(self._levels, key=lambda level: abs(level - 0.5))
