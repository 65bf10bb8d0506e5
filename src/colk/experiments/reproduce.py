"""Run experiments and write the report."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from colk.experiments import lidar, outliers, policy_chapter, risk, theory
from colk.experiments.chapter import Chapter, Plan
from colk.experiments.report import write_report
from colk.experiments.runner import Runner
from colk.experiments.tasks import Run, Store

__all__ = ["STUDIES", "Reproduction", "Study", "reproduce"]


@dataclass(frozen=True)
class Study:
    """An experiment: how many tasks it takes, and what it makes of them."""

    count: Callable[[Plan], int]
    tell: Callable[[Plan, Run], Chapter]


STUDIES = {
    "outliers": Study(outliers.count_tasks, outliers.outliers),
    "lidar": Study(lidar.count_tasks, lidar.lidar),
    "risk": Study(risk.count_tasks, risk.risk),
    "theory": Study(theory.count_tasks, theory.theory),
    "policy": Study(policy_chapter.count_tasks, policy_chapter.policy_evaluation),
}


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
    advance: Callable[[int], None] | None = None,
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
    advance : callable, optional
        Called with the number of tasks that have just finished.

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
    with Runner(Store(Path(out) / "cache"), jobs, advance) as run:
        chapters = [STUDIES[name].tell(plan, run) for name in names]
        computed = run.computed
    return Reproduction(chapters, write_report(chapters, plan, out), computed)
