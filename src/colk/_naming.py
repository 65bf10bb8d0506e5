"""How a term that holds a user's functions shows itself: by their names, not their addresses."""

from dataclasses import fields
from typing import Any

__all__ = ["ShowsNames"]


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_shown(item) for item in value) + ")"
    return str(getattr(value, "__qualname__", repr(value)))


class ShowsNames:
    """A dataclass whose repr names the functions in it, the same in every process."""

    def __repr__(self) -> str:
        mine = fields(self)  # type: ignore[arg-type]  # only dataclasses derive from this
        shown = (f"{f.name}={_shown(getattr(self, f.name))}" for f in mine)
        return f"{type(self).__name__}({', '.join(shown)})"
