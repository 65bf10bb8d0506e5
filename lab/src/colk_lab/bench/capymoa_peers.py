"""Stream peers from CapyMOA with River's interface; they need Java."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CapyMoa"]

# CapyMOA must know the labels in advance, so each new label is mapped to one of these.
_LABELS = tuple(str(number) for number in range(30))
Sample = dict[str, Any]


class CapyMoa:
    """A model of CapyMOA that learns one sample at a time.

    Parameters
    ----------
    make : callable
        Returns the model for a schema.
    is_classifier : bool
        Whether targets are labels.
    """

    def __init__(self, make: Callable[[Any], Any], is_classifier: bool) -> None:
        self._make, self._is_classifier = make, is_classifier
        self._model: Any = None
        self._schema: Any = None
        self._labels: list[Any] = []
        self._texts: dict[Any, dict[str, int]] = {}
        self._latest: dict[Any, float] = {}

    def learn_one(self, x: Sample, y: Any) -> None:
        """Learn a sample."""
        if self._is_classifier and y not in self._labels:
            self._labels.append(y)
        self._start(x)
        self._model.train(self._instance(x, y))

    def predict_raw(self, x: Sample) -> Any:
        """Return the prediction of the model: a number, the index of a label, or an interval.

        The instance needs a label. SOKNL compares its neighbours with it while it predicts, unless
        the instance has weight 0.
        """
        self._start(x)
        instance = self._instance(x, self._labels[0] if self._labels else 0.0)
        instance.java_instance.getData().setWeight(0.0)
        return self._model.predict(instance)

    def predict_one(self, x: Sample) -> Any:
        """Return the predicted target, or None before any is known."""
        if self._is_classifier and not self._labels:
            return None
        found = self.predict_raw(x)
        if not self._is_classifier:
            return found
        return self._labels[found] if found is not None and found < len(self._labels) else None

    def _start(self, x: Sample) -> None:
        """Make the model when the names of the features are known."""
        if self._model is not None:
            return
        from capymoa.stream import Schema

        labels = {"target": _LABELS} if self._is_classifier else None
        self._schema = Schema.from_custom([*map(str, x), "target"], "target", labels, "stream")
        self._model = self._make(self._schema)

    def _number(self, name: Any, value: Any) -> float:
        """Return a feature as a number: the latest one for a gap, and a number for each text."""
        if isinstance(value, str):
            known = self._texts.setdefault(name, {})
            value = known.setdefault(value, len(known))
        if value is not None:
            self._latest[name] = float(value)
        return self._latest.get(name, 0.0)

    def _instance(self, x: Sample, y: Any) -> Any:
        from capymoa.core import LabeledInstance, RegressionInstance

        features = np.fromiter((self._number(*each) for each in x.items()), dtype=np.float64)
        if self._is_classifier:
            return LabeledInstance.from_array(self._schema, features, self._labels.index(y))
        return RegressionInstance.from_array(self._schema, features, float(y))
