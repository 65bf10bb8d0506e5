"""Fields: types and bounds of stored values, and their checks.

A symbol, such as "n_atoms", stands for a value that several fields share: the first field that
names it sets it, and the others must agree.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colk.errors import FileFormatError

__all__ = [
    "MOST",
    "Anything",
    "Array",
    "Count",
    "Either",
    "Field",
    "Flag",
    "ListOf",
    "Number",
    "Object",
    "OneOf",
    "Optional",
    "Record",
    "Size",
    "Text",
    "Texts",
    "Triangle",
    "TupleOf",
    "refuse",
]

# Up to this number, float64 represents every whole number.
MOST = 2**53

# Tolerance of a sum that is updated step by step.
_ROUNDING = 1e-3

Symbols = dict[str, Any]


def refuse(name: str, expected: str, value: Any) -> FileFormatError:
    """Return the error that names the expected and the found value."""
    if isinstance(value, np.ndarray):
        found = f"{value.dtype} of shape {value.shape}"
    else:
        found = f"{type(value).__name__} {repr(value)[:60]}"
    return FileFormatError(f"{name} must be {expected}, got {found}")


def agree(symbols: Symbols, symbol: str | None, value: Any, name: str) -> None:
    """Set a symbol; raise if it already has another value."""
    if symbol is not None and symbols.setdefault(symbol, value) != value:
        raise FileFormatError(
            f"{name}: {symbol} is {repr(value)[:60]} here and "
            f"{repr(symbols[symbol])[:60]} elsewhere in the model"
        )


class Field:
    """A stored value: `write` prepares it for a file, `read` checks it and restores it."""

    def write(self, value: Any) -> Any:
        """Return the value in the form that is stored."""
        return value

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        """Return the checked value; raise FileFormatError if it does not fit."""
        raise NotImplementedError


class Anything(Field):
    """A value validated by its consumer, such as a constructor."""

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        return value


class Flag(Field):
    """True or False."""

    def __init__(self, same: str | None = None) -> None:
        self.same = same

    def read(self, value: Any, name: str, symbols: Symbols) -> bool:
        if type(value) is not bool:
            raise refuse(name, "True or False", value)
        agree(symbols, self.same, value, name)
        return value


class Text(Field):
    """A str."""

    def read(self, value: Any, name: str, symbols: Symbols) -> str:
        if type(value) is not str:
            raise refuse(name, "a text", value)
        return value


class OneOf(Field):
    """One of a few plain values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        if not any(type(value) is type(known) and value == known for known in self.values):
            raise refuse(name, f"one of {list(self.values)}", value)
        return value


class Count(Field):
    """A whole number within bounds."""

    def __init__(self, at_least: int = 0, at_most: int = MOST, same: str | None = None) -> None:
        self.at_least, self.at_most, self.same = at_least, at_most, same

    def read(self, value: Any, name: str, symbols: Symbols) -> int:
        if type(value) is not int or not self.at_least <= value <= self.at_most:
            raise refuse(name, f"a whole number from {self.at_least} to {self.at_most}", value)
        agree(symbols, self.same, value, name)
        return value


class Number(Field):
    """A float within bounds; with `finite=False` also NaN or infinity, with `whole` also an int."""

    def __init__(
        self,
        at_least: float = -math.inf,
        above: float = -math.inf,
        at_most: float = math.inf,
        finite: bool = True,
        whole: bool = False,
    ) -> None:
        self.at_least, self.above, self.at_most = at_least, above, at_most
        self.finite, self.kinds = finite, (float, int) if whole else (float,)

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        if type(value) not in self.kinds:
            raise refuse(name, "a number", value)
        if self.finite and not self._is_within(value):
            raise refuse(name, f"a finite number{self._bounds()}", value)
        return value

    def _is_within(self, value: float) -> bool:
        return (
            math.isfinite(value) and self.above < value and self.at_least <= value <= self.at_most
        )

    def _bounds(self) -> str:
        bounds = {"above": self.above, "at least": self.at_least, "at most": self.at_most}
        return "".join(f", {word} {bound:g}" for word, bound in bounds.items() if abs(bound) < MOST)


class Size:
    """A length of an array: a symbol whose value is bounded."""

    def __init__(self, symbol: str, at_least: int = 0, at_most: int = MOST) -> None:
        self.symbol, self.at_least, self.at_most = symbol, at_least, at_most


class Array(Field):
    """An array of given lengths: numbers, symbols, or a `Size`.

    `above` and `at_least` bound every entry, `adds_to` is their sum. Entries are finite unless
    `finite=False`.
    """

    def __init__(
        self,
        *shape: int | str | Size,
        dtype: DTypeLike = np.float64,
        finite: bool = True,
        above: float = -math.inf,
        at_least: float = -math.inf,
        adds_to: float | None = None,
    ) -> None:
        self.shape, self.dtype, self.finite = shape, np.dtype(dtype), finite
        self.above, self.at_least, self.adds_to = above, at_least, adds_to

    def read(self, value: Any, name: str, symbols: Symbols) -> NDArray[Any]:
        if not isinstance(value, np.ndarray) or value.dtype != self.dtype:
            raise refuse(name, f"an array of {self.dtype}", value)
        if value.ndim != len(self.shape):
            raise refuse(name, f"an array of {len(self.shape)} axes", value)
        for expected, length in zip(self.shape, value.shape, strict=True):
            self._check_length(expected, length, value, name, symbols)
        if self.finite and self.dtype.kind == "f" and not np.isfinite(value).all():
            raise FileFormatError(f"{name} holds NaN or infinity")
        for bound, fits in ((self.above, np.greater), (self.at_least, np.greater_equal)):
            if bound > -math.inf and not fits(value, bound).all():
                word = "above" if fits is np.greater else "at least"
                raise FileFormatError(f"{name} must be {word} {bound:g}, got {value.min()}")
        if self.adds_to is not None and abs(value.sum() - self.adds_to) > _ROUNDING:
            raise FileFormatError(f"{name} must add up to {self.adds_to:g}, got {value.sum()}")
        return value

    def _check_length(
        self, expected: int | str | Size, length: int, value: Any, name: str, symbols: Symbols
    ) -> None:
        if isinstance(expected, Size):
            if not expected.at_least <= length <= expected.at_most:
                bounds = f"{expected.symbol} from {expected.at_least} to {expected.at_most}"
                raise refuse(name, f"an array with {bounds}", value)
            expected = expected.symbol
        if isinstance(expected, str):
            agree(symbols, expected, length, name)
        elif length != expected:
            raise refuse(name, f"an array of shape {self._shown(symbols)}", value)

    def _shown(self, symbols: Symbols) -> str:
        names = [size.symbol if isinstance(size, Size) else size for size in self.shape]
        return f"({', '.join(str(symbols.get(str(name), name)) for name in names)})"


class Triangle(Field):
    """A square lower triangular matrix of float64, stored row by row without the zeros above.

    The class that owns the matrix checks its entries.
    """

    def __init__(self, size: str) -> None:
        self.size = size

    def write(self, value: Any) -> NDArray[np.float64]:
        rows = [row[: i + 1] for i, row in enumerate(value)]
        return np.concatenate([np.empty(0), *rows])

    def read(self, value: Any, name: str, symbols: Symbols) -> NDArray[np.float64]:
        n = symbols[self.size]
        entries = Array(n * (n + 1) // 2, finite=False).read(value, name, symbols)
        square, start = np.zeros((n, n)), 0
        for i in range(n):
            square[i, : i + 1] = entries[start : start + i + 1]
            start += i + 1
        return square


class Texts(Field):
    """An object array of str, as scikit-learn keeps names of features."""

    def __init__(self, size: str) -> None:
        self.size = size

    def read(self, value: Any, name: str, symbols: Symbols) -> NDArray[Any]:
        is_array = isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1
        if not is_array or not all(type(text) is str for text in value.tolist()):
            raise refuse(name, "a vector of texts", value)
        agree(symbols, self.size, len(value), name)
        vector: NDArray[Any] = value
        return vector


class Object(Field):
    """An object of a class; `attributes` maps names of its attributes to symbols."""

    def __init__(
        self, *kinds: type[Any], same: str | None = None, attributes: dict[str, str] | None = None
    ) -> None:
        self.kinds, self.same, self.attributes = kinds, same, attributes or {}

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        if not isinstance(value, self.kinds):
            raise refuse(name, " or ".join(kind.__name__ for kind in self.kinds), value)
        agree(symbols, self.same, value, name)
        for attribute, symbol in self.attributes.items():
            agree(symbols, symbol, getattr(value, attribute), f"{attribute} of {name}")
        return value


class Optional(Field):
    """None, or a field."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def write(self, value: Any) -> Any:
        return None if value is None else self.field.write(value)

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        return None if value is None else self.field.read(value, name, symbols)


class Either(Field):
    """The first of several fields that a value fits."""

    def __init__(self, *fields: Field) -> None:
        self.fields = fields

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        messages = []
        for field in self.fields:
            try:
                return field.read(value, name, symbols)
            except FileFormatError as error:
                messages.append(str(error))
        raise FileFormatError("; or ".join(messages))


class ListOf(Field):
    """A list of items that fit one field."""

    kind: type[list[Any]] | type[tuple[Any, ...]] = list

    def __init__(self, field: Field, size: str | None = None, at_least: int = 0) -> None:
        self.field, self.size, self.at_least = field, size, at_least

    def read(self, value: Any, name: str, symbols: Symbols) -> Any:
        if type(value) is not self.kind or len(value) < self.at_least:
            raise refuse(name, f"a {self.kind.__name__} of {self.at_least} or more items", value)
        agree(symbols, self.size, len(value), name)
        return self.kind(
            self.field.read(item, f"{name}[{i}]", symbols) for i, item in enumerate(value)
        )


class TupleOf(ListOf):
    """A tuple of items that fit one field."""

    kind = tuple


class Record(Field):
    """A dictionary with a field for each name, and no other names.

    Parameters
    ----------
    fields : dict of str to Field
        The fields. They are read in this order.
    optional : iterable of str
        Names that may be missing. Default: none.
    keeps_rest : bool
        Whether there may be other names; their values are kept unchanged. Default: False.
    check : function of a dict, optional
        Called with the values that were read; raises an error if they contradict each other.
    """

    def __init__(
        self,
        fields: dict[str, Field],
        optional: Iterable[str] = (),
        keeps_rest: bool = False,
        check: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.fields, self.optional = fields, frozenset(optional)
        self.keeps_rest, self.check = keeps_rest, check

    def write(self, value: Any) -> dict[str, Any]:
        unknown = set(value) - set(self.fields)
        if unknown and not self.keeps_rest:
            raise TypeError(
                f"attribute {sorted(unknown)[0]!r} is not declared, so cannot be stored"
            )
        known = {
            name: self.fields[name].write(value[name]) for name in value if name not in unknown
        }
        return {**value, **known}

    def read(self, value: Any, name: str, symbols: Symbols) -> dict[str, Any]:
        if type(value) is not dict:
            raise refuse(name, f"a record of {', '.join(self.fields)}", value)
        missing = self.fields.keys() - value.keys() - self.optional
        unknown = set() if self.keeps_rest else value.keys() - self.fields.keys()
        if missing or unknown:
            wrong, names = ("lacks", missing) if missing else ("must not have", unknown)
            raise FileFormatError(f"{name} {wrong} {', '.join(sorted(map(repr, names)))}")
        found = {**value} | {
            part: field.read(value[part], f"{name}.{part}", symbols)
            for part, field in self.fields.items()
            if part in value
        }
        if self.check is not None:
            self.check(found)
        return found
