"""Batches of rows, and rejected rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import LARGEST

__all__ = ["Column", "Columns", "Kind", "Position", "Reject", "RowBatch", "sift"]

Kind = Literal["number", "text"]
Column = NDArray[Any]  # float64, or objects that are str


@dataclass(frozen=True)
class Columns:
    """Names of the columns to read as numbers and as text.

    Parameters
    ----------
    numbers, texts : tuple of str
        Names of the columns.
    carried : tuple of str, default=()
        Columns that are passed on as text, for unusable rows too.
    dates : tuple of str, default=()
        Columns to read as seconds since 1970.
    required : tuple of str or None, default=None
        Columns that must have a value. None: all except carried ones. In the other columns a
        missing number or date is NaN, and a missing text is None.
    month_first : tuple of str, default=()
        Columns of dates with the month first, in which 3/4/2026 is in March.

    Examples
    --------
    >>> Columns(("size", "age"), ("city",)).names
    ('size', 'age', 'city')
    """

    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    required: tuple[str, ...] | None = None
    month_first: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names, with the numbers first."""
        read = self.numbers + self.texts + self.dates + self.carried
        return tuple(dict.fromkeys(read))

    @property
    def all_texts(self) -> tuple[str, ...]:
        """Columns whose cells a parser reads as text: texts, dates and carried columns."""
        return tuple(dict.fromkeys(self.texts + self.dates + self.carried))

    def needs(self, name: str) -> bool:
        """Return whether a column must have a value.

        Parameters
        ----------
        name : str
            The column.
        """
        return self.required is None or name in self.required

    @property
    def carried_keys(self) -> dict[str, str]:
        """Keys under which a parser returns carried columns, as they may be read as numbers too."""
        return {f"\0{name}": name for name in self.carried}

    @property
    def is_twofold(self) -> bool:
        """Whether a column is read as a number and carried as text."""
        return not set(self.carried).isdisjoint(self.numbers)


@dataclass(frozen=True)
class Position:
    """Start of a batch.

    Parameters
    ----------
    file : int
        Index of the file.
    offset : int
        Number of bytes before the batch; for Parquet, of rows.
    line : int
        Number of the first line of the batch, counted from 1; for Parquet, of the first row.

    Examples
    --------
    >>> Position()
    Position(file=0, offset=0, line=1)
    """

    file: int = 0
    offset: int = 0
    line: int = 1


@dataclass(frozen=True)
class Reject:
    """An unusable row.

    Parameters
    ----------
    line : int
        Its line in the file, counted from 1.
    reason : str
        The reason why it is unusable.
    carried : tuple of str
        Its values in the carried columns; empty if they could not be read.

    Examples
    --------
    >>> Reject(3, "size is 'n.a.', not a number")
    Reject(line=3, reason="size is 'n.a.', not a number", carried=())
    """

    line: int
    reason: str
    carried: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RowBatch:
    """A batch of rows.

    Parameters
    ----------
    columns : mapping of str to array
        Finite numbers and non-empty text, one entry for each usable row.
    lines : array of int
        Line numbers of the usable rows.
    rejects : sequence of Reject
        The unusable rows.
    start : Position
        Start of the batch.
    done : int
        Number of bytes of all files (of rows for Parquet) up to the end of the batch.
    carried : mapping of str to array
        Carried columns as text; "" is a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> len(RowBatch({"a": np.array([1.0, 2.0])}, np.array([2, 3]), [], Position(), 12))
    2
    """

    columns: Mapping[str, Column]
    lines: NDArray[np.int64]
    rejects: Sequence[Reject]
    start: Position
    done: int
    carried: Mapping[str, Column] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lines)


def sift(
    columns: Mapping[str, Column], lines: NDArray[np.int64], wanted: Columns
) -> tuple[dict[str, Column], NDArray[np.int64], list[Reject]]:
    """Split rows into usable ones, which have a value in each required column, and rejects.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"a": np.array([1.0, np.nan])}
    >>> sift(columns, np.array([2, 3]), Columns(("a",)))
    ({'a': array([1.])}, array([2]), [Reject(line=3, reason='a is missing', carried=())])
    """
    columns = {name: _with_gaps(name, values, wanted) for name, values in columns.items()}
    bad = np.zeros(len(lines), dtype=bool)
    for name in (*wanted.numbers, *wanted.dates):
        bad |= np.abs(columns[name]) > LARGEST
        if wanted.needs(name):
            bad |= np.isnan(columns[name])
    for name in wanted.texts:
        if wanted.needs(name):
            bad |= np.fromiter((not value for value in columns[name]), bool, len(lines))
    if not bad.any():
        return columns, lines, []
    read = (*wanted.numbers, *wanted.texts, *wanted.dates)
    rejects = [
        Reject(
            int(lines[row]),
            _reason({name: columns[name][row] for name in read}, wanted),
            tuple(columns[key][row] for key in wanted.carried_keys),
        )
        for row in np.flatnonzero(bad)
    ]
    good = ~bad
    return {name: values[good] for name, values in columns.items()}, lines[good], rejects


def _with_gaps(name: str, values: Column, wanted: Columns) -> Column:
    """Return a column in which a missing text is None, if the column may have gaps."""
    if name not in wanted.texts or wanted.needs(name):
        return values
    texts = np.empty(len(values), dtype=object)
    texts[:] = [value or None for value in values]
    return texts


def _reason(row: Mapping[str, Any], wanted: Columns) -> str:
    for name, value in row.items():
        if wanted.needs(name) and (value is None or value != value or value == ""):
            return f"{name} is missing"
        if isinstance(value, float) and abs(value) > LARGEST:
            return f"{name} is {value:g}, beyond ±{LARGEST:g}"
    raise AssertionError(row)
