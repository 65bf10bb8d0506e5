"""Data that come with the package."""

import csv
from importlib import resources

import numpy as np

from colk._validation import Array

__all__ = ["load_lidar"]


def load_lidar() -> tuple[Array, Array]:
    """LIDAR measurements: 221 pairs of range (metres) and log ratio of received light.

    Sorted by range; the spread grows beyond a range of about 560. `lidar.md` in the same folder
    names their source.

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
