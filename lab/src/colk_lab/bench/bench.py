"""Run tracks of the benchmark and write the page and the CSV file."""

import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from colk_lab.bench.cells import BenchPlan, Cell, CellScore, Track
from colk_lab.bench.page import write_page
from colk_lab.bench.peers import versions
from colk_lab.bench.scores import to_csv
from colk_lab.bench.tracks import TRACKS
from colk_lab.data import final_run
from colk_lab.origin import observe_origin
from colk_lab.runner import Runner, Watch
from colk_lab.tasks import Result

__all__ = ["Bench", "bench", "expected_seconds"]


@dataclass(frozen=True)
class Bench:
    """The result of `bench`: the scores, and the paths of the page and the CSV file."""

    scores: Sequence[CellScore]
    page: Path
    table: Path


class _Alone(Watch):
    """Passes tasks that run alone to another watch, each with the time of all processes.

    Parameters
    ----------
    watch : Watch
        The other watch.
    jobs : int
        Number of processes of the other tasks.
    """

    def __init__(self, watch: Watch, jobs: int) -> None:
        self._watch, self._jobs = watch, jobs

    def begin(self, names: Sequence[str]) -> None:
        """Pass on the names."""
        self._watch.begin(names)

    def finish(self, name: str, seconds: float, *, found: bool = False) -> None:
        """Pass on the task, with its time multiplied by the number of processes."""
        self._watch.finish(name, self._jobs * seconds, found=found)


def expected_seconds(names: Sequence[str], plan: BenchPlan, jobs: int = 1) -> float:
    """Return approximate processor seconds; tasks that run alone count once per process."""
    return sum(
        cell.task.seconds * (jobs if TRACKS[name].alone else 1)
        for name in names
        for cell in TRACKS[name].cells(plan)
    )


def bench(
    names: Sequence[str],
    plan: BenchPlan,
    out: str | os.PathLike[str] = "bench",
    jobs: int = 1,
    watch: Watch | None = None,
) -> Bench:
    """Run tracks, or continue an interrupted run.

    Parameters
    ----------
    names : sequence of str
        Keys of `TRACKS`.
    plan : BenchPlan
        Size of the run.
    out : path, default="bench"
        Folder of the page `bench.html` and the table `bench.csv`. Results of finished tasks are
        kept in its folder `cache`, in a subfolder for the versions of the libraries.
    jobs : int, default=1
        Number of processes. Tracks that measure elapsed time use one.
    watch : Watch, optional
        Receives the tasks that run and that have finished. Default: none.

    Returns
    -------
    Bench
        The scores are the same in every run, except for times.

    Examples
    --------
    >>> from colk_lab.bench import BenchPlan, bench
    >>> bench(["weather"], BenchPlan())
    Traceback (most recent call last):
    ValueError: no track 'weather'; the tracks are regression, ...
    """
    unknown = [name for name in names if name not in TRACKS]
    if unknown:
        raise ValueError(f"no track {unknown[0]!r}; the tracks are {', '.join(TRACKS)}")
    start, folder, watch = time.monotonic(), Path(out), watch or Watch()
    # The versions are in the path, so results of other versions are not used.
    cache = folder / "cache" / "-".join(versions()).replace(" ", "_")
    several = Runner(cache, jobs, watch)
    alone = Runner(cache, 1, _Alone(watch, jobs), one_thread=False)
    tracks = [TRACKS[name] for name in names]
    # Tracks that measure elapsed time run last, while nothing else runs.
    order = sorted(tracks, key=lambda track: track.alone)
    with final_run() if plan.final else nullcontext():
        scores = {t.key: _run(t, plan, alone if t.alone else several) for t in order}
    found = [score for track in tracks for score in scores[track.key]]
    computed, cached = (sum(getattr(r, n) for r in (several, alone)) for n in ("computed", "found"))
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "bench.csv"
    table.write_text(to_csv(found), encoding="utf-8")
    origin = observe_origin(time.monotonic() - start, computed, cached)
    return Bench(found, write_page(tracks, found, plan, folder, origin), table)


def _run(track: Track, plan: BenchPlan, run: Runner) -> list[CellScore]:
    cells = track.cells(plan)
    results = run([cell.task for cell in cells])
    return [_score(track, *pair) for pair in zip(cells, results, strict=True)]


def _score(track: Track, cell: Cell, result: Result) -> CellScore:
    texts = {name: str(value) for name, value in result.items() if value.dtype.kind == "U"}
    values = {name: float(value) for name, value in result.items() if name not in texts}
    part = track.parts.get(cell.problem, "")
    return CellScore(track.key, cell.problem, cell.peer, cell.seed, values, part, texts)
