"""What kernels, losses, risks, trackers and compressors have in common: terms of the objective.

A term is frozen. Its parameters are the arguments of its constructor, listed in `_fields`; from
them come its repr, its equality, its hash, `replace` and pickling. Its formulas are methods that
compiled code calls through the class's table of methods. A class written outside the package, in
plain Python, defines the same methods: where no compiled one stands, the method of that name is
called as it is, and what it raises reaches the caller.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import cython

from colk.errors import UncompiledWarning

__all__ = ["Term", "overridden", "show"]

if not cython.compiled:
    # Without the line of source that a warning shows: one line says it all.
    warnings.warn_explicit(
        "colk runs uncompiled, hundreds of times slower; install a C compiler and then colk "
        "once more, with pip's options --force-reinstall --no-cache-dir",
        UncompiledWarning,
        filename="colk",
        lineno=1,
    )


def show(value: Any) -> str:
    """How a parameter is shown: functions by their names, the same in every process."""
    if type(value) is tuple:
        ending = ",)" if len(value) == 1 else ")"
        return "(" + ", ".join(show(item) for item in value) + ending
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return str(name or repr(value))


def overridden(term: "Term", name: str) -> Callable[..., Any]:
    """Return the method of this name that a class outside the package defines."""
    method: Callable[..., Any] | None = getattr(term, name, None)
    if method is None or str(getattr(method, "__module__", "")).startswith("colk."):
        raise NotImplementedError(f"{type(term).__name__} must define the method {name}")
    return method


class Term:
    """A frozen piece of the objective, made of its parameters.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> loss = Huber(threshold=2.0)
    >>> loss.replace(threshold=1.0)
    Huber(threshold=1.0)
    >>> loss == Huber(2.0)
    True
    """

    # The parameters of the constructor, in its order.
    _fields: ClassVar[tuple[str, ...]] = ()

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self)._fields}

    def replace(self, **changes: Any) -> Self:
        """Return the same term with other parameters."""
        return type(self)(**{**self._parameters(), **changes})

    def __replace__(self, **changes: Any) -> Self:
        return self.replace(**changes)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={show(value)}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._parameters() == other._parameters())

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self._parameters().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._parameters().values())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        # Compiled classes have no dictionary; classes derived from them in Python have one.
        state: dict[str, Any] | None = getattr(self, "__dict__", None)
        if state is None or hasattr(self, name):
            raise AttributeError(
                f"{name} of {type(self).__name__} cannot be changed; make another one with "
                f"replace({name}=...)"
            )
        state[name] = value
