"""Prediction sets: sets of labels that contain the true label with a nominal probability."""

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk.conformal.levels import Counts, check_coverage, check_method
from colk.conformal.tails import MEMORIES, PER_VIEW, RecentValues, Tail
from colk.errors import FileFormatError

__all__ = ["ConformalClassifier", "ScoreThresholds", "Threshold"]

# Upper bound on the memory of a score in a ring and the sorted memories, with room to grow.
_BYTES_OF_SCORE = 128.0

# Thresholds are finite from this many scores on, or from 1/(1 − coverage) if that is less.
_ENOUGH = 30


class Threshold(Counts):
    """An end of the scores of true labels, which a nominal share of them exceeds.

    Parameters
    ----------
    share : float
        The nominal share.
    window : int
        Number of scores in the longest memory.

    Examples
    --------
    >>> threshold = Threshold(0.5)
    >>> for score in (0.1, 0.2, 0.3):
    ...     threshold.recent.add(score)
    >>> threshold.value()
    0.2
    """

    def __init__(self, share: float, window: int = MEMORIES[0]) -> None:
        super().__init__()
        self.tail, self.at_rest = Tail(share, 1), False
        self.recent = RecentValues((window, *MEMORIES[1:]))

    def value(self) -> float:
        """Return the largest score of a label in the set; infinite if there are too few scores."""
        known, needed = self.recent.count, math.ceil(round(1.0 / self.tail.share, 6)) - 1
        if known < (needed if self.at_rest else min(needed, _ENOUGH)):
            return math.inf
        return self.tail.reach(self.recent, self.at_rest)

    def learn(self, score: float, missed: bool) -> None:
        """Learn the score of a true label, after `value` gave the set."""
        row = np.full((1, 1), score)
        if math.isfinite(self.value()):
            self.add(int(missed), 1)
            self.tail.judge(int(missed), 1)
            self.tail.learn(row, 0, self.recent)
        self.at_rest = False
        self.recent.add_row(row, 0)


@stored.stores(
    coverage=stored.Number(above=0.0, at_most=1.0),
    by_class=stored.Flag(),
    labels=stored.ListOf(stored.Anything(), size="n_thresholds"),
    # samples seen and missed, scores kept, window, whether at rest
    counts=stored.Array("n_thresholds", 5, at_least=0.0),
    moments=stored.Array("n_thresholds", 3),
    steps=stored.Array("n_thresholds", len(MEMORIES)),
    weights=stored.Array("n_thresholds", PER_VIEW, above=0.0),
    scores=stored.Array("n_scores"),
)
class ScoreThresholds:
    """Thresholds on the score 1 − p(label), for sets of labels on any stream.

    A label is in the set if its score is at most an end of the scores of true labels, which a share
    of 1 − coverage exceeds. `TrackedInterval` describes how the end is found, and its guarantee.

    Parameters
    ----------
    coverage : float, default=0.9
        Nominal coverage.
    by_class : bool, default=False
        Whether each class has its own threshold. Set it if each class must have the nominal
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

    def __init__(self, coverage: float = 0.9, by_class: bool = False) -> None:
        self.coverage = check_coverage(coverage)
        self.by_class = bool(by_class)
        self._thresholds: dict[Hashable, Threshold] = {}

    def _to_file(self) -> dict[str, Any]:
        known = list(self._thresholds.values())
        counts = [[t.seen, t.missed, t.recent.count, t.recent.window, t.at_rest] for t in known]
        states = [t.tail.state() for t in known]
        return {
            "coverage": self.coverage,
            "by_class": self.by_class,
            "labels": list(self._thresholds),
            "counts": np.array(counts, dtype=np.float64).reshape(-1, 5),
            **{
                name: np.array([state[name] for state in states]).reshape(-1, size)
                for name, size in (("moments", 3), ("steps", len(MEMORIES)), ("weights", PER_VIEW))
            },
            "scores": np.concatenate([np.empty(0), *(t.recent.rows()[:, 0] for t in known)]),
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "ScoreThresholds":
        found, counts = cls(values["coverage"], values["by_class"]), values["counts"]
        scores, start = values["scores"].tolist(), 0
        if counts[:, 2].sum() != len(scores) or (counts[:, 3] < MEMORIES[0]).any():
            raise FileFormatError("the number of scores differs from the counts of the labels")
        budget(_BYTES_OF_SCORE * len(scores), "the scores of ScoreThresholds")
        for k, label in enumerate(values["labels"]):
            seen, missed, size, window, at_rest = (int(count) for count in counts[k])
            if size > window:
                raise FileFormatError(f"{size} scores are stored, window is {window}")
            threshold = found._of(label, window)
            threshold.restore(missed, seen)
            threshold.at_rest = bool(at_rest)
            threshold.tail.restore(*(values[name][k] for name in ("moments", "steps", "weights")))
            for score in scores[start : start + size]:
                threshold.recent.add(score)
            start += size
        return found

    def _of(self, label: Hashable, window: int = MEMORIES[0]) -> Threshold:
        key = label if self.by_class else None
        if key not in self._thresholds:
            self._thresholds[key] = Threshold(1.0 - self.coverage, window)
        return self._thresholds[key]

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
        missed = label not in self.labels(probabilities)
        self._of(label).learn(1.0 - probabilities.get(label, 0.0), missed)

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
        window = max(MEMORIES[0], len(labels))
        for known, label in zip(probabilities, labels, strict=True):
            threshold = self._of(label, window)
            threshold.at_rest = True
            threshold.recent.add(1.0 - known.get(label, 0.0))

    def observed_coverage(self, label: Hashable = None) -> float:
        """Return the share of labels that were in their sets so far; NaN before the first.

        Parameters
        ----------
        label : label
            The class, if `by_class`.
        """
        return self._of(label).coverage


@stored.stores(model=stored.Anything(), thresholds=stored.Object(ScoreThresholds))
class ConformalClassifier(Guarded):
    """Sets of labels that contain the true label with a nominal probability.

    For exchangeable data, call `calibrate` once; on a stream, call `learn` for each batch.

    Parameters
    ----------
    model : classifier
        A classifier with `predict_proba`. `learn` updates it by `partial_fit`; for `calibrate` it
        must be fitted. It is not copied.
    coverage, by_class
        As in `ScoreThresholds`. Defaults: 0.9 and False.

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
        by_class: bool = False,
    ) -> None:
        check_method(model, "predict_proba", "ConformalClassifier")
        self.model = model
        self._thresholds = ScoreThresholds(coverage, by_class)

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
