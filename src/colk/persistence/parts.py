"""The parts of a model, as a file names them."""

from typing import Any

import numpy as np

from colk.errors import FileFormatError

__all__ = ["take", "whole"]


def take(parts: dict[str, Any], *names: str) -> list[Any]:
    """Return the parts of these names; there must be no other.

    Examples
    --------
    >>> take({"atoms": 1, "weights": 2}, "weights", "atoms")
    [2, 1]
    """
    if set(parts) != set(names):
        raise FileFormatError(f"expected {sorted(names)}, found {sorted(parts)}")
    return [parts[name] for name in names]


def whole(value: Any, least: int, most: int, what: str) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> whole(3, 0, 10, "steps")
    3
    """
    if type(value) is not int or not least <= value <= most:
        raise FileFormatError(f"{what} is {_shown(value)}, not a whole number of {least} to {most}")
    return value


def _shown(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)[:40]
