"""Estimators in files: their parameters, and what they have learned.

What a fitted estimator has is listed by name: an attribute that is not listed is neither written
nor read. A new one needs a line in `_FITTED`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from colk._validation import check_number, check_vector
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.losses import Loss, Softmax
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole
from colk.recipe import has_solver
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Polished
from colk.schedules import PowerDecay
from colk.selection import KeptSamples, Race

__all__ = [
    "is_labels",
    "is_names",
    "pack",
    "pack_random",
    "pack_scale",
    "restore",
    "restore_random",
    "restore_scale",
]

_MOST = 2**31


def is_names(value: Any) -> bool:
    """Whether these are names of features, as scikit-learn keeps them."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1


def is_labels(value: Any) -> bool:
    """Whether these are labels: at least two, sorted."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < 2:
        return False
    return bool((value[:-1] < value[1:]).all())


def _is_number(value: Any, least: float = 0.0) -> bool:
    return type(value) in (int, float) and least <= value < math.inf


def _is_optional(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_bandwidth(value: Any) -> bool:
    several = isinstance(value, tuple) and all(_is_number(item) for item in value)
    return value is None or _is_number(value) or several


def _is_vector(value: Any) -> bool:
    plain = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1
    return plain and bool(np.isfinite(value).all())


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < _MOST


def _is(*kinds: type[Any]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _all(kind: type[Any], several: type[Any]) -> Callable[[Any], bool]:
    return lambda value: type(value) is several and all(isinstance(item, kind) for item in value)


# Attributes of a fitted estimator, and what they look like.
_FITTED: dict[str, Callable[[Any], bool]] = {
    "n_features_in_": _is_count,
    "feature_names_in_": is_names,
    "classes_": is_labels,
    "bandwidth_": _is_bandwidth,
    "kernel_": _is(Kernel),
    "loss_": _is(Loss),
    "risk_": _is(Risk),
    "step_size_": lambda value: _is_optional(value) or isinstance(value, PowerDecay),
    "regularization_": _is_number,
    "gradient_bound_": _is_optional,
    "prior_": lambda value: value == "auto" or _is_optional(value),
    "loss_curve_": _all(float, list),
    "race_": _is(type(None), Race),
    "polished_": _is(Polished),
    "quantiles_": _all(float, tuple),
    "functions_": _all(KernelExpansion, list),
    "intercepts_": _is_vector,
    "regularizations_": _is_vector,
    "_kept": _is(type(None), KeptSamples),
    "_learner": _is(KernelLearner),
    "_n_outputs": lambda value: value is None or _is_count(value),
    "_targets": lambda value: type(value).__name__ == "TargetScale",
}

# Attributes that files of earlier versions lack.
_LATER = {"prior_": None}

# Attributes that a fitted estimator may lack, and those that not every class has.
_OPTIONAL = {"feature_names_in_", "polished_"}
_OF_CLASS = {
    "COLKRegressor": {"_targets"},
    "COLKClassifier": {"classes_"},
    "COLKQuantileRegressor": {
        "_targets", "quantiles_", "functions_", "intercepts_", "regularizations_",
    },
}  # fmt: skip
_OF_ALL = set(_FITTED) - _OPTIONAL - set().union(*_OF_CLASS.values())


def pack(model: Any) -> dict[str, Any]:
    """Return parameters and fitted attributes."""
    parameters = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in parameters}
    for name in fitted:
        if name not in _FITTED:
            raise TypeError(f"{name} of {type(model).__name__} cannot be saved")
    return {"parameters": parameters, "fitted": fitted}


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the estimator, which learns on bit for bit."""
    parameters, fitted = take(parts, "parameters", "fitted")
    model = kind(**parameters)
    if fitted:
        fitted = {**fitted, **{name: _LATER[name] for name in _LATER.keys() - fitted.keys()}}
        for name, value in fitted.items():
            if name not in _FITTED or not _FITTED[name](value):
                raise FileFormatError(f"{name} of a {kind.__name__} is not what it must be")
        _check_together(kind, fitted)
        if not has_solver(fitted["_learner"], model.solver):
            raise FileFormatError(
                f"the learner of a {kind.__name__} is none of solver={model.solver!r}"
            )
        vars(model).update(fitted)
    return model


def _check_together(kind: type[Any], fitted: dict[str, Any]) -> None:
    """Refuse attributes that are not complete, or contradict each other."""
    needed = _OF_ALL | _OF_CLASS[kind.__name__]
    take({name: value for name, value in fitted.items() if name not in _OPTIONAL}, *needed)
    learner, p = fitted["_learner"], fitted["n_features_in_"]
    if learner._stream is None or learner.n_features != p:
        raise FileFormatError(f"the learner of a {kind.__name__} is not one of {p} features")
    names = fitted.get("feature_names_in_")
    if names is not None and len(names) != p:
        raise FileFormatError(f"there are {len(names)} names for {p} features")
    outputs = _outputs(fitted)
    if learner.n_outputs != outputs or fitted["_n_outputs"] not in (None, outputs):
        raise FileFormatError(f"a {kind.__name__} needs a learner of {outputs} outputs")
    is_vector = outputs == 1 if "classes_" in fitted else not fitted["_targets"].shape
    if "quantiles_" not in fitted and is_vector != learner._is_vector:
        raise FileFormatError(f"a {kind.__name__} needs a learner of {outputs} outputs")
    for term in ("kernel", "loss", "risk"):
        if getattr(learner, term) != fitted[f"{term}_"]:
            raise FileFormatError(f"the {term} of a {kind.__name__} is not that of its learner")
    _check_choice(fitted, outputs)


def _outputs(fitted: dict[str, Any]) -> int:
    """How many outputs the learner of such attributes has."""
    if "classes_" in fitted:
        n_classes = len(fitted["classes_"])
        return 1 if n_classes == 2 and not isinstance(fitted["loss_"], Softmax) else n_classes
    if "quantiles_" not in fitted:
        return math.prod(fitted["_targets"].shape)
    levels, functions = fitted["quantiles_"], fitted["functions_"]
    shapes = {(f.n_features, f.n_atoms, f.weights.shape) for f in functions}
    counts = {len(fitted[name]) for name in ("functions_", "intercepts_", "regularizations_")}
    if counts != {len(levels)} or len(shapes) != 1 or functions[0].weights.ndim != 1:
        raise FileFormatError(f"there is no function for each of {len(levels)} quantiles")
    if functions[0].n_features != fitted["n_features_in_"] or fitted["_targets"].shape:
        raise FileFormatError("the functions of quantiles are not those of the points and targets")
    return len(levels)


def _check_choice(fitted: dict[str, Any], outputs: int) -> None:
    """The kernel is the one that won, or samples like those to come are kept for a race."""
    race, kept = fitted["race_"], fitted["_kept"]
    if race is not None and (kept is not None or len(race.scales) != fitted["n_features_in_"]):
        raise FileFormatError("a race that was run is not one of the features")
    if race is not None and not race.default_won and race.kernel != fitted["kernel_"]:
        raise FileFormatError("the kernel is not the one that won the race")
    if kept is None or kept.count == 0:
        return
    points, targets, _ = kept.arrays()
    fitted["loss_"].check_targets(targets, outputs, len(points))
    if points.shape[1] != fitted["n_features_in_"]:
        raise FileFormatError("the samples that are kept have other features")
    if "_targets" in fitted and targets.shape[1:] != fitted["_targets"].shape:
        raise FileFormatError("the targets that are kept have other outputs")


def pack_scale(scale: Any) -> dict[str, Any]:
    """Return the unit of the targets."""
    names = ("shape", "total", "center", "deviation")
    return {name: getattr(scale, name) for name in names}


def restore_scale(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the unit of the targets, finite and one for each output."""
    shape, total, center, deviation = take(parts, "shape", "total", "center", "deviation")
    if not isinstance(shape, tuple) or len(shape) > 1:
        raise FileFormatError(f"targets have the shape {shape!r}")
    for length in shape:
        whole(length, 1, _MOST, "the number of targets")
    check_number(total, "the weight of all targets", at_least=0.0)
    return kind(shape, total, _number_or_vector(center, shape), _number_or_vector(deviation, shape))


def _number_or_vector(value: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(value, np.ndarray) and shape:
        return check_vector(value, shape[0], "the scale of targets").copy()
    return check_number(value, "the scale of targets")


def pack_random(random: Any) -> dict[str, Any]:
    """Return the state of a generator of random numbers."""
    name, key, position, has_normal, normal = random.get_state(legacy=True)
    if name != "MT19937":
        raise TypeError(
            f"random numbers of {name} cannot be saved; use numpy.random.RandomState(0)"
        )
    return {"key": key, "position": position, "has_normal": has_normal, "normal": normal}


def restore_random(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the generator; its position is an index into its key."""
    key, position, has_normal, normal = take(parts, "key", "position", "has_normal", "normal")
    if not isinstance(key, np.ndarray) or key.dtype != np.uint32 or key.shape != (624,):
        raise FileFormatError("the state of random numbers is not 624 words of 32 bits")
    whole(position, 0, 624, "the position of random numbers")
    whole(has_normal, 0, 1, "whether a normal number is left")
    random = kind(0)
    random.set_state(("MT19937", key, position, has_normal, check_number(normal, "a number")))
    return random
