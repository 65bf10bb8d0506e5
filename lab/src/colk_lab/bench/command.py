"""`colk bench`: compare colk with other methods and write a page."""

import argparse
import sys
from pathlib import Path
from typing import Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_command, add_random_jobs
from colk.cli.paths import check_file, check_folder, open_page

__all__ = ["add_parser"]

_DESCRIPTION = """\
Compare colk with other methods on the same data. Write a page, bench/bench.html,
and a table, bench/bench.csv. The page begins with the problems on which colk is
not the best choice. Nothing is downloaded.

tracks:
  regression      real tables: error, times and size of the model
  classification  real tables with classes: also calibration
  streams         regression on streams, each sample predicted before it is learned
  label_streams   classification on streams
  hard_tables     tables that are difficult for one reason, and what the user is told
  hard_streams    streams on which something changes
  bike            a year of bike rentals: forecasts with intervals
  series          forecasts of the next value of a series
  small           error against the number of points, with outliers
  intervals       coverage and width of intervals, on real tables and on a stream
  tails           the worst tenth of the errors, under several objectives
  outliers        training targets with outliers
  scaling         time of a fit as rows, features and atoms grow
  latency         time to predict and learn one sample
  memory          growth of memory over ten million samples
  published       published results, repeated here
  all             all of them (the default)

Ctrl-C keeps the results of finished tasks in bench/cache; the same command
continues the run. Scores are the same in every run; times are not.
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(
        commands, "bench", _DESCRIPTION, help="compare colk with other methods and write a page"
    )
    parser.add_argument(
        "tracks", nargs="*", default=["all"], metavar="TRACK", help="tracks to run (default: all)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small problems and one seed, a test of the command that is too small to compare",
    )
    parser.add_argument(
        "--final",
        action="store_true",
        help="also use the sets that are kept for final tables; the headline is computed on them",
    )
    add_random_jobs(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bench"),
        metavar="DIR",
        help="folder of the page and the table (default: bench)",
    )
    parser.add_argument(
        "--open", action="store_true", help="open the page in the browser at the end"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk_lab.bench import TRACKS, BenchPlan, bench
    from colk_lab.bench.bench import expected_seconds
    from colk_lab.checks import check_count
    from colk_lab.progress import Progress

    names = list(TRACKS) if "all" in arguments.tracks else arguments.tracks
    plan = BenchPlan(arguments.quick, arguments.seed, arguments.final)
    jobs = check_count(arguments.jobs, "jobs")
    check_folder(arguments.out, "--out")
    check_file(arguments.out / "bench.html", "the page")
    seconds = expected_seconds(names, plan, jobs)
    print(
        f"colk: comparing {', '.join(names)} in {arguments.out}; "
        f"about {max(1, round(seconds / jobs / 60))} min with {jobs} idle cores",
        file=sys.stderr,
    )
    try:
        with interruptible(), Progress(seconds, jobs) as progress:
            made = bench(names, plan, arguments.out, jobs, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same command continues the run") from None
    print(f"table: {made.table.resolve()}\npage: {made.page.resolve()}")
    if arguments.open:
        open_page(made.page)
