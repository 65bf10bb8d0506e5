"""The stored form of a fitted estimator: its attributes, and checks that they are consistent."""

from dataclasses import replace
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.locks import LOCK
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.kernels.of_rows import OfRows
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Softmax
from colk.model import OnlineFit
from colk.model.inputs import Inputs
from colk.rkhs.deviations import Deviations
from colk.rkhs.polishing import Polished, RiskPath

__all__ = ["TARGETS", "Labels", "StoredEstimator", "fields_of"]

TARGETS = stored.Object(RunningScale)


class Labels(stored.Field):
    """A sorted vector of at least two labels."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        """Return the labels if they are sorted."""
        is_vector = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) >= 2
        if not is_vector or not bool((value[:-1] < value[1:]).all()):
            raise stored.refuse(name, "a sorted vector of at least two labels", value)
        return value


# Attributes of every fitted estimator.
_FITTED: dict[str, stored.Field] = {
    "n_features_in_": stored.Count(1, 2**31, same="n_columns"),
    "feature_names_in_": stored.Texts("n_columns"),
    "_inputs": stored.Object(Inputs, attributes={"n_columns": "n_columns"}),
    "loss_curve_": stored.ListOf(stored.Number(finite=False)),
    "growth_": stored.Array("n_tried", 3),
    "polished_": stored.Object(Polished),
    "deviations_": stored.Object(Deviations),
    "risk_path_": stored.Optional(stored.Object(RiskPath)),
    "_online": stored.Object(OnlineFit),
}  # fmt: skip

_OPTIONAL = ("feature_names_in_", "polished_", "deviations_")


def fields_of(**more: stored.Field) -> dict[str, stored.Field]:
    """Return the fields of an estimator: the common fitted attributes and these."""
    fitted = stored.Record({**_FITTED, **more}, optional=_OPTIONAL)
    return {"parameters": stored.Anything(), "fitted": stored.Optional(fitted)}


class StoredEstimator:
    """The part of an estimator that writes it to a file and reads it back."""

    def _to_file(self) -> dict[str, Any]:
        """Return the parameters, and the fitted attributes if there are any."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]  # of scikit-learn
        known = {*parameters, LOCK}
        fitted = {name: value for name, value in vars(self).items() if name not in known}
        return {"parameters": parameters, "fitted": fitted or None}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        """Return the estimator, which continues to learn bit for bit as before."""
        model: Any = cls(**values["parameters"])
        fitted = values["fitted"]
        if fitted is None:
            return model
        vars(model).update(fitted)
        online: OnlineFit = fitted["_online"]
        settings = model._stream_settings(online.learner.loss)
        settings = replace(settings, max_atoms=model.max_atoms_, risk=online.learner.risk)
        _check_outputs(cls.__name__, fitted)
        online.resume(settings, fitted["_inputs"].width)
        _check_polished(fitted)
        return model


def _check_polished(fitted: dict[str, Any]) -> None:
    polished, is_sparse = fitted.get("polished_"), isinstance(_learner(fitted).kernel, OfRows)
    deviations: Deviations | None = fitted.get("deviations_")
    if deviations is not None:
        shape = len(deviations.counts), len(deviations.noise)
        if polished is None or shape != (
            polished.function.n_atoms,
            polished.function.n_outputs or 1,
        ):
            raise FileFormatError("the standard deviations do not belong to the polished function")
    if polished is not None and isinstance(polished.function.kernel, OfRows) != is_sparse:
        raise FileFormatError(
            "the atoms of the polish and of the learner must both be sparse, or both dense"
        )


def _learner(fitted: dict[str, Any]) -> Any:
    return fitted["_online"].learner


def _check_outputs(name: str, fitted: dict[str, Any]) -> None:
    """Check that the learner has as many outputs as the labels, targets or quantiles need."""
    learner, outputs = _learner(fitted), _count_outputs(fitted)
    is_right = outputs == 1 if learner.is_vector else "classes_" not in fitted or outputs > 1
    if learner.n_outputs != outputs or not is_right:
        raise FileFormatError(f"a {name} needs a learner of {outputs} outputs")


def _count_outputs(fitted: dict[str, Any]) -> int:
    learner = _learner(fitted)
    if "classes_" in fitted:
        n_classes = len(fitted["classes_"])
        return 1 if n_classes == 2 and not isinstance(learner.loss, Softmax) else n_classes
    if "quantiles_" not in fitted:
        return int(fitted["_targets"].n_columns)
    if fitted["_targets"].n_columns != 1:
        raise FileFormatError("the scale of the targets must have one column")
    if not isinstance(learner, QuantileCOLK):
        raise FileFormatError("a COLKQuantileRegressor needs the learner QuantileCOLK")
    return len(fitted["quantiles_"])
