"""Partitions of files: byte ranges of CSV files, row groups of Parquet files."""

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from colk.distributed.rows import PartitionError

__all__ = ["FileRange", "file_ranges"]

# Bytes per partition of a CSV file.
_BYTES = 32 * 2**20


@dataclass(frozen=True)
class FileRange:
    """A part of a file.

    Parameters
    ----------
    path : str
        The file.
    kind : {"csv", "parquet"}
        Its format.
    names : tuple of str
        Its columns.
    start, stop : int
        Range of bytes of a CSV file, with all lines that begin in it; or range of row groups of a
        Parquet file.
    """

    path: str
    kind: str
    names: tuple[str, ...]
    start: int
    stop: int

    @cached_property
    def place(self) -> str:
        """The name of the part in messages."""
        unit = "bytes" if self.kind == "csv" else "row groups"
        return f"{self.path}, {unit} {self.start} to {self.stop}"

    def read(self) -> dict[str, Any]:
        """Return the columns; raise an error that names the part if they cannot be read."""
        try:
            return self._csv() if self.kind == "csv" else self._parquet()
        except Exception as error:
            raise PartitionError(f"{self.place} cannot be read: {error}") from error

    def _csv(self) -> dict[str, Any]:
        from pyarrow.csv import ReadOptions, read_csv

        with open(self.path, "rb") as file:
            if self.start > 0:  # a line that begins before this range belongs to the previous range
                file.seek(self.start - 1)
                file.readline()
            else:
                file.readline()  # the header
            content = file.read(max(self.stop - file.tell(), 0))
            if content and not content.endswith(b"\n"):
                content += file.readline()
        if not content:
            return dict.fromkeys(self.names, ())
        # With one block, all cells of a column determine its type.
        one_block = ReadOptions(column_names=self.names, block_size=len(content), use_threads=False)
        table = read_csv(io.BytesIO(content), one_block)
        return {name: _with_gaps(table[name].to_numpy()) for name in self.names}

    def _parquet(self) -> dict[str, Any]:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self.path) as file:
            table = file.read_row_groups(range(self.start, self.stop))
        return {name: table[name].to_numpy() for name in self.names}


def _with_gaps(values: Any) -> Any:
    """Return a column with None for empty texts."""
    return np.where(values == "", None, values) if values.dtype == object else values


def file_ranges(path: Path, n_bytes: int = _BYTES) -> list[FileRange]:
    """Return the parts of a CSV or Parquet file.

    CSV files whose cells have line breaks are not supported.
    """
    if path.suffix == ".parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            names, groups = tuple(file.schema_arrow.names), file.num_row_groups
        return [FileRange(str(path), "parquet", names, k, k + 1) for k in range(groups)]
    if path.suffix != ".csv":
        raise ValueError(f"{path} is neither a .csv nor a .parquet file")
    import pandas

    names = tuple(str(name) for name in pandas.read_csv(path, nrows=0).columns)
    size = path.stat().st_size
    starts = range(0, size, n_bytes)
    return [FileRange(str(path), "csv", names, k, min(k + n_bytes, size)) for k in starts]
