"""Predictions with standard deviations, draws of targets and log scores of a regressor."""

import math
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from colk._validation import Array
from colk.estimators.scaled_targets import ScaledTargets
from colk.estimators.sparse_input import parts_of
from colk.learners import NewtonCOLK
from colk.rkhs.deviations import Deviations

__all__ = ["PredictiveRegressor"]


class PredictiveRegressor(ScaledTargets):
    """A regressor whose predictions have standard deviations."""

    deviations_: Deviations

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictions in the units of y, of shape (n,) or (n, q).

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        return_std : bool
            Whether to also return the standard deviation of a new target around its prediction, of
            the same shape; it includes the uncertainty about f(x) and the noise. `solver="newton"`
            has it at any time; it is infinite after one sample. `solver="gradient"` has it after a
            `fit` with polish and the risk "mean", until `partial_fit` changes the function.

        Examples
        --------
        >>> import numpy as np
        >>> from colk import COLKRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, size=(2000, 1))
        >>> y = np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=2000)
        >>> for solver in ("gradient", "newton"):
        ...     model = COLKRegressor(kernel="gaussian", solver=solver, random_state=0).fit(X, y)
        ...     values, std = model.predict([[0.5], [9.0]], return_std=True)
        ...     print(abs(std[0] - 0.2) < 0.02, std[1] > 2.0 * std[0])
        True True
        True True
        """
        if not return_std:
            found = self._values(X)  # raises if the model is not fitted
            return np.asarray(self._targets.unscaled(found))
        parts = [self._with_deviations(self._points(some)) for some in parts_of(X)]
        values, deviations = (np.concatenate(each) for each in zip(*parts, strict=True))
        return self._targets.unscaled(values), np.asarray(deviations * self._units)

    @property
    def _units(self) -> Any:
        """The units of the targets, which divide them."""
        units = self._targets.units
        return float(units[0]) if self.learner_.is_vector else units

    def _with_deviations(self, points: Any) -> tuple[Array, Array]:
        """Return values and standard deviations in scaled units."""
        learner = self.learner_
        if isinstance(learner, NewtonCOLK):
            values, deviations = learner.predict(points, return_std=True)
            # one target does not show how much targets vary
            return values, deviations if learner.steps > 1 else np.full_like(deviations, np.inf)
        kept: Deviations | None = vars(self).get("deviations_")
        fitted = None if kept is None else self.polished_.function
        if kept is None or fitted is None or fitted != learner.function:
            raise ValueError(
                "return_std needs solver='newton', or a fit with solver='gradient', polish=True "
                "and risk='mean' that partial_fit has not changed"
            )
        values = fitted(points)
        return values, kept.at(fitted, points).reshape(values.shape)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Return draws of new targets: normal, around the prediction, with its deviation.

        The draws at different points are independent of each other.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        n_samples : int, default=1
            Number of draws at each point.
        random_state : int, RandomState or None, default=0
            Seed.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)

        Examples
        --------
        >>> import numpy as np
        >>> from colk import COLKRegressor
        >>> X = np.linspace(-1, 1, 300)[:, None]
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=300)
        >>> draws = COLKRegressor(random_state=0).fit(X, y).sample_y([[0.0]], n_samples=1000)
        >>> draws.shape, bool(abs(draws.std() - 0.1) < 0.03)
        ((1, 1000), True)
        """
        values, deviations = self.predict(X, return_std=True)
        noise = check_random_state(random_state).normal(size=(*values.shape, n_samples))
        return np.asarray(values[..., None] + deviations[..., None] * noise)

    def log_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean logarithm of the normal density of targets; larger is better.

        The density is in the units of y: a change of unit by a factor c adds ln c.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            Weights of the samples.

        Examples
        --------
        >>> import numpy as np
        >>> from colk import COLKRegressor
        >>> X = np.linspace(-1, 1, 300)[:, None]
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=300)
        >>> score = COLKRegressor(random_state=0).fit(X, y).log_score(X, y)
        >>> bool(abs(score - (-np.log(0.1) - 0.5 * np.log(2 * np.pi * np.e))) < 0.1)
        True
        """
        values, deviations = self.predict(X, return_std=True)
        apart = (np.asarray(y, dtype=np.float64) - values) / deviations
        logs = -0.5 * apart**2 - np.log(deviations) - 0.5 * math.log(2.0 * math.pi)
        rows = logs.reshape(len(logs), -1).sum(axis=1)
        return float(np.average(rows, weights=self._weights(sample_weight, len(rows))))
