"""How much is left to do, and how long it will take: tasks weighed by their measured cost."""

import csv
import math
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

__all__ = ["DRAWING", "Forecast", "measured_costs"]

# How the names of figures to be drawn begin.
DRAWING = "Drawing: "
_COSTS = Path(__file__).with_name("costs.csv")
# Seconds of work after which what was measured in this run weighs as much as what was known.
_TRUST = 10.0
# Seconds over which the load of the machine is judged: others may come and go.
_MEMORY = 60.0
# Share of the time left that is still told where tasks run longer than expected.
_UNFINISHED = 0.1


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
    the pace of late: seconds of the clock for a processor second. Tasks run side by side, drawing
    does not.

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
    >>> forecast.finish("a", 1.0)
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
        self._seen: dict[str, tuple[float, float]] = {}
        # Of late: seconds of the clock, and processor seconds.
        self._passed = self._spent = 0.0
        self.total = self._expected(self._left)
        self.running = ""
        self._since = self._start = self._last = clock()
        self.records: list[tuple[str, float, float]] = []

    def _expected(self, work: Mapping[str, float]) -> float:
        return sum(self._costs.get(name, 0.0) * size for name, size in work.items())

    def begin(self, name: str) -> None:
        """Say what runs now."""
        if name != self.running:
            self.running, self._since = name, self._clock()

    def finish(self, name: str, size: float, seconds: float | None = None) -> None:
        """Count a task as done; without processor seconds it was found, not run."""
        now = self._clock()
        self._left[name] = max(self._left.get(name, 0.0) - size, 0.0)
        self._tasks[name] = self._tasks.get(name, 1) - 1
        if seconds is not None:
            spent, sizes = self._seen.get(name, (0.0, 0.0))
            self._seen[name] = (spent + seconds, sizes + size)
            self.records.append((name, size, seconds))
            if not name.startswith(DRAWING):
                kept = math.exp((self._last - now) / _MEMORY)
                self._passed = kept * self._passed + now - self._last
                self._spent = kept * self._spent + seconds
        self._last = now

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    @property
    def running_for(self) -> float:
        """Seconds for which the present step has been running."""
        return self._clock() - self._since

    @property
    def share(self) -> float:
        """Share of the work that is done, by cost."""
        return 1.0 - self._expected(self._left) / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float:
        """Seconds until the end."""
        left = self._left_then()
        # Tasks run on since one was last finished; one that takes longer than it should is not
        # yet over.
        return max(left - (self._clock() - self._last), _UNFINISHED * left)

    def _left_then(self) -> float:
        """Seconds until the end when a task was last finished."""
        known = self._expected({name: sizes for name, (_, sizes) in self._seen.items()})
        spent = sum(seconds for seconds, _ in self._seen.values())
        slower = (spent + _TRUST) / (known + _TRUST)
        left = {name: size * self._rate(name, slower) for name, size in self._left.items() if size}
        drawing = sum(left.pop(name) for name in list(left) if name.startswith(DRAWING))
        longest = max((work / max(self._tasks[name], 1) for name, work in left.items()), default=0)
        pace = (self._passed + _TRUST / self._jobs) / (self._spent + _TRUST)
        # One process alone is as much slower as the load makes it.
        alone = max(pace * self._jobs, 1.0)
        return max(sum(left.values()) * pace, longest * alone) + drawing * alone

    def _rate(self, name: str, slower: float) -> float:
        """Processor seconds for a unit of size."""
        known = self._costs.get(name, 0.0) * slower
        spent, sizes = self._seen.get(name, (0.0, 0.0))
        if not sizes:
            return known
        # What was known counts as one second of this task.
        weight = 1.0 / known if known else 0.0
        return (spent + known * weight) / (sizes + weight)
