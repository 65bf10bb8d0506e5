"""Online kernel classification for River."""

import math
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from river import base

from colk import _stored as stored
from colk._engine.locks import locked
from colk._validation import Array, reject_lazy
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.losses import Loss, Softmax
from colk.model import RIVER_CLASSIFIER, RiverSolver
from colk.risks import Risk
from colk.river.base import OnlineModel, check_weight, check_weights
from colk.river.features import Features
from colk.river.stored import FIELDS
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKClassifier"]


@stored.stores(FIELDS, classes=stored.ListOf(stored.Anything(), size="n_classes"))
class COLKClassifier(OnlineModel, base.MiniBatchClassifier):
    """Online kernel classification in bounded memory, under a risk of your choice.

    Each class has its own function on the same atoms, and the loss is softmax. Classes and features
    may appear at any time, see `COLKRegressor`. Put `preprocessing.StandardScaler` before it.

    The parameters and their defaults are those of `COLKRegressor`, without `loss`.

    Parameters
    ----------
    kernel, bandwidth
        Model. Defaults: "auto" and "scale".
    risk, regularization
        Objective. Defaults: "mean" and None, which is 1e-6 s; the scale s of the softmax loss is ½.
    step_size : float, PowerDecay or None, default=None
        Step size α of gradient steps. None: 0.5/(s κ), and 0.2 × that for the function under the
        risk "cvar". Lower it if labels are noisy.
    solver, averaging, gradient_bound, tracking_rate, hedged, pairing, prior, forgetting
        Optimiser. Defaults: "auto", False, None, 0.1, True, "overlap", None and None.
    eps, max_atoms
        Size. Defaults: None and 200.

    Examples
    --------
    >>> from colk.river import COLKClassifier
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> model = preprocessing.StandardScaler() | COLKClassifier()
    >>> metric = evaluate.progressive_val_score(
    ...     datasets.Bananas().take(2000), model, metrics.Accuracy())
    >>> bool(metric.get() > 0.85)
    True
    """

    _defaults = RIVER_CLASSIFIER

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        bandwidth: str | float = "scale",
        risk: Risk | str = "mean",
        regularization: float | None = None,
        solver: RiverSolver = "auto",
        step_size: Rate | None = None,
        averaging: Averaging | bool = False,
        gradient_bound: float | None = None,
        tracking_rate: Rate = 0.1,
        hedged: bool = True,
        pairing: Pairing = "overlap",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] | None = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.risk = risk
        self.regularization = regularization
        self.solver = solver
        self.step_size = step_size
        self.averaging = averaging
        self.gradient_bound = gradient_bound
        self.tracking_rate = tracking_rate
        self.hedged = hedged
        self.pairing = pairing
        self.prior = prior
        self.forgetting = forgetting
        self.eps = eps
        self.max_atoms = max_atoms
        self._places: dict[Hashable, int] = {}
        self._reset()

    def _to_file(self) -> dict[str, Any]:
        return {**super()._to_file(), "classes": list(self._places)}

    def _set_learned(self, values: dict[str, Any]) -> None:
        learner, classes = self._learner, values["classes"]
        if len(set(classes)) < len(classes):
            raise FileFormatError("two classes have the same label")
        if learner is not None and learner.n_outputs != max(2, len(classes)):
            raise FileFormatError(f"{learner.n_outputs} outputs do not fit {len(classes)} classes")
        self._places = {label: place for place, label in enumerate(classes)}

    def _loss(self) -> Loss:
        return Softmax()

    @property
    def _multiclass(self) -> bool:
        return True

    def _n_outputs(self) -> int:
        """Number of outputs: one per class, and at least two."""
        return max(2, len(self._places))

    def _place_of(self, label: Hashable) -> int:
        """Return the index of a class; a new class gets an output."""
        place = self._places.get(label)
        if place is None:
            place = len(self._places)
            self._places = {**self._places, label: place}
            if place > 1:
                self._grow(self._n_outputs())
        return place

    @property
    def labels(self) -> list[Hashable]:
        """Labels seen so far, in order of appearance."""
        return list(self._places)

    def learn_one(self, x: Features, y: Hashable, w: float = 1.0) -> None:
        """Update the model with one sample.

        Parameters
        ----------
        x : dict
            Features.
        y : label
            The class.
        w : float
            Weight of the sample; a sample of weight 0 is skipped.
        """
        if w != 1.0:
            w = check_weight(w)
        _check_label(y)
        with self._own_lock:
            if w == 0.0 or y not in self._places:
                self._meet(x)
            if w > 0.0:
                self._learn(x, float(self._place_of(y)), w, self._n_outputs())

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class seen so far; empty before the first sample.

        Parameters
        ----------
        x : dict
            Features; features that were never seen are ignored.
        **kwargs : dict
            Part of River's interface; ignored.
        """
        with self._own_lock:
            scores, places = self._scores(x), self._places
        if scores is None:
            return {}
        values = scores[: len(places)]
        largest = max(values)
        shares = [math.exp(value - largest) for value in values]
        total = sum(shares)
        return {label: shares[place] / total for label, place in places.items()}

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Update the model with the rows of a data frame, in their order.

        Parameters
        ----------
        X : DataFrame
            Features.
        y : Series
            Classes.
        w : array, optional
            Weights of the samples.
        """
        reject_lazy(X, "X")
        labels = list(y)
        if len(labels) != len(X):
            raise ValueError(f"y has {len(labels)} entries, expected {len(X)}")
        for label in labels:
            _check_label(label)
        weight = check_weights(w, len(X))
        with self._unchanged_on_error():
            self._meet_many(X)
            counted, start = np.flatnonzero(weight > 0.0).tolist(), 0
            columns, points = self._columns.learned_of(X, weight > 0.0)
            while start < len(counted):  # up to the next new class, which adds an output
                places = [self._place_of(labels[counted[start]])]
                for row in counted[start + 1 :]:
                    if labels[row] not in self._places:
                        break
                    places.append(self._places[labels[row]])
                rows = slice(start, start + len(places))
                targets = np.array(places, dtype=np.float64)[:, None]
                shares, n_outputs = weight[counted[rows]], self._n_outputs()
                self._learn_rows(columns, points[rows], targets, shares, n_outputs)
                start = rows.stop

    @locked
    def predict_proba_many(self, X: Any) -> Any:
        """Return class probabilities for the rows of a data frame, as a DataFrame.

        Parameters
        ----------
        X : DataFrame
            Features.
        """
        import pandas as pd

        scores = self._many_scores(X)
        if scores is None:
            return pd.DataFrame(index=X.index)
        known: Array = scores[:, : len(self._places)]
        shares = np.exp(known - known.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return pd.DataFrame(shares, index=X.index, columns=list(self._places))


def _check_label(y: Any) -> None:
    if y is None or y != y:  # NaN differs from itself
        raise ValueError(f"y must be a label, got {y!r}")
