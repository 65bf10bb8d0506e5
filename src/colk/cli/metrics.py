"""Metrics of predictions, accumulated over batches of rows."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._validation import Array
from colk.losses import Pinball

__all__ = ["CALIBRATION_BINS", "ClassMetrics", "NumberMetrics"]

# Number of bins of the predicted probability in the calibration.
CALIBRATION_BINS = 10
# Smaller probabilities are replaced by this in the log loss, so that it stays finite.
_LEAST = 1e-15


class NumberMetrics:
    """MAE, RMSE and R² of predicted numbers, and the quality of their intervals.

    Parameters
    ----------
    coverage : float, optional
        Nominal coverage of the intervals. Default: no intervals.
    quantile : float, optional
        Level of the predicted quantile. It adds the pinball loss, and the share of targets that are
        not above the prediction. Default: no quantile.

    Examples
    --------
    >>> import numpy as np
    >>> metrics = NumberMetrics(coverage=0.8)
    >>> y, predicted = np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 4.0])
    >>> metrics.add(y, predicted, (predicted - 1.0, predicted + 1.0))
    >>> {name: round(value, 3) for name, value in metrics.values.items()}
    {'MAE': 1.0, 'RMSE': 1.291, 'R²': 0.643, 'coverage': 0.667, 'width': 2.0, 'interval score': ...}
    """

    def __init__(self, coverage: float | None = None, quantile: float | None = None) -> None:
        self.coverage, self.quantile = coverage, quantile
        self.rows = self._below = 0
        self._pinball = 0.0
        self._absolute = self._squares = self._mean = self._spread = 0.0
        self._covered, self._width, self._score = 0, 0.0, 0.0

    def add(self, y: Array, predicted: Array, interval: tuple[Array, Array] | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        y, predicted : arrays of shape (n,)
            Targets and predictions.
        interval : pair of arrays, optional
            Lower and upper ends, if the metrics have a `coverage`.
        """
        if len(y) == 0:
            return
        residuals, before = y - predicted, self.rows
        self.rows += len(y)
        self._absolute += float(np.abs(residuals).sum())
        self._squares += float(residuals @ residuals)
        self._below += int((residuals <= 0.0).sum())
        if self.quantile is not None:
            losses = Pinball(self.quantile).value(predicted, y)
            self._pinball += float(np.sum(losses))
        shift = float(y.mean()) - self._mean
        self._mean += shift * len(y) / self.rows
        self._spread += float(((y - y.mean()) ** 2).sum())
        self._spread += shift * shift * before * len(y) / self.rows
        if interval is not None and self.coverage is not None:
            low, high = interval
            below, above = np.maximum(low - y, 0.0), np.maximum(y - high, 0.0)
            self._covered += int(((below == 0.0) & (above == 0.0)).sum())
            self._width += float((high - low).sum())
            misses = float((below + above).sum())
            self._score += float((high - low).sum()) + 2.0 / (1.0 - self.coverage) * misses

    @property
    def values(self) -> dict[str, float]:
        """The metrics by name."""
        n = self.rows or math.nan
        r2 = 1.0 - self._squares / self._spread if self._spread > 0.0 else math.nan
        found = {"MAE": self._absolute / n, "RMSE": math.sqrt(self._squares / n), "R²": r2}
        if self.quantile is not None:
            found |= {"pinball loss": self._pinball / n, "share below": self._below / n}
        if self.coverage is not None:
            found |= {
                "coverage": self._covered / n,
                "width": self._width / n,
                "interval score": self._score / n,
            }
        return found


class ClassMetrics:
    """Accuracy, log loss, confusion matrix and calibration of predicted labels.

    Examples
    --------
    >>> import numpy as np
    >>> metrics = ClassMetrics()
    >>> shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> metrics.add(["a", "b", "b"], ["a", "b", "a"], shares, ["a", "b"])
    >>> {name: round(value, 3) for name, value in metrics.values.items()}
    {'accuracy': 0.667, 'log loss': 0.415, 'calibration error': 0.3}
    >>> metrics.confusion["b", "a"]
    1
    """

    def __init__(self) -> None:
        self.rows = 0
        self.confusion: Counter[tuple[str, str]] = Counter()
        # For each bin of the predicted probability: rows, sum of probabilities, right labels.
        self.bins = np.zeros((CALIBRATION_BINS, 3))
        self._right, self._log_loss = 0, 0.0

    def add(
        self,
        y: Sequence[Any],
        predicted: Sequence[Any],
        shares: Array | None = None,
        labels: Sequence[str] = (),
    ) -> None:
        """Add rows.

        Parameters
        ----------
        y, predicted : sequence of str
            Labels and predicted labels.
        shares : array of shape (n, C), optional
            Probabilities of `labels`. Without them, log loss and calibration are NaN.
        labels : sequence of str
            The labels of the columns of `shares`.
        """
        if len(y) == 0:
            return
        right = np.array([of == as_ for of, as_ in zip(y, predicted, strict=True)])
        self.rows += len(right)
        self._right += int(right.sum())
        self.confusion.update(zip(map(str, y), map(str, predicted), strict=True))
        if shares is None:
            self._log_loss = math.nan
            return
        places = {label: place for place, label in enumerate(labels)}
        of_label = [shares[row, places[y_]] if y_ in places else 0.0 for row, y_ in enumerate(y)]
        self._log_loss -= float(np.log(np.maximum(of_label, _LEAST)).sum())
        top = shares.max(axis=1)
        bins = np.minimum((top * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
        for column, weights in enumerate((np.ones_like(top), top, right.astype(np.float64))):
            self.bins[:, column] += np.bincount(bins, weights, minlength=CALIBRATION_BINS)

    @property
    def values(self) -> dict[str, float]:
        """The metrics by name; the calibration error is Σ n_b |confidence − accuracy| / n."""
        n = self.rows or math.nan
        gaps = np.abs(self.bins[:, 1] - self.bins[:, 2]).sum()
        has_shares = not math.isnan(self._log_loss)
        return {
            "accuracy": self._right / n,
            "log loss": self._log_loss / n,
            "calibration error": float(gaps) / n if has_shares else math.nan,
        }
