"""Options that several commands share."""

import argparse
import csv
import importlib.util
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colk.tabular.reading import Source

__all__ = [
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
    "source_options",
    "tell_found",
]


# Packages of the extra `serve`.
_SERVING = ("jinja2", "starlette", "uvicorn")


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
    raw, summary = argparse.RawDescriptionHelpFormatter, description.split("\n", 1)[0]
    more = {"help": summary, "description": description, "formatter_class": raw, **more}
    return commands.add_parser(name, **more)


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
        help="delimiter of CSV (default: found in the first lines)",
    )
    data.add_argument(
        "--decimal",
        choices=(".", ","),
        help="decimal mark of numbers in CSV (default: found in the first rows)",
    )
    data.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of the text, such as cp1252 (default: found in the first rows)",
    )
    data.add_argument(
        "--missing",
        type=names,
        metavar="WORDS",
        help="words that mean a missing value, in all columns of CSV (default: usual words such as "
        "NA, unknown and ?, in columns of numbers and dates)",
    )
    data.add_argument(
        "--columns",
        type=names,
        metavar="NAMES",
        help="names of the columns, such as a,b,c (default: the first line of a CSV file has them)",
    )
    data.add_argument(
        "--header",
        type=count,
        metavar="N",
        help="number of the line with the names of the columns (default: found in the first lines)",
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
    n_features = arguments.n_features or max(numbers, default=None)
    return Source(arguments.data, *source_options(arguments, n_features))


def source_options(arguments: argparse.Namespace, n_features: int | None) -> tuple[Any, ...]:
    """Return the options of the data, in the order of the parameters of `Source`."""
    return (
        arguments.format,
        arguments.delimiter,
        arguments.columns,
        n_features,
        arguments.decimal,
        arguments.encoding,
        arguments.missing,
        arguments.header,
    )


def tell_found(source: "Source", arguments: argparse.Namespace) -> str:
    """Return the options that were found in the first rows, as text; "" for the usual ones."""
    usual = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "missing": "", "header": "1"}
    found = {
        name: value
        for name, value in source.found.items()
        if value != usual[name] and getattr(arguments, name) is None
    }
    shown = {name: "tab" if value == "\t" else shlex.quote(value) for name, value in found.items()}
    return " ".join(f"--{name} {value}" for name, value in shown.items())


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
        advice = "; set `delimiter` or `header`" if len(source.kinds) == 1 else ""
        raise ValueError(f"{source.paths[0]} has no column {missing!r}; it has {there}{advice}")
