"""Parse JSON lines: pyarrow parses a block; if it fails, the block is parsed line by line."""

import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.json

from colk.tabular.moments import as_moment
from colk.tabular.reading.blocks import TextBlock
from colk.tabular.reading.cells import columns_from, columns_of, is_number
from colk.tabular.reading.first_rows import LOOKED_AT, FirstRows, content_of
from colk.tabular.reading.lines import Parsed
from colk.tabular.reading.rows import Columns, Kind, Reject

__all__ = ["Objects"]

_SHOWN = 40


class Objects:
    r"""Parser of JSON lines: each line is an object of numbers and strings.

    Examples
    --------
    >>> table = Objects()
    >>> block = TextBlock(b'{"a": 1, "b": "x"}\n', 0, 1, 19)
    >>> table.look(block), table.kinds
    (0, {'a': 'number', 'b': 'text'})
    """

    quoted = False
    found: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.first_rows = FirstRows()

    def look(self, block: TextBlock) -> int:
        """Find names and kinds of the columns in the first block; there is no header."""
        for line in block.data.split(b"\n")[:LOOKED_AT]:
            try:
                values = _object(line)
            except ValueError:
                continue
            self.first_rows.add((name, *_described(value)) for name, value in values.items())
        if not self.first_rows.kinds:
            raise ValueError(
                "its first lines are not JSON objects, one per line; convert a list of objects "
                "with jq -c '.[]', or set `format`"
            )
        return 0

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column, by name."""
        return self.first_rows.kinds

    def parse(self, block: TextBlock, wanted: Columns) -> Parsed:
        """Return the wanted columns, the lines of their rows, and rejected rows."""
        return self._parse_whole(block, wanted) or self._parse_lines(block, wanted)

    def _parse_whole(self, block: TextBlock, wanted: Columns) -> Parsed | None:
        # Pyarrow crashes if the first object is `null`.
        if (
            wanted.is_twofold
            or not block.data.startswith(b"{")
            or block.data.count(b"\n{") + 1 != block.n_lines
        ):
            return None
        schema = pa.schema(
            [(name, pa.float64()) for name in wanted.numbers]
            + [(name, pa.string()) for name in wanted.all_texts]
        )
        try:
            table = pa.json.read_json(
                pa.BufferReader(block.data),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
                parse_options=pa.json.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior="ignore"
                ),
            )
        except (pa.ArrowException, UnicodeError):
            return None
        if len(table) != block.n_lines:
            return None
        try:
            columns = columns_of(table, wanted)
        except ValueError:  # a value is not a date
            return None
        return columns, np.arange(block.line, block.line + len(table)), []

    def _parse_lines(self, block: TextBlock, wanted: Columns) -> Parsed:
        rows: list[list[Any]] = []
        lines, rejects = [], []
        for line, data in enumerate(block.data.split(b"\n")[:-1], block.line):
            if not data.strip():
                continue
            try:
                values = _object(data)
            except ValueError as error:
                rejects.append(Reject(line, str(error)))
                continue
            carried = [_carried(values.get(name)) for name in wanted.carried]
            try:
                numbers = [_number(values.get(name), name) for name in wanted.numbers]
                for name in wanted.dates:
                    day_first = name not in wanted.month_first
                    numbers.append(_moment(values.get(name), name, day_first))
                texts = [_text(values.get(name), name) for name in wanted.texts]
            except ValueError as error:
                rejects.append(Reject(line, str(error), tuple(carried)))
                continue
            rows.append([*numbers, *texts, *carried])
            lines.append(line)
        columns = columns_from(rows, wanted)
        return columns, np.array(lines, dtype=np.int64), rejects


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004, the row is wrong
    return value


def _described(value: Any) -> tuple[str, str]:
    """Return the content and the text of a value; a string of digits is text, not a number."""
    content = "text" if isinstance(value, str) and is_number(value) else content_of(value)
    return content, str(value)


def _carried(value: Any) -> str:
    """Return any value as text."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any, name: str) -> float:
    if value is None:
        return math.nan
    if not _is_number(value):
        raise ValueError(f"{name} is {_shown(value)}, not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _moment(value: Any, name: str, day_first: bool) -> float:
    """Return seconds since 1970; a number is already in seconds."""
    return as_moment(value, name, day_first) if isinstance(value, str) else _number(value, name)


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        raise ValueError(f"{name} is {_shown(value)}, not text")  # noqa: TRY004
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
