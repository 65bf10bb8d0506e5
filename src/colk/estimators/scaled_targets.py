"""Targets in units of their running standard deviation, and the way of one row."""

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from colk._engine.locks import LOCK, Lock
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.estimators.fitting import FittedEstimator
from colk.estimators.sparse_input import is_large
from colk.kernels.of_rows import OfRows
from colk.model import OnlineFit
from colk.model.stream_inputs import StreamInputs

__all__ = ["ScaledTargets"]


class ScaledTargets(FittedEstimator):
    """An estimator that scales its targets by their running mean and standard deviation."""

    _changing = (*FittedEstimator._changing, "_targets")
    _targets: RunningScale
    scale_targets: bool

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with more samples, in one pass and in their order.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), or data frame
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            Weights of the samples.
        """
        if sample_weight is None and self._learn_alone(X, y):
            return self
        with self._unchanged_on_error():
            if issparse(X) and is_large(X):
                self._learn_blocks(self._learn_more, X, y, sample_weight)
            else:
                self._learn_more(X, y, sample_weight)
        return self

    @abstractmethod
    def _learn_more(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """Check and learn more samples; the first call also makes the learner."""

    # -- one row -----------------------------------------------------------------------------

    def _learn_alone(self, X: Any, y: Any) -> bool:
        """Learn one row of finite numbers without scikit-learn's checks, which take longer.

        Returns whether the row was learned. If not, nothing has changed, and the row must be
        checked.
        """
        lock: Lock | None = vars(self).get(LOCK)
        if lock is None or not (_is_float_array(X, 2) and _is_float_array(y, 1) and len(y) == 1):
            return False
        target = y.item()
        with lock:
            online: OnlineFit | None = vars(self).get("_online")
            if online is None or not math.isfinite(target + X.sum()):
                return False
            if not self._takes_plain(online, X):
                return False
            inputs, row, running = self._inputs, X.copy(order="C"), self._inputs.running
            if running is not None:
                running.absorb(row if inputs.scale is not None else row.copy())
            learned = False
            try:
                learned = self._scale_one(target, 1.0, partial(self._step, online, row))
            finally:
                if not learned and running is not None:
                    running.undo()
            if learned:
                if not inputs.is_settled:
                    cast(StreamInputs, inputs).keep_one(X)
                if running is not None and running.is_due:
                    online.rescale(inputs.followed())
                if self._targets.is_stale or self._targets.is_due:
                    online.follow_scale(self._targets)
                if online.has_notes:
                    online.warn(self._inputs.encoder.names)
            return learned

    def _step(self, online: OnlineFit, row: Array, scaled: float) -> bool:
        """Make the step of a row; return whether it was made."""
        learner = online.learner
        before = learner.loss_sums
        if learner.stream.learn_one(row[0].tolist(), scaled, 1.0) != 1:
            return False
        self.loss_curve_.append(learner.loss_since(before))
        if online.kept is not None or online.contest is not None:
            online.follow(row, np.array([scaled]), np.ones(1))
        return True

    def _takes_plain(self, online: OnlineFit, X: Array) -> bool:
        """Whether the learner takes a row of this shape after scaling it."""
        learner = online.learner
        return (
            X.shape == (1, self.n_features_in_)
            and self._inputs.takes_numbers
            and "feature_names_in_" not in vars(self)
            and self.scale_targets
            and learner.is_vector
            and not learner.risk.needs_groups
            and not isinstance(learner.kernel, OfRows)
        )

    def _scale_one(self, target: float, weight: float, learn: Callable[[float], bool]) -> bool:
        """Update the scale with a target and learn it; undo the update if it is not learned.

        The scale changes in place, because a copy takes longer than a step.
        """
        try:
            if not self._targets.holds:
                self._online.hold(self._targets)
            learned = learn(self._targets.update(target, weight))
        except Exception:
            self._targets.undo()
            raise
        if not learned:
            self._targets.undo()
        return learned

    # -- many rows ---------------------------------------------------------------------------

    def _learn_targets(self, X: Array, targets: Array, weight: Array) -> None:
        """Learn a part of a stream."""
        self._targets = copy(self._targets)
        self._learn_on(X, targets, weight, self._targets if self.scale_targets else None)

    def _encode(self, y: Any) -> Array:
        return self._targets.scaled(np.asarray(y, dtype=np.float64, order="C"))


def _is_float_array(given: Any, n_dimensions: int) -> bool:
    """Whether this is an array of float64, not of a subclass, with so many dimensions."""
    return type(given) is np.ndarray and given.ndim == n_dimensions and given.dtype == np.float64
