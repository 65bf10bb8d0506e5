"""Run experiments and write the report."""

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from colk.experiments import lidar, outliers, policy_chapter, risk, theory
from colk.experiments.chapter import Chapter, Plan
from colk.experiments.forecast import DRAWING, Forecast
from colk.experiments.origin import observe_origin
from colk.experiments.report import draw_figures, write_report
from colk.experiments.runner import Runner
from colk.experiments.tasks import Run, Store, Task

__all__ = ["STUDIES", "Reproduction", "Study", "forecast", "reproduce"]


@dataclass(frozen=True)
class Study:
    """An experiment: the tasks it takes, what it makes of them, and the figures that it draws."""

    expect: Callable[[Plan], list[Task]]
    tell: Callable[[Plan, Run], Chapter]
    figures: tuple[str, ...]


def _figures(chapter: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{chapter}-{name}" for name in names)


STUDIES = {
    "outliers": Study(
        outliers.expected_tasks,
        outliers.outliers,
        _figures("outliers", "boxes", "curves", "functions", "features", "laws"),
    ),
    "lidar": Study(
        lidar.expected_tasks,
        lidar.lidar,
        _figures("lidar", "errors", "with-outliers", "without-outliers"),
    ),
    "risk": Study(risk.expected_tasks, risk.risk, _figures("risk", "frontier")),
    "theory": Study(
        theory.expected_tasks,
        theory.theory,
        _figures("theory", "model-order", "tracking", "convergence", "stationarity"),
    ),
    "policy": Study(
        policy_chapter.expected_tasks,
        policy_chapter.policy_evaluation,
        _figures("policy", "value-surface", "monte-carlo", "model-order"),
    ),
}


def forecast(names: Sequence[str], plan: Plan, jobs: int = 1) -> Forecast:
    """How long the named experiments will take, drawing included.

    Examples
    --------
    >>> from colk.experiments import Plan
    >>> forecast(["policy"], Plan(), jobs=2).total > 0.0
    True
    """
    work = [(task.name, task.size) for name in names for task in STUDIES[name].expect(plan)]
    drawing = [(DRAWING + figure, 1.0) for name in names for figure in STUDIES[name].figures]
    return Forecast([*work, *drawing], jobs)


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` made: the chapters, the report's path, and how many tasks were computed."""

    chapters: Sequence[Chapter]
    report: Path
    computed: int


def reproduce(
    names: Sequence[str],
    plan: Plan,
    out: str | os.PathLike[str] = "results",
    jobs: int = 1,
    watch: Forecast | None = None,
) -> Reproduction:
    """Run the named experiments, or continue them, and write the report.

    Parameters
    ----------
    names : sequence of str
        Keys of `STUDIES`.
    plan : Plan
        How much to run.
    out : path
        Where the report goes; finished runs are kept in its folder `cache`.
    jobs : int
        Processes.
    watch : Forecast, optional
        What `forecast` returned: it is told what runs and what has finished.

    Returns
    -------
    Reproduction
        The same for the same plan, whatever `jobs` and however often it was interrupted.

    Examples
    --------
    >>> from colk.experiments import Plan, reproduce
    >>> reproduce(["weather"], Plan(runs=2))
    Traceback (most recent call last):
    ValueError: no experiment 'weather'; there are ...
    """
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}; there are {', '.join(STUDIES)}")
    known = watch or forecast(names, plan, jobs)
    with Runner(Store(Path(out) / "cache"), jobs, known) as run:
        chapters = [STUDIES[name].tell(plan, run) for name in names]
        computed, found = run.computed, run.found
    pictures = draw_figures(chapters, out, known)
    origin = observe_origin(known.elapsed, computed, found)
    _write_durations(known, Path(out))
    return Reproduction(chapters, write_report(chapters, plan, out, pictures, origin), computed)


def _write_durations(known: Forecast, out: Path) -> None:
    """Processor seconds of every task and figure; `benchmarks/costs.py` reads it."""
    with (out / "durations.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "size", "seconds"))
        writer.writerows(
            (name, f"{size:g}", f"{seconds:.4f}") for name, size, seconds in known.records
        )
