"""Make the new model of `colk fit` from the options and the first rows."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from colk.cli.fit_options import given, in_options, stored
from colk.cli.options import tell_found
from colk.cli.schema import Schema
from colk.cli.terms import term

if TYPE_CHECKING:
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["new_model"]

# Options that name columns; `Schema` uses them.
_OF_COLUMNS = ("target", "features", "categorical", "exclude", "id", "task", "month_first")


def new_model(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return a new model for the columns of the source; print how each column is used.

    Parameters
    ----------
    arguments : Namespace
        The options of `colk fit`.
    source : Source
        The data.
    """
    from colk.tabular import TableModel

    schema = Schema.found(arguments, source)
    settings = {
        name: value for name, value in _terms(given(arguments)).items() if name not in _OF_COLUMNS
    }
    if source.waits:
        settings = {"solver": "newton", **settings, "polish": False}
        print(
            "colk: standard input can be read only once, so colk learns in one pass with --solver "
            f"{settings['solver']}",
            file=sys.stderr,
        )
    if arguments.intervals is not None and schema.task != "regression":
        raise ValueError("--intervals needs a target of numbers")
    names = schema.target, schema.features, schema.categorical
    try:
        model = TableModel(*names, schema.task, dates=schema.dates, **settings)
    except ValueError as error:
        raise ValueError(in_options(str(error))) from error
    model.notes = {"settings": stored(given(arguments)), "holdout": arguments.holdout or 0.0}
    if arguments.intervals is not None:
        model.notes["intervals"] = arguments.intervals
    if schema.month_first:
        model.notes["month_first"] = sorted(schema.month_first)
    if arguments.id is not None:
        model.notes["id"] = arguments.id
    found = tell_found(source, arguments)
    for line in [*([f"found: {found}"] if found else []), *schema.lines()]:
        print(line)
    return model


def _terms(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace options such as "cvar(0.1)" by the terms that they describe."""
    from colk.kernels import KERNELS
    from colk.losses import LOSSES
    from colk.risks import RISKS

    registries: dict[str, Any] = {"kernel": KERNELS, "loss": LOSSES, "risk": RISKS}
    return {
        name: term(value, registries[name], f"--{name}") if name in registries else value
        for name, value in settings.items()
    }
