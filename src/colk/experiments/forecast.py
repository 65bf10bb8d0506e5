"""How much is left to do, and how long it will take: tasks weighed by their measured cost."""

import csv
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

__all__ = ["DRAWING", "Forecast", "measured_costs"]

DRAWING = "Drawing the figures"
_COSTS = Path(__file__).with_name("costs.csv")
# Seconds of work after which what was measured in this run weighs as much as what was known.
_TRUST = 10.0


@cache
def measured_costs() -> Mapping[str, float]:
    """Seconds for each unit of size, by a task's name, as a full run once took.

    Examples
    --------
    >>> measured_costs()["Drawing the figures"] > 0.0
    True
    """
    with _COSTS.open(newline="", encoding="utf-8") as file:
        return {row["name"]: float(row["seconds"]) for row in csv.DictReader(file)}


class Forecast:
    """What runs, what share is done, and the seconds that are left.

    A task's cost is that of tasks of its name in this run, and before any has finished the cost of
    a full run elsewhere, times how much slower this machine has proved. Tasks run side by side,
    drawing does not.

    Parameters
    ----------
    work : iterable of (str, float)
        Names and sizes of all tasks to come.
    jobs : int
        Processes.
    costs : mapping, optional
        Seconds for each unit of size, by name.
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
        for name, size in work:
            self._left[name] = self._left.get(name, 0.0) + size
        self._seen: dict[str, tuple[float, float]] = {}
        self.total = self._expected(self._left)
        self.running = ""
        self._since = self._start = clock()
        self.records: list[tuple[str, float, float, float]] = []

    def _expected(self, work: Mapping[str, float]) -> float:
        return sum(self._costs.get(name, 0.0) * size for name, size in work.items())

    def begin(self, name: str) -> None:
        """Say what runs now."""
        if name != self.running:
            self.running, self._since = name, self._clock()

    def finish(self, name: str, size: float, seconds: float | None = None) -> None:
        """Count a task as done; without seconds it was found, not run."""
        self._left[name] = max(self._left.get(name, 0.0) - size, 0.0)
        if seconds is not None:
            spent, sizes = self._seen.get(name, (0.0, 0.0))
            self._seen[name] = (spent + seconds, sizes + size)
            self.records.append((name, size, seconds, self.elapsed))

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
        busy = sum(spent for name, (spent, _) in self._seen.items() if name != DRAWING)
        known = self._expected({name: sizes for name, (_, sizes) in self._seen.items()})
        spent = sum(seconds for seconds, _ in self._seen.values())
        slower = (spent + _TRUST) / (known + _TRUST)
        left = {name: size * self._rate(name, slower) for name, size in self._left.items()}
        drawing = left.pop(DRAWING, 0.0)
        # Seconds of this clock for a second of one process.
        until = self._seen.get(DRAWING, (0.0, 0.0))[0]
        pace = (self.elapsed - until + _TRUST / self._jobs) / (busy + _TRUST)
        return sum(left.values()) * pace + drawing

    def _rate(self, name: str, slower: float) -> float:
        """Seconds for a unit of size."""
        known = self._costs.get(name, 0.0) * slower
        spent, sizes = self._seen.get(name, (0.0, 0.0))
        if not sizes:
            return known
        # What was known counts as one second of this task.
        weight = 1.0 / known if known else 0.0
        return (spent + known * weight) / (sizes + weight)
