"""Targets in units of their running standard deviation."""

from copy import copy
from typing import Any

import numpy as np

from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.estimators.fitting import EpochEstimator

__all__ = ["ScaledTargets"]


class ScaledTargets(EpochEstimator):
    """An estimator that scales its targets by their running mean and standard deviation."""

    _changing = (*EpochEstimator._changing, "_targets")
    _targets: RunningScale
    scale_targets: bool

    def _learn_targets(self, X: Array, targets: Array, weight: Array, first: bool) -> None:
        """Learn a part of a stream; the first part sets the scale before it is learned."""
        if first:
            self._learn_on(X, self._scale_all(targets, weight), weight)
        elif targets.shape == (1,) and weight[0] > 0.0 and self.scale_targets:
            self._learn_row(X, targets, weight)
        else:
            self._learn_on(X, self._scale_each(targets, weight), weight)

    def _scale_all(self, targets: Array, weight: Array) -> Array:
        """Update the scale with all targets; return them in the new scale."""
        if self.scale_targets:
            self._targets = self._targets.merged(targets, weight)
        return self._encode(targets)

    def _learn_row(self, X: Array, target: Array, weight: Array) -> None:
        """Learn one row; update the scale in place, because a copy takes longer than a step."""
        try:
            scaled = self._targets.update(target[0], weight[0])
            self._learn_on(X, np.array([scaled]), weight)
        except Exception:
            self._targets.undo()
            raise

    def _scale_each(self, targets: Array, weight: Array) -> Array:
        """Update the scale with one target after another; return each in the scale of its time."""
        if not self.scale_targets:
            return targets
        rows = targets.reshape(len(targets), -1).copy()
        counted = weight > 0.0
        self._targets = copy(self._targets)
        if counted.all():
            self._targets.absorb(rows, weight)
        else:
            scaled = rows[counted]
            self._targets.absorb(scaled, weight[counted])
            rows[counted] = scaled
        return rows.reshape(targets.shape)

    def _encode(self, y: Any) -> Array:
        return self._targets.scaled(np.asarray(y, dtype=np.float64, order="C"))
