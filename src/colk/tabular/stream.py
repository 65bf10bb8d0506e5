"""Learn encoded rows of a stream, whose labels and best kernel may change."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.losses import Logistic
from colk.tabular.prediction import TablePredictor

__all__ = ["TableStream"]

# Largest number of classes; a target with more is probably a number.
MOST_CLASSES = 256


class TableStream(TablePredictor):
    """The part of `TableModel` that learns encoded rows in their order."""

    def _grow(self, n_outputs: int) -> None:
        """Enlarge the learner to all columns and this many outputs."""
        if self._online.learner.has_learned:
            self._online.grow(self._encoder.width, n_outputs)

    def _learn_rows(self, X: Array, targets: Array) -> None:
        """Learn checked rows; numbers are scaled."""
        samples = X, targets[:, 0], np.ones(len(X))
        if self.task == "regression":
            self._online.learn_numbers(*samples, self._targets)
        else:
            self._online.learn(*samples)

    # -- labels ------------------------------------------------------------------------------

    def _learn_labels(self, X: Array, labels: Any) -> None:
        """Learn rows in runs; a new label starts a run, because it adds an output."""
        start = 0
        while start < len(labels):
            self._add_label(labels[start])
            end = start + 1
            while end < len(labels) and labels[end] in self.labels:
                end += 1
            self._learn_rows(X[start:end], self._class_targets(labels[start:end]))
            start = end

    def _add_label(self, label: str) -> None:
        if label not in self.labels:
            self.labels.append(label)
            if self.loss.kind == "multiclass" and len(self.labels) > 2:
                self._grow(len(self.labels))

    def _check_labels(self, labels: Any) -> None:
        """Raise if there are more labels, with the earlier ones, than the loss can separate."""
        known = list(dict.fromkeys([*self.labels, *labels]))
        if self.loss.kind == "binary" and len(known) > 2:
            if isinstance(self.loss, Logistic):
                raise ValueError(
                    f"the model was fitted to two classes, {known[0]!r} and {known[1]!r}; to add "
                    f"{known[2]!r}, fit it again with rows of all three"
                )
            raise ValueError(
                f"{type(self.loss).__name__} separates two classes, {known[0]!r} and "
                f"{known[1]!r}; with {known[2]!r} there are three, so leave the loss out"
            )
        if len(known) > MOST_CLASSES:
            raise ValueError(
                f"{self.target} has more than {MOST_CLASSES} classes; is it a regression?"
            )
