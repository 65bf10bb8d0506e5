"""Fields of fitted scikit-learn estimators, in addition to the fields of `colk._stored`."""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk.errors import FileFormatError

__all__ = [
    "Absent",
    "Categories",
    "ColumnChoice",
    "DType",
    "DictOf",
    "Estimator",
    "Numbers",
    "NumericType",
    "ObjectsOf",
    "Plain",
    "Real",
    "Report",
    "Sparse",
    "Spline",
    "Step",
    "TokenPattern",
    "Vocabulary",
    "Whole",
    "steps",
]

# A pattern without groups and with at most one repetition takes time in proportion to the square
# of a text's length; others may take exponential time.
_PATTERN = re.compile(r"(\(\?[aiu]+\))?[^()*+?{]{0,100}([*+?{][^()*+?{]{0,100})?")


class Whole(stored.Field):
    """A whole number of Python or NumPy within bounds; `same` is a symbol."""

    def __init__(
        self, at_least: int = 0, at_most: int = stored.MOST, same: str | None = None
    ) -> None:
        self.count = stored.Count(at_least, at_most, same)

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        self.count.read(int(value) if isinstance(value, np.integer) else value, name, symbols)
        return value


class Real(stored.Field):
    """A number of Python or NumPy, which may be NaN or infinite."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if type(value) is bool or not isinstance(value, (int, float, np.integer, np.floating)):
            raise stored.refuse(name, "a number", value)
        return value


class Numbers(stored.Field):
    """An array of numbers of given lengths, of any precision.

    A length is a number, a symbol, or None for any length of 1 or more. `kinds` are NumPy's letters
    of the types. Entries are smaller than `below`, which is a number or
    a symbol. If `ascending`, no entry is smaller than the one before it; NaN are not compared.
    """

    def __init__(
        self,
        *shape: int | str | None,
        kinds: str = "fiu",
        finite: bool = True,
        at_least: float = -math.inf,
        below: int | str | None = None,
        ascending: bool = False,
    ) -> None:
        self.shape, self.kinds, self.finite = shape, kinds, finite
        self.at_least, self.below, self.ascending = at_least, below, ascending

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> NDArray[Any]:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise stored.refuse(name, "an array of numbers", value)
        shape = [stored.Size(name, 1) if length is None else length for length in self.shape]
        field = stored.Array(*shape, dtype=value.dtype, finite=self.finite, at_least=self.at_least)
        found = field.read(value, name, symbols)
        below = symbols[self.below] if isinstance(self.below, str) else self.below
        if below is not None and not (found < below).all():
            raise FileFormatError(f"{name} must be below {below}, got {found.max()}")
        if self.ascending and (found[1:] < found[:-1]).any():
            raise FileFormatError(f"{name} must not descend")
        return found


class Sparse(stored.Field):
    """A sparse matrix of given lengths; its indices were checked when it was made."""

    def __init__(self, rows: str, columns: str) -> None:
        self.lengths = rows, columns

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if not hasattr(value, "indptr"):
            raise stored.refuse(name, "a sparse matrix", value)
        for symbol, length in zip(self.lengths, value.shape, strict=True):
            stored.Count(same=symbol).read(int(length), name, symbols)
        return value


class Plain(stored.Field):
    """A vector of numbers or texts; `size` is a symbol, or None for any length of 1 or more."""

    def __init__(self, size: str | None = None) -> None:
        self.size = size

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> NDArray[Any]:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiubUO":
            raise stored.refuse(name, "an array of numbers or texts", value)
        if value.dtype.kind == "O" and not all(map(_is_plain, value.reshape(-1).tolist())):
            raise FileFormatError(f"{name} must hold only numbers and texts")
        size = stored.Size(name, 1) if self.size is None else self.size
        return stored.Array(size, dtype=value.dtype, finite=False).read(value, name, symbols)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, np.bool_, np.number))


class Categories(stored.Field):
    """Categories of a column: they differ, and numbers ascend, with NaN at the end."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> NDArray[Any]:
        found = Plain().read(value, name, symbols)
        known = found[:-1] if found.dtype.kind == "f" and np.isnan(found[-1]) else found
        if found.dtype.kind in "OU":
            is_right = len(set(known.tolist())) == len(known)
        else:
            is_right = bool((known[1:] > known[:-1]).all())
        if not is_right:
            raise FileFormatError(f"{name} must be different categories, and numbers must ascend")
        return found


class ObjectsOf(stored.Field):
    """A vector of objects that fit one field; `size` is a symbol."""

    def __init__(self, field: stored.Field, size: str) -> None:
        self.items = stored.ListOf(field, size)

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> NDArray[Any]:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "O" or value.ndim != 1:
            raise stored.refuse(name, "a vector of objects", value)
        self.items.read(list(value), name, symbols)
        found: NDArray[Any] = value
        return found


class DictOf(stored.Field):
    """A dictionary whose keys are texts, and whose values fit one field."""

    def __init__(self, field: stored.Field) -> None:
        self.field = field

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if type(value) is not dict or not all(type(key) is str for key in value):
            raise stored.refuse(name, "a dictionary of names", value)
        for key, item in value.items():
            self.field.read(item, f"{name}[{key!r}]", symbols)
        return value


class Vocabulary(stored.Field):
    """Texts with numbers from 0 to n - 1, each once; `size` is a symbol."""

    def __init__(self, size: str) -> None:
        self.numbers, self.size = DictOf(Whole()), stored.Count(1, same=size)

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        self.numbers.read(value, name, symbols)
        self.size.read(len(value), f"the length of {name}", symbols)
        if sorted(value.values()) != list(range(len(value))):
            raise FileFormatError(f"{name} must hold each number from 0 to {len(value) - 1} once")
        return value


class Report(stored.Field):
    """Numbers that `fit` reports and nothing uses, in arrays, lists or dictionaries."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        items = list(value.values()) if type(value) is dict else value
        if type(items) is list:
            for item in items:
                self.read(item, name, symbols)
        elif isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
            raise stored.refuse(name, "numbers", value)
        elif value is not None and not isinstance(value, np.ndarray):
            Real().read(value, name, symbols)
        return value


class Spline(stored.Field):
    """A spline of SciPy; symbols of its degree and of the number of its basis functions."""

    def __init__(self, degree: str, n_splines: str) -> None:
        self.degree, self.n_splines = stored.Count(same=degree), stored.Count(1, same=n_splines)

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if type(value).__name__ != "BSpline" or value.c.ndim != 2:
            raise stored.refuse(name, "a BSpline of vectors", value)
        self.degree.read(value.k, f"the degree of {name}", symbols)
        self.n_splines.read(value.c.shape[1], f"the width of {name}", symbols)
        return value


class NumericType(stored.Field):
    """A type of numbers, of Python or NumPy."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        is_type = isinstance(value, (type, np.dtype)) and np.dtype(value).kind in "fiub"
        if not is_type:
            raise stored.refuse(name, "a type of numbers", value)
        return value


class TokenPattern(stored.Field):
    """A regular expression whose search takes no more than quadratic time."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if type(value) is not str or not _PATTERN.fullmatch(value):
            raise stored.refuse(
                name, "a pattern without groups and with at most one repetition", value
            )
        return value


class Estimator(stored.Field):
    """An estimator; if names are given, one of these classes of scikit-learn."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        kind = type(value)
        is_named = kind.__name__ in self.names and kind.__module__.startswith("sklearn.")
        if not is_named and (self.names or not hasattr(value, "get_params") or kind is type):
            raise stored.refuse(name, " or ".join(self.names) or "an estimator", value)
        return value


class ColumnChoice(stored.Field):
    """Columns of a table: a name or number, several of them, a slice, or a mask.

    Numbers are within the columns if the symbol "p" is known.
    """

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if isinstance(value, np.ndarray):
            items = Plain("").read(value, name, {}).tolist()
        else:
            items = value if type(value) is list else [value]
        most = symbols.get("p", stored.MOST)
        for item in items if type(value) is not slice else []:
            if type(item) not in (str, bool):
                stored.Count(-most, most - 1).read(item, name, {})
        return value


class Step(stored.Field):
    """A name, an estimator, and the columns that it takes if it `has_columns`."""

    def __init__(self, has_columns: bool = False) -> None:
        self.has_columns = has_columns

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        size = 3 if self.has_columns else 2
        if type(value) is not tuple or len(value) != size or type(value[0]) is not str:
            raise stored.refuse(name, f"a name, an estimator, and {size - 2} other values", value)
        name = f"step {value[0]!r} of {name}"
        if type(value[1]) is str or value[1] is None:
            is_right = value[1] in (None, "passthrough", "drop")
        else:
            is_right = hasattr(value[1], "get_params") and not isinstance(value[1], type)
        if not is_right:
            raise FileFormatError(f"{name} is not an estimator")
        if self.has_columns:
            ColumnChoice().read(value[2], name, symbols)
        return value


def steps(has_columns: bool = False) -> stored.Field:
    """Return a field of a list of steps, or a tuple of them."""
    step = Step(has_columns)
    return stored.Either(stored.ListOf(step), stored.TupleOf(step))


class Absent(stored.Field):
    """None."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> None:
        if value is not None:
            raise stored.refuse(name, f"None ({name.rpartition('.')[2]}=None)", value)


class DType(stored.Field):
    """A NumPy dtype of numbers, texts or objects."""

    def read(self, value: Any, name: str, symbols: dict[str, Any]) -> Any:
        if not isinstance(value, np.dtype) or value.kind not in "fiubOU":
            raise stored.refuse(name, "a dtype of numbers or texts", value)
        return value
