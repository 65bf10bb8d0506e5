"""Grids, ticks and cycles of dates in the figures of a model."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from colk._encoding.dates import CYCLES, DAY, seconds_of, years_of
from colk._validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CycleGrid", "cycle_grid", "date_grid", "set_date_ticks"]

# Number of points in a line. Over more cycles than this, dates have one point in each cycle.
_POINTS = 200
_MANY_CYCLES = 30
# Number of dates at an axis.
_TICKS = 3
_WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_QUARTERS = {"Jan": "01", "Apr": "04", "Jul": "07", "Oct": "10"}


class CycleGrid(NamedTuple):
    """The points of one cycle of a date, and how they are drawn.

    Examples
    --------
    >>> grid = cycle_grid("week", 0.0)
    >>> grid.title, grid.labels[:2], len(grid.seconds)
    ('weekday', ('Mo', 'Tu'), 7)
    """

    title: str
    seconds: Array
    x: Array
    ticks: tuple[float, ...]
    labels: tuple[str, ...]


def cycle_grid(cycle: str, middle: float) -> CycleGrid:
    """Return the points of one cycle around a date in years since 2000.

    The days of a week are at noon. The points of a year are a week apart, at noon.

    Parameters
    ----------
    cycle : {"day", "week", "year"}
        The cycle.
    middle : float
        The date.

    Examples
    --------
    >>> grid = cycle_grid("year", 23.5)
    >>> grid.title, grid.labels
    ('season of 2023', ('Jan', 'Apr', 'Jul', 'Oct'))
    """
    day = np.floor(float(seconds_of(np.array(middle))) / DAY)
    if cycle == "day":
        hours = np.linspace(0.0, 24.0, 97)
        ticks: tuple[float, ...] = (0.0, 6.0, 12.0, 18.0, 24.0)
        seconds = day * DAY + np.minimum(hours * 3600.0, DAY - 1.0)
        return CycleGrid("time of day", seconds, hours, ticks, tuple(f"{t:g} h" for t in ticks))
    if cycle == "week":
        monday = np.floor((day + 3.0) / 7.0) * 7.0 - 3.0  # 1970 began on a Thursday
        places = np.arange(7.0)
        seconds = (monday + places + 0.5) * DAY
        return CycleGrid("weekday", seconds, places, tuple(places.tolist()), _WEEKDAYS)
    year = str(np.datetime64(int(day), "D"))[:4]
    start = int(np.datetime64(f"{year}-01-01", "D").astype(np.int64))
    places = np.arange(0.0, 365.0, 7.0)
    months = (np.datetime64(f"{year}-{month}-01", "D") for month in _QUARTERS.values())
    ticks = tuple(float(month.astype(np.int64)) - start for month in months)
    seconds = (start + places + 0.5) * DAY
    return CycleGrid(f"season of {year}", seconds, places, ticks, tuple(_QUARTERS))


def date_grid(low: float, high: float) -> Array:
    """Return dates in years; over many days they are whole days or weeks apart.

    Otherwise, few points over many days would show waves that are not in the function.

    Examples
    --------
    >>> len(date_grid(20.0, 20.01)), len(date_grid(20.0, 24.0))
    (200, 105)
    """
    for cycle in ("week", "day"):
        length = CYCLES[cycle] / CYCLES["year"]
        n_cycles = (high - low) / length
        if n_cycles >= _MANY_CYCLES:
            return np.arange(low, high, np.ceil(n_cycles / _POINTS) * length)
    return np.linspace(low, high, _POINTS)


def set_date_ticks(axes: "Axes", low: float, high: float) -> None:
    """Put ticks at whole days, or at times if there are few days.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes over dates in years since 2000.
    low, high : float
        The ends of the data.
    """
    first, last = seconds_of(np.array([low, high])) / DAY
    days: Array = np.unique(np.round(np.linspace(np.ceil(first), np.floor(last), _TICKS)))
    axes.tick_params(axis="x", rotation=30)
    if np.floor(last) - np.ceil(first) < _TICKS:
        axes.locator_params(axis="x", nbins=_TICKS)
        axes.xaxis.set_major_formatter(lambda value, _: _time(float(seconds_of(np.array(value)))))
        return
    labels = [str(np.datetime64(int(day), "D")) for day in days]
    axes.set_xticks(years_of(np.asarray(days * DAY)), labels)
    for label in axes.get_xticklabels():
        label.set(ha="right", rotation_mode="anchor")


def _time(seconds: float) -> str:
    """Return the date and time as text; for times without a date, the time of day."""
    shown = str(np.datetime_as_string(np.datetime64(round(seconds), "s"), unit="m"))
    return shown[5:].replace("T", " ") if abs(seconds) > DAY else shown[11:]
