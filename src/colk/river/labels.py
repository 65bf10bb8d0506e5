"""Prediction sets for River's classifiers."""

from collections.abc import Hashable, Iterator
from typing import Any

from river import base

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk.conformal import ScoreThresholds
from colk.river.classifier import COLKClassifier
from colk.river.features import Features

__all__ = ["ConformalClassifier"]


@stored.stores(classifier=stored.Object(base.Classifier), thresholds=stored.Object(ScoreThresholds))
class ConformalClassifier(Guarded, base.Wrapper, base.Classifier):  # type: ignore[type-arg,unused-ignore]
    """Sets of labels that contain the true label with a nominal probability, on any stream.

    `colk.conformal.ScoreThresholds` describes the rule.

    Parameters
    ----------
    classifier : river.base.Classifier
        The classifier or pipeline that predicts probabilities.
    coverage, by_class
        As in `colk.conformal.ScoreThresholds`. Defaults: 0.9 and False.

    Examples
    --------
    >>> from colk.river import COLKClassifier, ConformalClassifier
    >>> from river import datasets, preprocessing, stats
    >>> model = ConformalClassifier(
    ...     preprocessing.StandardScaler() | COLKClassifier(), coverage=0.95)
    >>> covered = stats.Mean()
    >>> for x, y in datasets.Bananas().take(2000):
    ...     covered.update(y in model.predict_set(x))
    ...     model.learn_one(x, y)
    >>> abs(covered.get() - 0.95) < 0.02
    True
    """

    _changing = ("_thresholds", "classifier")

    def __init__(
        self,
        classifier: Any,
        coverage: float = 0.9,
        by_class: bool = False,
    ) -> None:
        self.classifier = classifier
        self.coverage = coverage
        self.by_class = by_class
        self._thresholds = ScoreThresholds(coverage, by_class)

    def _to_file(self) -> dict[str, Any]:
        return {"classifier": self.classifier, "thresholds": self._thresholds}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ConformalClassifier":
        known = values["thresholds"]
        model = cls(values["classifier"], known.coverage, known.by_class)
        model._thresholds = known
        return model

    @property
    def _wrapped_model(self) -> Any:
        return self.classifier

    @property
    def _multiclass(self) -> bool:
        return bool(self.classifier._multiclass)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": COLKClassifier()}

    def learn_one(self, x: Features, y: Hashable, **settings: Any) -> None:
        """Learn from one sample: update the thresholds first, then the classifier.

        Parameters
        ----------
        x : dict
            Features.
        y : label
            The class.
        **settings : dict
            Passed to the classifier, such as a weight.
        """
        with self._lock:
            known = self.classifier.predict_proba_one(x)
            self.classifier.learn_one(x, y, **settings)
            if known:
                self._thresholds.update(known, y)

    def predict_proba_one(self, x: Features, **settings: Any) -> dict[Any, float]:
        """Return the probabilities of the classifier.

        Parameters
        ----------
        x : dict
            Features.
        **settings : dict
            Passed to the classifier.
        """
        found: dict[Any, float] = self.classifier.predict_proba_one(x, **settings)
        return found

    @locked
    def predict_set(self, x: Features) -> set[Any]:
        """Return the set of labels for one sample; all known labels until there are enough samples.

        Parameters
        ----------
        x : dict
            Features.
        """
        return self._thresholds.labels(self.classifier.predict_proba_one(x))

    def observed_coverage(self, label: Hashable = None) -> float:
        """Return the share of labels that were in their sets so far; NaN before the first.

        Parameters
        ----------
        label : label
            The class, if `by_class`.
        """
        return self._thresholds.observed_coverage(label)
