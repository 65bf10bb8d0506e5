"""`colk predict`: predict the rows of a table."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import (
    add_command,
    add_data,
    add_intervals,
    check_columns,
    names,
    need,
    open_source,
    tell_found,
)
from colk.cli.paths import check_apart, check_file
from colk.cli.rejects import Rejects

if TYPE_CHECKING:
    from colk.cli.writers import Write
    from colk.tabular import TableModel
    from colk.tabular.reading import RowBatch, Source

__all__ = ["add_parser"]

_DESCRIPTION = """\
Predict the rows of a table in their order. The prediction of an unusable row is
empty, so there are as many lines as rows; it is an error if no row is usable.
Classification adds a column with the probability of each label, and intervals add
the columns lower and upper. Rows from standard input are predicted as they arrive.

    colk predict houses.colk new.csv --out predicted.csv
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "predict", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model that colk fit wrote")
    add_data(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="file for the predictions (default: standard output)",
    )
    parser.add_argument(
        "--to",
        choices=("csv", "jsonl", "parquet"),
        help="format of the predictions (default: by the extension of --out, else CSV)",
    )
    parser.add_argument(
        "--id",
        metavar="NAME",
        help="column that names the rows and is written first (default: that of colk fit --id)",
    )
    parser.add_argument(
        "--keep",
        type=names,
        default=(),
        metavar="NAMES",
        help="other columns of the data to write beside the predictions (default: none)",
    )
    parser.add_argument(
        "--safe-csv",
        action="store_true",
        help="put an apostrophe before texts that spreadsheets take for formulas: =, +, -, @",
    )
    add_intervals(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need("predict", "pyarrow")
    from colk.cli.models import interval_coverage, load_table_model

    check_file(arguments.out, "--out")
    check_file(arguments.rejects, "--rejects")
    written = ((arguments.out, "--out"), (arguments.rejects, "--rejects"))
    check_apart(written, [arguments.model, *arguments.data])
    model = load_table_model(arguments.model)
    coverage = interval_coverage(model, arguments.intervals)
    with (
        open_source(arguments, model.features) as source,  # imports readers
        interruptible(),
        Rejects(arguments.rejects, arguments.strict) as rejects,
        _writer(model, arguments, source) as write,
    ):
        found = tell_found(source, arguments)
        if found:
            print(f"colk: found {found}", file=sys.stderr)
        check_columns(source, model.features)
        carried, n_predicted = _carried(model, arguments, source), 0
        wanted = replace(model.wanted_features, carried=carried)
        for rows in source.rows(wanted):
            rejects.add(source.paths[rows.start.file], rows.rejects)
            write(_predicted(model, rows, carried, coverage))
            n_predicted += len(rows)
        if rejects.count and not n_predicted:
            raise ValueError(f"no row could be predicted; first reason: {rejects.first}")
    if rejects.count:
        told = f"{rejects.count:,} rows have no prediction; first reason: {rejects.first}"
        print(f"colk: {told}", file=sys.stderr)


def _carried(
    model: "TableModel", arguments: argparse.Namespace, source: "Source"
) -> tuple[str, ...]:
    """Return the columns of the data to write: the id first, then the columns of --keep."""
    of_model = model.notes.get("id")
    name = arguments.id or (of_model if of_model in source.kinds else None)
    carried = tuple(dict.fromkeys([*([] if name is None else [name]), *arguments.keep]))
    taken = [each for each in carried if each in ("prediction", "lower", "upper")]
    if taken:
        raise ValueError(f"the output has its own column {taken[0]}; rename that of the data")
    return carried


def _writer(
    model: "TableModel", arguments: argparse.Namespace, source: "Source"
) -> AbstractContextManager["Write"]:
    """Open the output, whose columns of text are known."""
    from colk.cli.writers import writer

    labels = {"prediction"} if model.task == "classification" else set()
    texts = {*_carried(model, arguments, source), *labels}
    return writer(arguments.out, arguments.to, texts, arguments.safe_csv)


def _predicted(
    model: "TableModel", rows: "RowBatch", carried: tuple[str, ...], coverage: float | None
) -> Mapping[str, list[Any]]:
    """Return columns of predictions, with None for unusable rows."""
    lines = [*rows.lines.tolist(), *(reject.line for reject in rows.rejects)]
    order = sorted(range(len(lines)), key=lines.__getitem__)
    found: dict[str, list[Any]] = {
        name: [text or None for text in rows.carried[name]] for name in carried
    }
    found["prediction"] = model.predict(rows.columns).tolist() if len(rows) else []
    if coverage is not None:
        low, high = model.predict_interval(rows.columns, coverage) if len(rows) else ((), ())
        found |= {"lower": list(low), "upper": list(high)}
    if model.task == "classification" and model.loss.kind == "multiclass":
        shares = model.predict_proba(rows.columns) if len(rows) else None
        for place, label in enumerate(model.labels):
            column = [] if shares is None else shares[:, place].tolist()
            found[f"share of {label}"] = column
    for reject in rows.rejects:
        known = dict(zip(carried, reject.carried, strict=False))
        for name, column in found.items():
            column.append(known.get(name) or None)
    return {name: [column[place] for place in order] for name, column in found.items()}
