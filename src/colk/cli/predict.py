"""`colk predict`: a prediction for each row of a table."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import Rejects, add_data, need, open_source
from colk.cli.paths import check_apart, check_file

if TYPE_CHECKING:
    from colk.tabular import TableModel
    from colk.tabular.reading import Rows

__all__ = ["add_parser"]

_DESCRIPTION = """\
Predict each row of a table, in its order. The prediction of a row that cannot be
used is empty, so that there are as many lines as rows. For classes there is a
column with the probability of each. Rows from standard input are predicted as they
arrive.

    colk predict houses.colk new.csv --out predicted.csv
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = commands.add_parser(
        "predict",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need("predict", "pyarrow")
    from colk.cli.models import load_table_model
    from colk.cli.writers import writer
    from colk.tabular.reading import Columns

    check_file(arguments.out, "--out")
    check_file(arguments.rejects, "--rejects")
    written = ((arguments.out, "--out"), (arguments.rejects, "--rejects"))
    check_apart(written, [arguments.model, *arguments.data])
    model = load_table_model(arguments.model)
    numbers = tuple(name for name in model.features if name not in model.categorical)
    wanted, labels = Columns(numbers, model.categorical), model.task == "classification"
    with (
        open_source(arguments, model.features) as source,  # imports readers
        interruptible(),
        Rejects(arguments.rejects, arguments.strict) as rejects,
        writer(arguments.out, arguments.to, labels) as write,
    ):
        for rows in source.rows(wanted):
            rejects.add(source.paths[rows.start.file], rows.rejects)
            write(_predicted(model, rows))
    if rejects.count:
        print(f"colk: {rejects.count:,} rows have no prediction; {rejects.first}", file=sys.stderr)


def _predicted(model: "TableModel", rows: "Rows") -> Mapping[str, list[Any]]:
    """Return columns of predictions, with None for rows that cannot be used."""
    lines = [*rows.lines.tolist(), *(reject.line for reject in rows.rejects)]
    order = sorted(range(len(lines)), key=lines.__getitem__)
    found: dict[str, list[Any]] = {"prediction": []}
    if len(rows):
        found["prediction"] = model.predict(rows.columns).tolist()
    if model.task == "classification" and model.loss.kind == "multiclass":
        shares = model.predict_proba(rows.columns) if len(rows) else None
        for place, label in enumerate(model.labels):
            column = [] if shares is None else shares[:, place].tolist()
            found[f"share of {label}"] = column
    for column in found.values():
        column += [None] * len(rows.rejects)
    return {name: [column[place] for place in order] for name, column in found.items()}
