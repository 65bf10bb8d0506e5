"""Run experiments and write the report."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from colk_lab.origin import observe_origin
from colk_lab.reproduction import lidar, outliers, policy_chapter, risk, theory
from colk_lab.reproduction.chapter import Chapter, Figure, RunPlan
from colk_lab.reproduction.report import draw_figures, write_report
from colk_lab.runner import Runner, Watch
from colk_lab.tasks import Run, Task

__all__ = ["STUDIES", "Reproduction", "Study", "expected_seconds", "reproduce"]

# Approximate processor seconds to draw a figure.
_DRAWING = 1.1


@dataclass(frozen=True)
class Study:
    """An experiment.

    Parameters
    ----------
    tasks : callable
        Returns the tasks that `chapter` will run. Settings that depend on earlier results are
        guessed, but names and seconds are right.
    chapter : callable
        Runs the tasks and returns the chapter.
    n_figures : int
        Number of figures in the chapter.
    """

    tasks: Callable[[RunPlan], list[Task]]
    chapter: Callable[[RunPlan, Run], Chapter]
    n_figures: int


STUDIES = {
    "outliers": Study(outliers.expected_tasks, outliers.outliers, n_figures=6),
    "lidar": Study(lidar.expected_tasks, lidar.lidar, n_figures=3),
    "risk": Study(risk.expected_tasks, risk.risk, n_figures=1),
    "theory": Study(theory.expected_tasks, theory.theory, n_figures=5),
    "policy": Study(policy_chapter.expected_tasks, policy_chapter.policy_evaluation, n_figures=3),
}


def expected_seconds(names: Sequence[str], plan: RunPlan, jobs: int = 1) -> float:
    """Return the approximate processor seconds of the named experiments.

    One process draws the figures while the others are idle, so figures count `jobs` times.

    Examples
    --------
    >>> from colk_lab.reproduction import RunPlan
    >>> whole, tenth = RunPlan(), RunPlan(scale=0.1)
    >>> expected_seconds(["policy"], whole) > expected_seconds(["policy"], tenth) > 0.0
    True
    """
    studies = [STUDIES[name] for name in names]
    tasks = sum(task.seconds for study in studies for task in study.tasks(plan))
    return tasks + _DRAWING * jobs * sum(study.n_figures for study in studies)


@dataclass(frozen=True)
class Reproduction:
    """The result of `reproduce`: chapters, path of the report, number of tasks that ran."""

    chapters: Sequence[Chapter]
    report: Path
    computed: int


def reproduce(
    names: Sequence[str],
    plan: RunPlan,
    out: str | os.PathLike[str] = "results",
    jobs: int = 1,
    watch: Watch | None = None,
    backend: str = "loky",
) -> Reproduction:
    """Run the named experiments, or continue an interrupted run, and write the report.

    Parameters
    ----------
    names : sequence of str
        Keys of `STUDIES`.
    plan : RunPlan
        Size of the run.
    out : path, default="results"
        Folder of the report. Results of finished tasks are kept in its folder `cache`.
    jobs : int, default=1
        Number of processes.
    watch : Watch, optional
        Receives the tasks that run and that have finished. Default: none.
    backend : {"loky", "dask"}, default="loky"
        As in `Runner`.

    Returns
    -------
    Reproduction
        The result, which depends only on the plan, not on processes and interruptions.

    Examples
    --------
    >>> from colk_lab.reproduction import RunPlan, reproduce
    >>> reproduce(["weather"], RunPlan(runs=2))
    Traceback (most recent call last):
    ValueError: no experiment 'weather'; the experiments are ...
    """
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}; the experiments are {', '.join(STUDIES)}")
    start, folder, watch = time.monotonic(), Path(out), watch or Watch()
    run = Runner(folder / "cache", jobs, watch, backend=backend)
    chapters = [STUDIES[name].chapter(plan, run) for name in names]

    def drawn(figure: Figure) -> None:
        watch.finish(_drawing(figure), _DRAWING * jobs)

    watch.begin([_drawing(figure) for chapter in chapters for figure in chapter.figures])
    pictures = draw_figures(chapters, folder, drawn)
    origin = observe_origin(time.monotonic() - start, run.computed, run.found)
    report = write_report(chapters, plan, folder, pictures, origin)
    return Reproduction(chapters, report, run.computed)


def _drawing(figure: Figure) -> str:
    return f"Drawing {figure.name}"
