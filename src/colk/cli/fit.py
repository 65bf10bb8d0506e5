"""`colk fit`: a model from a stream of rows."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.options import Rejects, add_data, count, names, need, open_source
from colk.cli.paths import check_apart, check_file

if TYPE_CHECKING:
    from colk.cli.live import LiveLine
    from colk.cli.run import Run
    from colk.tabular import TableModel
    from colk.tabular.reading import Source

__all__ = ["add_parser"]

_DESCRIPTION = """\
Learn a model from rows of CSV, Parquet, JSON lines or LIBSVM's format, one step a
row, in bounded memory. Numbers are scaled as they come; --categorical columns
become indicators. Each row is predicted before it is learned: that is the error
shown. Ctrl-C saves what was learned.

    colk fit houses.csv --target price --model houses.colk --report houses.html
    tail -f log.jsonl | colk fit - --format jsonl --target ms --model ms.colk
"""

# Options that a model is made of; --resume takes them from the model.
_SETTINGS = (
    "target",
    "features",
    "categorical",
    "task",
    "kernel",
    "bandwidth",
    "loss",
    "risk",
    "step_size",
    "eps",
    "max_atoms",
    "averaging",
    "scale",
    "solver",
    "forgetting",
)


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = commands.add_parser(
        "fit",
        help="learn a model from a table",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_data(parser)
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE", help="where the model goes"
    )
    _add_settings(parser.add_argument_group("model"))
    _add_running(parser.add_argument_group("run"))
    parser.set_defaults(run=_run)


def _add_settings(group: Any) -> None:
    group.add_argument("--target", metavar="NAME", help="the column to predict")
    group.add_argument(
        "--features", type=names, metavar="NAMES", help="columns to predict from (default: all)"
    )
    group.add_argument(
        "--categorical", type=names, metavar="NAMES", help="columns of text, as indicators"
    )
    group.add_argument(
        "--task",
        choices=("regression", "classification"),
        help="(default: classification where the target holds text)",
    )
    group.add_argument("--kernel", metavar="NAME", help="such as gaussian (default: laplacian)")
    group.add_argument(
        "--bandwidth", type=float, metavar="C", help="of scaled columns (default: by their number)"
    )
    group.add_argument("--loss", metavar="NAME", help="such as squared, pinball (default: huber)")
    group.add_argument("--risk", metavar="NAME", help="such as variance, cvar (default: mean)")
    group.add_argument(
        "--solver",
        choices=("gradient", "newton"),
        help="newton divides steps by the curvature seen: more learned of a row, at some more cost "
        "(default: gradient)",
    )
    group.add_argument(
        "--forgetting",
        type=float,
        metavar="G",
        help="of newton, below 1 where the truth moves: 0.999 remembers some 1000 rows of a place",
    )
    group.add_argument("--step-size", type=float, metavar="A", help="(default: by task and risk)")
    group.add_argument("--eps", type=float, metavar="E", help="H-norm that a step may forget")
    group.add_argument("--max-atoms", type=int, metavar="M", help="(default: 200)")
    group.add_argument(
        "--averaging",
        action=argparse.BooleanOptionalAction,
        help="predict with the average of the iterates (default: yes)",
    )
    group.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="scale numbers by their running mean and deviation (default: yes)",
    )


def _add_running(group: Any) -> None:
    group.add_argument("--epochs", type=count, default=1, metavar="N", help="passes (default: 1)")
    group.add_argument(
        "--holdout",
        type=_share,
        metavar="SHARE",
        help="of the rows, never learned but tested on at the end",
    )
    group.add_argument(
        "--checkpoint-every", type=count, metavar="N", help="rows after which to save the model"
    )
    group.add_argument(
        "--resume", action="store_true", help="go on where the model stands, if there is one"
    )
    group.add_argument("--overwrite", action="store_true", help="replace a model that is there")
    group.add_argument("--report", type=Path, metavar="FILE", help="write a page (HTML)")


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < 1.0:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, got {text}")
    return number


def _run(arguments: argparse.Namespace) -> None:
    need("fit", "pyarrow", "rich", *(["matplotlib"] if arguments.report else []))
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
            f"{arguments.model} is there already: --resume goes on with it, --overwrite replaces it"
        )
    with open_source(arguments) as source:
        if arguments.holdout and source.waits:
            raise ValueError("--holdout needs files: standard input cannot be read twice")
        if arguments.epochs > 1 and source.waits:
            raise ValueError("--epochs needs files: standard input cannot be read twice")
        model = _resumed(arguments, source) if goes_on else _begun(arguments, source)
        with _prepared(model, source, arguments, goes_on) as run:
            _learn(run, arguments)


# -- the model -----------------------------------------------------------------------------------


def _begun(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return a new model of the columns that there are."""
    from colk.tabular import TableModel
    from colk.tabular.reading import listed

    given = _given(arguments)
    target = given.pop("target", None)
    there = listed(source.kinds)
    if target is None:
        raise ValueError(f"name the column to predict with --target; there are {there}")
    categorical = given.setdefault("categorical", ())
    given.setdefault("features", tuple(name for name in source.kinds if name != target))
    for name in (target, *given["features"], *categorical):
        if name not in source.kinds:
            hint = _other_delimiter(there) if len(source.kinds) == 1 else ""
            raise ValueError(f"{source.paths[0]} has no column {name!r}; it has {there}{hint}")
    texts = [
        name
        for name in given["features"]
        if source.kinds[name] == "text" and name not in categorical
    ]
    if texts:
        told = listed(texts).replace(", ", ",")
        raise ValueError(
            f"{'columns' if len(texts) > 1 else 'column'} {listed(texts)} "
            f"hold{'' if len(texts) > 1 else 's'} text: make indicators of their values with "
            f"--categorical {told}, or leave them out with --features"
        )
    labelled = source.kinds[target] == "text"
    given.setdefault("task", "classification" if labelled else "regression")
    if labelled and given["task"] == "regression":
        raise ValueError(f"the target {target} holds text; for classes say --task classification")
    model = TableModel(target, **given)
    model.notes = {"settings": _stored(_given(arguments)), "holdout": arguments.holdout or 0.0}
    return model


def _other_delimiter(header: str) -> str:
    """What to try where a line of names has none of the delimiter."""
    found = next((each for each in ";\t|" if each in header), None)
    shown = "tab" if found == "\t" else f"'{found}'"
    return "" if found is None else f"; try --delimiter {shown}"


def _resumed(arguments: argparse.Namespace, source: "Source") -> "TableModel":
    """Return the model that is to go on; what was said then holds."""
    from colk.persistence import load
    from colk.tabular import TableModel

    model = load(arguments.model)
    if not isinstance(model, TableModel) or not _is_of_a_run(model.notes):
        raise ValueError(f"{arguments.model} was not made by colk fit, and cannot be resumed")
    before = model.notes["settings"]
    for name, value in _stored(_given(arguments)).items():
        if before.get(name) != value:
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{arguments.model} was begun with {_told(option, before.get(name))}, which cannot "
                f"change; leave {option} out"
            )
    if arguments.holdout not in (None, model.notes["holdout"]):
        raise ValueError(f"{arguments.model} was begun with --holdout {model.notes['holdout']:g}")
    if not source.waits and model.notes["data"] != source.paths:
        raise ValueError(
            f"{arguments.model} was learning {', '.join(model.notes['data'])}: name the same files"
        )
    return model


def _is_of_a_run(notes: Mapping[str, Any]) -> bool:
    """Whether these are the notes of a model that a run has saved."""
    data = notes.get("data")
    return (
        {"place", "settings", "holdout"} <= set(notes)
        and isinstance(notes["settings"], dict)
        and type(notes["holdout"]) is float
        and isinstance(data, list)
        and all(isinstance(path, str) for path in data)
    )


def _told(option: str, value: Any) -> str:
    return f"no {option}" if value is None else f"{option} {value}"


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Options of the model that were given."""
    values = {name: getattr(arguments, name) for name in _SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def _stored(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a file gives them back."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}


# -- the run -------------------------------------------------------------------------------------


@contextmanager
def _prepared(
    model: "TableModel", source: "Source", arguments: argparse.Namespace, goes_on: bool
) -> Iterator["Run"]:
    """A run that begins, or goes on where the notes say."""
    from colk.cli.record import Record
    from colk.cli.run import Place, Run
    from colk.tabular.reading import Columns

    notes, place = model.notes, Place()
    size = count = 0
    record = Record()
    if goes_on:
        try:
            record, size = Record(notes["record"]), int(notes["rejects_size"])
            count = int(notes["rejected"])
            place = Place.of(notes["place"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{arguments.model} does not say where its run stands") from error
        if source.waits:  # what was read before is gone
            place = Place(epoch=place.epoch, before=place.before + place.taken, total=place.total)
    numbers = [name for name in model.features if name not in model.categorical]
    texts = list(model.categorical)
    (numbers if model.task == "regression" else texts).append(model.target)
    model.notes = {**notes, "data": source.paths}
    with Rejects(arguments.rejects, arguments.strict, size, count) as rejects:
        yield Run(
            model,
            source,
            Columns(tuple(numbers), tuple(texts)),
            rejects,
            record,
            place,
            float(notes["holdout"]),
            arguments.checkpoint_every,
            arguments.model,
        )


def _learn(run: "Run", arguments: argparse.Namespace) -> None:
    from colk.cli.live import LiveLine

    model, source = run.model, run.source
    epochs = 1 if source.waits else arguments.epochs
    size = source.size
    total = None if size is None else size * epochs
    name = "error" if model.task == "regression" else "wrong"
    with _signals() as stopped, LiveLine(total, name) as line:

        def show(rows: int, done: int) -> None:
            passed = run.place.epoch * (size or 0) + done
            line.show(rows, passed, run.record.recent, model.n_atoms)

        finished = run.learn(run.place.epoch + 1 if source.waits else epochs, stopped, show)
    if model.rows == 0:
        why = f"; the first: {run.rejects.first}" if run.rejects.first else ""
        raise ValueError(f"no row could be learned{why}")
    run.save()
    if not finished:
        raise KeyboardInterrupt(
            f"stopped after {model.rows:,} rows; {arguments.model} holds what was learned, "
            "and --resume goes on"
        )
    _tell(run, arguments, line)


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM end the run between two steps; a second Ctrl-C ends it at once."""
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


def _tell(run: "Run", arguments: argparse.Namespace, line: "LiveLine") -> None:
    """Print a summary, and write the page."""
    from colk.cli.summary import summary

    lines = summary(run)
    if line.rows:
        lines["speed"] = f"{line.rows / max(line.seconds, 1e-9):,.0f} rows/s"
    if arguments.report is not None:
        from colk.cli.page import write_page

        write_page(arguments.report, run.model, run.record, lines)
        lines["report"] = str(arguments.report.resolve())
    for name, text in {"model": str(arguments.model), **lines}.items():
        print(f"{name:<9}{text}")
    if run.rejects.count and arguments.rejects is None:
        print(
            f"colk: rejected, first: {run.rejects.first}; --rejects FILE lists all", file=sys.stderr
        )
