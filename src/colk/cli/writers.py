"""Write tables batch by batch: CSV, JSON lines or Parquet."""

import csv
import io
import json
import os
import secrets
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from colk.tabular.reading import FORMATS

__all__ = ["Write", "writer"]

Write = Callable[[Mapping[str, list[Any]]], None]


@contextmanager
def writer(path: Path | None, to: str | None, texts: Collection[str] = ()) -> Iterator[Write]:
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
    """
    chosen = to or ("csv" if path is None else FORMATS.get(path.suffix.lower()))
    if chosen not in _WRITERS:
        raise ValueError(
            f"{path}: predictions are written as csv, jsonl or parquet; use such an extension, or "
            "choose the format with --to"
        )
    if path is None:
        if chosen == "parquet":
            raise ValueError("Parquet cannot be written to standard output: name a file with --out")
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file with --out")
        with _WRITERS[chosen](sys.stdout.buffer, texts) as write:
            yield write
        return
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(draft, "xb") as file, _WRITERS[chosen](file, texts) as write:
            yield write
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def _csv(file: BinaryIO, texts: Collection[str]) -> Iterator[Write]:
    begun: list[bool] = []

    def write(columns: Mapping[str, list[Any]]) -> None:
        text = io.StringIO(newline="")
        rows = csv.writer(text, lineterminator="\n")
        if not begun:
            rows.writerow(columns)
            begun.append(True)
        # A row with one empty cell would be a blank line, which readers skip.
        for row in zip(*columns.values(), strict=True):
            if row == (None,):
                text.write('""\n')
            else:
                rows.writerow(row)
        file.write(text.getvalue().encode())
        file.flush()

    yield write


@contextmanager
def _jsonl(file: BinaryIO, texts: Collection[str]) -> Iterator[Write]:
    def write(columns: Mapping[str, list[Any]]) -> None:
        for row in zip(*columns.values(), strict=True):
            line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
            file.write(line.encode() + b"\n")
        file.flush()

    yield write


@contextmanager
def _parquet(file: BinaryIO, texts: Collection[str]) -> Iterator[Write]:
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
