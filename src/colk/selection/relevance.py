"""A scale for each feature: how steeply the targets change along it."""

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.selection.contenders import Contender
from colk.selection.leave_one_out import LeftOut
from colk.selection.left_out_losses import Course

__all__ = ["FACTORS", "are_alike", "feature_scales", "slopes_along_features"]

# Bandwidths, in units of the standard one.
FACTORS = (0.35, 0.6, 1.0, 1.7, 2.8)

# How often features are scaled anew, and the least that a feature may count beside the first.
_ROUNDS = 4
_LEAST = 0.02

# Where no feature counts for so many times another, all keep the scale they have.
_ALIKE = 1.5

# Numbers in the largest table of slopes.
_TABLE = 1_000_000

# Points at which slopes are looked at to tell whether features are alike.
_GLANCE = 125

# Numbers in a part of it that is made at a time: one that stays in the processor's cache.
_BLOCK = 2**15


def slopes_along_features(kernel: Kernel, atoms: Array, weights: Array, X: Array) -> Array:
    """Return the root mean square over X of ∂f/∂x_k for f = Σ w_j κ(d_j, ·), of shape (p,).

    With several outputs their squares are added. Of many points in many features only as many
    are looked at, evenly spaced, as make a table of moderate size.

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
    return np.sqrt(squares / len(points))


def are_alike(course: Course, kernel: Kernel, weights: Array) -> bool:
    """Whether a ridge on the atoms of a course rises about as much along each of the features.

    Parameters
    ----------
    course : Course
        Samples.
    kernel : Kernel
        The ridge's kernel.
    weights : array of shape (m, q)
        Its weights.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> for y in (np.sin(X[:, :1]), np.sin(X.sum(axis=1, keepdims=True))):
    ...     course = Course(X, y, np.ones(300), are_labels=False)
    ...     are_alike(course, Gaussian(1.0), course.run(Gaussian(1.0)).weights)
    False
    True
    """
    points = course.X[:: -(-len(course.X) // _GLANCE)]
    rises = slopes_along_features(kernel, course.atoms, weights, points) * course.spread
    return _count_alike(rises[course.spread > 0.0])


def _count_alike(rises: Array) -> bool:
    return not rises.any() or bool(rises.max() < _ALIKE * rises.min())


def feature_scales(course: Course, contender: Contender, unit: float, factor: float) -> Array:
    """Return the scales, of shape (p,), with which this kernel does best.

    In each round a ridge is fitted, and a feature's scale becomes the geometric mean of what it
    was and of the root mean square slope along the feature: what the function does not depend on
    shrinks, and the next ridge sees the rest more clearly. Features that do not vary are left as
    they are, as are all where the first ridge rises about as much along each of them, and distances
    on the whole remain what they were.

    Parameters
    ----------
    course : Course
        Samples.
    contender : Contender
        The kernel.
    unit, factor : float
        Its standard bandwidth, and what to multiply it by at first: one of `FACTORS`.

    Examples
    --------
    >>> from colk.selection.contenders import CONTENDERS
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> course = Course(X, np.sin(X[:, :1]), np.ones(300), are_labels=False)
    >>> scales = feature_scales(course, CONTENDERS[3], unit=1.0, factor=1.0)
    >>> bool(scales[0] > 5.0 * scales[1])
    True
    """
    varies = course.spread > 0.0
    scales = np.ones(len(varies))
    best, least, place = scales, np.inf, FACTORS.index(factor)
    left_out = course.run(contender.with_bandwidth(factor * unit, scales))
    for k in range(_ROUNDS):
        kernel = contender.with_bandwidth(FACTORS[place] * unit, scales)
        slopes = slopes_along_features(kernel, course.atoms, left_out.weights, course.X)
        spread, rises = course.spread[varies], (slopes * course.spread)[varies]
        if not rises.any() or (k == 0 and _count_alike(rises)):
            return best
        rises = np.sqrt(scales[varies] * np.maximum(rises, _LEAST * rises.max()) * spread)
        scales = np.ones(len(varies))
        scales[varies] = rises / spread * (contender.size(spread) / contender.size(rises))
        place, loss, left_out = _nearby(course, contender, unit, place, scales)
        if loss < least:
            best, least = scales, loss
    return best


def _nearby(
    course: Course, contender: Contender, unit: float, place: int, scales: Array
) -> tuple[int, float, LeftOut]:
    """The best of three neighbouring bandwidths: its place, mean loss, and ridge."""
    runs = []
    for near in range(max(place - 1, 0), min(place + 2, len(FACTORS))):
        left_out = course.run(contender.with_bandwidth(FACTORS[near] * unit, scales))
        runs.append((near, course.mean(course.losses(left_out)), left_out))
    return min(runs, key=lambda run: run[1])
