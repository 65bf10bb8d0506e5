"""Data sets that come with the package."""

import csv
import gzip
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from colk._validation import Array

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["load_bike_frame", "load_bike_rentals", "load_lidar"]

_WEATHER = {1.0: "clear", 2.0: "mist", 3.0: "rain", 4.0: "storm"}


def load_bike_rentals() -> list[tuple[dict[str, float], float]]:
    """Load the hourly bike rentals of Washington in 2011, with weather and calendar.

    The 8645 samples are in order of time, in the format that River uses. `bike_2011.md` in the same
    folder names their source.

    Returns
    -------
    list of pairs
        A dict of the features of an hour, and the number of rentals in it.

    Examples
    --------
    >>> from colk.data import load_bike_rentals
    >>> samples = load_bike_rentals()
    >>> features, rentals = samples[0]
    >>> len(samples), features["hr"], features["temp"], rentals
    (8645, 0.0, 0.24, 16.0)
    """
    packed = resources.files("colk.data").joinpath("bike_2011.csv.gz").read_bytes()
    rows = csv.DictReader(gzip.decompress(packed).decode().splitlines())
    table = [{name: float(cell) for name, cell in row.items()} for row in rows]
    return [(features, features.pop("cnt")) for features in table]


def load_bike_frame() -> "DataFrame":
    """Load the bike rentals of `load_bike_rentals` as a data frame of pandas, with dates and texts.

    The columns are `when`, `holiday`, `weather` (a text), `temperature`, `feels_like`, `humidity`,
    `wind` and `rentals`. The days follow from the weekdays of the file, which has no dates.

    Returns
    -------
    pandas.DataFrame
        8645 rows in order of time.

    Examples
    --------
    >>> from colk.data import load_bike_frame
    >>> frame = load_bike_frame()
    >>> str(frame.when.iloc[-1]), frame.weather.iloc[-1], int(frame.rentals.iloc[-1])
    ('2011-12-31 23:00:00', 'clear', 31)
    """
    import pandas as pd

    samples = load_bike_rentals()
    weekdays = np.array([hour["weekday"] for hour, _ in samples])
    days = np.cumsum(np.diff(weekdays, prepend=weekdays[0]) != 0.0)
    hours = np.array([hour["hr"] for hour, _ in samples]) + 24.0 * days
    columns = {"temperature": "temp", "feels_like": "atemp", "humidity": "hum", "wind": "windspeed"}
    return pd.DataFrame(
        {
            "when": pd.Timestamp("2011-01-01") + pd.to_timedelta(hours, unit="h"),
            "holiday": [hour["holiday"] == 1.0 for hour, _ in samples],
            "weather": [_WEATHER[hour["weathersit"]] for hour, _ in samples],
            **{new: [hour[old] for hour, _ in samples] for new, old in columns.items()},
            "rentals": [rentals for _, rentals in samples],
        }
    )


def load_lidar() -> tuple[Array, Array]:
    """Load the LIDAR measurements: 221 pairs of range (metres) and log ratio of received light.

    The pairs are sorted by range, so shuffle them before streaming. The spread of the log ratio
    grows beyond a range of about 560. `lidar.md` in the same folder names their source.

    Returns
    -------
    range : array of shape (221,)
        Distance travelled before the light is reflected.
    log_ratio : array of shape (221,)
        Logarithm of the ratio of light received from two lasers.

    Examples
    --------
    >>> from colk.data import load_lidar
    >>> distance, log_ratio = load_lidar()
    >>> len(distance), float(distance.min()), float(distance.max())
    (221, 390.0, 720.0)
    """
    text = resources.files("colk.data").joinpath("lidar.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    distance = np.array([float(row["range"]) for row in rows])
    log_ratio = np.array([float(row["logratio"]) for row in rows])
    return distance, log_ratio
