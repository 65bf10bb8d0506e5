"""Features of dates: the trend, and the time of day, week and year as points on circles."""

import numpy as np

from colk._validation import Array

__all__ = ["CYCLES", "DAY", "YEAR_2000", "cycles_in", "on_circle", "seconds_of", "years_of"]

DAY = 86400.0

# Length of each cycle in seconds.
CYCLES = {"day": DAY, "week": 7.0 * DAY, "year": 365.2425 * DAY}

YEAR_2000 = 946684800.0

# A cycle is used if the dates span this many of its periods.
_PERIODS = 1.5


def cycles_in(seconds: Array) -> tuple[str, ...]:
    """Return the cycles of which these dates span at least one and a half periods.

    The time of day is used only if dates have different times of day.

    Parameters
    ----------
    seconds : array of shape (n,)
        Seconds since 1970, with NaN for gaps.

    Examples
    --------
    >>> cycles_in(np.arange(30) * 86400.0), cycles_in(np.arange(100) * 3600.0)
    (('week',), ('day',))
    """
    known = seconds[~np.isnan(seconds)]
    span = float(np.ptp(known)) if len(known) else 0.0
    found = [name for name, period in CYCLES.items() if span >= _PERIODS * period]
    if "day" in found and np.ptp(known % DAY) == 0.0:
        found.remove("day")
    return tuple(found)


def years_of(seconds: Array) -> Array:
    """Return seconds since 1970 as years since 2000.

    Examples
    --------
    >>> years_of(np.array([946684800.0]))
    array([0.])
    """
    return np.asarray((seconds - YEAR_2000) / CYCLES["year"])


def seconds_of(years: Array) -> Array:
    """Return years since 2000 as seconds since 1970.

    Examples
    --------
    >>> seconds_of(np.array([0.0]))
    array([9.466848e+08])
    """
    return np.asarray(years * CYCLES["year"] + YEAR_2000)


def on_circle(seconds: Array, cycle: str) -> Array:
    """Return the time within a cycle as points on a circle, of shape (n, 2); a gap stays NaN.

    The coordinates have a standard deviation of 1. In the week, all times of a day are the same
    point.

    Parameters
    ----------
    seconds : array of shape (n,)
        Seconds since 1970, with NaN for gaps.
    cycle : {"day", "week", "year"}
        The cycle.

    Examples
    --------
    >>> on_circle(np.array([0.0, 43200.0, np.nan]), "day").round(3) + 0.0
    array([[ 0.   ,  1.414],
           [ 0.   , -1.414],
           [   nan,    nan]])
    """
    if cycle == "week":
        seconds = np.floor(seconds / DAY) * DAY
    angles = 2.0 * np.pi * (seconds / CYCLES[cycle])
    return np.asarray(np.sqrt(2.0) * np.column_stack([np.sin(angles), np.cos(angles)]))
