"""A line that says what runs, how much is done, and the time that is left."""

import sys
from threading import Event, Thread
from types import TracebackType
from typing import Self

from colk._extras import needed_for

with needed_for("colk.cli.progress", extra="cli"):
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

from colk.experiments.forecast import Forecast
from colk.experiments.origin import duration

__all__ = ["Progress", "describe"]

# Seconds between looks on a terminal, and between lines elsewhere.
_LOOK = 0.5
_LINE = 30.0
# A step that runs longer is told with its own time.
_LONG = 15.0


def describe(forecast: Forecast) -> str:
    """What runs, since when if that is long, and the time that is left.

    Examples
    --------
    >>> forecast = Forecast([("Lidar: POLK", 40.0)], costs={"Lidar: POLK": 0.5})
    >>> forecast.begin("Lidar: POLK", 40.0)
    >>> describe(forecast)
    'about 20 s left, Lidar: POLK'
    """
    since = f" (for {duration(forecast.running_for)})" if forecast.running_for >= _LONG else ""
    return f"about {duration(_rounded(forecast.seconds_left))} left, {forecast.running}{since}"


def _rounded(seconds: float) -> float:
    """No more digits than the estimate has."""
    if seconds < 20.0:
        return seconds
    step = 5.0 if seconds < 120.0 else 30.0
    return step * round(seconds / step)


class Progress:
    """Shows a forecast while it comes true; used as a context. Writes to standard error.

    A bar on a terminal; elsewhere a line every half minute.

    Parameters
    ----------
    forecast : Forecast
        What is to be done.
    """

    def __init__(self, forecast: Forecast) -> None:
        self._forecast = forecast
        self._bars = Bars(
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar = self._bars.add_task("", total=1.0)
        self._ended = Event()
        self._watcher = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._bars.console.is_terminal:
            self._bars.start()
        self._watcher.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._watcher.join()
        if self._bars.console.is_terminal:
            self._bars.stop()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK if self._bars.console.is_terminal else _LINE):
            share, text = self._forecast.share, describe(self._forecast)
            if self._bars.console.is_terminal:
                self._bars.update(self._bar, completed=share, description=text)
            else:
                print(f"colk: {100.0 * share:.0f} %, {text}", file=sys.stderr, flush=True)
