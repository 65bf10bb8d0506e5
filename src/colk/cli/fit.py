"""`colk fit`: learn a model from a table."""

import argparse
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.fit_options import SETTINGS, add_running, add_settings
from colk.cli.interrupts import interruptible
from colk.cli.options import Rejects, add_data, need, open_source
from colk.cli.paths import check_apart, check_file

if TYPE_CHECKING:
    from colk.cli.run import Run
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["add_parser"]

_DESCRIPTION = """\
Learn a model from rows of CSV, Parquet, JSON lines or LIBSVM's format, in bounded
memory. Files are read several times: for the scales of the columns and the choice
of a kernel, for the atoms, and for the weights (--no-polish leaves that out).
Standard input is read once, with --solver newton. Numbers are standardised, and
--categorical columns become indicators. The error shown is that of each row before
it is learned. Ctrl-C saves what was learned.

    colk fit houses.csv --target price --model houses.colk --report houses.html
    tail -f log.jsonl | colk fit - --format jsonl --target ms --model ms.colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = commands.add_parser(
        "fit", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data(parser)
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE", help="file to write the model to"
    )
    add_settings(parser.add_argument_group("model"))
    add_running(parser.add_argument_group("run"))
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    page = ("jinja2", "latex2mathml", "matplotlib") if arguments.report else ()
    need("fit", "pyarrow", "rich", *page)
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
    with open_source(arguments) as source:
        if source.waits:
            for option in ("holdout", "epochs", "polish", "risk_path"):
                if getattr(arguments, option):
                    name = option.replace("_", "-")
                    raise ValueError(f"--{name} needs files: standard input is read only once")
        model = _resumed(arguments, source) if goes_on else _begun(arguments, source)
        with _prepared(model, source, arguments, goes_on) as run:
            _learn(run, arguments)


# -- the model -----------------------------------------------------------------------------------


def _begun(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return a new model for the columns of the source."""
    from colk.tabular import TableModel
    from colk.tabular.reading import listed

    given = _given(arguments)
    target = given.pop("target", None)
    there = listed(source.kinds)
    if target is None:
        raise ValueError(f"name the column to predict with --target; the columns are {there}")
    categorical = given.setdefault("categorical", ())
    if "features" not in given:
        given["features"] = _default_features(source, target)
    for name in (target, *given["features"], *categorical):
        if name not in source.kinds:
            hint = _other_delimiter(there) if len(source.kinds) == 1 else ""
            raise ValueError(f"{source.paths[0]} has no column {name!r}; it has {there}{hint}")
    plain = [name for name in given["features"] if name not in categorical]
    _check_features(source, plain)
    labelled = source.kinds[target] == "text"
    if "task" not in given and target in source.first_rows.dates:
        raise ValueError(f"the target {target} holds dates or times; predict a number of days")
    given.setdefault("task", "classification" if labelled else "regression")
    if labelled and given["task"] == "regression":
        raise ValueError(f"the target {target} holds text; use --task classification")
    if source.waits:
        given = {"solver": "newton", **given, "polish": False}
        print(
            "colk: standard input can be read only once: learning in one pass with --solver "
            f"{given['solver']}",
            file=sys.stderr,
        )
    model = TableModel(target, **given)
    model.notes = {"settings": _stored(_given(arguments)), "holdout": arguments.holdout or 0.0}
    return model


def _default_features(source: "Source", target: str) -> tuple[str, ...]:
    """Return the columns but the target, without those that few rows have."""
    rare = {name: seen for name, seen in source.first_rows.rare.items() if name != target}
    for name, (present, n_rows) in rare.items():
        print(
            f"colk: column {name} is left out: only {present} of the first {n_rows} rows have it. "
            "Name it with --features to learn from rows that have it",
            file=sys.stderr,
        )
    return tuple(name for name in source.kinds if name != target and name not in rare)


def _check_features(source: "Source", names: list[str]) -> None:
    """Raise if columns are no numbers; the message says what to do with them."""
    from colk.tabular.reading import listed

    texts = [name for name in names if source.kinds[name] == "text"]
    nested = [name for name in texts if name in source.first_rows.unreadable]
    dates = [name for name in texts if name in source.first_rows.dates]
    if nested:
        raise ValueError(
            f"{_holding(nested)} lists, objects or bytes: make a column of each part, or choose "
            "other columns with --features"
        )
    if dates:
        raise ValueError(
            f"{_holding(dates)} dates or times: convert them to numbers, such as days since a date "
            "and the hour, or choose other columns with --features"
        )
    if texts:
        told = listed(texts).replace(", ", ",")
        raise ValueError(
            f"{_holding(texts)} text: make indicators with --categorical {told}, or choose other "
            "columns with --features"
        )


def _holding(names: list[str]) -> str:
    """The beginning of a message about columns: "column a holds", "columns a, b hold"."""
    from colk.tabular.reading import listed

    return f"columns {listed(names)} hold" if names[1:] else f"column {listed(names)} holds"


def _other_delimiter(header: str) -> str:
    """Advice if the first line does not contain the delimiter."""
    found = next((each for each in ";\t|" if each in header), None)
    shown = "tab" if found == "\t" else f"'{found}'"
    return "" if found is None else f"; try --delimiter {shown}"


def _resumed(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return the model to continue; its settings cannot change."""
    from colk.persistence import load
    from colk.tabular import TableModel

    model = load(arguments.model)
    if not isinstance(model, TableModel) or not _is_of_a_run(model.notes):
        raise ValueError(f"{arguments.model} was not made by colk fit and cannot be resumed")
    before = model.notes["settings"]
    for name, value in _stored(_given(arguments)).items():
        if before.get(name) != value:
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{arguments.model} was begun with {_with(option, before.get(name))}, which cannot "
                f"change; leave {option} out"
            )
    if arguments.holdout not in (None, model.notes["holdout"]):
        raise ValueError(f"{arguments.model} was begun with --holdout {model.notes['holdout']:g}")
    if not source.waits and model.notes["data"] != source.paths:
        raise ValueError(
            f"{arguments.model} was fitted to {', '.join(model.notes['data'])}: name the same files"
        )
    if not (source.waits or arguments.force):
        _check_unchanged(model, source)
    return model


def _check_unchanged(model: "TableModel", source: "Source") -> None:
    """Raise unless the files begin with the rows that the model has read; they may have grown."""
    from colk.tabular.reading import Prefix, listed

    try:
        read = model.notes["read"]
        columns, prefixes = list(read["columns"]), [Prefix.of(each) for each in read["files"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            "the model does not say which rows it has read; --force continues nevertheless"
        ) from error
    cure = "fit a new model with --overwrite, or continue with --force"
    if list(source.kinds)[: len(columns)] != columns:
        raise ValueError(
            f"{source.paths[0]} has the columns {listed(source.kinds)}, but the model has read "
            f"{listed(columns)}; {cure}"
        )
    for path, prefix in zip(source.paths, prefixes, strict=False):
        if not prefix.is_in(path):
            raise ValueError(
                f"{path} has changed in the first {prefix.size:,} bytes, which the model has read; "
                f"{cure}"
            )


def _is_of_a_run(notes: Mapping[str, Any]) -> bool:
    """Whether a model has the notes of a run."""
    data = notes.get("data")
    return (
        {"place", "settings", "holdout"} <= set(notes)
        and isinstance(notes["settings"], dict)
        and type(notes["holdout"]) is float
        and isinstance(data, list)
        and all(isinstance(path, str) for path in data)
    )


def _with(option: str, value: Any) -> str:
    return f"no {option}" if value is None else f"{option} {value}"


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given."""
    values = {name: getattr(arguments, name) for name in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def _stored(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in the form in which a file returns them."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}


# -- the run -------------------------------------------------------------------------------------


@contextmanager
def _prepared(
    model: "TableModel", source: "Source", arguments: argparse.Namespace, goes_on: bool
) -> Iterator["Run"]:
    """Make the run: a new one, or one that continues as the notes of the model say."""
    from colk.cli.record import Record
    from colk.cli.run import Place, Run
    from colk.tabular.passes import TableFit

    notes, place, record = model.notes, Place(counts_rejects=source.waits), Record()
    size = count = 0
    epochs = 1 if source.waits else arguments.epochs
    if goes_on:
        try:
            record, size = Record(notes["record"]), int(notes["rejects_size"])
            count, place = int(notes["rejected"]), Place.of(notes["place"])
            if source.waits:  # what was read before is gone
                place = Place(place.epoch, before=place.before + place.taken, total=place.total)
                epochs, place = place.epoch + 1, replace(place, counts_rejects=True)
            fit = TableFit(
                model,
                epochs,
                phase="learn" if notes["phase"] == "done" or source.waits else notes["phase"],
                epoch=place.epoch,
                iterate=None if source.waits else notes["polish"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{arguments.model} does not hold the position of its run") from error
    else:
        fit = TableFit(model, epochs, phase="learn" if source.waits else "scan")
    model.notes = {**notes, "data": source.paths}
    holdout, every = float(notes["holdout"]), arguments.checkpoint_every
    with Rejects(arguments.rejects, arguments.strict, size, count) as rejects:
        yield Run(model, source, rejects, record, place, fit, holdout, every, arguments.model)


def _learn(run: "Run", arguments: argparse.Namespace) -> None:
    model, began, rows = run.model, time.monotonic(), run.model.rows
    with _signals() as stopped:
        with _progress(run) as show, warnings.catch_warnings():
            # The summary tells it, with the number of rows.
            warnings.filterwarnings("ignore", "column .* has more than .* values", RuntimeWarning)
            finished = run.learn(stopped, show)
        if not finished and model.rows == 0:
            raise KeyboardInterrupt("stopped before a row was learned; no model was written")
        if model.rows == 0:
            why = f"; the first: {run.rejects.first}" if run.rejects.first else ""
            raise ValueError(f"no row could be learned{why}")
        run.save()
        if stopped():
            goes_on = "" if finished else ", and --resume continues"
            raise KeyboardInterrupt(
                f"stopped after {model.rows:,} rows; {arguments.model} holds what was "
                f"learned{goes_on}"
            )
    with interruptible():
        _tell(run, arguments, model.rows - rows, time.monotonic() - began)


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
            line.show(run.fit.phase, rows, run.work_done, error, atoms)

        yield show


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM end the run after the current step; a second one ends it at once."""
    asked: list[int] = []

    def ask(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- the end -------------------------------------------------------------------------------------


def _tell(run: "Run", arguments: argparse.Namespace, rows: int, seconds: float) -> None:
    """Print a summary, and write the report."""
    from colk.cli.summary import summary

    lines = summary(run)
    if rows:
        lines["speed"] = f"{rows / max(seconds, 1e-9):,.0f} rows/s"
    if arguments.report is not None:
        from colk.cli.page import write_page

        write_page(arguments.report, run.model, run.record, lines)
        lines["report"] = str(arguments.report.resolve())
    for name, text in {"model": str(arguments.model), **lines}.items():
        print(f"{name:<9}{text}")
    if "warning" in lines:
        print(f"colk: {lines['warning']}", file=sys.stderr)
    if run.rejects.count > run.model.rows:
        print("colk: more rows were rejected than learned", file=sys.stderr)
    if run.rejects.count and arguments.rejects is None:
        print(
            f"colk: rejected, first: {run.rejects.first}; --rejects FILE lists all", file=sys.stderr
        )
