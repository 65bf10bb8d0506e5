"""Feature scales: how steeply the targets change along each feature."""

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel, Mixed
from colk.selection.categories import changes_along_categories
from colk.selection.contenders import Contender
from colk.selection.leave_one_out import LeftOut
from colk.selection.left_out_losses import RaceSamples

__all__ = ["FACTORS", "are_alike", "feature_scales", "slopes_along_features"]

# Bandwidths to try, as multiples of the standard bandwidth.
FACTORS = (0.35, 0.6, 1.0, 1.7, 2.8)

# Number of rounds, and the smallest scale of a feature as a share of the largest.
_ROUNDS = 4
_LEAST = 0.02

# If no feature counts more than this many times another, features get no scales.
_ALIKE = 1.5

# Largest size of the table of slopes.
_TABLE = 1_000_000

# Number of points at which slopes are compared to see whether features count alike.
_GLANCE = 125

# Size of the part of the table that is computed at a time; it fits in the processor's cache.
_BLOCK = 2**15


def slopes_along_features(kernel: Kernel, atoms: Array, weights: Array, X: Array) -> Array:
    """Return the root mean square over X of ∂f/∂x_k for f = Σ w_j κ(d_j, ·), of shape (p,).

    Along a category it is the root mean square change from one row to another, divided by √2. The
    squares of several outputs are added. If there are many points and features, evenly spaced
    points are used, so that the table has a moderate size.

    Parameters
    ----------
    kernel : Kernel
        A kernel that has a gradient.
    atoms : array of shape (m, p)
        Atoms.
    weights : array of shape (m, q)
        Their weights.
    X : array of shape (n, p)
        Points.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> atoms, weights = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0], [-4.0]])
    >>> slopes_along_features(Linear(), atoms, weights, np.ones((5, 2)))
    array([3., 4.])
    """
    n_points = max(1, _TABLE // atoms.size)
    points = X[:: -(-len(X) // n_points)]
    n_block = max(1, _BLOCK // atoms.size)
    squares = np.zeros(atoms.shape[1])
    for start in range(0, len(points), n_block):
        block = kernel.slopes(atoms, points[start : start + n_block])
        slopes = weights.T @ np.moveaxis(block, 2, 0)  # as a stationary kernel lays them out
        squares += np.einsum("kqi,kqi->k", slopes, slopes)
    slopes = np.sqrt(squares / len(points))
    if isinstance(kernel, Mixed):
        changes = changes_along_categories(kernel, atoms, weights, points)
        slopes[list(kernel.categorical)] = changes
    return slopes


def are_alike(samples: RaceSamples, kernel: Kernel, weights: Array) -> bool:
    """Return whether a ridge regression changes about equally along all features.

    Parameters
    ----------
    samples : RaceSamples
        Samples.
    kernel : Kernel
        The kernel of the ridge regression.
    weights : array of shape (m, q)
        Its weights.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> for y in (np.sin(X[:, :1]), np.sin(X.sum(axis=1, keepdims=True))):
    ...     samples = RaceSamples(X, y, np.ones(300), are_labels=False)
    ...     are_alike(samples, Gaussian(1.0), samples.run(Gaussian(1.0)).weights)
    False
    True
    """
    points = samples.X[:: -(-len(samples.X) // _GLANCE)]
    rises = slopes_along_features(kernel, samples.atoms, weights, points) * samples.spread
    return _count_alike(rises[samples.spread > 0.0])


def _count_alike(rises: Array) -> bool:
    return not rises.any() or bool(rises.max() < _ALIKE * rises.min())


def feature_scales(samples: RaceSamples, contender: Contender, unit: float, factor: float) -> Array:
    """Return the scales, of shape (p,), that give the lowest loss with this kernel.

    Each round fits a ridge regression and sets the scale of a feature to the geometric mean of its
    last scale and the RMS slope along the feature. Features that do not matter shrink, so the next
    fit sees the others more clearly. Constant features keep their scale. All features do if the
    first fit changes about equally along all of them. The typical distance stays the same.

    Parameters
    ----------
    samples : RaceSamples
        Samples.
    contender : Contender
        The kernel.
    unit, factor : float
        Its standard bandwidth, and the factor to begin with, one of `FACTORS`.

    Examples
    --------
    >>> from colk.selection.contenders import CONTENDERS
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> samples = RaceSamples(X, np.sin(X[:, :1]), np.ones(300), are_labels=False)
    >>> scales = feature_scales(samples, CONTENDERS[3], unit=1.0, factor=1.0)
    >>> bool(scales[0] > 5.0 * scales[1])
    True
    """
    varies = samples.spread > 0.0
    scales = np.ones(len(varies))
    best, least, place = scales, np.inf, FACTORS.index(factor)
    left_out = samples.run(contender.with_bandwidth(factor * unit, scales))
    for k in range(_ROUNDS):
        kernel = contender.with_bandwidth(FACTORS[place] * unit, scales)
        slopes = slopes_along_features(kernel, samples.atoms, left_out.weights, samples.X)
        spread, rises = samples.spread[varies], (slopes * samples.spread)[varies]
        if not rises.any() or (k == 0 and _count_alike(rises)):
            return best
        rises = np.sqrt(scales[varies] * np.maximum(rises, _LEAST * rises.max()) * spread)
        scales = np.ones(len(varies))
        scales[varies] = rises / spread * (contender.size(spread) / contender.size(rises))
        place, loss, left_out = _nearby(samples, contender, unit, place, scales)
        if loss < least:
            best, least = scales, loss
    return best


def _nearby(
    samples: RaceSamples, contender: Contender, unit: float, place: int, scales: Array
) -> tuple[int, float, LeftOut]:
    """Return the best of three neighbouring bandwidths: its index, mean loss and fit."""
    runs = []
    for near in range(max(place - 1, 0), min(place + 2, len(FACTORS))):
        left_out = samples.run(contender.with_bandwidth(FACTORS[near] * unit, scales))
        runs.append((near, samples.mean(samples.losses(left_out)), left_out))
    return min(runs, key=lambda run: run[1])
