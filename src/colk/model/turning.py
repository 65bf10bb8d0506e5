"""Turn a metric with the samples: the directions along which f varies may change slowly.

f(x) = g(xA) for points in the metric A. A change D of A moves f(x) by xD·∇g(xA), which is linear in
D, so the D that explains the latest residuals is a ridge regression. Its solution is D = Xᵀ diag(α)
∇g with as many numbers α as there are samples. The atoms stay where they are in the metric, so all
that was learned of g is kept.
"""

from dataclasses import replace

import numpy as np

from colk._validation import Array
from colk.kernels import Mahalanobis
from colk.learners.colk import KernelLearner
from colk.learners.rescaled import with_kernel
from colk.rkhs.expansion import KernelExpansion
from colk.selection import Race

__all__ = ["turned"]

# Samples that find a change, and later samples that judge it: it must lower their loss by _ERRORS
# standard errors. It is then found again from all of them.
_FINDING, _JUDGING, _ERRORS = 100, 50, 1.0

# Size of a change of the metric, in units of 1 for each deviation of a feature, that a residual
# explains as well as noise of the same size.
_CHANGE = 0.05

# Residuals are at most this many times the median residual, so that outliers turn nothing.
_FAR = 4.0


def turned(
    leader: KernelLearner, race: Race | None, samples: tuple[Array, Array, Array]
) -> tuple[KernelLearner, Race] | None:
    """Return the learner and its race with a metric that suits later samples better.

    Parameters
    ----------
    leader : KernelLearner
        The learner, which has learned the samples.
    race : Race or None
        The race that chose its kernel.
    samples : tuple of arrays
        The latest points, targets and weights, the oldest first.

    Examples
    --------
    >>> from colk.learners import NewtonCOLK
    >>> from colk.kernels import Gaussian
    >>> from colk.selection import contenders_for, race
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = np.sin(2.0 * (X[:, 0] + X[:, 1]))
    >>> found = race(X, y[:, None], contenders_for("gaussian"))
    >>> learner = NewtonCOLK(found.kernel).learn(X, y)
    >>> new = rng.normal(size=(150, 3))
    >>> later = new, np.sin(2.0 * (new[:, 0] + 0.8 * new[:, 1])), np.ones(150)
    >>> turned(learner, found, later)[1].scales.round(1)
    array([0.7, 0.6, 0. ])
    """
    kernel = leader.kernel
    is_one = leader.n_outputs == 1 and leader.loss.kind == "regression" and leader.risk.is_mean
    if race is None or not isinstance(kernel, Mahalanobis) or not (is_one and kernel.has_gradient):
        return None
    counted = np.flatnonzero(samples[2] > 0.0)[-(_FINDING + _JUDGING) :]
    if len(counted) < _FINDING + _JUDGING:
        return None
    X, y = samples[0][counted], samples[1][counted].reshape(-1)
    function = leader.function
    inner = KernelExpansion(kernel.kernel, function.atoms, function.weights)
    Z = kernel.points(X)
    before = inner(Z).reshape(-1)
    residuals, slopes = y - before, inner.gradient(Z).reshape(Z.shape)
    reach = _FAR * np.median(np.abs(residuals))
    residuals = np.clip(residuals, -reach, reach)
    first, later = slice(_FINDING), slice(_FINDING, None)
    found = kernel.metric + _change(X[first], slopes[first], residuals[first])
    losses = leader.loss.value(before[later, None], y[later, None])
    gains = losses - leader.loss.value(inner(X[later] @ found).reshape(-1, 1), y[later, None])
    if not gains.mean() > _ERRORS * gains.std(ddof=1) / np.sqrt(_JUDGING):
        return None
    turned_kernel = kernel.replace(metric=kernel.metric + _change(X, slopes, residuals))
    scales = np.linalg.norm(turned_kernel.metric, axis=1)
    return with_kernel(leader, turned_kernel), replace(race, kernel=turned_kernel, scales=scales)


def _change(X: Array, slopes: Array, residuals: Array) -> Array:
    """Return the change of the metric that explains the residuals."""
    spread = X.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    units = X / spread
    ridge = max(float((residuals**2).mean()), 1e-300) / _CHANGE**2
    gram = (units @ units.T) * (slopes @ slopes.T)
    gram[np.diag_indices_from(gram)] += ridge
    weights = np.linalg.solve(gram, residuals)
    return np.asarray((units.T * weights) @ slopes / spread[:, None])
