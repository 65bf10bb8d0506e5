"""`colk reproduce`: run the paper's experiments and report which results reproduce."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_command, add_random_jobs
from colk.cli.paths import check_file, check_folder, open_page

if TYPE_CHECKING:
    from colk_lab.reproduction.reproduce import Reproduction

__all__ = ["add_parser"]

_EXPERIMENTS = ("outliers", "lidar", "risk", "theory", "policy")
_DESCRIPTION = """\
Run the paper's experiments and write a report, results/report.html. It has a
verdict on each claim of the paper, then the figures, settings and versions. The
data of each figure (CSV) and its images (PNG, SVG) are written to the same folder.
A full run has 20 runs and judges every claim; it takes about five minutes on two
cores. At least 5 runs and half of the samples are needed to judge a claim. With
fewer, such as --runs 2 --scale 0.05, which takes half a minute, the table counts
the estimates that agree with the claim.

experiments:
  outliers  regression with outliers, all methods, printed and tuned settings
  lidar     the lidar data, with and without added outliers
  risk      effect of a risk measure under skewed and heteroscedastic noise
  theory    Theorems 1 to 3 and Lemma 1, compared with measured exponents
  policy    policy evaluation
  all       all of them (the default)

Ctrl-C keeps the results of finished tasks in results/cache; the same command
continues the run. The same seed gives the same numbers with any number of
processes.
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(
        commands, "reproduce", _DESCRIPTION, help="run the paper's experiments and write a report"
    )
    parser.add_argument(
        "experiment",
        nargs="?",
        default="all",
        choices=(*_EXPERIMENTS, "all"),
        metavar="EXPERIMENT",
        help="experiment to run (default: all)",
    )
    parser.add_argument(
        "--runs", type=int, default=20, metavar="N", help="number of training sets (default: 20)"
    )
    add_random_jobs(parser)
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="factor of the sample sizes, below 1 for a quick run (default: 1)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder of the report (default: results)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, which must share the folder of the report "
        "(default: processes on this machine)",
    )
    parser.add_argument(
        "--open", action="store_true", help="open the report in the browser at the end"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk_lab.checks import check_count
    from colk_lab.progress import Progress
    from colk_lab.reproduction.chapter import RunPlan
    from colk_lab.reproduction.reproduce import STUDIES, expected_seconds, reproduce

    plan = RunPlan(arguments.runs, arguments.seed, arguments.scale)
    check_count(arguments.jobs, "jobs")
    names = tuple(STUDIES) if arguments.experiment == "all" else (arguments.experiment,)
    check_folder(arguments.out, "--out")
    check_file(arguments.out / "report.html", "the report")
    print(f"colk: reproducing {', '.join(names)} in {arguments.out}", file=sys.stderr)
    if plan.warning:
        print(f"colk: {plan.warning}", file=sys.stderr)
    try:
        with interruptible(), _engine(arguments.dask) as backend:
            seconds = expected_seconds(names, plan, arguments.jobs)
            with Progress(seconds, arguments.jobs) as progress:
                made = reproduce(names, plan, arguments.out, arguments.jobs, progress, backend)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same command continues the run") from None
    _summarise(made)
    if arguments.open:
        open_page(made.report)


@contextmanager
def _engine(address: str | None) -> Iterator[str]:
    """Connect to a scheduler if there is an address; yield the name of joblib's backend."""
    if address is None:
        yield "loky"
        return
    from colk.distributed.connection import connected

    with connected(address) as client:
        print(f"colk: dashboard {client.dashboard_link}", file=sys.stderr)
        yield "dask"


def _summarise(made: "Reproduction") -> None:
    """Print the verdicts and the path of the report."""
    from rich.console import Console
    from rich.table import Table

    from colk_lab.pages.formulas import plain

    table = Table("verdict", "claim of the paper", box=None, padding=(0, 2, 0, 0))
    styles = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}
    for chapter in made.chapters:
        for verdict in chapter.verdicts:
            style = styles.get(verdict.outcome, "dim")
            table.add_row(f"[{style}]{verdict.told}[/]", plain(verdict.claim))
    Console().print(table)
    print(f"report: {made.report.resolve()}")
