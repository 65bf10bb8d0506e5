"""Confidence intervals over runs: mean, percentage change, ratio of spreads, share, slope."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from colk_lab.arrays import Array

__all__ = [
    "Interval",
    "mean_interval",
    "percent_change",
    "share_interval",
    "slope_interval",
    "spread_change",
    "standard_error",
]


# Draws behind the interval of a ratio of spreads.
_DRAWS = 4000


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def below_zero(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.high < 0.0

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return 0.5 * (self.high - self.low)

    @property
    def above_zero(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.low > 0.0


def _quantile(degrees: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, degrees))


def mean_interval(values: ArrayLike, overlap: float = 0.0) -> Interval:
    """Return the mean of values with Student's interval; for paired runs, pass differences.

    Parameters
    ----------
    values : array-like
        One number for each run.
    overlap : float, default=0.0
        Rows for testing divided by rows for training, if the runs are random splits of the same
        rows. The variance of the mean is then larger (Nadeau and Bengio, 2003).

    Examples
    --------
    >>> found = mean_interval([1.0, 2.0, 3.0])
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (2.0, -0.48, 4.48)
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    mean = float(numbers.mean())
    half = _quantile(n - 1) * float(numbers.std(ddof=1) * np.sqrt(1.0 / n + overlap))
    return Interval(mean, mean - half, mean + half)


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of the mean of values; for paired runs, pass differences.

    Examples
    --------
    >>> round(standard_error([1.0, 2.0, 3.0]), 3)
    0.577
    """
    numbers = np.asarray(values, dtype=np.float64)
    return float(numbers.std(ddof=1) / np.sqrt(len(numbers)))


def percent_change(first: ArrayLike, second: ArrayLike) -> Interval:
    """Return the percentage by which `first` lies above `second`, for paired positive numbers.

    The mean and Student's interval are those of the logarithms of the ratios, so "twice" and
    "half" have the same weight. With one pair, or if a run diverged, the interval is unbounded.

    Examples
    --------
    >>> found = percent_change([1.1, 2.2, 3.3], [1.0, 2.0, 3.0])
    >>> round(found.value, 6), round(found.low, 6), round(found.high, 6)
    (10.0, 10.0, 10.0)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Interval(float("nan"), -100.0, float("inf"))
    if len(a) == 1:
        return Interval(100.0 * float(a[0] / b[0] - 1.0), -100.0, float("inf"))
    found = mean_interval(np.log(a / b))
    with np.errstate(over="ignore"):
        value, low, high = (
            100.0 * float(np.expm1(x)) for x in (found.value, found.low, found.high)
        )
    return Interval(value, low, high)


def share_interval(hits: int, runs: int) -> Interval:
    """Return the percentage of runs with an event, with Clopper and Pearson's interval.

    Examples
    --------
    >>> found = share_interval(0, 20)
    >>> found.value, found.low, round(found.high, 1)
    (0.0, 0.0, 16.8)
    """
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, runs - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, runs - hits)) if hits < runs else 1.0
    return Interval(100.0 * hits / runs, 100.0 * low, 100.0 * high)


def spread_change(first: ArrayLike, second: ArrayLike) -> Interval:
    """Return the percentage by which the standard deviation of `first` exceeds that of `second`.

    The pairs of positive errors are taken as lognormal, because errors of a method over training
    sets are skewed: the spread of their logarithms is about 0.5. With μ and s² of a logarithm, the
    standard deviation is exp(μ + s²/2)√(exp(s²) − 1). The interval has the quantiles of the ratio
    under the distribution of both μ and of the covariance given the runs (an inverse Wishart with
    n − 2 degrees of freedom). `tests/reproduction/test_statistics.py` simulates its coverage.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = np.exp(0.5 * rng.normal(size=(2, 200)))
    >>> found = spread_change(a, 2.0 * b)
    >>> found.low < -50.0 < found.high < 0.0
    True
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n = len(a)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Interval(float("nan"), -100.0, float("inf"))
    if n < 5:
        ratio = float(a.std(ddof=1) / b.std(ddof=1))
        return Interval(100.0 * (ratio - 1.0), -100.0, float("inf"))
    with np.errstate(over="ignore"):
        return Interval(*(100.0 * np.expm1(_log_spreads(np.log(np.stack([a, b]))))).tolist())


def _log_spreads(logs: Array) -> Array:
    """Return median and interval of the log ratio of two lognormal standard deviations."""
    n = logs.shape[1]
    mean = logs.mean(axis=1)
    scatter = (logs - mean[:, None]) @ (logs - mean[:, None]).T
    root = np.linalg.cholesky(scatter + 1e-12 * np.diag(np.diag(scatter) + 1e-300))
    rng = np.random.default_rng(0)
    first = np.sqrt(rng.chisquare(n - 2, _DRAWS))
    second = np.sqrt(rng.chisquare(n - 3, _DRAWS))
    # The transposed inverse of Bartlett's factor of a Wishart matrix.
    inverse = np.zeros((_DRAWS, 2, 2))
    inverse[:, 0, 0], inverse[:, 1, 1] = 1.0 / first, 1.0 / second
    inverse[:, 0, 1] = -rng.normal(size=_DRAWS) / (first * second)
    factor = root @ inverse
    variance = (factor**2).sum(axis=2)
    means = mean + (factor @ rng.normal(size=(_DRAWS, 2, 1)))[:, :, 0] / np.sqrt(n)
    sizes = means + 0.5 * variance + 0.5 * np.log(np.expm1(variance))
    found: Array = np.quantile(sizes[:, 0] - sizes[:, 1], [0.5, 0.025, 0.975])
    return found


def slope_interval(x: ArrayLike, y: ArrayLike) -> Interval:
    """Return the least-squares slope of log y over log x; y has shape (runs, len(x)) or (len(x),).

    With several runs, the interval is that of the mean of their slopes. With one run, it is the
    interval of the regression.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0, 8.0])
    >>> round(slope_interval(x, [x**2, 3.0 * x**2]).value, 6)
    2.0
    """
    X = np.log(np.asarray(x, dtype=np.float64))
    Y = np.log(np.atleast_2d(np.asarray(y, dtype=np.float64)))
    centred: Array = X - X.mean()
    slopes = Y @ centred / (centred @ centred)
    if len(slopes) > 1:
        return mean_interval(slopes)
    slope = float(slopes[0])
    residual = Y[0] - Y[0].mean() - slope * centred
    degrees = len(X) - 2
    half = _quantile(degrees) * float(np.sqrt(residual @ residual / degrees / (centred @ centred)))
    return Interval(slope, slope - half, slope + half)
