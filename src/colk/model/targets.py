"""Turn targets into what the loss takes: scaled numbers, classes, or numbers for quantiles."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from colk._engine.running_scale import RunningScale
from colk._engine.scale_changes import limits_of
from colk._validation import Array
from colk.losses import Huber, Loss, Quantiles, Softmax, Squared
from colk.model.sample import RowSample
from colk.model.terms import classification_loss

__all__ = ["LabelTargets", "NumberTargets", "QuantileTargets", "Targets"]

Labels = NDArray[Any]

# Targets are far if their deviation is so many times that of the others, and there are so many of
# them; beyond _TOO_FAR squares overflow.
_FAR, _TOO_FAR, _FEWEST = 3.0, 1e100, 5


class Targets(ABC):
    """The targets of a task. `fitted` returns the targets of data, whose other methods can run."""

    are_labels: ClassVar[bool] = False
    loss: Loss

    @property
    def n_outputs(self) -> int | None:
        """Number of outputs of the function; None: that of the first targets."""
        return None

    @abstractmethod
    def fitted(self, sample: RowSample, y: Any, weight: Array) -> Self:
        """Return the targets of data.

        Parameters
        ----------
        sample : RowSample
            The counts of all rows.
        y, weight : arrays
            The targets of the sample, and their weights; those of weight 0 are ignored.
        """

    @abstractmethod
    def encode(self, y: Any) -> Array:
        """Return targets as the loss takes them."""

    def far_ones(self, y: Any, weight: Array) -> Array | None:
        """Return which targets are far from the others; None if none would be outliers.

        Parameters
        ----------
        y, weight : arrays
            Targets, and their weights.
        """
        return None

    def keeping_far(self) -> Self:
        """Return the targets with a loss that follows those that are far."""
        raise NotImplementedError

    def weigh(self, y: Any, weight: Array) -> Array:
        """Return the weights of rows, multiplied by those of their classes."""
        return weight

    def total(self, sample: RowSample) -> float:
        """Return the sum of the weights of all rows."""
        return sample.weight


@dataclass(frozen=True, eq=False)
class NumberTargets(Targets):
    """Numbers, in units of their standard deviation.

    Parameters
    ----------
    loss : Loss
        The loss.
    is_scaled : bool
        Whether targets are scaled.
    scale : RunningScale
        Their scale.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> y, weight = np.array([1.0, 3.0]), np.ones(2)
    >>> NumberTargets(Huber()).fitted(RowSample(0, False), y, weight).encode(y)
    array([-1.,  1.])
    """

    loss: Loss
    is_scaled: bool = True
    scale: RunningScale = field(default_factory=RunningScale)

    def fitted(self, sample: RowSample, y: Any, weight: Array) -> Self:
        """Return the targets of data; see `Targets`."""
        n_outputs = int(np.prod(y.shape[1:]))
        self.loss.check_targets(y[:1], n_outputs)
        scale = RunningScale(n_outputs)
        if self.is_scaled:
            scale = scale.merged(y, weight)
            scale.check_places()
        return replace(self, scale=scale)

    def far_ones(self, y: Any, weight: Array) -> Array | None:
        """Return −1, 0 or 1 for targets below, within and above the limits of the others.

        The result is None if they are not far enough to be outliers, or if the loss is not the
        default.
        """
        if self.loss != Huber() or not self.is_scaled:
            return None
        targets, (low, high) = np.reshape(y, (len(y), -1)), limits_of(self.scale)
        far = (targets > high).astype(np.float64) - (targets < low)
        counted = weight > 0.0
        if np.count_nonzero(far[counted].any(axis=1)) < _FEWEST:
            return None
        with np.errstate(over="ignore"):  # targets may be as large as numbers are
            deviations = self.scale.scaled(targets[counted]).std(axis=0)
        return far if _FAR < deviations.max() < _TOO_FAR else None

    def keeping_far(self) -> Self:
        """Return the targets with a loss that follows those that are far."""
        return replace(self, loss=Squared())

    def encode(self, y: Any) -> Array:
        """Return targets as the loss takes them."""
        return self.scale.scaled(np.asarray(y, dtype=np.float64, order="C"))


@dataclass(frozen=True, eq=False)
class QuantileTargets(Targets):
    """Numbers in units of their standard deviation, shared by the functions of all levels.

    Parameters
    ----------
    loss : Quantiles
        The pinball losses of the levels.
    scale : RunningScale
        The scale of the targets.

    Examples
    --------
    >>> targets = QuantileTargets(Quantiles((0.1, 0.9)))
    >>> targets.n_outputs, targets.encode([0.5]).shape
    (2, (1, 1))
    """

    loss: Quantiles
    scale: RunningScale = field(default_factory=RunningScale)

    @property
    def n_outputs(self) -> int:
        """Number of levels."""
        return len(self.loss.levels)

    def fitted(self, sample: RowSample, y: Any, weight: Array) -> Self:
        """Return the targets of data; see `Targets`."""
        scale = RunningScale(1).merged(y, weight)
        scale.check_places()
        return replace(self, scale=scale)

    def encode(self, y: Any) -> Array:
        """Return targets as the loss takes them, of shape (n, 1)."""
        return self.scale.scaled(np.asarray(y, dtype=np.float64))[:, None]


@dataclass(frozen=True, eq=False)
class LabelTargets(Targets):
    """Labels, as ±1, as ±1 for each class, or as the index of the class.

    Parameters
    ----------
    loss : Loss or str
        The loss; "logistic" becomes "softmax" for more than two classes.
    class_weight : dict, "balanced" or None
        As in `COLKClassifier`.
    most : int or None
        The largest number of classes; a target with more is probably a number.
    labels : array of shape (C,)
        The labels, sorted.
    of_class : array of shape (C,)
        The weights of the classes.

    Examples
    --------
    >>> y, counts = np.array(["b", "a", "c"]), RowSample(0, True)
    >>> counts.n_of.update(y.tolist())
    >>> found = LabelTargets("logistic").fitted(counts, y, np.ones(3))
    >>> found.loss, found.encode(y)
    (Softmax(), array([1., 0., 2.]))
    """

    loss: Any
    class_weight: dict[Any, float] | Literal["balanced"] | None = None
    most: int | None = None
    labels: Labels = field(default_factory=lambda: np.zeros(0))
    of_class: Array = field(default_factory=lambda: np.zeros(0))

    are_labels = True

    @property
    def n_outputs(self) -> int | None:
        """Number of classes with the softmax loss."""
        return len(self.labels) if isinstance(self.loss, Softmax) else None

    def fitted(self, sample: RowSample, y: Any, weight: Array) -> Self:
        """Return the targets of data; see `Targets`."""
        known = {label: n for label, n in sample.n_of.items() if n}
        if self.most is not None and len(known) > self.most:
            raise ValueError(f"the target has more than {self.most} classes; is it a regression?")
        return self.of_labels(_sorted_labels(known, y.dtype), known)

    def of_labels(self, labels: Labels, counts: dict[Any, int] | None = None) -> Self:
        """Return the targets with these sorted labels, and their counts for balanced weights."""
        if len(labels) < 2:
            raise ValueError(
                f"a classifier needs samples of at least 2 classes, got one class: {labels}"
            )
        loss = classification_loss(self.loss, len(labels))
        weights = self._weights_of(labels, counts)
        return replace(self, loss=loss, labels=labels, of_class=weights)

    def _weights_of(self, labels: Labels, counts: dict[Any, int] | None) -> Array:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            if counts is None:
                raise ValueError(
                    "class_weight='balanced' needs all data at once, not batches; pass a dict, for "
                    "example from sklearn.utils.class_weight.compute_class_weight"
                )
            n = np.array([counts[label] for label in labels.tolist()], dtype=np.float64)
            return np.asarray(n.sum() / (len(n) * n))
        weights = np.asarray(
            compute_class_weight(self.class_weight, classes=labels, y=labels), dtype=np.float64
        )
        if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise ValueError(f"weights in class_weight must be at least 0, got {weights}")
        return weights

    def _places(self, y: Any) -> NDArray[np.intp]:
        found = np.searchsorted(self.labels, y)
        index: NDArray[np.intp] = np.minimum(found, len(self.labels) - 1)
        unknown = self.labels[index] != y
        if np.any(unknown):
            raise ValueError(
                f"y has labels {np.unique(y[unknown])} that are not among the classes "
                f"{self.labels} of the first call"
            )
        return index

    def encode(self, y: Any) -> Array:
        """Return labels as the loss takes them; raise ValueError if one is unknown."""
        index = self._places(np.asarray(y))
        if isinstance(self.loss, Softmax):
            return index.astype(np.float64)
        if len(self.labels) == 2:
            return np.where(index == 1, 1.0, -1.0)
        return np.where(index[:, None] == np.arange(len(self.labels)), 1.0, -1.0)

    def weigh(self, y: Any, weight: Array) -> Array:
        """Return the weights of rows, multiplied by those of their classes."""
        if self.class_weight is None:
            return weight
        return np.asarray(weight * self.of_class[self._places(np.asarray(y))])

    def total(self, sample: RowSample) -> float:
        """Return the sum of the weights of all rows, multiplied by those of their classes."""
        pairs = zip(self.labels.tolist(), self.of_class.tolist(), strict=True)
        return float(sum(sample.weight_of[label] * weight for label, weight in pairs))


def _sorted_labels(known: dict[Any, int], dtype: Any) -> Labels:
    """Return the labels, sorted, in an array of the type of the targets."""
    labels = sorted(known)
    if dtype.kind in "US":
        return np.array(labels)
    return np.array(labels, dtype=dtype)
