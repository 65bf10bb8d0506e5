"""Load the model that `colk fit --resume` continues, and check its settings and data."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from colk.cli.fit_options import given, stored

if TYPE_CHECKING:
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["resumed_model"]


def resumed_model(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return the model to continue; raise if the options or the data differ from its own."""
    from colk.persistence import load
    from colk.tabular import TableModel

    model = load(arguments.model)
    if not isinstance(model, TableModel) or not _is_of_a_run(model.notes):
        raise ValueError(f"{arguments.model} was not made by colk fit and cannot be resumed")
    before = model.notes["settings"]
    for name, value in stored(given(arguments)).items():
        if before.get(name) != value:
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{arguments.model} was begun with {_with(option, before.get(name))}, which cannot "
                f"change; leave {option} out"
            )
    if arguments.holdout not in (None, model.notes["holdout"]):
        raise ValueError(f"{arguments.model} was begun with --holdout {model.notes['holdout']:g}")
    if not source.waits and model.notes["data"] != source.paths:
        raise ValueError(
            f"{arguments.model} was fitted to {', '.join(model.notes['data'])}: name the same files"
        )
    if not (source.waits or arguments.force):
        _check_unchanged(model, source)
    return model


def _check_unchanged(model: "TableModel", source: "Source") -> None:
    """Raise if rows that the model has read have changed; the files may have grown."""
    from colk.tabular.reading import Prefix, listed

    try:
        read = model.notes["read"]
        columns, prefixes = list(read["columns"]), [Prefix.of(each) for each in read["files"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            "the model does not record which rows it has read; --force continues anyway"
        ) from error
    cure = "fit a new model with --overwrite, or continue with --force"
    if list(source.kinds)[: len(columns)] != columns:
        raise ValueError(
            f"{source.paths[0]} has the columns {listed(source.kinds)}, but the model has read "
            f"{listed(columns)}; {cure}"
        )
    for path, prefix in zip(source.paths, prefixes, strict=False):
        if not prefix.is_in(path):
            raise ValueError(
                f"{path} has changed in the first {prefix.size:,} bytes, which the model has read; "
                f"{cure}"
            )


def _is_of_a_run(notes: Mapping[str, Any]) -> bool:
    """Whether a model has the notes of a run."""
    data = notes.get("data")
    return (
        {"place", "settings", "holdout"} <= set(notes)
        and isinstance(notes["settings"], dict)
        and type(notes["holdout"]) is float
        and isinstance(data, list)
        and all(isinstance(path, str) for path in data)
    )


def _with(option: str, value: Any) -> str:
    return f"no {option}" if value is None else f"{option} {value}"
