"""`colk fit`: learn a model from a table."""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from colk._encoding.constants import told_constants
from colk.cli.fit_options import add_running, add_settings, add_usual
from colk.cli.interrupts import interruptible, stoppable
from colk.cli.left_out import CALIBRATION, HeldOutRows
from colk.cli.new_model import new_model
from colk.cli.options import add_command, add_data, need, need_serve, open_source
from colk.cli.paths import check_apart, check_file, write_somewhere
from colk.cli.rejects import Rejects, TooManyRejectsError
from colk.cli.resumed_model import resumed_model

if TYPE_CHECKING:
    from colk.cli.run import Run
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["add_parser"]

# Exit code of --fail-on-drift.
_DRIFTED = 3

_DESCRIPTION = """\
Learn a model from rows in CSV, Parquet, JSON lines or LIBSVM format, in bounded
memory. Files are read several times: for the scales of the columns and the choice
of a kernel, for the atoms, and for the weights (not with --no-polish). Standard
input is read once, with --solver newton. Numbers are standardised, columns of text
are categories, and dates and missing cells are allowed. The error that is printed is
that on rows that the model has not learned. Ctrl-C saves the model.

    colk fit houses.csv --target price --model houses.colk --report houses.html
    tail -f log.jsonl | colk fit - --format jsonl --target ms --model ms.colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    usage = "colk fit DATA [DATA ...] --target NAME --model FILE [options]"
    parser = add_command(commands, "fit", _DESCRIPTION, usage=usage)
    add_usual(parser)
    add_data(parser)
    add_settings(parser)
    add_running(parser.add_argument_group("run"))
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    page = ("jinja2", "matplotlib") if arguments.report else ()
    need("fit", "pyarrow", "rich", *page)
    if arguments.live is not None:
        need_serve("fit --live")
    written = (
        (arguments.model, "--model"),
        (arguments.report, "--report"),
        (arguments.rejects, "--rejects"),
    )
    for path, option in written:
        check_file(path, option)
    check_apart(written, arguments.data)
    goes_on = arguments.resume and arguments.model.exists()
    if arguments.model.exists() and not (arguments.resume or arguments.overwrite):
        raise ValueError(
            f"{arguments.model} exists: continue it with --resume, or replace it with --overwrite"
        )
    if arguments.dask is not None:
        from colk.cli.fit_dask import fit_on_cluster

        fit_on_cluster(arguments)
        return 0
    with open_source(arguments) as source:
        if source.waits:
            for option in ("holdout", "epochs", "polish", "risk_path"):
                if getattr(arguments, option):
                    name = option.replace("_", "-")
                    raise ValueError(f"--{name} needs files: standard input is read only once")
        model = (resumed_model if goes_on else new_model)(arguments, source)
        with _prepared(model, source, arguments, goes_on) as run:
            return _learn(run, arguments)


# -- the run -------------------------------------------------------------------------------------


@contextmanager
def _prepared(
    model: "TableModel", source: "Source", arguments: argparse.Namespace, goes_on: bool
) -> Iterator["Run"]:
    """Make a new run, or continue the run that is recorded in the notes of the model."""
    from colk.cli.place import Place
    from colk.cli.run import Run
    from colk.tabular.record import RunRecord

    notes, place, record = model.notes, Place(), RunRecord()
    size = count = 0
    if goes_on:
        try:
            known, before = RunRecord(notes["record"]), Place.of(notes["place"])
            sizes = int(notes["rejects_size"]), int(notes["rejected"])
            is_done = notes["phase"] == "done" and notes["epochs"] == arguments.epochs
            read = notes["read"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{arguments.model} does not record where its run stopped") from error
        is_done = is_done and read["files"] == [each.state for each in source.prefixes()]
        if source.waits:  # earlier rows of a pipe cannot be read again
            place = Place(before=before.before + before.taken, total=before.total)
        if source.waits or is_done:
            record, (size, count) = known, sizes
    model.notes = {**notes, "data": source.paths}
    wants_rows = notes.get("intervals") is not None and not source.waits
    left_out = HeldOutRows(float(notes["holdout"]), CALIBRATION if wants_rows else 0.0, model.seed)
    options = (arguments.strict, size, count, arguments.allow_rejects)
    more = (arguments.checkpoint_every, arguments.epochs)
    with Rejects(arguments.rejects, *options) as rejects:
        run = Run(model, source, rejects, record, place, left_out, arguments.model, *more)
        if goes_on and is_done and not source.waits:
            run.phase = "done"
        yield run


def _learn(run: "Run", arguments: argparse.Namespace) -> int:
    """Learn, save the model and print a summary; return the exit code."""
    model, began, rows = run.model, time.monotonic(), run.model.rows
    with stoppable() as stopped, warnings.catch_warnings():
        with _progress(run) as show, _live(run, arguments.live) as publish:

            def tell(rows: int) -> None:
                show(rows)
                publish()

            warnings.filterwarnings("ignore", message="one value in all rows")  # `_tell` says it
            try:
                finished = run.learn(stopped, tell)
            except (TooManyRejectsError, OSError) as error:
                if not run.source.waits or model.rows == 0:
                    raise
                # The rows of a pipe cannot be read again.
                write_somewhere(run.save, arguments.model)
                raise type(error)(
                    f"{error}; the model of {model.rows:,} rows is saved in {arguments.model}"
                ) from error
        if not finished and model.rows == 0:
            raise KeyboardInterrupt("stopped before a row was learned; no model was written")
        if model.rows == 0:
            raise run.nothing_learned()
        write_somewhere(run.save, arguments.model)
        if stopped():
            goes_on = "" if finished else ", and --resume continues"
            raise KeyboardInterrupt(
                f"stopped after {model.rows:,} rows; the model is saved in "
                f"{arguments.model}{goes_on}"
            )
    with interruptible():
        _tell(run, arguments, model.rows - rows, time.monotonic() - began)
    return _DRIFTED if arguments.fail_on_drift and run.record.drifts else 0


@contextmanager
def _progress(run: "Run") -> Iterator[Callable[[int], None]]:
    """Show the progress of a run if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from colk.cli.live import LiveLine

    with LiveLine(run.work, "error" if run.model.task == "regression" else "wrong") as line:

        def show(rows: int) -> None:
            error, atoms = run.record.recent, run.model.n_atoms
            line.show(run.phase, rows, run.work_done, error, atoms)

        yield show


@contextmanager
def _live(run: "Run", port: int | None) -> Iterator[Callable[[], None]]:
    """Serve a page about the run, if --live is given."""
    if port is None:
        yield lambda: None
        return
    from colk.cli.live_state import live_page

    with live_page(run, port) as (at, publish):
        print(f"colk: http://127.0.0.1:{at}/ shows the run", file=sys.stderr, flush=True)
        yield publish


# -- the end -------------------------------------------------------------------------------------


def _tell(run: "Run", arguments: argparse.Namespace, rows: int, seconds: float) -> None:
    """Print a summary, and write the report."""
    from colk.cli.summary import summary

    lines = summary(run)
    if rows:
        lines["speed"] = f"{rows / max(seconds, 1e-9):,.0f} rows/s"
    if arguments.report is not None:
        from colk.cli.page import write_page

        pairs = None if run.left_out_rows is None else run.left_out_rows.sample
        write_page(arguments.report, run.model, run.record, lines, run.rejects.reasons, pairs)
        lines["report"] = str(arguments.report.resolve())
    for name, text in {**lines, "model": str(arguments.model)}.items():
        print(f"{name:<9}{text}")
    constants = run.model.constant_columns
    told = [told_constants(constants)] if constants else []
    if run.rejects.count > run.model.rows:
        told.append("more rows were rejected than learned")
    if run.rejects.count and arguments.rejects is None:
        told.append(f"first rejected row: {run.rejects.first}; --rejects FILE lists all")
    if told:
        print(f"colk: {'; '.join(told)}", file=sys.stderr)
