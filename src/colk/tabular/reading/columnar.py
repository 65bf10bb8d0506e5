"""Read Parquet files in batches."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from colk.tabular.moments import as_moment, is_moment
from colk.tabular.reading.cells import column
from colk.tabular.reading.first_rows import LOOKED_AT, FirstRows
from colk.tabular.reading.rows import Column, Columns, Kind, Position, Reject, RowBatch, sift

__all__ = ["ParquetTable"]

_BATCH = 16384


class ParquetTable:
    """Reads a Parquet file. Rows are numbered from 1, like lines.

    Parameters
    ----------
    path : path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     pq.write_table(pa.table({"a": [1, 2], "b": ["x", None]}), file.name)
    ...     ParquetTable(file.name).kinds
    {'a': 'number', 'b': 'text'}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if path == "-":
            raise ValueError("Parquet cannot be read from standard input: name a file")
        try:
            self._file = pa.parquet.ParquetFile(path, buffer_size=1 << 16, pre_buffer=False)
        except pa.ArrowException as error:
            raise ValueError(f"it is not a Parquet file ({_first_line(error)})") from error
        self.size = self._file.metadata.num_rows
        schema = self._file.schema_arrow
        twice = [name for name, count in Counter(schema.names).items() if count > 1]
        if twice:
            raise ValueError(f"column {twice[0]!r} appears twice")
        self.kinds: dict[str, Kind] = {
            field.name: "number" if _is_number(field.type) else "text" for field in schema
        }
        self.first_rows = FirstRows(schema.names)

    def look(self) -> None:
        """Count the contents of the columns in the first rows."""
        try:
            batch = next(self._file.iter_batches(LOOKED_AT, use_threads=False), None)
        except pa.ArrowException:  # `rows` will raise it with a message
            return
        if batch is None:
            return
        self.first_rows.n_rows = len(batch)
        for field in self._file.schema_arrow:
            values = batch.column(field.name)
            content = _content(field.type)
            there = values.drop_null()
            listed: list[Any] = [True] * len(there) if content == "nested" else there.to_pylist()
            if content == "text":
                dates = [text for text in listed if is_moment(text.strip())]
                self.first_rows.add_column(field.name, "date", dates)
                known = set(dates)
                listed = [text for text in listed if text.strip() and text not in known]
            self.first_rows.add_column(field.name, content, listed)

    def rows(self, wanted: Columns, start: Position) -> Iterator[RowBatch]:
        """Yield batches from `start`, which is the start of the file or of a batch."""
        for name in wanted.names:
            kind = self._file.schema_arrow.field(name).type
            if not _is_plain(kind):
                raise ValueError(f"column {name!r} holds {kind}, neither numbers nor text")
        before = 0
        for group in range(self._file.num_row_groups):
            size = self._file.metadata.row_group(group).num_rows
            if before + size > start.offset:
                yield from self._group(group, before, wanted, start)
            before += size

    def _group(
        self, group: int, before: int, wanted: Columns, start: Position
    ) -> Iterator[RowBatch]:
        try:
            batches = self._file.iter_batches(
                _BATCH, row_groups=[group], columns=list(wanted.names), use_threads=False
            )
            for batch in batches:
                if before >= start.offset:
                    yield self._batch(batch, before, wanted, start.file)
                before += len(batch)
        except pa.ArrowException as error:
            raise ValueError(f"its rows cannot be read ({_first_line(error)})") from error

    def _batch(self, batch: pa.RecordBatch, before: int, wanted: Columns, file: int) -> RowBatch:
        columns = {name: _read(batch, name, pa.float64()) for name in wanted.numbers}
        columns |= {name: _read(batch, name, pa.string()) for name in wanted.texts}
        unreadable: dict[int, str] = {}
        columns |= {name: _read_dates(batch, name, wanted, unreadable) for name in wanted.dates}
        columns |= {
            key: _read(batch, name, pa.string()) for key, name in wanted.carried_keys.items()
        }
        lines = np.arange(before + 1, before + len(batch) + 1)
        read = np.delete(np.arange(len(batch)), list(unreadable))
        columns_read = {name: values[read] for name, values in columns.items()}
        kept, usable, rejects = sift(columns_read, lines[read], wanted)
        for row, reason in unreadable.items():
            of_row = tuple(columns[key][row] for key in wanted.carried_keys)
            rejects.append(Reject(int(lines[row]), reason, of_row))
        rejects.sort(key=lambda reject: reject.line)
        carried = {name: kept.pop(key) for key, name in wanted.carried_keys.items()}
        start, end = Position(file, before, before + 1), before + len(batch)
        return RowBatch(kept, usable, rejects, start, end, carried)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _read(batch: pa.RecordBatch, name: str, kind: pa.DataType) -> Column:
    values = pa.compute.cast(batch.column(name), kind, safe=False)
    return column(pa.chunked_array([values]))


def _read_dates(
    batch: pa.RecordBatch, name: str, wanted: Columns, unreadable: dict[int, str]
) -> Column:
    """Return dates as seconds since 1970, and times and durations as seconds from 0.

    Rows whose text is not a date get a reason in `unreadable`.
    """
    values, types = batch.column(name), pa.types
    if _content(values.type) == "text":
        seconds = np.full(len(batch), np.nan)
        for row, text in enumerate(_read(batch, name, pa.string())):
            try:
                seconds[row] = as_moment(text, name, name not in wanted.month_first)
            except ValueError as error:
                unreadable.setdefault(row, str(error))
        return seconds
    if types.is_date(values.type):
        values = pa.compute.cast(values, pa.timestamp("ms"))
    if not types.is_temporal(values.type):
        return _read(batch, name, pa.float64())
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[values.type.unit]
    whole = values.cast(pa.int32() if types.is_time32(values.type) else pa.int64())
    divided = pa.compute.divide(pa.compute.cast(whole, pa.float64()), per_second)
    return column(pa.chunked_array([divided]))


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def _content(kind: pa.DataType) -> str:
    """Return the content of a column of this type, in the words of `content_of`."""
    if not _is_plain(kind):
        return "nested"
    if pa.types.is_temporal(kind):
        return "date"
    return "number" if _is_number(kind) else "text"


def _is_plain(kind: pa.DataType) -> bool:
    """Whether the values of a type can be read as numbers or text."""
    types = pa.types
    if types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    tests = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return not any(test(kind) for test in tests)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
