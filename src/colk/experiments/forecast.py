"""How much is left to do, and how long it will take: tasks weighed by their measured cost."""

import csv
import math
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

__all__ = ["DRAWING", "Forecast", "measured_costs"]

# How the names of figures to be drawn begin.
DRAWING = "Drawing: "
_COSTS = Path(__file__).with_name("costs.csv")
# Seconds of work after which what was measured in this run weighs as much as what was known.
_TRUST = 10.0
# Seconds over which the load of the machine is judged: others may come and go.
_MEMORY = 60.0
# Share of a task that is still told to be left where it runs longer than expected.
_UNFINISHED = 0.1


class _Running(NamedTuple):
    name: str
    size: float
    since: float


@cache
def measured_costs() -> Mapping[str, float]:
    """Processor seconds for each unit of size, by a task's name, as a full run once took.

    Examples
    --------
    >>> measured_costs()["Drawing: risk-frontier"] > 0.0
    True
    """
    with _COSTS.open(newline="", encoding="utf-8") as file:
        return {row["name"]: float(row["seconds"]) for row in csv.DictReader(file)}


class Forecast:
    """What runs, what share is done, and the seconds that are left.

    Work is measured in processor seconds, which do not depend on what else the machine does. A
    task's cost is that of tasks of its name in this run; before any has finished, the cost of a
    full run elsewhere, times how much slower this processor has proved. From work to time it is
    the load of late: seconds of the clock that a task took for a processor second. Tasks run side
    by side, drawing does not.

    Parameters
    ----------
    work : iterable of (str, float)
        Names and sizes of all tasks to come.
    jobs : int
        Processes.
    costs : mapping, optional
        Processor seconds for each unit of size, by name.
    clock : callable
        Gives the time in seconds.

    Examples
    --------
    >>> forecast = Forecast([("a", 1.0), ("a", 1.0), ("b", 2.0)], costs={"a": 3.0, "b": 1.0})
    >>> forecast.total, forecast.share
    (8.0, 0.0)
    >>> forecast.begin("a", 1.0)
    >>> forecast.finish("a", 1.0, seconds=3.0)
    >>> forecast.share
    0.375
    """

    def __init__(
        self,
        work: Iterable[tuple[str, float]],
        jobs: int = 1,
        costs: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._costs = measured_costs() if costs is None else costs
        self._jobs = jobs
        self._clock = clock
        self._left: dict[str, float] = {}
        self._tasks: dict[str, int] = {}
        for name, size in work:
            self._left[name] = self._left.get(name, 0.0) + size
            self._tasks[name] = self._tasks.get(name, 0) + 1
        # One thread tells what is done, another asks what is left.
        self._lock = Lock()
        self._running: list[_Running] = []
        self._seen: dict[str, tuple[float, float]] = {}
        # Processor seconds that finished tasks were known to take, and took.
        self._known = self._took = 0.0
        # Of tasks that finished of late: seconds of the clock, and processor seconds.
        self._passed = self._spent = 0.0
        self.total = self._expected(self._left)
        self._start = self._last = clock()
        self.records: list[tuple[str, float, float]] = []

    def _expected(self, work: Mapping[str, float]) -> float:
        return sum(self._costs.get(name, 0.0) * size for name, size in work.items())

    def begin(self, name: str, size: float) -> None:
        """Say that a task begins."""
        with self._lock:
            self._running.append(_Running(name, size, self._clock()))

    def finish(self, name: str, size: float, seconds: float | None = None) -> None:
        """Count a task as done; without processor seconds it was found, not run."""
        with self._lock:
            self._finish(name, size, seconds)

    def _finish(self, name: str, size: float, seconds: float | None) -> None:
        now = self._clock()
        self._left[name] = max(self._left.get(name, 0.0) - size, 0.0)
        self._tasks[name] = self._tasks.get(name, 1) - 1
        task = next((task for task in self._running if task[:2] == (name, size)), None)
        if seconds is None:
            return
        if task is None:  # it was done before anyone could say that it begins
            task = _Running(name, size, now - seconds)
        else:
            self._running.remove(task)
        spent, sizes = self._seen.get(name, (0.0, 0.0))
        self._seen[name] = (spent + seconds, sizes + size)
        self.records.append((name, size, seconds))
        self._known += self._expected({name: size})
        self._took += seconds
        kept = math.exp((self._last - now) / _MEMORY)
        self._passed = kept * self._passed + now - task.since
        self._spent = kept * self._spent + seconds
        self._last = now

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    @property
    def running(self) -> str:
        """Name of the task that has been running for longest."""
        with self._lock:
            return self._running[0].name if self._running else ""

    @property
    def running_for(self) -> float:
        """Seconds for which it has been running."""
        with self._lock:
            return self._clock() - self._running[0].since if self._running else 0.0

    @property
    def share(self) -> float:
        """Share of the work that is done, by cost."""
        with self._lock:
            return 1.0 - self._expected(self._left) / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float:
        """Seconds until the end, with every process at work while there is any."""
        with self._lock:
            return self._seconds_left()

    def _seconds_left(self) -> float:
        left = {name: self._time(name, size) for name, size in self._left.items()}
        longest = {name: seconds / max(self._tasks[name], 1) for name, seconds in left.items()}
        for name, size, since in self._running:
            done = min(self._clock() - since, (1.0 - _UNFINISHED) * self._time(name, size))
            if name in left:
                left[name] = max(left[name] - done, 0.0)
                longest[name] -= done if self._tasks[name] == 1 else 0.0
        drawing = sum(left.pop(name) for name in list(left) if name.startswith(DRAWING))
        alone = max((longest[name] for name in left), default=0.0)
        return max(sum(left.values()) / self._jobs, alone) + drawing

    def _time(self, name: str, size: float) -> float:
        """Seconds of the clock for a task."""
        load = (self._passed + _TRUST) / (self._spent + _TRUST)
        return load * size * self._rate(name)

    def _rate(self, name: str) -> float:
        """Processor seconds for a unit of size."""
        # How much longer the tasks of this run have taken than they were known to take.
        slowness = (self._took + _TRUST) / (self._known + _TRUST)
        known = self._costs.get(name, 0.0) * slowness
        spent, sizes = self._seen.get(name, (0.0, 0.0))
        if not sizes:
            return known
        # What was known counts as one second of this task.
        weight = 1.0 / known if known else 0.0
        return (spent + known * weight) / (sizes + weight)
