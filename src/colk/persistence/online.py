"""River's classes in files: their parameters, the names of their features, and their learner."""

from inspect import signature
from typing import Any

from colk._validation import check_number
from colk.errors import FileFormatError
from colk.persistence.memory import Memory
from colk.persistence.parts import take
from colk.recipe import has_solver
from colk.selection import KeptSamples, Race

__all__ = ["pack", "pack_scale", "restore", "restore_scale"]

# What a model has learned beside its learner: the classes, or the unit of the targets.
_LEARNED = ("_places", "_scale")

_PARTS = ("parameters", "names", "learner", "learned", "race", "kept")


def pack(model: Any) -> dict[str, Any]:
    """Return parameters, names, learner, and what else was learned."""
    names = signature(type(model)).parameters
    return {
        "parameters": {name: getattr(model, name) for name in names},
        "names": model._names,
        "learner": model._learner,
        "learned": {name: vars(model)[name] for name in _LEARNED if name in vars(model)},
        "race": model._race,
        "kept": model._kept,
    }


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the model, which learns on bit for bit."""
    parameters, names, learner, learned, race, kept = take(parts, *_PARTS)
    model = kind(**parameters)
    if set(learned) != {name for name in _LEARNED if name in vars(model)}:
        raise FileFormatError(f"a {kind.__name__} cannot have learned {sorted(learned)}")
    _check_names(names, learner, model.solver)
    if "_scale" in learned and type(learned["_scale"]) is not type(model._scale):
        raise FileFormatError("the unit of the targets is missing")
    if "_places" in learned:
        _check_places(learned["_places"], learner)
    elif learner is not None and learner.n_outputs != 1:
        raise FileFormatError(f"a {kind.__name__} has a learner of {learner.n_outputs} outputs")
    _check_choice(race, kept, names, learner)
    vars(model).update(_names=names, _learner=learner, _race=race, _kept=kept, **learned)
    model._connect()
    return model


def _check_names(names: Any, learner: Any, solver: str) -> None:
    """Each name has a column of the learner: compiled code writes by their number."""
    if not isinstance(names, list) or len(set(names)) != len(names):
        raise FileFormatError("the names of the features are no list of different names")
    if learner is None:
        return
    if not has_solver(learner, solver):
        raise FileFormatError(f"the learner of a River model is none of solver={solver!r}")
    if learner._stream is None:
        raise FileFormatError("the learner of a River model has learned nothing")
    if learner._records is not None or learner.loss.kind == "binary":
        # Samples go straight to the stream, which has no room for the lines of a trace.
        raise FileFormatError("the learner of a River model is none that it makes")
    if learner.n_features != len(names):
        raise FileFormatError(f"there are {len(names)} names for {learner.n_features} features")


def _check_choice(race: Any, kept: Any, names: list[Any], learner: Any) -> None:
    """The kernel is the one that won, or samples of these features are kept for a race."""
    if not isinstance(race, Race | None) or not isinstance(kept, KeptSamples | None):
        raise FileFormatError("a River model does not say how its kernel was chosen")
    if race is not None:
        if kept is not None or learner is None or len(race.scales) > len(names):
            raise FileFormatError("a race that was run is not one of the features")
        if not race.default_won and race.kernel_for(len(names)) != learner.kernel:
            raise FileFormatError("the kernel is not the one that won the race")
    if kept is not None and kept.count > 0:
        points, targets, weights = kept.arrays()
        if learner is None or points.shape[1] > len(names) or (weights == 0.0).any():
            raise FileFormatError("the samples that are kept have other features")
        if targets.shape != (len(points), 1):
            raise FileFormatError("the targets that are kept have other outputs")
        learner.loss.check_targets(targets, learner.n_outputs, len(points))


def _check_places(places: Any, learner: Any) -> None:
    """Classes are numbered as they came, and each has an output."""
    if not isinstance(places, dict) or list(places.values()) != list(range(len(places))):
        raise FileFormatError("the classes are not numbered one after the other")
    if learner is not None and learner.n_outputs != max(2, len(places)):
        raise FileFormatError(f"there are {learner.n_outputs} outputs for {len(places)} classes")


def pack_scale(scale: Any) -> dict[str, Any]:
    """Return the unit of the targets."""
    return {"total": scale.total, "mean": scale.mean, "deviation": scale.deviation}


def restore_scale(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the unit of the targets, finite."""
    total, mean, deviation = take(parts, "total", "mean", "deviation")
    return kind(
        check_number(total, "the weight of all targets", at_least=0.0),
        check_number(mean, "the mean of the targets"),
        check_number(deviation, "the deviation of the targets", at_least=0.0),
    )
