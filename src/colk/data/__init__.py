"""Data sets that come with the package."""

import csv
import gzip
from importlib import resources

import numpy as np

from colk._validation import Array

__all__ = ["load_bike_rentals", "load_lidar"]


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
