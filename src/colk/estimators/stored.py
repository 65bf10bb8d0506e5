"""The stored form of a fitted estimator: its attributes, and checks that they are consistent."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.locks import LOCK
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.estimators.inputs import Inputs
from colk.kernels import Kernel
from colk.kernels.of_rows import OfRows
from colk.learners.colk import KernelLearner
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Loss, Softmax
from colk.recipe import Contest, Settings, has_solver
from colk.risks import Risk
from colk.rkhs.polishing import Polished, RiskPath
from colk.schedules import PowerDecay
from colk.selection import KeptSamples, Race

__all__ = ["TARGETS", "Labels", "StoredEstimator", "fields_of"]

TARGETS = stored.Object(RunningScale)

_POSITIVE = stored.Number(at_least=0.0, whole=True)


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
    "kernel_": stored.Object(Kernel),
    "loss_": stored.Object(Loss, same="loss"),
    "risk_": stored.Object(Risk, same="risk"),
    "bandwidth_": stored.Optional(stored.Either(_POSITIVE, stored.TupleOf(_POSITIVE))),
    "step_size_": stored.Optional(stored.Either(_POSITIVE, stored.Object(PowerDecay))),
    "regularization_": _POSITIVE,
    "gradient_bound_": stored.Optional(_POSITIVE),
    "prior_": stored.Optional(stored.Either(stored.OneOf("auto"), _POSITIVE)),
    "loss_curve_": stored.ListOf(stored.Number(finite=False)),
    "max_atoms_": stored.Optional(stored.Count(1, 2**31)),
    "growth_": stored.Array("n_tried", 3),
    "race_": stored.Optional(stored.Object(Race)),
    "polished_": stored.Object(Polished),
    "risk_path_": stored.Optional(stored.Object(RiskPath)),
    "_kept": stored.Optional(stored.Object(KeptSamples)),
    "_contest": stored.Optional(stored.Object(Contest)),
    "_learner": stored.Object(KernelLearner, attributes={"loss": "loss", "risk": "risk"}),
    "_n_outputs": stored.Optional(stored.Count(1, 2**31)),
}  # fmt: skip

_OPTIONAL = ("feature_names_in_", "polished_")


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

    def _stored_solver(self) -> str:
        """The solver of a fitted learner."""
        return Settings.of(self).solver

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        """Return the estimator, which continues to learn bit for bit as before."""
        model, fitted = cls(**values["parameters"]), values["fitted"]
        if fitted is None:
            return model
        solver = model._stored_solver()
        if not has_solver(fitted["_learner"], solver):
            raise FileFormatError(f"the learner does not have solver={solver!r}")
        _check_points(fitted)
        _check_outputs(cls.__name__, fitted)
        _check_choice(fitted, solver)
        vars(model).update(fitted)
        return model


def _check_points(fitted: dict[str, Any]) -> None:
    """Check that the learner has the kernel and the features of the model."""
    learner: Any = fitted["_learner"]
    kernel, n_features = learner.kernel, learner.n_features
    is_sparse = isinstance(kernel, OfRows)
    if is_sparse:
        n_features, kernel = kernel.rows.n_columns, kernel.kernel
    if n_features != fitted["_inputs"].width:
        raise FileFormatError("the learner does not have the features of the model")
    if kernel != fitted["kernel_"]:
        raise FileFormatError("the learner does not have the kernel of the model")
    polished = fitted.get("polished_")
    if polished is not None and isinstance(polished.function.kernel, OfRows) != is_sparse:
        raise FileFormatError(
            "the atoms of the polish and of the learner must both be sparse, or both dense"
        )


def _check_outputs(name: str, fitted: dict[str, Any]) -> None:
    """Check that the learner has as many outputs as the labels, targets or quantiles need."""
    learner, outputs = fitted["_learner"], _count_outputs(fitted)
    fits = learner.n_outputs == outputs and fitted["_n_outputs"] in (None, outputs)
    is_right = outputs == 1 if learner.is_vector else "classes_" not in fitted or outputs > 1
    if not fits or not is_right:
        raise FileFormatError(f"a {name} needs a learner of {outputs} outputs")


def _count_outputs(fitted: dict[str, Any]) -> int:
    if "classes_" in fitted:
        n_classes = len(fitted["classes_"])
        return 1 if n_classes == 2 and not isinstance(fitted["loss_"], Softmax) else n_classes
    if "quantiles_" not in fitted:
        return int(fitted["_targets"].n_columns)
    if fitted["_targets"].n_columns != 1:
        raise FileFormatError("the scale of the targets must have one column")
    if not isinstance(fitted["_learner"], QuantileCOLK):
        raise FileFormatError("a COLKQuantileRegressor needs the learner QuantileCOLK")
    return len(fitted["quantiles_"])


def _check_choice(fitted: dict[str, Any], solver: str) -> None:
    """Check the race that chose the kernel, the contest of kernels, or the samples for a race."""
    race, kept, contest = fitted["race_"], fitted["_kept"], fitted["_contest"]
    width = fitted["_inputs"].width
    if race is not None and len(race.scales) != width:
        raise FileFormatError("the race does not have the features of the model")
    if contest is not None:
        if race is None:
            raise FileFormatError("a contest of kernels begins with a race")
        contest.check(fitted["_learner"], solver)
    elif race is not None and not race.default_won and race.kernel != fitted["kernel_"]:
        raise FileFormatError("the kernel is not the one that won the race")
    if kept is None or kept.count == 0:
        return
    points, targets, _ = kept.arrays()
    fitted["loss_"].check_targets(targets, fitted["_learner"].n_outputs, len(points))
    if points.shape[1] != width:
        raise FileFormatError("the kept samples have other features than the model")
    learner = fitted["_learner"]
    if learner.loss.kind != "regression":
        return
    shape = () if learner.is_vector else (fitted["_targets"].n_columns,)
    if targets.shape[1:] != shape:
        raise FileFormatError("the kept targets have other outputs than the model")
