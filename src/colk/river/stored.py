"""The stored fields of a River model: parameters, names of features, and learner."""

from inspect import signature
from typing import Any

from colk import _stored as stored
from colk.errors import FileFormatError
from colk.learners.colk import KernelLearner
from colk.model import Contest, Settings, has_solver
from colk.selection import KeptSamples

__all__ = ["FIELDS", "StoredModel"]

FIELDS: dict[str, stored.Field] = {
    "parameters": stored.Anything(),
    "names": stored.ListOf(stored.Anything(), size="n_features"),
    "learner": stored.Optional(
        stored.Object(KernelLearner, attributes={"n_features": "n_features"})
    ),
    "contest": stored.Optional(stored.Object(Contest)),
    "kept": stored.Optional(stored.Object(KeptSamples)),
}


class StoredModel:
    """Mixin that converts a River model to stored fields and back."""

    _names: list[Any]
    _learner: KernelLearner | None
    _contest: Contest | None
    _kept: KeptSamples | None

    def _to_file(self) -> dict[str, Any]:
        return {
            "parameters": {name: getattr(self, name) for name in signature(type(self)).parameters},
            "names": self._names,
            "learner": self._learner,
            "contest": self._contest,
            "kept": self._kept,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        model: Any = cls(**values["parameters"])
        if len(set(values["names"])) != len(values["names"]):
            raise FileFormatError("two features have the same name")
        settings = model._settings()
        if values["learner"] is not None:
            _check_learner(values["learner"], settings.solver)
        _check_contest(values, settings)
        _check_kept(values)
        model._names, model._learner = values["names"], values["learner"]
        model._contest, model._kept = values["contest"], values["kept"]
        model._set_learned(values)
        model._connect()
        return model

    def _set_learned(self, values: dict[str, Any]) -> None:
        """Restore the state of the targets."""


def _check_learner(learner: KernelLearner, solver: str) -> None:
    """Check that a River model could have made this learner."""
    if not has_solver(learner, solver):
        raise FileFormatError(f"the learner does not have solver={solver!r}")
    if learner.is_traced or learner.loss.kind == "binary":
        # The fast path writes samples to the stream directly, which has no place for a trace.
        raise FileFormatError("a River model does not make a learner with a trace or a margin loss")


def _check_contest(values: dict[str, Any], settings: Settings) -> None:
    contest, learner = values["contest"], values["learner"]
    if contest is None:
        return
    if values["kept"] is not None or learner is None or not settings.is_open:
        raise FileFormatError("a model whose kernel is given must not have a contest of kernels")
    contest.check(learner, settings.solver)


def _check_kept(values: dict[str, Any]) -> None:
    kept, learner = values["kept"], values["learner"]
    if kept is None or kept.count == 0:
        return
    points, targets, weights = kept.arrays()
    if learner is None or points.shape[1] > len(values["names"]) or (weights == 0.0).any():
        raise FileFormatError("the kept samples have other features than the model")
    if targets.shape != (len(points), 1):
        raise FileFormatError("the kept targets have other outputs than the model")
    learner.loss.check_targets(targets, learner.n_outputs, len(points))
