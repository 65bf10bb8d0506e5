"""Options that several commands share, and the list of rejected rows."""

import argparse
import csv
import importlib.util
import io
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colk.tabular.reading import Reject, Source

__all__ = [
    "Rejects",
    "add_bounds",
    "add_command",
    "add_data",
    "add_intervals",
    "add_random_jobs",
    "check_columns",
    "count",
    "names",
    "need",
    "need_serve",
    "open_source",
    "port",
    "share",
]


# Packages of the extra `serve`.
_SERVING = ("jinja2", "latex2mathml", "starlette", "uvicorn")


def need(command: str, *packages: str, extra: str = "cli") -> None:
    """Raise if a package that a command needs is not installed.

    Examples
    --------
    >>> need("fit", "numpy")
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        packages_missing = " and ".join(missing)
        raise ImportError(f"colk {command} needs {packages_missing}: pip install 'colk[{extra}]'")


def need_serve(command: str) -> None:
    """Raise if a package that serves pages is not installed."""
    need(command, *_SERVING, extra="serve")


def names(text: str) -> tuple[str, ...]:
    """Split names at commas; a name that contains a comma must be in quotes.

    Examples
    --------
    >>> names('size, "age, years"')
    ('size', 'age, years')
    """
    cells = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in cells if name.strip())


def count(text: str) -> int:
    """Return a whole number of at least 1.

    Examples
    --------
    >>> count("12")
    12
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text}")
    return int(text)


def port(text: str) -> int:
    """Return the number of a port.

    Examples
    --------
    >>> port("8765")
    8765
    """
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a port from 0 to 65535, got {text}")
    return int(text)


def share(text: str) -> float:
    """Return a number between 0 and 1.

    Examples
    --------
    >>> share("0.9")
    0.9
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < 1.0:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, got {text}")
    return number


def _delimiter(text: str) -> str:
    return "\t" if text in ("\\t", "tab") else text


def add_command(commands: Any, name: str, description: str, **more: Any) -> Any:
    """Add a subcommand whose description keeps its lines; return its parser."""
    raw = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, description=description, formatter_class=raw, **more)


def add_intervals(parser: argparse.ArgumentParser) -> None:
    """Add the coverage of the intervals that a model predicts."""
    parser.add_argument(
        "--intervals",
        type=share,
        metavar="C",
        help="coverage of the prediction intervals (default: that of colk fit --intervals)",
    )


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the bounds of a compression."""
    parser.add_argument(
        "--eps", type=float, metavar="E", help="largest H-norm of the error (default: no bound)"
    )
    parser.add_argument(
        "--max-atoms", type=int, metavar="M", help="largest number of atoms (default: no bound)"
    )


def add_random_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the seed and the number of processes of a long run."""
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(2, os.cpu_count() or 1),
        metavar="N",
        help="number of processes (default: %(default)s)",
    )


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the options for the data and for unusable rows."""
    data = parser.add_argument_group("data")
    data.add_argument("data", nargs="+", metavar="DATA", help="files to read; - is standard input")
    data.add_argument(
        "--format",
        choices=("csv", "parquet", "jsonl", "libsvm"),
        help="format of the data (default: by extension; CSV for standard input)",
    )
    data.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="C",
        help="delimiter of CSV (default: a comma, a tab for .tsv)",
    )
    data.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        help="decimal mark of numbers in CSV (default: .)",
    )
    data.add_argument(
        "--columns",
        type=names,
        metavar="NAMES",
        help="names of the columns, such as a,b,c (default: the first line of a CSV file has them)",
    )
    data.add_argument(
        "--n-features",
        type=count,
        metavar="N",
        help="number of features in LIBSVM files (default: the largest in the first lines)",
    )
    data.add_argument(
        "--rejects",
        type=Path,
        metavar="FILE",
        help="write unusable rows to this CSV file: file, line and reason (default: only count)",
    )
    data.add_argument("--strict", action="store_true", help="stop at the first unusable row")


def open_source(arguments: argparse.Namespace, features: Sequence[str] = ()) -> "Source":
    """Open the data of a command; `features` are the features of its model, if it has one."""
    import pyarrow

    from colk.tabular.reading import Source

    # Ctrl-C would be lost while pyarrow reads, and while it imports pandas. The array below makes
    # it import pandas now.
    pyarrow.enable_signal_handlers(False)
    pyarrow.array([0.0])
    numbers = [int(name) for name in features if name.isdecimal()]
    return Source(
        arguments.data,
        arguments.format,
        arguments.delimiter,
        arguments.columns,
        arguments.n_features or max(numbers, default=None),
        arguments.decimal,
    )


def check_columns(source: "Source", wanted: Iterable[str]) -> None:
    """Raise if the first file of the data lacks a column.

    Parameters
    ----------
    source : Source
        The data.
    wanted : iterable of str
        Names of columns.
    """
    from colk.tabular.reading import listed

    missing = next((name for name in wanted if name not in source.kinds), None)
    if missing is not None:
        there = listed(source.kinds)
        hint = _other_delimiter(there) if len(source.kinds) == 1 else ""
        raise ValueError(f"{source.paths[0]} has no column {missing!r}; it has {there}{hint}")


def _other_delimiter(header: str) -> str:
    """Return advice if the first line has another delimiter."""
    found = next((each for each in ";\t|" if each in header), None)
    shown = "tab" if found == "\t" else f"'{found}'"
    return "" if found is None else f"; try --delimiter {shown}"


# Largest number of reasons that are counted separately.
_KINDS = 20


class Rejects:
    """Counts unusable rows, and writes them to a file.

    Parameters
    ----------
    path : Path or None
        A CSV file with the columns file, line and reason; None to only count.
    strict : bool
        Whether to raise an error at the first unusable row.
    size, count : int, default=0
        For a continued run: bytes of the file to keep, and number of rows counted so far.

    Examples
    --------
    >>> from colk.tabular.reading import Reject
    >>> rejects = Rejects(None, strict=False)
    >>> rejects.add("a.csv", [Reject(2, "size is missing")])
    >>> rejects.count, rejects.first
    (1, 'a.csv, line 2: size is missing')
    """

    def __init__(self, path: Path | None, strict: bool, size: int = 0, count: int = 0) -> None:
        self._strict = strict
        self.count = count
        self._kinds: dict[str, tuple[int, str]] = {}
        self.first = ""
        self._file: io.BufferedRandom | None = None
        if path is not None:
            path.touch()
            self._file = open(path, "r+b")  # noqa: SIM115, closed by `close`
            size = min(size, os.path.getsize(path))  # the file may have been removed
            self._file.truncate(size)
            self._file.seek(size)
            if size == 0:
                self._write("file", "line", "reason")

    @property
    def size(self) -> int:
        """Flush the file; return its number of bytes."""
        if self._file is None:
            return 0
        self._file.flush()
        return self._file.tell()

    def add(self, path: str, rejects: "Sequence[Reject]") -> None:
        """Count and write the unusable rows of a file; raise at the first one if `strict`."""
        for reject in rejects:
            told = f"{path}, line {reject.line}: {reject.reason}"
            self.first = self.first or told
            self._sort(reject.reason, f"{Path(path).name}, line {reject.line:,}: {reject.reason}")
            self.count += 1
            if self._file is not None:
                self._write(path, reject.line, " ".join(reject.reason.split()))
            if self._strict:
                self.close()
                raise ValueError(f"{told} (--strict)")

    def _sort(self, reason: str, told: str) -> None:
        """Count a reason; values and counts in it are replaced by "…", as they differ by row."""
        kind = re.sub(r"'.*'|\".*\"|(?<=it has )\d+|(?<= is )[-+.\deinf]+(?=, beyond)", "…", reason)
        if kind not in self._kinds and len(self._kinds) >= _KINDS:
            kind = "other reasons"
        n, first = self._kinds.get(kind, (0, told))
        self._kinds[kind] = (n + 1, first)

    @property
    def reasons(self) -> list[tuple[str, str, str]]:
        """The reasons, most frequent first: reason, number of rows, and first row."""
        most = sorted(self._kinds.items(), key=lambda each: -each[1][0])
        return [(kind, f"{n:,}", first) for kind, (n, first) in most]

    def _write(self, *cells: str | int) -> None:
        if self._file is not None:
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerow(cells)
            self._file.write(text.getvalue().encode(errors="replace"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> "Rejects":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
