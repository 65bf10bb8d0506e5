"""Polish without gross outliers, which are recognised by their residuals.

The Huber loss bounds the slope of an outlier, not the number of outliers. A share p of outliers on
one side moves predictions by about p/(1 − p) thresholds. If residuals show gross outliers, the
weights are found again with a threshold in units of the residuals, and then without these samples.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.losses import Huber, Loss
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = ["OutlierRule", "RobustPolish", "polish_without_outliers"]

# There are outliers if this share of the residuals exceeds _GROSS spreads of the targets and
# _GROSS_RESIDUALS spreads of the residuals. Residuals of skewed noise seldom do.
_SHARE = 0.01
_GROSS = 2.0
_GROSS_RESIDUALS = 8.0

# Then samples further than this many spreads of the residuals are left out.
_LEFT_OUT = 5.0

# Such samples stay if x predicts them: if the predictions at these samples are larger, or smaller,
# than those at the others in this share of all pairs, and by this many standard errors.
_PREDICTED_SHARE = 0.8
_ERRORS = 4.0

# Thresholds of the Huber loss, in spreads of the residuals: while outliers are searched, with 95 %
# of the efficiency of least squares on normal noise; and at the end.
_SEARCH_THRESHOLD = 1.345
_LAST_THRESHOLD = 3.0
_ROUNDS = 2

# If this share of the targets has one value, zero for example, the spread of the residuals reflects
# these ties, and cannot tell which of the other samples are outliers.
_TIED = 0.25

# Standard deviation of a normal variable in units of its median absolute deviation.
_NORMAL = 1.4826


@dataclass(frozen=True)
class RobustPolish:
    """Polished weights, and the loss that they minimise.

    Parameters
    ----------
    polished : Polished
        The result; its `n_outliers` samples were left out.
    loss : Loss
        The loss, with a smaller threshold if there are outliers.
    outliers : array of bool of shape (n,), optional
        Which samples were left out; None if there are no outliers.
    rule : OutlierRule, optional
        The rule that found them.
    """

    polished: Polished
    loss: Loss
    outliers: NDArray[np.bool_] | None = None
    rule: "OutlierRule | None" = None


@dataclass(frozen=True, eq=False)
class OutlierRule:
    """Samples are outliers if their residuals are too far from the median residual.

    Parameters
    ----------
    function : KernelExpansion
        The function that predicts.
    medians : array of shape (q,)
        The median residual of each output.
    limit : float
        The largest distance from it.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> rule = OutlierRule(KernelExpansion(Linear(), [[1.0]], [2.0]), np.zeros(1), limit=3.0)
    >>> rule.outliers(np.ones((2, 1)), np.array([2.5, 9.0]))
    array([False,  True])
    """

    function: KernelExpansion
    medians: Array
    limit: float

    @classmethod
    def of(cls, function: KernelExpansion, X: Array, Y: Array, weight: Array) -> "OutlierRule":
        """Return the rule from samples whose outliers have been removed.

        Parameters
        ----------
        function, X, Y, weight
            The function, and samples with their weights.
        """
        _, spread, medians = _residuals(function, X, Y, weight)
        return cls(function, medians, _LEFT_OUT * spread)

    def outliers(self, X: Array, Y: Array) -> NDArray[np.bool_]:
        """Return which samples are outliers.

        Parameters
        ----------
        X, Y
            Points, and targets in the units of the function.
        """
        shape = len(Y), len(self.medians)
        residuals = Y.reshape(shape) - self.function(X).reshape(shape)
        return np.asarray(np.abs(residuals - self.medians).max(axis=1) > self.limit)

    @property
    def loss(self) -> Huber:
        """The loss of the samples that are no outliers."""
        return _huber(_LAST_THRESHOLD, self.limit / _LEFT_OUT)


def polish_without_outliers(
    function: KernelExpansion,
    X: Array,
    Y: Array,
    loss: Loss,
    risk: Risk,
    regularization: float,
    *,
    sample_weight: Array | None = None,
    tolerance: float = 1e-3,
) -> RobustPolish:
    """Polish with a chosen λ; without gross outliers for the mean of the default Huber loss.

    Parameters
    ----------
    function : KernelExpansion
        The atoms and the initial weights.
    X : array of shape (n, p)
        Points.
    Y : array of shape (n,) or (n, q)
        Targets, of spread 1.
    loss, risk : Loss, Risk
        The terms. Outliers are left out only for the mean of `Huber()`.
    regularization : float
        Smallest λ.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    tolerance : float
        As in `polish`.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.risks import Mean
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2.0, 2.0, size=(300, 1))
    >>> y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> y[:60] += 50.0
    >>> f = KernelExpansion(Gaussian(0.7), np.linspace(-2.0, 2.0, 12)[:, None], np.zeros(12))
    >>> found = polish_without_outliers(f, X, y, Huber(), Mean(), 1e-6).polished
    >>> found.n_outliers, bool(np.abs(found.function(X) - np.sin(2.0 * X[:, 0])).max() < 0.2)
    (60, True)
    """
    weight = np.ones(len(Y)) if sample_weight is None else sample_weight

    def polished(start: KernelExpansion, term: Loss, least: float, weights: Array) -> Polished:
        return polish(
            start, X, Y, term, risk, least, choose=True, sample_weight=weights, tolerance=tolerance
        )

    first = found = polished(function, loss, regularization, weight)
    if loss != Huber() or not risk.is_mean:
        return RobustPolish(first, loss)
    sizes, spread, _ = _residuals(found.function, X, Y, weight)
    if not _has_outliers(sizes, _GROSS) or _are_tied(Y[weight > 0.0]):
        return RobustPolish(first, loss)
    for _ in range(_ROUNDS):
        search = _huber(_SEARCH_THRESHOLD, spread)
        found = polished(found.function, search, search.threshold * regularization, weight)
        sizes, spread, medians = _residuals(found.function, X, Y, weight)
    if not _has_outliers(sizes, max(_GROSS, _GROSS_RESIDUALS * spread)):
        return RobustPolish(first, loss)
    rule = OutlierRule(found.function, medians, _LEFT_OUT * spread)
    outliers = sizes > rule.limit
    counted = weight > 0.0
    left_out = predict_left_out(
        found.function,
        X[counted],
        Y[counted],
        search,
        found.regularization,
        sample_weight=weight[counted],
    )
    if _are_predicted(outliers[counted], left_out):
        return RobustPolish(first, loss)
    last = rule.loss
    kept = np.where(outliers, 0.0, weight)
    found = polished(found.function, last, last.threshold * regularization, kept)
    return RobustPolish(replace(found, n_outliers=int(outliers.sum())), last, outliers, rule)


def _residuals(f: KernelExpansion, X: Array, Y: Array, weight: Array) -> tuple[Array, float, Array]:
    """Return the largest |residual − median| of each sample, their spread, and the medians (q,)."""
    counted = weight > 0.0
    residuals = Y.reshape(len(Y), -1) - f(X).reshape(len(Y), -1)
    medians = np.median(residuals[counted], axis=0)
    sizes = np.abs(residuals - medians).max(axis=1)
    sizes[~counted] = 0.0
    return sizes, _NORMAL * float(np.median(sizes[counted])), medians


def _has_outliers(sizes: Array, limit: float) -> bool:
    outside: NDArray[np.bool_] = sizes > limit
    return bool(outside.mean() >= _SHARE)


def _are_tied(Y: Array) -> bool:
    """Return whether many targets of an output have the same value."""
    columns = Y.reshape(len(Y), -1).T
    return any(np.unique(y, return_counts=True)[1].max() >= _TIED * len(y) for y in columns)


def _are_predicted(outliers: NDArray[np.bool_], values: Array) -> bool:
    """Return whether leave-one-out predictions are larger, or smaller, at outliers than elsewhere.

    Errors of a measurement do not depend on x. Large targets of a skewed distribution do. The
    statistic is that of Mann and Whitney, for each output.
    """
    n_outliers, n_others = int(outliers.sum()), int((~outliers).sum())
    if n_others == 0:
        return True
    ranks = np.argsort(np.argsort(values.reshape(len(outliers), -1), axis=0), axis=0) + 1.0
    below = ranks[outliers].sum(axis=0) - 0.5 * n_outliers * (n_outliers + 1)
    share = below / (n_outliers * n_others)
    error = np.sqrt((len(outliers) + 1) / (12.0 * n_outliers * n_others))
    return bool((np.abs(share - 0.5) > max(_PREDICTED_SHARE - 0.5, _ERRORS * error)).any())


def _huber(factor: float, spread: float) -> Huber:
    """Return the Huber loss with this threshold in spreads, at most that of the default."""
    threshold = factor * spread
    return Huber(threshold if 0.0 < threshold < 1.0 else 1.0)
