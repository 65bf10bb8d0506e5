"""The face that every learner shows: learn a stream, learn one sample, predict."""

from abc import abstractmethod
from inspect import signature
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_number, check_points, check_vector
from colk.learners.streaming import StreamLearner
from colk.losses import Loss
from colk.schedules import PowerDecay
from colk.terms import check_term, show

__all__ = ["OnlineLearner"]


class OnlineLearner(StreamLearner):
    """A model that learns from a stream of samples (x, y), in any chunking.

    Shapes are taken from the first samples: the number of features from X, the number of outputs
    from y. Bad input raises before anything is learned of it. Settings are read-only.

    Parameters
    ----------
    loss : Loss
        The loss ℓ(f, y); it says what targets must look like.
    n_outputs : int, optional
        Numbers in one prediction. Softmax needs it, the number of classes; for other losses it
        is the number of columns of y.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK, OnlineLearner
    >>> learner = POLK(Gaussian(0.5))
    >>> isinstance(learner, OnlineLearner), learner.learn([[0.0], [1.0]], [1.0, 2.0]).steps
    (True, 2)
    """

    def __init__(self, loss: Loss, n_outputs: int | None = None) -> None:
        self.loss = check_term(loss, Loss, "loss")
        if loss.kind == "multiclass" and n_outputs is None:
            raise ValueError(f"{type(loss).__name__} needs n_outputs, the number of classes")
        self._n_outputs = None if n_outputs is None else check_count(n_outputs, "n_outputs")
        self._is_vector = True

    def __repr__(self) -> str:
        shown = []
        for name, parameter in signature(type(self)).parameters.items():
            default = parameter.default
            value = getattr(self, name, default) if name != "trace" else self._records is not None
            if isinstance(value, PowerDecay) and value.power == 0.0:
                value = value.initial
            if value is not default and (default is parameter.empty or value != default):
                shown.append(f"{name}={show(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def _allocate(self, n_features: int, n_outputs: int, n_targets: int) -> None:
        """Make the state for samples of this shape."""

    @abstractmethod
    def _learn(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn from valid samples."""

    @abstractmethod
    def _evaluate(self, X: Array) -> Array:
        """Values at valid points, of shape (n, n_outputs)."""

    @property
    def n_outputs(self) -> int | None:
        """Numbers in one prediction; None before the first sample where y will tell."""
        return self._n_outputs

    def learn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from samples in their order.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            How often a sample counts; 0 skips it.
        """
        points = check_points(X, self._n_features)
        n_outputs = self._count_outputs(y)
        targets = self.loss.check_targets(y, n_outputs, len(points))
        weight = np.ones(len(points))
        if sample_weight is not None:
            weight = check_vector(sample_weight, len(points), "sample_weight")
            if (weight < 0.0).any():
                raise ValueError("sample_weight must be at least 0")
        if len(points) == 0:
            return self
        if self._n_features is None:
            self._allocate(points.shape[1], n_outputs, targets.shape[1])
            self._n_features, self._n_outputs = points.shape[1], n_outputs
            self._is_vector = self.loss.kind != "multiclass" and np.ndim(y) == 1
        self._learn(points, targets, weight)
        return self

    def learn_one(self, x: ArrayLike, y: ArrayLike, sample_weight: float = 1.0) -> Self:
        """Learn from one sample: a point of shape (p,) and its target."""
        check_number(sample_weight, "sample_weight", at_least=0.0)
        point = np.asarray(x)
        if point.ndim != 1:
            raise ValueError(f"x must be one point of shape (n_features,), got {point.shape}")
        return self.learn(point[None, :], np.asarray(y)[None], np.array([sample_weight]))

    def _count_outputs(self, y: ArrayLike) -> int:
        if self._n_outputs is not None:
            return self._n_outputs
        shape = np.shape(y)
        return shape[1] if len(shape) == 2 and shape[1] > 0 else 1

    def predict(self, X: ArrayLike) -> Array:
        """Values of the learned function, of shape (n,) or (n, q) like the targets."""
        values = self._evaluate(check_points(X, self.n_features))
        return values[:, 0] if self._is_vector else values
