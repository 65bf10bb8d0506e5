"""Pickling of terms that hold functions, which pickle stores by name."""

import sys
from functools import partial
from inspect import ismethod
from pickle import PicklingError
from typing import Any

from colk._engine.terms import Term
from colk._engine.user_functions.addresses import is_c_function

__all__ = ["reduce_functions"]

# Picklers that carry functions by value.
_BY_VALUE = {"cloudpickle", "dill"}


def reduce_functions(term: Term) -> tuple[Any, ...]:
    """Reduce a term to its parameters; raise if a function cannot be imported by its name."""
    parameters = term._parameters()
    for name, value in parameters.items():
        role = f"{name} of {type(term).__name__}"
        if is_c_function(value):
            raise PicklingError(
                f"{role} is a C function, whose address is valid in this process only"
            )
        function = value.func if isinstance(value, partial) else value
        if not _is_found(function) and not _goes_by_value():
            raise PicklingError(
                f"{role} is {function.__qualname__}, which other processes cannot import: "
                "define it with `def` at the top level of a module, or pickle with cloudpickle"
            )
    return _rebuild, (type(term), parameters)


def _rebuild(kind: type[Term], parameters: dict[str, Any]) -> Term:
    return kind(**parameters)


def _is_found(function: Any) -> bool:
    """Whether the module has the function under its name; methods are stored with objects."""
    if not hasattr(function, "__qualname__") or ismethod(function):
        return True
    found: Any = sys.modules.get(function.__module__ or "")
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _goes_by_value() -> bool:
    frame: Any = sys._getframe()
    while frame is not None:
        if _BY_VALUE & set(frame.f_globals.get("__name__", "").split(".")):
            return True
        frame = frame.f_back
    return False
