"""Drift on River's streams: a detector, and a wrapper that reports drift of a model."""

from collections.abc import Iterator
from typing import Any

from river import base

from colk import _stored as stored
from colk.learners import DriftDetector as LossDrift
from colk.learners import DriftEvent
from colk.river.features import Features
from colk.river.regressor import COLKRegressor

__all__ = ["DriftDetector", "DriftWatch"]


class DriftDetector(base.DriftDetector):  # type: ignore[misc,unused-ignore]
    """`colk.learners.DriftDetector` with River's interface: it detects rising losses.

    Parameters
    ----------
    threshold : float, default=5.5
        Number of standard errors that cause an alarm. Raise it for fewer false alarms.

    Examples
    --------
    >>> import random
    >>> from colk.river import DriftDetector
    >>> rng = random.Random(1)
    >>> detector = DriftDetector()
    >>> alarms = []
    >>> for t in range(4000):
    ...     detector.update(abs(rng.gauss(0.0, 1.0 if t < 2000 else 2.0)))
    ...     if detector.drift_detected:
    ...         alarms.append(t)
    >>> [2000 < t < 2300 for t in alarms]
    [True]
    """

    def __init__(self, threshold: float = 5.5) -> None:
        super().__init__()
        self.threshold = threshold
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._detector = LossDrift(self.threshold)

    def update(self, x: float, features: Features | None = None) -> None:
        """Update the detector with the loss of one sample.

        Parameters
        ----------
        x : float
            The loss.
        features : dict, optional
            Features of the sample; an alarm names those whose means changed.
        """
        self._detector.update(float(x), features)
        self._drift_detected = self._detector.drift_detected

    @property
    def events(self) -> list[DriftEvent]:
        """All alarms so far."""
        return list(self._detector.events)


@stored.stores(model=stored.Object(base.Estimator), detector=stored.Object(LossDrift))
class DriftWatch(base.Wrapper, base.Estimator):  # type: ignore[type-arg,unused-ignore]
    """A regressor or classifier that reports drift.

    A `DriftDetector` follows the loss of each sample before it is learned: the absolute error, or
    1 − the probability of the true label. It also follows numeric features, so that an alarm can
    name those whose means changed. An alarm does not change the model.

    Parameters
    ----------
    model : river.base.Regressor or river.base.Classifier
        The model or pipeline.
    threshold : float, default=5.5
        As in `DriftDetector`.

    Examples
    --------
    >>> import random
    >>> from river import linear_model
    >>> from colk.river import DriftWatch
    >>> rng = random.Random(1)
    >>> model = DriftWatch(linear_model.LinearRegression())
    >>> for t in range(6000):
    ...     x = {"a": rng.gauss(0.0, 1.0), "b": rng.gauss(0.0 if t < 4000 else 2.0, 1.0)}
    ...     model.learn_one(x, x["a"] + x["b"] ** 2 + rng.gauss(0.0, 0.1))
    >>> event = model.drifts[0]
    >>> 4000 < event.time < 4200, list(event.features)
    (True, ['b'])
    """

    def __init__(self, model: Any, threshold: float = 5.5) -> None:
        self.model = model
        self.threshold = threshold
        self._detector = LossDrift(threshold)

    def _to_file(self) -> dict[str, Any]:
        return {"model": self.model, "detector": self._detector}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "DriftWatch":
        watch = cls(values["model"], values["detector"].threshold)
        watch._detector = values["detector"]
        return watch

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": COLKRegressor()}

    def learn_one(self, x: Features, y: Any, **settings: Any) -> None:
        """Pass the loss of one sample to the detector, and learn from the sample.

        Parameters
        ----------
        x : dict
            Features.
        y : float or label
            The target.
        **settings : dict
            Passed to the model, such as a weight.
        """
        if hasattr(self.model, "predict_proba_one"):
            known = self.model.predict_proba_one(x)
            loss = 1.0 - known.get(y, 0.0) if known else None
        else:
            loss = abs(float(y) - self.model.predict_one(x))
        self.model.learn_one(x, y, **settings)
        if loss is not None:
            known = {name: v for name, v in x.items() if isinstance(v, int | float)}
            self._detector.update(loss, known)

    def predict_one(self, x: Features, **settings: Any) -> Any:
        """Return the prediction of the model.

        Parameters
        ----------
        x : dict
            Features.
        **settings : dict
            Passed to the model.
        """
        return self.model.predict_one(x, **settings)

    @property
    def drift_detected(self) -> bool:
        """Whether the latest sample caused an alarm."""
        return self._detector.drift_detected

    @property
    def drifts(self) -> list[DriftEvent]:
        """All alarms so far: time, severity and features."""
        return list(self._detector.events)
