"""Find the lags by which a series predicts itself."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from colk._validation import Array

__all__ = ["find_lags"]

# At most _MOST lags are chosen, up to a _DEEPEST part of the series; each needs _ROWS_PER_LAG rows.
_MOST, _DEEPEST, _ROWS_PER_LAG = 12, 3, 10

# Values further from the median than _FAR times the 90 % quantile of this distance are clipped.
_FAR = 4.0


def find_lags(values: Array) -> list[int]:
    """Return lags whose values predict the next one, in increasing order.

    The lags are chosen forward. Each time, the lag with the largest partial autocorrelation, given
    the chosen ones, is added, if the logarithm of the variance falls by more than
    (ln m + 2 ln L)/m, for L candidates and m rows (extended BIC). So seasons are found if they
    repeat at least three times.

    Parameters
    ----------
    values : array of shape (n,)
        The series; all lags up to n/3 are candidates.

    References
    ----------
    Chen, Chen, "Extended Bayesian information criteria for model selection with large model
    spaces", 2008.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> find_lags(noise)
    []
    >>> find_lags(np.tile(noise[:50], 8) + 0.1 * noise)[:1]  # a season of 50
    [50]
    """
    deepest = len(values) // _DEEPEST
    if deepest == 0:
        return []
    middle = np.median(values)
    typical = np.quantile(np.abs(values - middle), 0.9)
    clipped = np.clip(values - middle, -_FAR * typical, _FAR * typical)
    y = clipped[deepest:] - clipped[deepest:].mean()
    columns = sliding_window_view(clipped, deepest)[:-1, ::-1]
    columns = columns - columns.mean(axis=0)
    columns /= np.maximum(np.sqrt((columns**2).sum(axis=0)), 1e-300)
    price = (math.log(len(y)) + 2.0 * math.log(deepest)) / len(y)
    chosen: list[int] = []
    while len(chosen) < min(_MOST, len(y) // _ROWS_PER_LAG) and (left := float(y @ y)) > 0.0:
        own = (columns**2).sum(axis=0)
        gains = np.where(own > 1e-4, (columns.T @ y) ** 2 / np.maximum(own, 1e-4), 0.0)
        best = int(np.argmax(gains))
        if -math.log(max(1.0 - float(gains[best]) / left, 1e-12)) < price:
            break
        direction = columns[:, best] / math.sqrt(own[best])
        y = y - direction * (direction @ y)
        columns = columns - np.outer(direction, direction @ columns)
        chosen.append(best + 1)
    return sorted(chosen)
