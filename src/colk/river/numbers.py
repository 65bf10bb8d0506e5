"""Base class of the River models whose targets are numbers."""

from copy import copy
from typing import Any

from colk._engine.running_scale import RunningScale
from colk._validation import check_number, check_vector, reject_lazy
from colk.river.base import OnlineModel, check_weight, check_weights
from colk.river.features import Features

__all__ = ["NumberModel"]


class NumberModel(OnlineModel):
    """A River model that scales its targets by their running mean and standard deviation."""

    _scale: RunningScale

    def _n_outputs(self) -> int:
        """Number of outputs of the learner."""
        return 1

    def learn_one(self, x: Features, y: float, w: float = 1.0) -> None:
        """Update the model with one sample.

        Parameters
        ----------
        x : dict
            Features.
        y : float
            The target.
        w : float
            Weight of the sample; a sample of weight 0 is skipped.
        """
        if type(y) is not float or y - y != 0.0:
            y = check_number(y, "y")
        if w != 1.0:
            w = check_weight(w)
        if w == 0.0:
            with self._own_lock:
                self._meet(x)
            return
        feed = self._feed
        if self._online is not None:
            self._online.hold(self._scale)
        if feed is None or not feed.learn_alone(x, y, w):
            with self._own_lock:
                try:
                    self._learn(x, self._scale.update(y, w), w, self._n_outputs())
                except BaseException:
                    self._scale.undo()
                    raise
        if self._scale.is_stale or self._scale.is_due:
            with self._own_lock:
                self._follow_scale()

    def _follow_scale(self) -> None:
        """Follow the scale of the targets."""
        if self._online is not None and self._online.follow_scale(self._scale):
            self._connect()

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Update the model with the rows of a data frame, in their order.

        Parameters
        ----------
        X : DataFrame
            Features.
        y : Series
            Targets.
        w : array, optional
            Weights of the samples.
        """
        reject_lazy(X, "X")
        targets = check_vector(y, len(X), "y")
        weight = check_weights(w, len(X))
        with self._unchanged_on_error():
            self._meet_many(X)
            counted = weight > 0.0
            columns, rows = self._columns.learned_of(X, counted)
            self._scale = copy(self._scale)
            if counted.any():
                samples = rows, targets[counted, None], weight[counted]
                self._learn_rows(columns, *samples, self._n_outputs(), self._scale)
