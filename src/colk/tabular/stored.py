"""The stored fields of a TableModel: settings, scales and categories of columns, and learner."""

from dataclasses import replace
from typing import Any

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.losses import Logistic
from colk.model import OnlineFit, Settings
from colk.model.inputs import Inputs
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath

__all__ = ["FIELDS", "StoredTable"]

# Largest number of residuals that calibrate intervals.
MOST_RESIDUALS = 10_000
# Largest number of rows that a stored model may have learned.
MOST_ROWS = 2**62

FIELDS: dict[str, stored.Field] = {
    "settings": stored.Anything(),
    "rows": stored.Count(at_most=MOST_ROWS),
    "labels": stored.ListOf(stored.Text()),
    "inputs": stored.Object(Inputs),
    "targets": stored.Object(RunningScale),
    "online": stored.Object(OnlineFit),
    "fixed": stored.Optional(stored.Object(KernelExpansion)),
    "path": stored.Optional(stored.Object(RiskPath)),
    "residuals": stored.Array(stored.Size("n_residuals", at_most=MOST_RESIDUALS)),
    "notes": stored.Object(dict),
}


class StoredTable:
    """Mixin that converts a TableModel to stored fields and back."""

    def _to_file(self: Any) -> dict[str, Any]:
        return {
            "settings": self.parameters(),
            "rows": self.rows,
            "labels": self.labels,
            "inputs": self._inputs,
            "targets": self._targets,
            "online": self._online,
            "fixed": self._fixed,
            "path": self.path,
            "residuals": self.residuals,
            "notes": self.notes,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        model: Any = cls(**values["settings"])
        model.rows, model.labels = values["rows"], _check_labels(values["labels"], model.task)
        if values["inputs"].encoder.columns != model._encoder.columns:
            raise FileFormatError("the encoder has other columns than the model")
        if len(values["targets"].means) != 1:
            raise FileFormatError("the scale of the targets must have one column")
        model._set_inputs(values["inputs"])
        model._targets = values["targets"]
        online = values["online"]
        first, model._online = model._online, online
        model.settings = _settings_in_use(model, values)
        _check_learner(model, first)
        if values["fixed"] is not None:
            _check_shape(model, values["fixed"], "function")
        elif online.learner.has_learned != (model.rows > 0):
            raise FileFormatError("the learner has learned rows, or the model has, but not both")
        model._fixed = values["fixed"]
        model.notes, model.path = values["notes"], values["path"]
        model.residuals = values["residuals"]
        return model


def _settings_in_use(model: Any, values: dict[str, Any]) -> Settings:
    """Return the settings: a fit may have more atoms, and has the logistic loss for two classes."""
    settings: Settings = model.settings
    learner: Any = values["online"].learner
    if learner.compressor.max_atoms != settings.atom_limit:
        settings = replace(settings, max_atoms=learner.compressor.max_atoms)
    is_logistic = model.task == "classification" and learner.loss == Logistic()
    return replace(settings, loss=Logistic()) if is_logistic else settings


def _check_labels(labels: list[str], task: str) -> list[str]:
    if len(set(labels)) < len(labels) or (labels and task == "regression"):
        raise FileFormatError("labels must be different, and a regression must not have any")
    return labels


def _check_learner(model: Any, first: OnlineFit) -> None:
    """Let the stream continue with the settings of the model, if it fits them."""
    settings, online = model.settings, model._online
    learner = online.learner
    if isinstance(settings.kernel, Kernel) and repr(learner.kernel) != repr(first.kernel):
        raise FileFormatError("the learner does not have the kernel of the model")
    online.resume(settings, model._encoder.width)
    if learner.has_learned:
        _check_shape(model, learner, "learner")


def _check_shape(model: Any, part: Any, name: str) -> None:
    """Check that a learner or a function has the columns and the outputs of the model."""
    width, outputs = model._encoder.width, model._n_outputs
    if (part.n_features, part.n_outputs) != (width, outputs):
        raise FileFormatError(
            f"the {name} has {part.n_features} features and {part.n_outputs} outputs, expected "
            f"{width} and {outputs}"
        )
