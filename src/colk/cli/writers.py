"""Write tables batch by batch: CSV, JSON lines or Parquet."""

import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from colk.cli.csv_cells import csv_line
from colk.persistence.atomic import drafted
from colk.tabular.reading import FORMATS

__all__ = ["Write", "writer"]

Write = Callable[[Mapping[str, list[Any]]], None]


@contextmanager
def writer(
    path: Path | None, to: str | None, texts: Collection[str] = (), safe: bool = False
) -> Iterator[Write]:
    """Open a table for writing.

    A file appears only when it is complete; standard output is flushed after each batch.

    Parameters
    ----------
    path : Path or None
        The file; None for standard output.
    to : str or None
        The format. None: by the extension of the file, or CSV for standard output.
    texts : collection of str, default=()
        Names of the columns of text; the others are numbers.
    safe : bool, default=False
        Whether texts of CSV that spreadsheets take for formulas get an apostrophe before them.
    """
    chosen = to or ("csv" if path is None else FORMATS.get(path.suffix.lower()))
    if chosen not in _WRITERS:
        raise ValueError(
            f"{path}: predictions are written as csv, jsonl or parquet; use such an extension, or "
            "choose the format with --to"
        )
    if safe and chosen != "csv":
        raise ValueError(f"--safe-csv is for CSV, but the predictions are written as {chosen}")
    if path is None:
        if chosen == "parquet":
            raise ValueError("Parquet cannot be written to standard output: name a file with --out")
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file with --out")
        with _WRITERS[chosen](sys.stdout.buffer, texts, safe) as write:
            yield write
        return
    with drafted(path) as file, _WRITERS[chosen](file, texts, safe) as write:
        yield write


@contextmanager
def _csv(file: BinaryIO, texts: Collection[str], safe: bool) -> Iterator[Write]:
    begun: list[bool] = []

    def write(columns: Mapping[str, list[Any]]) -> None:
        rows = [] if begun else [columns]
        begun.append(True)
        lines = [csv_line(row, safe) for row in (*rows, *zip(*columns.values(), strict=True))]
        file.write("".join(lines).encode())
        file.flush()

    yield write


@contextmanager
def _jsonl(file: BinaryIO, texts: Collection[str], safe: bool) -> Iterator[Write]:
    def write(columns: Mapping[str, list[Any]]) -> None:
        for row in zip(*columns.values(), strict=True):
            line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
            file.write(line.encode() + b"\n")
        file.flush()

    yield write


@contextmanager
def _parquet(file: BinaryIO, texts: Collection[str], safe: bool) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet

    made: list[Any] = []

    def write(columns: Mapping[str, list[Any]]) -> None:
        if not made:
            kinds = {name: pa.string() if name in texts else pa.float64() for name in columns}
            made.append(pa.parquet.ParquetWriter(file, pa.schema(kinds.items())))
        made[0].write_table(pa.table(dict(columns), schema=made[0].schema))

    try:
        yield write
    finally:
        for each in made:
            each.close()


_WRITERS = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}
