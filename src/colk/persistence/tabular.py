"""Models of tables in files: their settings, the units and values of columns, and their learner."""

from inspect import signature
from typing import Any

import numpy as np

from colk.errors import FileFormatError
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole
from colk.recipe import has_solver
from colk.rkhs.expansion import KernelExpansion
from colk.tabular.encoder import Encoder
from colk.tabular.scale import RunningScales

__all__ = ["pack", "restore"]

_PARTS = ("settings", "rows", "labels", "indicators", "inputs", "targets", "learner", "fixed")
_MOST_ROWS = 2**62


def pack(model: Any) -> dict[str, Any]:
    """Return settings, what was learned of columns and labels, the learner, and the notes."""
    names = [name for name in signature(type(model)).parameters if name != "bandwidth"]
    settings = {name: getattr(model, name) for name in names}
    return {
        "settings": {**settings, "averaging": settings["averaging"] or False},
        "rows": model.rows,
        "labels": model.labels,
        "indicators": [list(pair) for pair in model._encoder.indicators],
        "inputs": _pack_scales(model._inputs),
        "targets": _pack_scales(model._targets),
        "learner": model._learner,
        "fixed": model._fixed,
        "notes": model.notes,
    }


def _pack_scales(scales: RunningScales) -> dict[str, Any]:
    return {"count": scales.count, "means": scales.means, "squares": scales.squares}


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the model, which learns on bit for bit."""
    settings, rows, labels, indicators, inputs, targets, learner, fixed, notes = take(
        parts, *_PARTS, "notes"
    )
    model = kind(**settings)
    model.rows = whole(rows, 0, _MOST_ROWS, "the number of rows")
    model.labels = _labels(labels, model.task)
    model._encoder = _encoder(indicators, model._encoder)
    model._inputs = _scales(inputs, len(model._encoder.numbers))
    model._targets = _scales(targets, 1)
    _check_learner(model, learner)
    if fixed is None:
        if (learner._stream is None) != (model.rows == 0):
            raise FileFormatError("rows were learned, but not by the learner")
    else:
        _check_function(model, fixed)
    model._learner, model._fixed = learner, fixed
    if not isinstance(notes, dict):
        raise FileFormatError("the notes are no dictionary")
    model.notes = notes
    return model


def _labels(labels: Any, task: str) -> list[str]:
    plain = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    if not plain or len(set(labels)) < len(labels) or (labels and task == "regression"):
        raise FileFormatError("the labels are no list of different texts")
    return list(labels)


def _encoder(indicators: Any, fresh: Encoder) -> Encoder:
    if not isinstance(indicators, list):
        raise FileFormatError("the indicators are no list")
    pairs = [(name, value) for name, value in indicators]
    if len(set(pairs)) < len(pairs) or not all(isinstance(value, str) for _, value in pairs):
        raise FileFormatError("the indicators are not those of different texts")
    return Encoder(fresh.numbers, fresh.categorical, pairs)


def _scales(parts: Any, n_columns: int) -> RunningScales:
    count, means, squares = take(parts, "count", "means", "squares")
    for values in (means, squares):
        if not isinstance(values, np.ndarray) or values.shape != (n_columns,):
            raise FileFormatError(f"the units are not those of {n_columns} columns")
        if values.dtype != np.float64 or not np.isfinite(values).all():
            raise FileFormatError("the units are not finite numbers")
    if type(count) is not float or not 0.0 <= count < float(_MOST_ROWS) or (squares < 0.0).any():
        raise FileFormatError("the units are below 0")
    return RunningScales(n_columns, count, means, squares)


def _check_learner(model: Any, learner: Any) -> None:
    if not has_solver(learner, model.solver) or repr(learner.kernel) != repr(model.kernel):
        raise FileFormatError("the learner is not that of the settings")
    if learner.loss != model.loss or learner.risk != model.risk:
        raise FileFormatError("the learner is not that of the settings")
    expected = max(2, len(model.labels)) if model.loss.kind == "multiclass" else 1
    shape = len(model.columns), expected
    if learner._stream is not None and (learner.n_features, learner.n_outputs) != shape:
        raise FileFormatError(
            f"the learner has {learner.n_features} features and {learner.n_outputs} outputs, "
            f"expected {len(model.columns)} and {expected}"
        )


def _check_function(model: Any, function: Any) -> None:
    expected = max(2, len(model.labels)) if model.loss.kind == "multiclass" else 1
    if not isinstance(function, KernelExpansion):
        raise FileFormatError("the function is none")
    if (function.n_features, function.n_outputs) != (len(model.columns), expected):
        raise FileFormatError("the function is not one of the model's columns")
