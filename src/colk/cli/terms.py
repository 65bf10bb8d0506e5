"""Parse terms in options: a name, or a name with numbers such as cvar(0.1)."""

import ast
from collections.abc import Mapping
from typing import Any

__all__ = ["term"]

# Largest number of characters of a term in a message.
_SHOWN = 60


def term(text: str, registry: Mapping[str, Any], option: str) -> Any:
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
    >>> term("cvar", RISKS, "--risk")
    'cvar'
    >>> term("cvar(0.2, weight=0.5)", RISKS, "--risk")
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
