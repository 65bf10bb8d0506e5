"""The rows of a table as batches of features and targets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import Column, Table
from colk.tabular.reading.rows import Columns

if TYPE_CHECKING:
    from colk.tabular.reading.source import Source

__all__ = ["TableBatches", "targets_of"]


class TableBatches:
    """Batches of a table, as columns and targets; each loop reads the table from the beginning.

    Rows without a target are skipped.

    Parameters
    ----------
    source : Source
        The table.
    target : str or sequence of str
        The column with the targets, or several such columns. All other columns are features:
        numbers, dates, or categories.

    Examples
    --------
    >>> from importlib.resources import files
    >>> from colk.tabular.reading import Source
    >>> batches = Source([str(files("colk.data") / "lidar.csv")]).batches("logratio")
    >>> [(columns, len(y)) for (columns, table), y in batches]
    [([Column(name='range', kind='number')], 221)]
    """

    def __init__(self, source: "Source", target: str | Sequence[str]) -> None:
        targets = (target,) if isinstance(target, str) else tuple(target)
        for name in targets:
            if name not in source.kinds:
                raise ValueError(f"the table has no column {name!r}")
        first = source.first_rows
        kinds = {name: kind for name, kind in source.kinds.items() if name not in targets}
        unreadable = sorted(first.unreadable & kinds.keys())
        if unreadable:
            raise ValueError(
                f"column {unreadable[0]!r} holds lists, objects or bytes: split it into columns, "
                "or leave it out of the table"
            )
        self._source, self._target = source, target
        dates = [name for name in kinds if name in first.dates]
        numbers = [name for name, kind in kinds.items() if kind == "number" and name not in dates]
        texts = [name for name in kinds if name not in dates and name not in numbers]
        kind_of = {**dict.fromkeys(dates, "date"), **dict.fromkeys(texts, "category")}
        self._columns = [Column(name, kind_of.get(name, "number")) for name in kinds]  # type: ignore[arg-type]
        for name in targets:
            (numbers if source.kinds[name] == "number" else texts).append(name)
        self._wanted = Columns(
            tuple(numbers),
            tuple(texts),
            dates=tuple(dates),
            required=targets,
            month_first=tuple(sorted(first.month_first & set(dates))),
        )

    def __iter__(self) -> Iterator[tuple[Table, NDArray[Any]]]:
        for rows in self._source.rows(self._wanted):
            if len(rows):
                yield (self._columns, dict(rows.columns)), targets_of(rows.columns, self._target)


def targets_of(columns: Mapping[str, Any], target: str | Sequence[str]) -> NDArray[Any]:
    """Return a column of targets of shape (n,), or several as (n, q).

    Examples
    --------
    >>> targets_of({"a": [1.0, 2.0], "b": [3.0, 4.0]}, ["a", "b"])
    array([[1., 3.],
           [2., 4.]])
    """
    if isinstance(target, str):
        return np.asarray(columns[target])
    return np.column_stack([columns[name] for name in target])
