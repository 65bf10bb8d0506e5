"""Read several files, or standard input, as one stream of batches."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from colk.tabular.reading.batches import TableBatches
from colk.tabular.reading.columnar import ParquetTable
from colk.tabular.reading.compressed import without_compression
from colk.tabular.reading.delimited import Delimited
from colk.tabular.reading.encodings import check_encoding
from colk.tabular.reading.libsvm import LibSVM, largest_feature
from colk.tabular.reading.lines import LineTable
from colk.tabular.reading.objects import Objects
from colk.tabular.reading.prefix import Prefix
from colk.tabular.reading.rows import Columns, Kind, Position, RowBatch

__all__ = ["FORMATS", "Format", "Source", "format_of", "listed"]

# Largest number of names in a message, and of characters in each.
_LISTED = 20
_LONGEST = 40

Format = Literal["csv", "parquet", "jsonl", "libsvm"]

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}


def format_of(path: str) -> Format:
    """Return the format that belongs to a file's extension; CSV for standard input.

    Examples
    --------
    >>> format_of("a/b.parquet"), format_of("-")
    ('parquet', 'csv')
    """
    extension = Path(without_compression(path)).suffix.lower()
    if path == "-":
        return "csv"
    if extension not in FORMATS:
        known = ", ".join(sorted(set(FORMATS.values())))
        raise ValueError(f"{path} has no known extension; set `format` to one of {known}")
    return FORMATS[extension]


class Source:
    """Tables that are read one after the other, in batches of bounded memory.

    Parameters
    ----------
    paths : sequence of str
        Files; "-" is standard input.
    format : {"csv", "parquet", "jsonl", "libsvm"}, optional
        Format of all files. Default: by their extensions.
    delimiter : str, optional
        Delimiter of CSV. Default: found in the first lines of each file.
    columns : sequence of str, optional
        Names of the columns of a CSV file. Default: the first line has them.
    n_features : int, optional
        Number of features in the LIBSVM format. Default: the largest in the first lines.
    decimal : {".", ","}, optional
        Decimal mark of numbers in CSV. Default: found in the first rows of each file.
    encoding : str, optional
        Encoding of the text, such as "cp1252". Default: found in the first bytes of each file.
    missing : sequence of str, optional
        Words that mean a missing value, in all columns of CSV. Default: usual words such as "NA"
        and "unknown", in columns of numbers and dates.
    header : int, optional
        Number of the line with the names of the columns in CSV. Default: found in the first lines.

    Examples
    --------
    >>> from importlib.resources import files
    >>> source = Source([str(files("colk.data") / "lidar.csv")])
    >>> source.kinds
    {'range': 'number', 'logratio': 'number'}
    >>> batch = next(source.rows(Columns(("range",))))
    >>> len(batch), batch.lines[0]
    (221, np.int64(2))
    """

    def __init__(
        self,
        paths: Sequence[str],
        format: Format | None = None,  # noqa: A002, the usual name
        delimiter: str | None = None,
        columns: Sequence[str] | None = None,
        n_features: int | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        missing: Sequence[str] | None = None,
        header: int | None = None,
    ) -> None:
        if not paths:
            raise ValueError("there are no files; `-` is standard input")
        if paths.count("-") > 1:
            raise ValueError("standard input can be read only once")
        self.paths = list(paths)
        self._format, self._delimiter = format, delimiter
        self._names, self._n_features, self._decimal = columns, n_features, decimal
        self._encoding = None if encoding is None else check_encoding(encoding)
        self._missing, self._header = missing, header
        self._encodings: dict[int, str] = {}  # that were found, by the number of the file
        self._first: LineTable | ParquetTable | None = self._open(0)
        self.kinds: dict[str, Kind] = dict(self._first.kinds)
        if isinstance(self._first, ParquetTable):
            self._first.look()
        self.first_rows = self._first.first_rows
        # What was found in the first file, by the name of its option.
        self.found = {} if isinstance(self._first, ParquetTable) else self._first.found
        if self._n_features is None and self._format_of(0) == "libsvm":
            self._n_features = largest_feature(self.kinds)  # same number for the other files

    @cached_property
    def waits(self) -> bool:
        """Whether one of the files is a pipe, which can be read only once."""
        return any(path == "-" or not Path(path).is_file() for path in self.paths)

    @property
    def size(self) -> int | None:
        """Bytes of all files (rows of Parquet files); None for a pipe."""
        if self.waits:
            return None
        return sum(self._size(number) for number in range(len(self.paths)))

    def _size(self, number: int) -> int:
        if self._format_of(number) == "parquet":
            return int(ParquetTable(self.paths[number]).size)
        return os.path.getsize(self.paths[number])

    def prefixes(self) -> list[Prefix]:
        """Return a digest of the rows of each file; an empty list if there is a pipe."""
        return [] if self.waits else [Prefix.of_file(path) for path in self.paths]

    def batches(self, target: str | Sequence[str]) -> TableBatches:
        """Return the rows as batches of points and targets, which `COLKRegressor.fit` reads.

        Parameters
        ----------
        target : str or sequence of str
            The column with the targets, or several.
        """
        return TableBatches(self, target)

    def rows(self, wanted: Columns, start: Position = Position()) -> Iterator[RowBatch]:  # noqa: B008
        """Yield batches from the beginning, or from the start of a batch.

        Parameters
        ----------
        wanted : Columns
            The columns to read.
        start : Position
            The `start` of a batch.

        Yields
        ------
        RowBatch
            Batches. A batch is empty only if all its rows were rejected.
        """
        before = 0 if self.waits else sum(self._size(number) for number in range(start.file))
        for number in range(start.file, len(self.paths)):
            path, table = self.paths[number], self._take(number)
            there = table.kinds  # counted at each access
            missing = [name for name in wanted.names if name not in there]
            if missing:
                table.close()
                raise ValueError(f"{path} has no column {missing[0]!r}; it has {listed(there)}")
            at = start if number == start.file else Position(number)
            done = 0
            try:
                for batch in table.rows(wanted, at):
                    done = batch.done
                    yield replace(batch, done=before + done)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from error
            finally:
                table.close()
            before += done

    def _take(self, number: int) -> LineTable | ParquetTable:
        """Open a table; the constructor has opened the first one."""
        if number == 0 and self._first is not None:
            table, self._first = self._first, None
            return table
        self.close()
        return self._open(number)

    def close(self) -> None:
        """Close the first file if it was not read."""
        if self._first is not None:
            self._first.close()
            self._first = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _format_of(self, number: int) -> Format:
        return self._format or format_of(self.paths[number])

    def _open(self, number: int) -> LineTable | ParquetTable:
        path, chosen = self.paths[number], self._format_of(number)
        try:
            if chosen == "parquet":
                return ParquetTable(path)
            parser = self._parser(path, chosen)
            known = self._encoding or self._encodings.get(number)
            table = LineTable(_standard_input() if path == "-" else path, parser, known)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self._encodings[number] = table.encoding
        return table

    def _parser(self, path: str, chosen: Format) -> Delimited | Objects | LibSVM:
        if chosen == "jsonl":
            return Objects()
        if chosen == "libsvm":
            return LibSVM(self._n_features)
        tabs = without_compression(path.lower()).endswith(".tsv")
        marks = self._delimiter, self._names, self._decimal, self._missing
        return Delimited(*marks, "\t" if tabs else ",", self._header)


def _standard_input() -> int:
    """Return the file descriptor of standard input."""
    try:
        os.fstat(0)
    except OSError as error:
        raise ValueError("standard input is closed") from error
    return 0


def listed(names: Collection[str]) -> str:
    """Return the first names as text for a message.

    Examples
    --------
    >>> listed(["size", "x" * 50])
    'size, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    shown = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in names]
    return ", ".join(shown[:_LISTED]) + (", …" if len(shown) > _LISTED else "")
