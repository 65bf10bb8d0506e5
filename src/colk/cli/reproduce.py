"""`colk reproduce`: the paper's experiments, and a report that says what holds."""

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.options import need
from colk.cli.paths import check_file, check_folder

if TYPE_CHECKING:
    from colk.experiments.reproduce import Reproduction

__all__ = ["add_parser"]

_EXPERIMENTS = ("outliers", "lidar", "risk", "theory", "policy")
_DESCRIPTION = """\
Draw the data, run every method and write one report, results/report.html: a
verdict on each claim of the paper, then the figures, settings and versions.
CSV, PNG and SVG of each figure are written beside it. Everything takes about
five minutes on two cores; --runs 2 --scale 0.05 is a look of half a minute, in
which no claim is judged.

experiments:
  outliers  regression with outliers, every method, printed and tuned settings
  lidar     the lidar data, with and without added outliers
  risk      what risk-aversion buys on skewed and heteroscedastic noise
  theory    Theorems 1 to 3 and Lemma 1 against measured exponents
  policy    policy evaluation
  all       everything (the default)

Ctrl-C keeps what is finished; the same command continues there. Results are kept
in results/cache by settings and seed: the same seed gives the same numbers.
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and write a report",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "experiment",
        nargs="?",
        default="all",
        choices=(*_EXPERIMENTS, "all"),
        metavar="EXPERIMENT",
        help="one of the above (default: all)",
    )
    parser.add_argument(
        "--runs", type=int, default=20, metavar="N", help="training sets (default: 20)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(2, os.cpu_count() or 1),
        metavar="N",
        help="processes (default: %(default)s)",
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="share of the full sample sizes, for a quick look (default: 1)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder of the report (default: results)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need("reproduce", "matplotlib", "rich")
    from colk._validation import check_count
    from colk.cli.progress import Progress
    from colk.experiments.chapter import Plan
    from colk.experiments.origin import duration
    from colk.experiments.reproduce import STUDIES, forecast, reproduce

    plan = Plan(arguments.runs, arguments.seed, arguments.scale)
    check_count(arguments.jobs, "jobs")
    names = _choose(arguments.experiment, tuple(STUDIES))
    check_folder(arguments.out, "--out")
    check_file(arguments.out / "report.html", "the report")
    watch = forecast(names, plan, arguments.jobs)
    print(
        f"colk: reproducing {', '.join(names)}; about {duration(watch.seconds_left)} if nothing "
        f"is in {arguments.out / 'cache'} yet",
        file=sys.stderr,
    )
    try:
        with Progress(watch):
            made = reproduce(names, plan, arguments.out, arguments.jobs, watch)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same command continues where it was") from None
    _summarise(made)


def _title(names: tuple[str, ...]) -> str:
    return f"{len(names)} experiments" if len(names) > 1 else names[0]


def _choose(experiment: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The named experiment, or all of them; the environments of policy need gymnasium."""
    names = known if experiment == "all" else (experiment,)
    if "policy" not in names or importlib.util.find_spec("gymnasium") is not None:
        return names
    message = "policy evaluation needs gymnasium: pip install 'colk[cli,rl]'"
    if experiment == "policy":
        raise ImportError(message)
    print(f"colk: left out: {message}", file=sys.stderr)
    return tuple(name for name in names if name != "policy")


def _summarise(made: "Reproduction") -> None:
    """Print each verdict, then the path of the report."""
    from rich.console import Console
    from rich.table import Table

    from colk.experiments.mathematics import plain

    table = Table("found", "what the paper says", box=None, padding=(0, 2, 0, 0))
    styles = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}
    for chapter in made.chapters:
        for verdict in chapter.verdicts:
            style = styles.get(verdict.outcome, "dim")
            table.add_row(f"[{style}]{verdict.outcome}[/]", plain(verdict.claim))
    Console().print(table)
    print(f"report: {made.report.resolve()}")
