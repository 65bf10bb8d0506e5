"""Declared fields of a class, and conversion of objects to fields and back."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from colk._stored.fields import Field, Record

__all__ = ["Budget", "declaration_of", "pack", "restore", "stores"]

Kind = TypeVar("Kind", bound=type[Any])

Budget = Callable[[float, str], None]

_DECLARED: dict[type[Any], Record] = {}


def stores(
    fields: dict[str, Field] | None = None, /, *, optional: Iterable[str] = (), **named: Field
) -> Callable[[Kind], Kind]:
    """Declare the fields that objects of a class, and of classes derived from it, store.

    By default a field is both an attribute and a constructor argument of the same name. Otherwise
    the class defines `_to_file(self)`, which returns the values by name, and the class method
    `_from_file(cls, values, budget)`, which creates the object from checked values; `budget(bytes,
    what)` raises an error if the file is too small for that much memory. The fields named by
    `optional` may be missing, because older files do not contain them.

    Examples
    --------
    >>> from colk._stored import Count, Number, pack, restore, stores
    >>> @stores(mean=Number(), count=Count())
    ... class Mean:
    ...     def __init__(self, mean, count):
    ...         self.mean, self.count = mean, count
    >>> pack(Mean(0.5, 3))
    {'mean': 0.5, 'count': 3}
    >>> restore(Mean, {"mean": 0.5, "count": -1}, lambda size, what: None)
    Traceback (most recent call last):
    ...
    colk.errors.FileFormatError: Mean.count must be a whole number from 0 to ..., got int -1
    """

    def declare(kind: Kind) -> Kind:
        _DECLARED[kind] = Record({**(fields or {}), **named}, optional)
        return kind

    return declare


def declaration_of(kind: type[Any]) -> Record | None:
    """Return the fields that a class, or the nearest class that it derives from, declares."""
    return next((_DECLARED[base] for base in kind.__mro__ if base in _DECLARED), None)


def _declared(kind: type[Any]) -> Record:
    record = declaration_of(kind)
    if record is None:
        raise TypeError(f"{kind.__name__} does not declare the fields that it stores")
    return record


def pack(value: Any) -> dict[str, Any]:
    """Return the fields of an object, by name."""
    record = _declared(type(value))
    to_file = getattr(value, "_to_file", None)
    if to_file is not None:
        return record.write(to_file())
    return record.write({name: getattr(value, name) for name in record.fields})


def restore(kind: type[Any], values: dict[str, Any], budget: Budget) -> Any:
    """Return the object with these fields; raise FileFormatError if they are not valid."""
    found = _declared(kind).read(values, kind.__name__, {})
    from_file = getattr(kind, "_from_file", None)
    return kind(**found) if from_file is None else from_file(found, budget)
