"""Convert single cells to numbers, and columns of pyarrow to arrays."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from colk.tabular.moments import as_moment
from colk.tabular.reading.rows import Column, Columns

__all__ = [
    "MISSING",
    "as_number",
    "column",
    "columns_from",
    "columns_of",
    "is_number",
    "moment",
    "moments",
]

_WORDS = (
    "na", "n/a", "n.a.", "nan", "nat", "nil", "none", "null", "(null)", "\\N", "missing", "unknown",
    "not available", "?", "-", "--", ".", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
)  # fmt: skip
# Cells that stand for a missing number or date: those of pyarrow, and these words.
MISSING = frozenset(pa.csv.ConvertOptions().null_values).union(
    *({word, word.upper(), word.title()} for word in _WORDS)
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SHOWN = 40


def is_number(cell: str) -> bool:
    """Whether a cell is a decimal number.

    Examples
    --------
    >>> is_number(" 1.5e3"), is_number("1_000")
    (True, False)
    """
    return _NUMBER.fullmatch(cell.strip()) is not None


def as_number(cell: str, name: str, missing: Collection[str] = MISSING) -> float:
    """Return the number in a cell; NaN if it is missing.

    Examples
    --------
    >>> as_number("1.5", "size"), as_number("unknown", "size")
    (1.5, nan)
    """
    text = cell.strip()
    if text in missing:
        return math.nan
    if not is_number(text) and text.lower().lstrip("+-") not in ("inf", "infinity"):
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise ValueError(f"{name} is {shown!r}, not a number")
    return float(text)


def column(values: pa.ChunkedArray) -> Column:
    """Return a column of numbers or of text as an array; nulls are NaN and "".

    Examples
    --------
    >>> column(pa.chunked_array([[1.0, None]]))
    array([ 1., nan])
    """
    if pa.types.is_floating(values.type):
        array: Any = values.to_numpy()
        return np.ascontiguousarray(array, dtype=np.float64)
    return np.array([value or "" for value in values.to_pylist()], dtype=object)


def columns_of(
    table: Mapping[str, pa.ChunkedArray] | pa.Table,
    wanted: Columns,
    missing: Collection[str] = MISSING,
) -> dict[str, Column]:
    """Return the wanted columns of a table of numbers and text.

    Examples
    --------
    >>> columns_of(pa.table({"a": [1.0], "b": ["x"]}), Columns(("a",), ("b",)))
    {'a': array([1.]), 'b': array(['x'], dtype=object)}
    """
    columns = {name: column(table[name]) for name in (*wanted.numbers, *wanted.texts)}
    for name in wanted.dates:
        columns[name] = moments(column(table[name]), name, wanted, missing)
    return columns | {key: column(table[name]) for key, name in wanted.carried_keys.items()}


def moments(
    texts: Column, name: str, wanted: Columns, missing: Collection[str] = MISSING
) -> Column:
    """Convert a column of dates as text to seconds since 1970.

    Examples
    --------
    >>> moments(np.array(["1970-01-02", ""], dtype=object), "when", Columns((), dates=("when",)))
    array([86400.,    nan])
    """
    return np.array([moment(text, name, wanted, missing) for text in texts], dtype=np.float64)


def moment(text: str, name: str, wanted: Columns, missing: Collection[str] = MISSING) -> float:
    """Return the seconds since 1970 of a date in a cell; NaN if it is missing.

    Examples
    --------
    >>> moment("1970-01-02", "when", Columns((), dates=("when",)))
    86400.0
    """
    known = "" if text.strip() in missing else text
    return as_moment(known, name, day_first=name not in wanted.month_first)


def columns_from(rows: Sequence[Sequence[Any]], wanted: Columns) -> dict[str, Column]:
    """Return the wanted columns of rows: numbers, dates, texts, and carried columns.

    Examples
    --------
    >>> columns_from([[1.0, "x"], [2.0, "y"]], Columns(("a",), ("b",)))
    {'a': array([1., 2.]), 'b': array(['x', 'y'], dtype=object)}
    """
    keys = (*wanted.numbers, *wanted.dates, *wanted.texts, *wanted.carried_keys)
    n_floats = len(wanted.numbers) + len(wanted.dates)
    return {
        key: np.array([row[place] for row in rows], dtype=float if place < n_floats else object)
        for place, key in enumerate(keys)
    }
