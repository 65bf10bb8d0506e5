"""The stored fields of a TableModel: settings, scales and categories of columns, and learner."""

from typing import Any

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.learners.colk import KernelLearner
from colk.recipe import has_solver
from colk.risks import Mean
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath, starts_from_mean
from colk.selection import KeptSamples, Race
from colk.tabular.encoder import TableEncoder

__all__ = ["FIELDS", "StoredTable"]

# The most residuals that calibrate intervals.
MOST_RESIDUALS = 10_000
# The most rows that a stored model may have learned.
MOST_ROWS = 2**62

FIELDS: dict[str, stored.Field] = {
    "settings": stored.Anything(),
    "rows": stored.Count(at_most=MOST_ROWS),
    "labels": stored.ListOf(stored.Text()),
    "encoder": stored.Object(TableEncoder),
    "inputs": stored.Object(RunningScale),
    "targets": stored.Object(RunningScale),
    "learner": stored.Object(KernelLearner),
    "fixed": stored.Optional(stored.Object(KernelExpansion)),
    "has_fixed_scales": stored.Flag(),
    "race": stored.Optional(stored.Object(Race)),
    "path": stored.Optional(stored.Object(RiskPath)),
    "kept": stored.Optional(stored.Object(KeptSamples)),
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
            "encoder": self._encoder,
            "inputs": self._inputs,
            "targets": self._targets,
            "learner": self._learner,
            "fixed": self._fixed,
            "has_fixed_scales": self._has_fixed_scales,
            "race": self.race,
            "path": self.path,
            "kept": self._kept,
            "residuals": self.residuals,
            "notes": self.notes,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        model: Any = cls(**values["settings"])
        model.rows, model.labels = values["rows"], _check_labels(values["labels"], model.task)
        if values["encoder"].columns != model._encoder.columns:
            raise FileFormatError("the encoder is not that of the columns")
        model._set_encoder(values["encoder"])
        model._inputs, model._targets = values["inputs"], values["targets"]
        if len(model._inputs.means) != model._encoder.n_measured or len(model._targets.means) != 1:
            raise FileFormatError("the scales are not those of the columns")
        _check_learner(model, values["learner"])
        if values["fixed"] is not None:
            _check_shape(model, values["fixed"], "function")
        elif values["learner"].has_learned != (model.rows > 0):
            raise FileFormatError("rows were learned, but not by the learner")
        model._learner, model._fixed = values["learner"], values["fixed"]
        if (values["kept"] is not None) != model.settings.is_open:
            raise FileFormatError("rows are kept to choose a kernel that the settings name")
        model._has_fixed_scales, model.race = values["has_fixed_scales"], values["race"]
        model._kept, model.notes, model.path = values["kept"], values["notes"], values["path"]
        model.residuals = values["residuals"]
        return model


def _check_labels(labels: list[str], task: str) -> list[str]:
    if len(set(labels)) < len(labels) or (labels and task == "regression"):
        raise FileFormatError("the labels must be different, and a regression has none")
    return labels


def _check_learner(model: Any, learner: KernelLearner) -> None:
    same = repr(learner.kernel) == repr(model.kernel) and learner.loss == model.loss
    # While a fit with a polish learns, its learner has the mean.
    has_risk = learner.risk == model.risk or (
        model.polish and starts_from_mean(model.risk) and learner.risk == Mean()
    )
    if not has_solver(learner, model.settings.solver) or not same or not has_risk:
        raise FileFormatError("the learner is not that of the settings")
    if learner.has_learned:
        _check_shape(model, learner, "learner")


def _check_shape(model: Any, part: Any, name: str) -> None:
    """Check that a learner or a function has the columns and the outputs of the model."""
    outputs = max(2, len(model.labels)) if model.loss.kind == "multiclass" else 1
    if (part.n_features, part.n_outputs) != (len(model.columns), outputs):
        raise FileFormatError(
            f"the {name} has {part.n_features} features and {part.n_outputs} outputs, expected "
            f"{len(model.columns)} and {outputs}"
        )
