"""Kernels by name, and their bandwidths."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._engine.running_scale import without_outliers
from colk._engine.terms import term_by_name
from colk._resolution import varying
from colk._validation import Array, check_number
from colk.kernels import KERNELS, Kernel, Laplacian

__all__ = [
    "as_kernel",
    "bandwidth_from_data",
    "standard_bandwidth",
    "takes_bandwidth",
    "uses_l1_distance",
]

# Names of scikit-learn, and the names of the same kernels here.
_ALIASES = {"rbf": "gaussian", "poly": "polynomial"}

# Squares of smaller or larger differences underflow or overflow.
_SMALLEST, _LARGEST = 1e-150, 1e150

# Largest number of points for the pairwise distances of the rule "median", and for the variance of
# the rule "scale".
_MEDIAN_POINTS = 500
_SCALE_POINTS = 20_000


def _registered_name(kernel: str) -> str:
    return _ALIASES.get(kernel, kernel)


def takes_bandwidth(kernel: Kernel | str) -> bool:
    """Return whether `kernel` is the name of a kernel with a bandwidth.

    Examples
    --------
    >>> takes_bandwidth("rbf"), takes_bandwidth("linear")
    (True, False)
    """
    kind = KERNELS.get(_registered_name(kernel)) if isinstance(kernel, str) else None
    return kind is not None and "bandwidth" in kind._fields


def as_kernel(kernel: Kernel | str, bandwidth: float | None = None) -> Kernel:
    """Return a kernel object; a name gives the kernel with this bandwidth, if it has one.

    Examples
    --------
    >>> as_kernel("gaussian", 0.5), as_kernel("rbf", 0.5)
    (Gaussian(bandwidth=0.5), Gaussian(bandwidth=0.5))
    """
    name = _registered_name(kernel) if isinstance(kernel, str) else kernel
    if takes_bandwidth(name):
        return KERNELS[str(name)](bandwidth)  # type: ignore[call-arg]
    return term_by_name(name, Kernel, KERNELS, "kernel")


def uses_l1_distance(kernel: Any) -> bool:
    """Return whether `kernel` is a name of the Laplacian.

    Examples
    --------
    >>> uses_l1_distance("laplacian"), uses_l1_distance("rbf")
    (True, False)
    """
    return KERNELS[_registered_name(kernel)] is Laplacian


def standard_bandwidth(kernel: str, n_features: int, variance: float = 1.0) -> float:
    """Return the default bandwidth for p features of this variance.

    The formula is √(p·variance/2). A Gaussian with this bandwidth equals scikit-learn's RBF kernel
    with gamma="scale": κ at two random points is about exp(−2) for any p. The Laplacian uses the L1
    distance, which grows with p and not with √p; its formula is p·√variance/2.

    Examples
    --------
    >>> standard_bandwidth("gaussian", n_features=8), standard_bandwidth("laplacian", n_features=8)
    (2.0, 4.0)
    """
    if uses_l1_distance(kernel):
        return float(n_features * np.sqrt(variance) / 2.0)
    return float(np.sqrt(n_features * variance / 2.0))


def _median_distance(kernel: str, X: Array) -> float:
    from scipy.spatial.distance import pdist

    metric: Any = "cityblock" if uses_l1_distance(kernel) else "euclidean"
    distances = pdist(_evenly_spaced(X, _MEDIAN_POINTS), metric)
    return float(np.median(distances)) if len(distances) else 0.0


def _evenly_spaced(X: Array, most: int) -> Array:
    """Return at most this many points, evenly spaced."""
    return X[:: max(-(-len(X) // most), 1)]


def bandwidth_from_data(
    kernel: str, bandwidth: Any, X: Array, categorical: Sequence[int] = ()
) -> Any:
    """Apply the rule "scale" or "median" to the points X; return a number unchanged.

    "scale" is `standard_bandwidth` at the variance of X, with outliers moved to the limits of
    ordinary values. "median" is the median distance between points. If all points are equal, the
    variance is taken as 1; otherwise features that do not vary are left out. Categories count as
    features, but not in distances and variances.

    Examples
    --------
    >>> round(bandwidth_from_data("gaussian", "scale", np.array([[0.0], [2.0]])), 3)
    0.707
    >>> bandwidth_from_data("gaussian", "median", np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if not isinstance(bandwidth, str):
        return bandwidth
    if bandwidth not in ("scale", "median"):
        raise ValueError(
            f"bandwidth must be a positive number, 'scale' or 'median', got {bandwidth!r}"
        )
    p = X.shape[1]
    if len(categorical):
        X = np.delete(X, categorical, axis=1)
    if X.shape[1] == 0:
        return standard_bandwidth(kernel, p)
    spread = float(np.ptp(X))
    if spread > 0.0 and not _SMALLEST < spread < _LARGEST:
        raise ValueError(
            f"the largest difference between features is {spread:.2g}, and the square of such a "
            "number cannot be computed: multiply the features by a number so that they are near 1"
        )
    if bandwidth == "scale":
        some = _evenly_spaced(X, _SCALE_POINTS)
        varies = varying(some)
        if varies.any() and not varies.all():
            p, some = p - int((~varies).sum()), some[:, varies]
        chosen = standard_bandwidth(kernel, p, float(np.var(without_outliers(some))))
    else:
        chosen = _median_distance(kernel, X)
    if not np.isfinite(chosen) or chosen <= 0.0:
        return standard_bandwidth(kernel, p)
    return check_number(chosen, "bandwidth", above=0.0)
