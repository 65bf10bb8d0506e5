"""A warning if features of very different scales share one bandwidth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from colk._validation import Array
from colk.errors import warn_caller

__all__ = ["unseen_features", "warn_of_scales"]

# A feature is unseen if it is smaller than the largest one by the factor _FAR, or by _APART if at
# least _SHARE of the features are. Both its standard deviation and its range must be smaller, so
# that rare indicators and pixels that are nearly always blank do not cause a warning.
_FAR = 1000.0
_APART = 100.0
_SHARE = 0.25

# With fewer samples, ranges are not reliable.
_FEWEST = 10
_NAMED = 5


def unseen_features(X: Array) -> tuple[NDArray[np.intp], int]:
    """Return the features that are too small to affect the kernel, and the largest feature.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> unseen_features(X)[0], unseen_features(X * [1e4, 1.0, 1.0])
    (array([], dtype=int64), (array([1, 2]), 0))
    """
    deviations, ranges = X.std(axis=0), np.ptp(X, axis=0)
    largest, varies = int(deviations.argmax()), ranges > 0.0

    def smaller(factor: float) -> Any:
        beside = (deviations * factor < deviations[largest]) & (ranges * factor < ranges[largest])
        return varies & beside

    unseen = smaller(_APART)
    if unseen.sum() < _SHARE * varies.sum():
        unseen = smaller(_FAR)
    return np.flatnonzero(unseen), largest


def warn_of_scales(X: Array, names: Sequence[Any] | None) -> None:
    """Warn if features are too small to affect the kernel.

    Parameters
    ----------
    X : array of shape (n, p)
        Points, in units of the bandwidth.
    names : sequence, optional
        Names of the features.
    """
    if len(X) < _FEWEST:
        return
    unseen, largest = unseen_features(X)
    if not len(unseen):
        return
    called = [str(place if names is None else names[place]) for place in unseen[:_NAMED]]
    more = ", …" if len(unseen) > _NAMED else ""
    warn_caller(
        f"the kernel does not see the features {', '.join(called)}{more}: they vary by less than a "
        f"hundredth of feature {largest if names is None else names[largest]}, and share its "
        'bandwidth. Scale the features (StandardScaler), or set kernel="auto"',
        ConvergenceWarning,
    )
