"""The stored fields of a TableModel: settings, scales and categories of columns, and learner."""

from typing import Any

from colk import _stored as stored
from colk._encoding.encoder import TableEncoder
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.learners.colk import KernelLearner
from colk.losses import Logistic
from colk.model import Contest, Recipe, has_solver
from colk.risks import Mean
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath, starts_from_mean
from colk.selection import KeptSamples, Race

__all__ = ["FIELDS", "StoredTable"]

# Largest number of residuals that calibrate intervals.
MOST_RESIDUALS = 10_000
# Largest number of rows that a stored model may have learned.
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
    "contest": stored.Optional(stored.Object(Contest)),
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
            "contest": self._contest,
            "kept": self._kept,
            "residuals": self.residuals,
            "notes": self.notes,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        model: Any = cls(**values["settings"])
        model.rows, model.labels = values["rows"], _check_labels(values["labels"], model.task)
        if values["encoder"].columns != model._encoder.columns:
            raise FileFormatError("the encoder has other columns than the model")
        model._set_encoder(values["encoder"])
        model._inputs, model._targets = values["inputs"], values["targets"]
        if len(model._inputs.means) != model._encoder.n_measured or len(model._targets.means) != 1:
            raise FileFormatError("the scales have other columns than the model")
        _check_choice(model, values)
        if model.task == "classification" and values["learner"].loss == Logistic():
            model._use_loss(Logistic())  # a fit of two classes
        if values["race"] is not None:
            model.recipe = Recipe.from_kernel(model.settings, values["learner"].kernel)
        _check_learner(model, values["learner"])
        if values["fixed"] is not None:
            _check_shape(model, values["fixed"], "function")
        elif values["learner"].has_learned != (model.rows > 0):
            raise FileFormatError("the learner has learned rows, or the model has, but not both")
        model._learner, model._fixed = values["learner"], values["fixed"]
        model._has_fixed_scales, model.race = values["has_fixed_scales"], values["race"]
        model._kept, model._contest = values["kept"], values["contest"]
        model.notes, model.path = values["notes"], values["path"]
        model.residuals = values["residuals"]
        return model


def _check_labels(labels: list[str], task: str) -> list[str]:
    if len(set(labels)) < len(labels) or (labels and task == "regression"):
        raise FileFormatError("labels must be different, and a regression must not have any")
    return labels


def _check_choice(model: Any, values: dict[str, Any]) -> None:
    """Check the race that chose the kernel, the contest of kernels, or the rows for a race."""
    race, kept, contest = values["race"], values["kept"], values["contest"]
    if not model.settings.is_open and not (race is kept is contest is None):
        raise FileFormatError("the kernel is given, so the model must not have a race of kernels")
    if model.settings.is_open and race is kept is None:
        raise FileFormatError("the kernel is not chosen, and there are no rows to choose it")
    learner, width = values["learner"], model._encoder.width
    if race is not None and len(race.scales) > width:
        raise FileFormatError("the race has more features than the model")
    if contest is not None:
        if race is None or kept is not None:
            raise FileFormatError("a contest of kernels begins with a race")
        contest.check(learner, model.settings.solver)
    elif race is not None and not race.default_won and learner.kernel != race.kernel_for(width):
        raise FileFormatError("the kernel is not the one that won the race")
    if kept is not None and kept.count:
        points, targets, _ = kept.arrays()
        if points.shape[1] > width or targets.ndim != 1:
            raise FileFormatError("the kept rows have other columns than the model")
        model.loss.check_targets(targets, learner.n_outputs or 1, len(points))


def _check_learner(model: Any, learner: KernelLearner) -> None:
    same = repr(learner.kernel) == repr(model.kernel) and learner.loss == model.loss
    # During the learning passes of a fit with a polish, the learner has the risk Mean.
    has_risk = learner.risk == model.risk or (
        model.polish and starts_from_mean(model.risk) and learner.risk == Mean()
    )
    if not has_solver(learner, model.settings.solver) or not same or not has_risk:
        raise FileFormatError("the learner does not have the settings of the model")
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
