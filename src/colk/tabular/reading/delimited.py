"""Parse CSV: pyarrow parses a block; if it fails, the block is parsed record by record."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.csv

from colk.tabular.reading.blocks import TextBlock
from colk.tabular.reading.cells import (
    MISSING,
    as_number,
    columns_from,
    columns_of,
    is_number,
    moment,
)
from colk.tabular.reading.first_rows import LOOKED_AT, WORD, FirstRows, content_of
from colk.tabular.reading.lines import Parsed
from colk.tabular.reading.marks import (
    DELIMITERS,
    decimal_of,
    delimiter_of,
    lines_before,
    undressed,
)
from colk.tabular.reading.rows import Column, Columns, Kind, Reject

__all__ = ["Delimited"]

# Largest number of lines in a record with quotes.
_MOST_LINES = 100
# Largest number of characters in a reason.
_SHOWN = 200
# Number of lines in which the beginning of the table is looked for.
_LOOKED_BEFORE = 120


class Delimited:
    r"""Parser of CSV.

    Parameters
    ----------
    delimiter : str, optional
        One character. Default: found in the first lines.
    names : sequence of str, optional
        Names of the columns. Default: the first line has them.
    decimal : {".", ","}, optional
        Decimal mark of numbers. Default: found in the first rows.
    missing : sequence of str, optional
        Words that mean a missing value, in all columns. Default: usual words such as "NA" and
        "unknown", in columns of numbers and dates.
    usual : str, default=","
        The delimiter if none is found.
    header : int, optional
        Number of the line with the names. Default: found in the first lines.

    Examples
    --------
    >>> table = Delimited()
    >>> table.look(TextBlock(b"a,b\n1,x\n", 0, 1, 8))
    4
    >>> table.kinds
    {'a': 'number', 'b': 'text'}
    """

    quoted = True

    def __init__(
        self,
        delimiter: str | None = None,
        names: Sequence[str] | None = None,
        decimal: str | None = None,
        missing: Sequence[str] | None = None,
        usual: str = ",",
        header: int | None = None,
    ) -> None:
        if delimiter is not None and (
            len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'
        ):
            raise ValueError(f"the delimiter must be one character, got {delimiter!r}")
        self.delimiter, self.decimal = delimiter or usual, decimal or "."
        self._finds_delimiter, self._finds_decimal = delimiter is None, decimal is None
        self._missing = MISSING if missing is None else frozenset(["", *missing])
        self._blanks_texts = missing is not None
        self._given = None if names is None else list(names)
        self._header_line, self._before = header, 0
        self.first_rows = FirstRows()

    def look(self, block: TextBlock) -> int:
        """Find marks, names and kinds of the columns in the first block.

        Return the size of the header.
        """
        text = block.data.decode(errors="surrogateescape")
        self._find_start(text)
        if self._finds_delimiter:
            n_names = None if self._given is None else len(self._given)
            known = "" if self._finds_decimal else self.decimal
            lines = text.split("\n", self._before)[-1]
            self.delimiter = delimiter_of(lines, self.delimiter, n_names, known)
        if self.decimal == self.delimiter:
            raise ValueError(
                f"the decimal mark and the delimiter are both {self.decimal!r}; set `delimiter`, "
                "such as ';'"
            )
        given = self._given
        header, size = self._header(block) if given is None else (given, self._size_before(block))
        twice = [name for name, count in Counter(header).items() if count > 1]
        if twice and given is not None:
            raise ValueError(f"column {min(twice)[:_SHOWN]!r} appears twice in `columns`")
        header, unnamed = _unique(header)
        self._names, self.first_rows = header, FirstRows(header)
        self._count(TextBlock(block.data[size:], block.offset + size, block.line, block.size))
        self.first_rows.unnamed = unnamed
        return size

    def _find_start(self, text: str) -> None:
        """Find the lines before the table: titles, and a line that names the delimiter."""
        lines = text.split("\n", _LOOKED_BEFORE)[:_LOOKED_BEFORE]
        named = lines[0].removeprefix("\ufeff").strip()
        if named[:4] == "sep=" and len(named) == 5:
            self._before = 1
            if self._finds_delimiter:
                self.delimiter, self._finds_delimiter = named[4], False
        elif self._header_line is not None:
            self._before = self._header_line - 1
        elif self._given is None:
            marks = DELIMITERS if self._finds_delimiter else self.delimiter
            self._before = lines_before([f"{line}\n" for line in lines], marks)

    def _size_before(self, block: TextBlock) -> int:
        """Return the number of bytes before the table."""
        return sum(len(line) + 1 for line in block.data.split(b"\n", self._before)[:-1])

    @property
    def found(self) -> dict[str, str]:
        """The marks in use, and the words for missing values that were found."""
        words = ",".join(sorted(self.first_rows.missing_words))
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "missing": words,
            "header": str(self._before + 1),
        }

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column, by name."""
        return self.first_rows.kinds

    def _header(self, block: TextBlock) -> tuple[list[str], int]:
        """Return the names in the first record, and its end."""
        first = block.line + self._before
        line, text = next((each for each in self._records(block) if each[0] >= first), (0, ""))
        if not text:
            raise ValueError("its first lines are blank")
        try:
            cells = self._cells(text.removeprefix("\ufeff"))
            names = [_decoded(name).strip() for name in cells]
        except (csv.Error, ValueError) as error:
            raise ValueError(
                f"its first line does not have names of columns: {_reason(error)}"
            ) from error
        if all(is_number(name) for name in names):
            raise ValueError(
                "the first line holds numbers, not names of columns; set `columns` to their names"
            )
        blank = block.data.split(b"\n", line - block.line)[:-1]
        before = sum(len(each) + 1 for each in blank)
        return names, before + len(text.encode(errors="surrogateescape"))

    def _count(self, block: TextBlock) -> None:
        """Count the contents of the columns in the first records."""
        rows = []
        for _, text in islice(self._records(block), LOOKED_AT):
            try:
                cells = self._cells(text)
            except csv.Error:
                continue
            if len(cells) == len(self._names):
                rows.append(cells)
        if self._finds_decimal:
            self.decimal = decimal_of(rows, self.delimiter)
        for cells in rows:
            contents = map(self._content, self._names, cells)
            self.first_rows.add(zip(self._names, contents, cells, strict=True))

    def _content(self, name: str, cell: str) -> str:
        if cell.strip() in self._missing:
            return "" if self._blanks_texts or not cell.strip() else WORD
        content = content_of(self._point(cell))
        if content == "text" and undressed(cell, self.decimal) is not None:
            self.first_rows.dressed.setdefault(name, cell.strip())
            return "number"
        return content

    def parse(self, block: TextBlock, wanted: Columns) -> Parsed:
        """Return the wanted columns, the lines of their rows, and rejected rows."""
        parsed = self._parse_whole(block, wanted) or self._parse_records(block, wanted)
        if self._blanks_texts:
            columns = parsed[0]
            columns |= {name: self._blanked(columns[name]) for name in wanted.texts}
        return parsed

    def _blanked(self, texts: Column) -> Column:
        known = ["" if text.strip() in self._missing else text for text in texts]
        return np.array(known, dtype=object)

    def _parse_whole(self, block: TextBlock, wanted: Columns) -> Parsed | None:
        data = block.data
        # Pyarrow would close an open quote, and treat a lone \r as the end of a line.
        if data.count(b'"') % 2 or data.count(b"\r") != data.count(b"\r\n"):
            return None
        if not self._is_closed(data):
            return None
        dressed = self.first_rows.dressed.keys() & set(wanted.numbers)
        types = {name: pa.string() if name in dressed else pa.float64() for name in wanted.numbers}
        types |= dict.fromkeys(wanted.all_texts, pa.string())
        if wanted.is_twofold:
            return None
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(block.data),
                read_options=pa.csv.ReadOptions(
                    column_names=self._names, use_threads=False, block_size=len(block.data) + 1
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    decimal_point=self.decimal,
                    null_values=list(self._missing),
                ),
            )
        except (pa.ArrowException, UnicodeError):
            return None
        if len(table) != block.n_lines:  # some lines are blank, or a record has several lines
            return None
        try:
            columns = columns_of(table, wanted, self._missing)
            for name in dressed:
                columns[name] = np.array([self._number(cell, name) for cell in columns[name]])
        except ValueError:  # a cell is not a date or a number
            return None
        return columns, np.arange(block.line, block.line + len(table)), []

    def _is_closed(self, data: bytes) -> bool:
        """Whether no quote is open at the end; quotes inside a cell do not count."""
        last = data.rstrip(b"\n").rpartition(b"\n")[2]
        try:
            self._cells(last.decode(errors="surrogateescape"))
        except csv.Error:
            return False
        return True

    def _parse_records(self, block: TextBlock, wanted: Columns) -> Parsed:
        places = {name: place for place, name in enumerate(self._names)}
        rows: list[list[float | str]] = []
        lines, rejects = [], []
        for line, text in self._records(block):
            try:
                cells = self._whole(text)
                carried = [_decoded(cells[places[name]]) for name in wanted.carried]
            except (csv.Error, ValueError) as error:
                rejects.append(Reject(line, _reason(error)))
                continue
            try:
                numbers = [self._number(cells[places[name]], name) for name in wanted.numbers]
                numbers += [
                    moment(cells[places[name]], name, wanted, self._missing)
                    for name in wanted.dates
                ]
                texts = [_decoded(cells[places[name]]) for name in wanted.texts]
            except ValueError as error:
                rejects.append(Reject(line, _reason(error), tuple(carried)))
                continue
            rows.append([*numbers, *texts, *carried])
            lines.append(line)
        columns = columns_from(rows, wanted)
        return columns, np.array(lines, dtype=np.int64), rejects

    def _number(self, cell: str, name: str) -> float:
        plain = self._point(cell)
        if name in self.first_rows.dressed or not is_number(plain):
            plain = undressed(cell, self.decimal) or plain
        return as_number(plain, name, self._missing)

    def _point(self, cell: str) -> str:
        """Return a cell with a decimal point; a cell that has both marks is not a number."""
        if cell.strip() in self._missing:
            return cell
        return cell if self.decimal == "." or "." in cell else cell.replace(self.decimal, ".")

    def _whole(self, text: str) -> list[str]:
        cells = self._cells(text)
        if len(cells) != len(self._names):
            raise ValueError(f"it has {len(cells)} cells, expected {len(self._names)}")
        return cells

    def _cells(self, text: str) -> list[str]:
        try:
            rows = self._read(text, strict=True)
        except csv.Error as error:
            if "expected after" not in str(error):
                raise
            rows = self._read(
                text, strict=False
            )  # text after a closing quote, which pyarrow accepts
        return rows[0] if len(rows) == 1 else []

    def _read(self, text: str, strict: bool) -> list[list[str]]:
        lines = io.StringIO(text, newline="")
        return list(csv.reader(lines, delimiter=self.delimiter, strict=strict))

    def _records(self, block: TextBlock) -> Iterator[tuple[int, str]]:
        """Yield records, which may have several lines, with the number of their first line."""
        lines = io.StringIO(block.data.decode(errors="surrogateescape"), newline="\n").readlines()
        first = 0
        while first < len(lines):
            last = first + 1
            if '"' in lines[first]:
                last = self._closing(lines, first)
            text = "".join(lines[first:last])
            if text.strip():
                yield block.line + first, text
            first = last

    def _closing(self, lines: Sequence[str], first: int) -> int:
        """Return the index after the last line of the record; `first` + 1 if it does not end."""
        for last in range(first + 1, min(first + _MOST_LINES, len(lines)) + 1):
            try:
                self._cells("".join(lines[first:last]))
            except csv.Error as error:
                if "unexpected end of data" not in str(error):
                    break
            else:
                return last
        return first + 1


def _unique(names: Sequence[str]) -> tuple[list[str], set[str]]:
    """Name the columns without a name, and number those of the same name; return also the former.

    Examples
    --------
    >>> _unique(["", "size", "size"])
    (['column 1', 'size', 'size (2)'], {'column 1'})
    """
    found: list[str] = []
    unnamed = set()
    for place, name in enumerate(names, 1):
        wanted, n = name or f"column {place}", 2
        unique = wanted
        while unique in found or (unique != name and unique in names):
            unique, n = f"{wanted} ({n})", n + 1
        found.append(unique)
        if not name:
            unnamed.add(unique)
    return found, unnamed


def _decoded(cell: str) -> str:
    """Return a cell; raise if it was not UTF-8."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        raise ValueError("it is not UTF-8: set `encoding`") from error
    return cell


def _reason(error: Exception) -> str:
    if "unexpected end of data" in str(error):
        return "a quote is never closed"
    reason = str(error)
    return reason if len(reason) <= _SHOWN else f"{reason[:_SHOWN]}…"
