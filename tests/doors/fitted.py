"""What a model consists of, whichever door made it, and the differences between two models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from shop_table import columns_of

from colk.tabular import TableModel

__all__ = ["Fitted", "differences", "parts_of", "view"]


@dataclass(frozen=True)
class Fitted:
    """The parts of a fitted model, each in the units of the data.

    `parts` are numbers by name: atoms, weights, λ if the door shows it, and predictions. Outputs of
    classes are in the order of the sorted labels.
    """

    columns: list[str]
    kernel: Any
    parts: dict[str, Any]


def view(model, rows):
    """Return the parts of an estimator or a `TableModel`, with predictions for some rows.

    Parameters
    ----------
    model : estimator or TableModel
        The model; of a distributed estimator, its `local_`.
    rows : mapping of str to data frame
        Rows to predict, by name.
    """
    if isinstance(model, TableModel):
        return _of_table(model, rows)
    function = model.function_
    parts = {
        "atoms": function.atoms,
        "weights": _by_atom(function),
        "λ": model.regularizations_ if hasattr(model, "quantiles") else _regularization(model),
        "relevance": model.relevance_.sizes,
    }
    for name, some in rows.items():
        parts[f"predictions of {name}"] = _outcome(model, some, getattr(model, "classes_", None))
    return Fitted(model.encoder_.names, model.learner_.function.kernel, parts)


def _regularization(model):
    found = getattr(model, "polished_", None)
    return None if found is None else found.regularization


def _of_table(model, rows):
    function = model.function
    parts = {
        "atoms": function.atoms * model.unit + model.center,
        "weights": _by_label(_by_atom(function) * model.target_unit, model.labels),
        "λ": _regularization(model),  # a difference only if both doors show it
        "relevance": model.relevance.sizes,
    }
    labels = np.array(model.labels) if model.labels else None
    for name, some in rows.items():
        parts[f"predictions of {name}"] = _outcome(model, columns_of(some), labels)
    return Fitted(model.columns, function.kernel, parts)


def parts_of(function, predictions):
    """Return the parts of a learned function, with its predictions."""
    parts = {"atoms": function.atoms, "weights": _by_atom(function), "predictions": predictions}
    return Fitted([], function.kernel, parts)


def _by_atom(function):
    """Return weights of shape (M, q); a function of one output may have them as a vector."""
    return function.weights.reshape(function.n_atoms, -1)


def _by_label(weights, labels):
    """Return weights whose outputs are in the order of the sorted labels."""
    if not labels:
        return weights
    order = np.argsort(labels)
    if weights.shape[1] == 1:  # positive for the second of two classes
        return weights if order[0] == 0 else -weights
    return weights[:, order]


def _outcome(model, rows, labels):
    """Return numbers, or the probabilities of the sorted labels."""
    if labels is None:
        return model.predict(rows)
    probabilities = model.predict_proba(rows)
    best = np.asarray(labels)[probabilities.argmax(axis=1)]
    assert (best == model.predict(rows)).all()
    return probabilities[:, np.argsort(labels)]


def differences(expected, found, tolerance):
    """Return a line for each part of two models that differs by more than a relative tolerance.

    Parameters
    ----------
    expected, found : Fitted
        The models.
    tolerance : float
        The largest difference, in units of the largest number of the part. 0: no bit differs.
    """
    lines = []
    if expected.columns != found.columns:
        lines.append(f"columns: {found.columns}, expected {expected.columns}")
    lines += _kernels_differ(expected.kernel, found.kernel, tolerance)
    for name, numbers in expected.parts.items():
        other = found.parts[name]
        if name != "λ" or (numbers is not None and other is not None):
            lines += _numbers_differ(name, numbers, other, tolerance)
    return lines


def _kernels_differ(expected, found, tolerance):
    if type(expected) is not type(found):
        return [f"kernel: {found}, expected {expected}"]
    mine, other = expected.get_params(deep=False), found.get_params(deep=False)
    if mine.keys() != other.keys():
        return [f"kernel: {found}, expected {expected}"]
    lines = []
    for name, value in mine.items():
        if hasattr(value, "get_params"):
            lines += _kernels_differ(value, other[name], tolerance)
        elif isinstance(value, float | tuple | list | np.ndarray):
            lines += _numbers_differ(f"{name} of the kernel", value, other[name], tolerance)
        elif value != other[name]:
            lines.append(f"{name} of the kernel: {other[name]}, expected {value}")
    return lines


def _numbers_differ(name, expected, found, tolerance):
    mine, other = np.asarray(expected, dtype=float), np.asarray(found, dtype=float)
    if mine.shape != other.shape:
        return [f"{name}: shape {other.shape}, expected {mine.shape}"]
    largest = np.abs(mine).max(initial=0.0)
    gap = np.abs(mine - other).max(initial=0.0) / (largest if largest > 0.0 else 1.0)
    return [] if gap <= tolerance else [f"{name}: relative difference {gap:.2g}"]
