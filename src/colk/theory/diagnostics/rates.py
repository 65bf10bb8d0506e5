"""Exponents of convergence with intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

__all__ = ["FittedRate", "fit_rate"]


class FittedRate(NamedTuple):
    """An exponent, and its 95 % interval."""

    exponent: float
    low: float
    high: float


def fit_rate(sizes: ArrayLike, values: ArrayLike) -> FittedRate:
    """Return the exponent p of values ≈ c·size^p, the slope of log values over log sizes.

    Parameters
    ----------
    sizes : array of shape (k,)
        Numbers of samples, or step sizes, above 0; at least 3.
    values : array of shape (k,) or (runs, k)
        Errors, above 0. With several independent runs the interval is that of the mean of their
        slopes. With one run it is that of the regression, as if its errors were independent.

    Examples
    --------
    >>> sizes = [100, 400, 1600]
    >>> fit_rate(sizes, [[10.0, 5.0, 2.5], [9.0, 4.5, 2.2]]).exponent
    -0.504...
    """
    x, rows = np.asarray(sizes, dtype=float), np.atleast_2d(np.asarray(values, dtype=float))
    if x.ndim != 1 or len(x) < 3 or rows.shape[1] != len(x):
        raise ValueError(
            f"fit_rate needs at least 3 sizes, and a value for each, got {x.shape} and {rows.shape}"
        )
    if not ((x > 0.0).all() and (rows > 0.0).all()):
        raise ValueError("fit_rate needs sizes and values above 0")
    centred = np.log(x) - np.log(x).mean()
    slopes = np.log(rows) @ centred / (centred @ centred)
    mean = float(slopes.mean())
    if len(slopes) > 1:
        degrees = len(slopes) - 1
        error = float(slopes.std(ddof=1)) / np.sqrt(len(slopes))
    else:
        degrees = len(x) - 2
        residual = np.log(rows[0]) - np.log(rows[0]).mean() - mean * centred
        error = float(np.sqrt(residual @ residual / degrees / (centred @ centred)))
    half = float(student.ppf(0.975, degrees)) * error
    return FittedRate(mean, mean - half, mean + half)
