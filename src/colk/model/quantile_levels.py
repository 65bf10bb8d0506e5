"""Fit the function of one quantile, with its λ and its left-out predictions."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.losses import Pinball
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import cross_polish, polish, predict_left_out
from colk.rkhs.polishing.span import Span

__all__ = ["CrossValidation", "LeaveOneOut"]


class CrossValidation:
    """For few samples: cross-validation chooses λ and the constants."""

    def __init__(self, X: Array, y: Array, weight: Array, folds: Array) -> None:
        self.X, self.y, self.weight, self.folds = X, y, weight, folds
        self.judged = np.arange(len(X))

    def fit(
        self, start: KernelExpansion, span: Span, centre: float, level: float, least: float
    ) -> tuple[KernelExpansion, float, Array]:
        """Return the function of a level, its λ, and predictions without the own sample."""
        found = cross_polish(
            start,
            span,
            self.y - centre,
            Pinball(level),
            least,
            self.folds,
            sample_weight=self.weight,
        )
        return found.function, found.regularization, found.held_out


class LeaveOneOut:
    """For many samples: leave-one-out in closed form chooses λ and the constants."""

    def __init__(self, X: Array, y: Array, weight: Array, judged: Array) -> None:
        self.X, self.y, self.weight, self.judged = X, y, weight, judged

    def fit(
        self, start: KernelExpansion, span: Span, centre: float, level: float, least: float
    ) -> tuple[KernelExpansion, float, Array]:
        """Return the function of a level, its λ, and predictions without the own sample."""
        y, loss, weight = self.y - centre, Pinball(level), self.weight
        shared: dict[str, Any] = {"sample_weight": weight, "span": span}
        found = polish(start, self.X, y, loss, None, least, choose=True, tolerance=1e-3, **shared)
        function, chosen = found.function, found.regularization
        left_out = predict_left_out(function, self.X, y, loss, chosen, **shared)
        return function, chosen, left_out
