"""Make the new model of `colk fit` from the options and the first rows."""

import argparse
import ast
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from colk.cli.fit_options import given, stored
from colk.cli.schema import Schema

if TYPE_CHECKING:
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["new_model"]

# Options that name columns; `Schema` uses them.
_OF_COLUMNS = ("target", "features", "categorical", "exclude", "id", "task")
# Largest number of characters of a term in a message.
_SHOWN = 60


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
    model = TableModel(
        schema.target,
        schema.features,
        schema.categorical,
        schema.task,
        dates=schema.dates,
        **settings,
    )
    model.notes = {"settings": stored(given(arguments)), "holdout": arguments.holdout or 0.0}
    if arguments.intervals is not None:
        model.notes["intervals"] = arguments.intervals
    month_first = source.first_rows.month_first & set(schema.dates)
    if month_first:
        model.notes["month_first"] = sorted(month_first)
    if arguments.id is not None:
        model.notes["id"] = arguments.id
    for line in schema.lines():
        print(line)
    return model


def _terms(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace options such as "cvar(0.1)" by the terms that they describe."""
    from colk.kernels import KERNELS
    from colk.losses import LOSSES
    from colk.risks import RISKS

    registries: dict[str, Any] = {"kernel": KERNELS, "loss": LOSSES, "risk": RISKS}
    return {
        name: _term(value, registries[name], f"--{name}") if name in registries else value
        for name, value in settings.items()
    }


def _term(text: str, registry: Mapping[str, Any], option: str) -> Any:
    """Return a bare name unchanged; make the term that a name with arguments describes.

    The text is parsed, not executed; arguments are numbers, strings and booleans.

    Parameters
    ----------
    text : str
        The value of the option.
    registry : mapping of str to class
        The terms by name.
    option : str
        The option, for messages.

    Examples
    --------
    >>> from colk.risks import RISKS
    >>> _term("cvar", RISKS, "--risk")
    'cvar'
    >>> _term("cvar(0.2, weight=0.5)", RISKS, "--risk")
    CVaR(tail_fraction=0.2, weight=0.5, smoothing=0.0)
    """
    if "(" not in text:
        return text
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    try:
        call: Any = ast.parse(text.strip(), mode="eval").body
        name = call.func.id
        arguments = [ast.literal_eval(each) for each in call.args]
        named = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (
        AttributeError,
        ValueError,
        SyntaxError,
        TypeError,
        RecursionError,
        MemoryError,
    ) as error:
        raise ValueError(
            f"{option} {shown!r} cannot be read; write a name, or a name with numbers such as "
            "cvar(0.1)"
        ) from error
    kind = _find(name, registry, option)
    try:
        return kind(*arguments, **named)
    except TypeError as error:
        takes = ", ".join(kind().get_params()) or "nothing"
        raise ValueError(f"{option} {shown!r} cannot be made: {name} takes {takes}") from error
    except ValueError as error:
        raise ValueError(f"{option} {shown!r}: {error}") from error


def _find(name: str, registry: Mapping[str, Any], option: str) -> Any:
    """Return the class of a term by its registered name or by its class name."""
    classes = {kind.__name__: kind for kind in registry.values()}
    if name not in registry and name not in classes:
        raise ValueError(f"{option}: {name!r} is unknown; choose one of {sorted(registry)}")
    return registry.get(name) or classes[name]
