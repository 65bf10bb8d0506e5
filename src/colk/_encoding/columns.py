"""Columns of a table: their kinds, and conversion to numbers, texts or times with gaps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array, reject_lazy

__all__ = [
    "LARGEST",
    "Column",
    "Kind",
    "Table",
    "as_numbers",
    "as_seconds",
    "as_texts",
    "check_names",
    "check_numbers",
    "check_utf8",
    "checked_table",
    "is_missing",
    "kind_of_objects",
]

# Larger numbers are rejected, so that sums of their squares do not overflow.
LARGEST = 1e140

Kind = Literal["number", "category", "date"]


class Column(NamedTuple):
    """Name and kind of a column of a table.

    Examples
    --------
    >>> Column("city", "category").kind
    'category'
    """

    name: str
    kind: Kind

    def check(self) -> "Column":
        """Return the column; raise if its kind is unknown."""
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"column {self.name!r} must be one of {list(get_args(Kind))}, got {self.kind!r}"
            )
        return self


# Columns with their kinds, and their values by name.
Table = tuple[list[Column], dict[str, Any]]


def check_names(target: str, features: Sequence[str], categorical: Sequence[str]) -> None:
    """Raise if columns are missing, named twice or used twice, or if there are several targets."""
    if not isinstance(target, str):
        raise TypeError(
            f"a table model predicts one column, got target={target!r}; "
            "COLKRegressor().fit(source, [names]) predicts several"
        )
    if not features:
        raise ValueError("there are no features to learn from")
    check_utf8([target, *features], "the header")
    if len(set(features)) < len(features):
        raise ValueError("features are named twice")
    if target in features:
        raise ValueError(f"the target {target!r} is among the features")
    stray = [name for name in categorical if name not in features]
    if stray:
        raise ValueError(f"categorical column {stray[0]!r} is not among the features")


def check_numbers(values: Any, name: str) -> Array:
    """Return a column as floats; raise if a value is missing or too large."""
    numbers = as_numbers(values, name)
    if np.isnan(numbers).any():
        raise ValueError(f"{name} has values that are missing or beyond ±{LARGEST:g}")
    return numbers


def as_numbers(values: Any, name: str) -> Array:
    """Return a column as floats, with NaN for gaps; raise if a value is too large.

    Examples
    --------
    >>> as_numbers([1, 2.5], "size"), as_numbers(np.array([True, False]), "open")
    (array([1. , 2.5]), array([1., 0.]))
    """
    reject_lazy(values, name)
    array = np.asarray(values)
    if array.dtype == object and array.ndim == 1:
        array = _floats(array.tolist(), name)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a column of numbers, got {array.dtype} {array.shape}")
    numbers = array.astype(np.float64, copy=False)
    if len(numbers):
        with np.errstate(invalid="ignore"):
            largest = np.fmax.reduce(np.abs(numbers), initial=0.0)
        if largest > LARGEST:
            raise ValueError(f"{name} has values that are missing or beyond ±{LARGEST:g}")
    return numbers


def _floats(values: list[Any], name: str) -> Array:
    try:
        return np.array([math.nan if is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a column of numbers: {error}") from None


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or pandas' NaT and NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT are not equal to themselves
    except TypeError:  # the truth of pandas.NA is unknown
        return True


def as_texts(values: Any, name: str) -> NDArray[np.object_]:
    """Return a column of categories as texts, with None for gaps.

    Examples
    --------
    >>> as_texts(["Bonn", None, 3], "city")
    array(['Bonn', None, '3'], dtype=object)
    """
    reject_lazy(values, name)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [
        value if type(value) is str else None if is_missing(value) else str(value)
        for value in values
    ]
    check_utf8(texts.tolist(), name)
    return texts


def check_utf8(texts: Sequence[str | None], name: str) -> None:
    r"""Raise if a text cannot be written as UTF-8, because half of a surrogate pair is missing.

    Examples
    --------
    >>> check_utf8(["Bonn", "\ud800"], "city")
    Traceback (most recent call last):
    ValueError: city has a text that is not UTF-8: '\ud800'
    """
    try:
        "".join(text for text in texts if text is not None).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has a text that is not UTF-8: {error.object[error.start : error.end]!r}"
        ) from None


def as_seconds(values: Any, name: str) -> Array:
    """Return dates as seconds since 1970, with NaN for gaps.

    Dates are numbers of seconds, datetime64, or texts in ISO 8601.

    Examples
    --------
    >>> as_seconds(["1970-01-02", None, "1970-01-01T00:01"], "when")
    array([8.64e+04,      nan, 6.00e+01])
    """
    reject_lazy(values, name)
    array = np.asarray(values)
    if array.dtype.kind in "fiu":
        return as_numbers(array, name)
    try:
        if array.dtype == object:
            array = np.array(
                ["NaT" if is_missing(v) else v for v in array.tolist()], dtype="datetime64[us]"
            )
        moments = array.astype("datetime64[us]")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a column of dates: {error}") from None
    seconds = moments.astype(np.int64) / 1e6
    return np.asarray(np.where(np.isnat(moments), math.nan, seconds))


def kind_of_objects(values: Sequence[Any]) -> Kind:
    """Return the kind of a column of Python objects: "number" if it has only numbers and gaps.

    Examples
    --------
    >>> kind_of_objects([1, None, 2.5]), kind_of_objects([1, "two"])
    ('number', 'category')
    """
    kinds = {type(value) for value in values if not is_missing(value)}
    strange = kinds & {dict, list, set, tuple, bytes, complex}
    if strange:
        raise TypeError(f"argument must be a string or a number, got {strange.pop().__name__}")
    is_number = all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds)
    return "number" if is_number else "category"


_READERS = {"number": as_numbers, "category": as_texts, "date": as_seconds}


def checked_table(columns: Sequence[Column], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns as arrays; raise if one is missing or differs in length.

    Examples
    --------
    >>> checked_table([Column("size", "number")], {"size": [1, None], "city": ["Rome", "Oslo"]})
    {'size': array([ 1., nan])}
    """
    missing = [name for name, _ in columns if name not in table]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing")
    known = {name: _READERS[kind](table[name], name) for name, kind in columns}
    lengths = {len(values) for values in known.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns differ in length: {sorted(lengths)}")
    return known
