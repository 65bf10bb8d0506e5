"""Prediction sets: sets of labels that contain the true label with a nominal probability."""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._validation import check_count, check_fraction
from colk.conformal.adaptive import check_coverage, check_method
from colk.errors import FileFormatError

__all__ = ["ConformalClassifier", "ScoreThresholds", "Threshold"]

# Upper bound on the memory of a score in a queue and a list.
_BYTES_OF_SCORE = 150.0


class Threshold:
    """The quantile of recent scores that leaves out α_t of them; α_t follows the misses.

    Parameters
    ----------
    aim : float
        Initial α_t.

    Examples
    --------
    >>> threshold = Threshold(0.5)
    >>> for score in (0.1, 0.2, 0.3):
    ...     threshold.add(score, window=10)
    >>> threshold.value()
    0.2
    """

    def __init__(self, aim: float) -> None:
        self.aim, self.seen, self.missed = aim, 0, 0
        self.recent: deque[float] = deque()
        self.ordered: list[float] = []

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the queue of scores as a list."""
        return {**self.__dict__, "recent": list(self.recent)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, recent=deque(state["recent"]))

    def value(self) -> float:
        """Return the largest score of a label in the set; infinite if there are too few scores."""
        place = math.ceil((1.0 - self.aim) * (len(self.ordered) + 1)) - 1
        if self.aim <= 0.0 or place >= len(self.ordered):
            return math.inf
        return self.ordered[max(place, 0)]

    def add(self, score: float, window: int) -> None:
        """Add a score; a full window drops the oldest one."""
        if len(self.recent) == window:
            del self.ordered[bisect_left(self.ordered, self.recent.popleft())]
        self.recent.append(score)
        insort(self.ordered, score)


@stored.stores(
    coverage=stored.Number(above=0.0, at_most=1.0),
    rate=stored.Number(),
    window=stored.Count(1),
    by_class=stored.Flag(),
    labels=stored.ListOf(stored.Anything(), size="n_thresholds"),
    states=stored.Array("n_thresholds", 4),  # α_t, samples seen, samples missed, scores kept
    scores=stored.Array("n_scores"),
)
class ScoreThresholds:
    """Thresholds on the score 1 − p(label), for sets of labels on any stream.

    A label is in the set if its score is at most the 1 − α_t quantile of recent scores of true
    labels. Each sample updates α_t ← α_t + rate·(α − missed), as `AdaptiveInterval` does, so over
    time the sets miss a share of α = 1 − coverage.

    Parameters
    ----------
    coverage : float, default=0.9
        Nominal coverage.
    rate : float, default=0.01
        Step size of α_t, in (0, 1]. Raise it to recover sooner from a jump.
    window : int, default=1000
        Number of recent scores, per class if `by_class`.
    by_class : bool, default=False
        Whether each class has its own threshold and α_t. Set it if each class must have the nominal
        coverage.

    Examples
    --------
    >>> from colk.conformal.labels import ScoreThresholds
    >>> thresholds = ScoreThresholds(coverage=0.8)
    >>> for _ in range(10):
    ...     thresholds.update({"a": 0.7, "b": 0.3}, "a")
    >>> thresholds.labels({"a": 0.75, "b": 0.25})
    {'a'}
    """

    def __init__(
        self, coverage: float = 0.9, rate: float = 0.01, window: int = 1000, by_class: bool = False
    ) -> None:
        self.coverage = check_coverage(coverage)
        self.rate = check_fraction(rate, "rate")
        self.window = check_count(window, "window")
        self.by_class = bool(by_class)
        self._thresholds: dict[Hashable, Threshold] = {}

    def _to_file(self) -> dict[str, Any]:
        known = self._thresholds.values()
        return {
            "coverage": self.coverage,
            "rate": self.rate,
            "window": self.window,
            "by_class": self.by_class,
            "labels": list(self._thresholds),
            "states": np.array(
                [[t.aim, t.seen, t.missed, len(t.recent)] for t in known], dtype=np.float64
            ).reshape(-1, 4),
            "scores": np.array([score for t in known for score in t.recent], dtype=np.float64),
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ScoreThresholds":
        names = ("coverage", "rate", "window", "by_class")
        found = cls(**{name: values[name] for name in names})
        states, scores = values["states"], values["scores"].tolist()
        if states[:, 3].sum() != len(scores) or (states[:, 1:] < 0.0).any():
            raise FileFormatError("the number of scores differs from the counts of the labels")
        budget(_BYTES_OF_SCORE * len(scores), "the scores of ScoreThresholds")
        start = 0
        for label, (aim, seen, missed, size) in zip(values["labels"], states.tolist(), strict=True):
            threshold = found._of(label)
            threshold.aim, threshold.seen, threshold.missed = min(aim, 1.0), int(seen), int(missed)
            for score in scores[start : start + int(size)]:
                threshold.add(score, found.window)
            start += int(size)
        return found

    def _of(self, label: Hashable) -> Threshold:
        return self._thresholds.setdefault(
            label if self.by_class else None, Threshold(1.0 - self.coverage)
        )

    def labels(self, probabilities: Mapping[Any, float]) -> set[Any]:
        """Return the set of labels; all labels if there are too few scores.

        Parameters
        ----------
        probabilities : dict
            The probability of each label.
        """
        inside = {k for k, p in probabilities.items() if 1.0 - p <= self._of(k).value()}
        if not inside and probabilities:  # an empty set would certainly be wrong
            inside = {max(probabilities, key=lambda label: probabilities[label])}
        return inside

    def update(self, probabilities: Mapping[Any, float], label: Hashable) -> None:
        """Update from the true label after `labels` gave its set.

        Parameters
        ----------
        probabilities : dict
            The probability of each label.
        label : label
            The true label.
        """
        threshold, score = self._of(label), 1.0 - probabilities.get(label, 0.0)
        if math.isfinite(threshold.value()):
            missed = label not in self.labels(probabilities)
            threshold.seen, threshold.missed = threshold.seen + 1, threshold.missed + missed
            moved = threshold.aim + self.rate * (1.0 - self.coverage - missed)
            threshold.aim = min(moved, 1.0)
        elif threshold.aim <= 0.0:
            threshold.aim += self.rate * (1.0 - self.coverage)
        threshold.add(score, self.window)

    def calibrate(self, probabilities: Any, labels: Any) -> None:
        """Start from exchangeable samples that the model has not seen.

        Parameters
        ----------
        probabilities : sequence of dict
            The probability of each label, for each sample.
        labels : sequence
            The true labels.
        """
        self._thresholds = {}
        self.window = max(self.window, len(labels))
        for known, label in zip(probabilities, labels, strict=True):
            self._of(label).add(1.0 - known.get(label, 0.0), self.window)

    def observed_coverage(self, label: Hashable = None) -> float:
        """Return the share of labels that were in their sets so far; NaN before the first.

        Parameters
        ----------
        label : label
            The class, if `by_class`.
        """
        threshold = self._of(label)
        return 1.0 - threshold.missed / threshold.seen if threshold.seen else math.nan


@stored.stores(model=stored.Anything(), thresholds=stored.Object(ScoreThresholds))
class ConformalClassifier(Guarded):
    """Sets of labels that contain the true label with a nominal probability.

    For exchangeable data, call `calibrate` once; on a stream, call `learn` for each batch.

    Parameters
    ----------
    model : classifier
        A classifier with `predict_proba`. `learn` updates it by `partial_fit`; for `calibrate` it
        must be fitted. It is not copied.
    coverage, rate, window, by_class
        As in `ScoreThresholds`. Defaults: 0.9, 0.01, 1000 and False.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKClassifier
    >>> from colk.conformal import ConformalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=2000), [-0.5, 0.5])
    >>> model = ConformalClassifier(COLKClassifier(random_state=0).fit(X[:500], y[:500]), 0.9)
    >>> sets = model.calibrate(X[500:1000], y[500:1000]).predict_set(X[1000:])
    >>> bool(abs(np.mean([label in found for label, found in zip(y[1000:], sets)]) - 0.9) < 0.04)
    True
    """

    _changing = ("_thresholds", "model")

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        rate: float = 0.01,
        window: int = 1000,
        by_class: bool = False,
    ) -> None:
        check_method(model, "predict_proba", "ConformalClassifier")
        self.model = model
        self._thresholds = ScoreThresholds(coverage, rate, window, by_class)

    def _to_file(self) -> dict[str, Any]:
        return {"model": self.model, "thresholds": self._thresholds}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        model = cls(values["model"])
        model._thresholds = values["thresholds"]
        return model

    def _probabilities(self, X: Any) -> list[dict[Any, float]]:
        labels = self.model.classes_.tolist()
        rows = np.asarray(self.model.predict_proba(X)).tolist()
        return [dict(zip(labels, row, strict=True)) for row in rows]

    @locked
    def calibrate(self, X: Any, y: ArrayLike) -> Self:
        """Set the thresholds from samples that the fitted model has not seen.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Labels.
        """
        self._thresholds.calibrate(self._probabilities(X), np.asarray(y).tolist())
        return self

    @locked
    def learn(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from samples in order: update the thresholds, then the model.

        All samples of a call are predicted by the model before the call, so shorter calls make the
        sets adapt sooner.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Labels.
        classes : array, optional
            All labels, for the first call of a model that is not fitted.
        """
        learns: Callable[..., Any] = self.model.partial_fit
        if hasattr(self.model, "classes_"):
            known = self._probabilities(X)
            for probabilities, label in zip(known, np.asarray(y).tolist(), strict=True):
                self._thresholds.update(probabilities, label)
            learns(X, y)
        else:
            learns(X, y, classes=np.unique(np.asarray(y)) if classes is None else classes)
        return self

    @locked
    def predict_set(self, X: Any) -> list[set[Any]]:
        """Return the set of labels of each point.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        return [self._thresholds.labels(known) for known in self._probabilities(X)]

    def predict(self, X: Any) -> Any:
        """Return the most probable labels.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        return self.model.predict(X)

    def observed_coverage(self, label: Any = None) -> float:
        """Return the share of labels that were in their sets so far; NaN before the first.

        Parameters
        ----------
        label : label
            The class, if `by_class`.
        """
        return self._thresholds.observed_coverage(label)
