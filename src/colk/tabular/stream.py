"""Learn encoded rows of a stream, whose labels and best kernel may change."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.losses import Logistic
from colk.model import Contest, Recipe, Settings
from colk.selection import KeptSamples, Race
from colk.tabular.prediction import TablePredictor

__all__ = ["TableStream"]

# Largest number of classes; a target with more is probably a number.
MOST_CLASSES = 256


class TableStream(TablePredictor):
    """The part of `TableModel` that learns encoded rows in their order."""

    settings: Settings
    race: Race | None
    _kept: KeptSamples | None

    # -- the learner -------------------------------------------------------------------------

    def _grow(self, n_outputs: int) -> None:
        """Enlarge the learner to all columns and this many outputs."""
        if self.rows == 0 and self._learner.loss_sums[1] == 0.0:
            return
        width = self._encoder.width
        if (width, n_outputs) != (self._learner.n_features, self._learner.n_outputs):
            kernel = self._kernel_for(width)
            if kernel is not None:
                self.recipe = Recipe.from_kernel(self.settings, kernel)
            self._learner.grow(width, n_outputs, kernel)
            if self._contest is not None:
                self._contest.grow(width, n_outputs)

    def _kernel_for(self, width: int) -> Kernel | None:
        """Return the chosen kernel for this many columns; None if it suits any number of them."""
        if self._contest is not None:
            return self._contest.kernel_for(width)
        if self.race is not None and self.race.winner.scaled:
            return self.race.kernel_for(width)
        return None

    def _lead_on(self, leader: KernelLearner) -> None:
        """Continue with this learner."""
        if leader is not self._learner:
            self._learner = leader
            self.recipe = Recipe.from_kernel(self.settings, leader.kernel)

    # -- rows --------------------------------------------------------------------------------

    def _learn_rows(self, X: Array, targets: Array) -> None:
        """Learn checked rows; the first rows are kept for the race of kernels.

        Afterwards a rival with another kernel may learn beside the model, and take over; see
        `colk.model.Contest`.
        """
        y, weight = targets[:, 0], np.ones(len(X))
        n = 0
        if self._kept is not None:
            n = self._kept.lacking
            self._learner.learn_checked(X[:n], y[:n], weight[:n])
            self._kept = self._kept.including(X[:n], y[:n], weight[:n])
            if self._kept.lacking == 0:
                self._begin_contest(self._kept)
        rest = X[n:], y[n:], weight[n:]
        if self._contest is None:
            self._learner.learn_checked(*rest)
            return
        for leader in self._contest.learn(self._learner, *rest, lambda: self.settings):
            self._lead_on(leader)
            self.race = self._contest.latest

    def _begin_contest(self, kept: KeptSamples) -> None:
        """Choose the kernel by the first rows of a stream, or a rival if `fit` has chosen it."""
        self._contest, leader = Contest.begin(
            kept.arrays(), self._learner, self.settings, self.race
        )
        self._lead_on(leader)
        self.race, self._kept = self._contest.latest, None

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
        if label in self.labels:
            return
        if self.loss.kind == "binary" and len(self.labels) == 2:
            if isinstance(self.loss, Logistic):
                raise ValueError(
                    f"the model was fitted to two classes, {self.labels[0]!r} and "
                    f"{self.labels[1]!r}; to add {label!r}, fit it again with rows of all three"
                )
            raise ValueError(
                f"{type(self.loss).__name__} separates two classes, {self.labels[0]!r} and "
                f"{self.labels[1]!r}; with {label!r} there are three, so leave the loss out"
            )
        if len(self.labels) == MOST_CLASSES:
            raise ValueError(
                f"{self.target} has more than {MOST_CLASSES} classes; is it a regression?"
            )
        self.labels.append(label)
        if self.loss.kind == "multiclass" and len(self.labels) > 2:
            self._grow(len(self.labels))
