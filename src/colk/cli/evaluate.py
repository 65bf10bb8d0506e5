"""`colk evaluate`: measure a model on rows with known targets."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import (
    add_command,
    add_data,
    add_intervals,
    check_columns,
    need,
    open_source,
    tell_found,
)
from colk.cli.paths import check_apart, check_file
from colk.cli.rejects import Rejects

if TYPE_CHECKING:
    from colk.cli.evaluation import ModelMetrics

__all__ = ["add_parser", "confusion_table", "metrics_table"]

_DESCRIPTION = """\
Measure a model on rows that it has not learned. For numbers, print MAE, RMSE and R²,
and the coverage of intervals if the model has them; for labels, print accuracy, log
loss, calibration and the confusion matrix. For a model of a quantile (--loss
"pinball(0.9)"), print also the pinball loss and the share of targets that are not
above the prediction. Three baselines are shown for comparison: a constant, the target
of the previous row ("no change"), and a linear model. The constant and the linear
model come from the rows that colk fit has learned.

    colk evaluate houses.colk new.csv --report evaluation.html
"""

# Metrics in units of the target; the others are of order 1.
_OF_TARGET = ("MAE", "RMSE", "pinball loss", "width", "interval score")
# Largest number of classes in a confusion matrix.
MOST_CLASSES = 12


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "evaluate", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model that colk fit wrote")
    add_data(parser)
    add_intervals(parser)
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report (HTML) to this file"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    page = ("jinja2", "matplotlib") if arguments.report else ()
    need("evaluate", "pyarrow", *page)
    from colk.cli.evaluation import ModelMetrics
    from colk.cli.models import interval_coverage, load_table_model

    written = ((arguments.report, "--report"), (arguments.rejects, "--rejects"))
    for path, option in written:
        check_file(path, option)
    check_apart(written, [arguments.model, *arguments.data])
    model = load_table_model(arguments.model)
    with (
        open_source(arguments, model.features) as source,
        interruptible(),
        Rejects(arguments.rejects, arguments.strict) as rejects,
    ):
        check_columns(source, (*model.features, model.target))
        evaluation = ModelMetrics(model, interval_coverage(model, arguments.intervals))
        for rows in source.rows(model.wanted):
            path = source.paths[rows.start.file]
            rejects.add(path, rows.rejects)
            evaluation.add(rows.columns, rows.columns[model.target], path, rows.lines)
        if evaluation.record.rows == 0:
            why = f"; first reason: {rejects.first}" if rejects.first else ""
            raise ValueError(f"no row could be evaluated{why}")
        lines = {
            "model": str(arguments.model),
            "rows": f"{evaluation.record.rows:,} evaluated, {rejects.count:,} rejected",
        }
        found = tell_found(source, arguments)
        if found:
            lines["found"] = found
        if arguments.report is not None:
            from colk.cli.evaluation_page import write_evaluation

            write_evaluation(arguments.report, evaluation, lines, rejects)
            lines["report"] = str(arguments.report.resolve())
    _print(lines, evaluation)


def _print(lines: dict[str, str], evaluation: "ModelMetrics") -> None:
    for name, text in lines.items():
        print(f"{name:<9}{text}")
    head, rows = metrics_table(evaluation)
    print()
    _print_table([head, *rows])
    if evaluation.classes:
        print()
        _print_table(confusion_table(evaluation))


def _print_table(table: list[tuple[str, ...]]) -> None:
    """Print cells in columns: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    for row in table:
        first, *others = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def metrics_table(evaluation: "ModelMetrics") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table of metrics, as text.

    Parameters
    ----------
    evaluation : ModelMetrics
        The metrics of the model and of its baselines.
    """
    values = {name: metrics.values for name, metrics in evaluation.metrics.items()}
    names = list(values["model"])
    rows = [
        (name, *(_shown(found.get(metric, math.nan), metric) for metric in names))
        for name, found in values.items()
    ]
    return ("", *names), rows


def _shown(value: float, metric: str) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4g}" if metric in _OF_TARGET else f"{value:.4f}"


def confusion_table(evaluation: "ModelMetrics") -> list[tuple[str, ...]]:
    """Return the confusion matrix as text: a row for each label, a column for each prediction.

    Parameters
    ----------
    evaluation : ModelMetrics
        The metrics of the model.
    """
    confusion = evaluation.classes["model"].confusion
    counts: dict[str, int] = {}
    for (of, _), n in confusion.items():
        counts[of] = counts.get(of, 0) + n
    known = dict.fromkeys([*evaluation.model.labels, *counts])
    labels = sorted(known, key=lambda label: -counts.get(label, 0))[:MOST_CLASSES]
    head = (f"{evaluation.model.target} \\ predicted", *labels)
    return [head, *((of, *(f"{confusion[of, as_]:,}" for as_ in labels)) for of in labels)]
