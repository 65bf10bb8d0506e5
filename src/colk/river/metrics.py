"""Risks of the latest losses, as metrics for River."""

import math
from collections import deque
from typing import Any

from river import metrics

from colk._validation import check_count, check_number
from colk.losses import Loss
from colk.model import as_risk, regression_loss
from colk.risks import Risk

__all__ = ["ClassificationRisk", "RegressionRisk"]

# Smaller probabilities are replaced by this.
_LEAST_PROBABILITY = 1e-15


class _RollingRisk:
    """A risk of the latest losses and their weights."""

    risk: Risk | str
    window_size: int

    def _start(self) -> None:
        self._risk = as_risk(self.risk)
        if not self._risk.is_of_losses:
            raise TypeError(
                f"a metric needs a risk of losses; {type(self._risk).__name__} is a risk of "
                "predictions"
            )
        size = check_count(self.window_size, "window_size")
        self._samples: deque[tuple[float, float]] = deque(maxlen=size)

    def _add(self, loss: float, w: float) -> None:
        weight = check_number(w, "w", at_least=0.0)
        if weight > 0.0:
            self._samples.append((loss, weight))

    def _remove(self, loss: float, w: float) -> None:
        if (loss, w) in self._samples:
            self._samples.remove((loss, w))

    def get(self) -> float:
        """Return the risk of the latest losses; NaN before the first sample."""
        if not self._samples:
            return math.nan
        losses, weights = zip(*self._samples, strict=True)
        risk: Any = self._risk
        return float(risk.value(losses, weights))

    @property
    def bigger_is_better(self) -> bool:
        """Return False, because a smaller risk is better."""
        return False


class RegressionRisk(_RollingRisk, metrics.base.RegressionMetric):
    """Prequential risk of a regressor: the risk of the losses of its latest predictions.

    Parameters
    ----------
    risk : Risk or str, default="cvar"
        The risk; "cvar" is the mean of the largest tenth of the losses.
    loss : Loss or str, default="squared"
        The loss of one prediction, in the units of the targets.
    window_size : int, default=1000
        Number of latest losses.

    Examples
    --------
    >>> from colk.river import RegressionRisk
    >>> metric = RegressionRisk(window_size=10)
    >>> for error in range(12):
    ...     metric.update(y_true=0.0, y_pred=float(error))
    >>> metric
    RegressionRisk: 121.
    """

    def __init__(
        self, risk: Risk | str = "cvar", loss: Loss | str = "squared", window_size: int = 1000
    ) -> None:
        self.risk = risk
        self.loss = loss
        self.window_size = window_size
        self._loss = regression_loss(loss)
        self._start()

    def _loss_of(self, y_true: float, y_pred: float) -> float:
        return float(self._loss.value([float(y_pred)], [float(y_true)])[0])

    def update(self, y_true: float, y_pred: float, w: float = 1.0) -> None:
        """Add a prediction; the oldest one leaves a full window."""
        self._add(self._loss_of(y_true, y_pred), w)

    def revert(self, y_true: float, y_pred: float, w: float = 1.0) -> None:
        """Remove a prediction that is still in the window."""
        self._remove(self._loss_of(y_true, y_pred), w)


class ClassificationRisk(_RollingRisk, metrics.base.MultiClassMetric):
    """Prequential risk of a classifier: the risk of its latest losses −log p(true label).

    Parameters
    ----------
    risk : Risk or str, default="cvar"
        The risk; "cvar" is the mean of the largest tenth of the losses.
    window_size : int, default=1000
        Number of latest losses.

    Examples
    --------
    >>> from colk.river import ClassificationRisk
    >>> metric = ClassificationRisk(risk="mean")
    >>> metric.update(y_true="a", y_pred={"a": 0.5, "b": 0.5})
    >>> round(metric.get(), 4)
    0.6931
    """

    _fmt = ",.6f"

    def __init__(self, risk: Risk | str = "cvar", window_size: int = 1000) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.risk = risk
        self.window_size = window_size
        self._start()

    @property
    def requires_labels(self) -> bool:
        """Return False, because the metric needs probabilities."""
        return False

    def _loss_of(self, y_true: Any, y_pred: dict[Any, float]) -> float:
        return -math.log(max(y_pred.get(y_true, 0.0), _LEAST_PROBABILITY))

    def update(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        """Add a prediction; the oldest one leaves a full window."""
        self._add(self._loss_of(y_true, y_pred), w)

    def revert(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        """Remove a prediction that is still in the window."""
        self._remove(self._loss_of(y_true, y_pred), w)
