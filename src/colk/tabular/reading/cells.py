"""Single cells as numbers, and columns of pyarrow as arrays."""

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from colk.tabular.reading.rows import Column

__all__ = ["as_number", "column", "is_number"]

# Values that pyarrow reads as missing.
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)
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


def as_number(cell: str, name: str) -> float:
    """Return the number in a cell; NaN if it is missing.

    Examples
    --------
    >>> as_number("1.5", "size"), as_number("NA", "size")
    (1.5, nan)
    """
    text = cell.strip()
    if text in _MISSING:
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
