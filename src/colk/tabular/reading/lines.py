"""Read tables whose rows are lines of a file or a pipe."""

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from colk.tabular.reading.blocks import TextBlock, blocks
from colk.tabular.reading.compressed import Decompressed, compression_of
from colk.tabular.reading.encodings import ByteStream, Recoded, opened
from colk.tabular.reading.first_rows import FirstRows
from colk.tabular.reading.rows import Column, Columns, Kind, Position, Reject, RowBatch, sift

__all__ = ["LineTable", "Parsed", "Parser"]

# First bytes of binary files, and their formats.
_MARKS = {
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"PK\x03\x04": "a ZIP archive or an Excel file",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x89HDF": "an HDF5 file",
}
_LONGEST_MARK = 8

Parsed = tuple[dict[str, Column], NDArray[np.int64], list[Reject]]


class Parser(Protocol):
    """A parser of one format, which finds the columns of a table and reads them from blocks."""

    quoted: bool
    first_rows: FirstRows

    @property
    def found(self) -> Mapping[str, str]:
        """What was found in the first block, by the name of its option."""

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column, by name."""

    def look(self, block: TextBlock) -> int:
        """Find names and kinds of the columns in the first block; return the size of the header."""

    def parse(self, block: TextBlock, wanted: Columns) -> Parsed:
        """Return the wanted columns, the lines of their rows, and rejected rows."""


class LineTable:
    r"""Reads a file or a pipe with a parser.

    Parameters
    ----------
    path : path or int
        A file, or the file descriptor of a pipe.
    parser : Parser
        Parser of its format.
    encoding : str, optional
        Its encoding. Default: found in its first bytes.

    Examples
    --------
    >>> import tempfile
    >>> from colk.tabular.reading.delimited import Delimited
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     _ = file.write(b"a,b\n1,2\n"), file.flush()
    ...     table = LineTable(file.name, Delimited())
    ...     next(table.rows(Columns(("b",)), Position())).columns
    ...     table.close()
    {'b': array([2.])}
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | int,
        parser: Parser,
        encoding: str | None = None,
    ) -> None:
        # Unbuffered: available bytes are returned at once, and no lock is held while waiting.
        file: BinaryIO = open(path, "rb", buffering=0, closefd=not isinstance(path, int))  # noqa: SIM115
        self._stream: ByteStream = file
        self._parser = parser
        self._waits = not file.seekable()
        self.size = None if self._waits else os.fstat(file.fileno()).st_size
        start = b"" if self._waits else os.pread(file.fileno(), _LONGEST_MARK, 0)
        codec = compression_of(start)
        if codec is not None and not isinstance(path, int):
            file.close()
            self._stream = Decompressed(path, codec)
        try:
            self._stream, self.encoding, start = opened(self._stream, encoding, self._waits)
            _check_plain(start)
            self._blocks = blocks(self._stream, quoted=parser.quoted)
            first, header = self._look()
        except BaseException:
            self.close()
            raise
        body = first.data[header:]
        line = first.line + first.data.count(b"\n", 0, header)
        self._body = Position(0, header, line)
        self._first = TextBlock(body, header, line, first.size - header)

    def _look(self) -> tuple[TextBlock, int]:
        """Return the first block, and the size of the header in it."""
        first = next(self._blocks, None)
        if first is None:
            raise ValueError("it is empty")
        if not first.data:
            raise ValueError("its first line is too long")
        return first, self._parser.look(first)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column, by name."""
        return self._parser.kinds

    @property
    def found(self) -> dict[str, str]:
        """Encoding, delimiter, decimal mark, and words for missing values, by option."""
        return {"encoding": self.encoding, **self._parser.found}

    @property
    def first_rows(self) -> FirstRows:
        """Counts of the contents of the columns in the first rows."""
        return self._parser.first_rows

    def rows(self, wanted: Columns, start: Position) -> Iterator[RowBatch]:
        """Yield batches from `start`, which is the start of the file or of a batch."""
        for block in self._from(start):
            if not block.data:
                columns, lines, rejects = self._nothing(wanted)
                rejects = [Reject(block.line, "it is too long to be a row")]
            else:
                columns, lines, rejects = self._parser.parse(block, wanted)
            kept, lines, more = sift(columns, lines, wanted)
            carried = {name: kept.pop(key) for key, name in wanted.carried_keys.items()}
            yield RowBatch(
                kept,
                lines,
                sorted([*rejects, *more], key=lambda reject: reject.line),
                Position(start.file, block.offset, block.line),
                self._done(block),
                carried,
            )

    def _done(self, block: TextBlock) -> int:
        """Return the number of bytes of the file that have been read."""
        if not self._waits and isinstance(self._stream, Decompressed | Recoded):
            return self._stream.tell()
        return block.offset + block.size

    def _from(self, start: Position) -> Iterator[TextBlock]:
        if self._waits:
            return chain([self._first] if self._first.data else [], self._blocks)
        offset, line = max((start.offset, start.line), (self._body.offset, self._body.line))
        self._stream.seek(offset)
        return blocks(self._stream, offset, line, self._parser.quoted)

    def _nothing(self, wanted: Columns) -> Parsed:
        empty: dict[str, Any] = {name: np.empty(0) for name in (*wanted.numbers, *wanted.dates)}
        keys = (*wanted.texts, *wanted.carried_keys)
        empty |= {name: np.empty(0, dtype=object) for name in keys}
        return empty, np.empty(0, dtype=np.int64), []

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _check_plain(start: bytes) -> None:
    """Raise if the first bytes of a file are those of another format."""
    codec = compression_of(start)
    packed = {} if codec is None else {start: f"compressed with {codec}"}
    for mark, content in {**packed, **_MARKS}.items():
        if start.startswith(mark):
            is_packed = content.startswith("compressed")
            cure = "decompress it first" if is_packed else "convert it, or set `format`"
            raise ValueError(f"it is {content}, not lines of text: {cure}")
