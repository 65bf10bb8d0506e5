"""Progress of `colk reproduce` and `colk bench`: share done, time left and running task."""

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.progress import Task as Bar
from rich.text import Text

from colk_lab.origin import duration
from colk_lab.runner import Watch

__all__ = ["Progress", "time_left"]

# While less than this share of the work is done, the time left is shown as a range.
_EARLY = 0.2
# Weight of the announced pace beside the observed one, as a share of the work.
_ANNOUNCED = 0.05
# Seconds before the first line and between lines, if there is no terminal.
_FIRST, _LINE = 10.0, 30.0


def time_left(
    done: float, total: float, elapsed: float, last: float, jobs: int = 1
) -> tuple[float, float]:
    """Estimate the time left from the work done; return the least and the most seconds.

    The most is twice the least until a fifth of the work is done; then both are equal. The first
    tasks hardly change the announced pace, because starting processes takes much of their time.

    Parameters
    ----------
    done, total : float
        Work, in seconds of a processor.
    elapsed : float
        Seconds since the start.
    last : float
        Seconds from the start to the end of the task that finished last.
    jobs : int
        Number of processes.

    Examples
    --------
    >>> time_left(50.0, 100.0, elapsed=60.0, last=50.0)
    (40.0, 40.0)
    >>> time_left(10.0, 100.0, elapsed=10.0, last=10.0)
    (90.0, 180.0)
    >>> time_left(0.0, 100.0, elapsed=0.0, last=0.0, jobs=2)
    (50.0, 100.0)
    """
    announced = _ANNOUNCED * total
    left = (last + announced / jobs) * max(total - done, 0.0) / (done + announced or 1.0)
    # The running tasks are partly done, by an unknown share.
    left -= min(elapsed - last, 0.5 * left)
    return left, left if done >= _EARLY * total else 2.0 * left


def _rounded(seconds: float) -> str:
    """Round to the accuracy of an estimate."""
    step = 1.0 if seconds < 20.0 else 5.0 if seconds < 120.0 else 30.0
    return duration(step * round(seconds / step))


class _TimeLeft(ProgressColumn):
    """A column with the time left."""

    def render(self, task: Bar) -> Text:
        """Return the text of the column."""
        return Text(_told(task))


def _told(bar: Bar) -> str:
    done, total, elapsed = bar.completed, bar.total or 0.0, bar.elapsed or 0.0
    least, most = time_left(done, total, elapsed, bar.fields["last"], bar.fields["jobs"])
    if least == most:
        return f"about {_rounded(least)} left"
    return f"{_rounded(least)} to {_rounded(most)} left"


class Progress(Watch):
    """Shows progress on stderr; a context manager.

    On a terminal it draws a bar, elsewhere it writes a line every half minute.

    Parameters
    ----------
    total : float
        Processor seconds of all tasks, from `colk_lab.reproduction.reproduce.expected_seconds`.
    jobs : int
        Number of processes.
    """

    def __init__(self, total: float, jobs: int = 1) -> None:
        console = Console(stderr=True)
        self._bars = Bars(
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %"),
            _TimeLeft(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._bar = self._bars.add_task("", total=total, last=0.0, jobs=jobs)
        self._running: list[str] = []
        self._next_line = _FIRST

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def begin(self, names: Sequence[str]) -> None:
        """Show the first of the tasks that start."""
        self._running = list(names)
        self._bars.update(self._bar, description=self._running[0] if self._running else "")

    def finish(self, name: str, seconds: float, *, found: bool = False) -> None:
        """Count a finished task; a task found in the cache is subtracted from the total."""
        bar = self._bars.tasks[0]
        if found:
            self._bars.update(self._bar, total=max((bar.total or 0.0) - seconds, 0.0))
            return
        if name in self._running:
            self._running.remove(name)
        shown = self._running[0] if self._running else name
        elapsed = bar.elapsed or 0.0
        self._bars.update(self._bar, advance=seconds, description=shown, last=elapsed)
        if self._bars.disable and elapsed >= self._next_line:
            self._next_line = elapsed + _LINE
            line = f"colk: {bar.percentage:.0f} %, {_told(bar)}, {shown}"
            print(line, file=sys.stderr, flush=True)
