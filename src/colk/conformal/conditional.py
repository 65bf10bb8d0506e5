"""Quantiles of the residuals of exchangeable samples as functions of x, for batch calibration.

The quantile of level τ is g + b with a function g of an RKHS that minimises the mean pinball loss
plus λ/2‖g‖². At the minimum, for every function f of the span of the atoms, the mean of
f(x)·(1[beyond] − α/2) over the samples is at most λ‖f‖·‖g‖ and the share of the samples on the end.
So the interval also covers the nominal share, up to that term, if the samples are reweighted by f:
in regions, in groups, and under shifts of x that f describes.
"""

from typing import Any, NamedTuple

import numpy as np

from colk._engine.blas_threads import one_blas_thread
from colk._validation import Array
from colk.compressors import KOMP
from colk.kernels import Kernel, Laplacian
from colk.kernels.bandwidth import standard_bandwidth
from colk.learners import COLK
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Pinball, Quantiles
from colk.model.coverage import weighted_quantile
from colk.model.quantile_levels import CrossValidation, LeaveOneOut
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish, predict_left_out
from colk.rkhs.polishing.span import Span

__all__ = ["Conditional", "fit_conditional"]

# Bandwidths that are tried, in units of the standard one.
_BANDWIDTHS = (0.3, 1.0, 3.0)

# Kernel, λ and atoms are chosen with at most _SAMPLE samples. Up to _FEW samples, five-fold
# cross-validation gives the left-out predictions, and leave-one-out in closed form with more.
_SAMPLE, _FEW, _FOLDS = 3000, 500, 5
_ATOMS, _LEAST, _TOLERANCE = 100, 1e-9, 1e-3


class Conditional(NamedTuple):
    """The result of `fit_conditional`.

    Attributes
    ----------
    learner : QuantileCOLK
        The two quantiles; more samples can be learned.
    left_out : array of shape (n, 2)
        The quantiles at each sample, if it is left out.
    """

    learner: QuantileCOLK
    left_out: Array


class _Tried(NamedTuple):
    """Both quantiles with one kernel, in a sample of the rows."""

    atoms: COLK
    kernel: Kernel
    weights: Array  # (M, 2)
    decays: Array  # (2,)
    left_out: Array  # (n, 2), without the centres
    loss: float


@one_blas_thread()
def fit_conditional(X: Array, y: Array, loss: Quantiles) -> Conditional:
    """Fit two quantiles of the residuals as functions of x.

    Parameters
    ----------
    X : array of shape (n, p)
        Scaled points.
    y : array of shape (n, 2)
        Scaled residuals of the lower and of the upper end.
    loss : Quantiles
        The two levels.

    References
    ----------
    Gibbs, Cherian, Candès, "Conformal prediction with conditional guarantees", 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(1000, 1))
    >>> y = (1.2 + X) * rng.normal(size=(1000, 1))
    >>> found = fit_conditional(X, np.repeat(y, 2, axis=1), Quantiles((0.05, 0.95)))
    >>> narrow, wide = np.ptp(found.learner.predict(np.array([[-0.9], [0.9]])), axis=1)
    >>> bool(wide > 3.0 * narrow)
    True
    """
    n, ones = len(X), np.ones(len(X))
    centres = np.array(
        [weighted_quantile(y[:, k], ones, level) for k, level in enumerate(loss.levels)]
    )
    places = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(int)
    standard = standard_bandwidth("laplacian", X.shape[1])
    tried = (
        _try(Laplacian(factor * standard), X[places], y[places] - centres, loss)
        for factor in _BANDWIDTHS
    )
    best = min(tried, key=lambda each: each.loss)
    weights, left_out = best.weights, best.left_out
    if len(places) < n:
        weights, left_out = _on_all(best, X, y - centres, loss, len(places) / n)
    learner = QuantileCOLK(
        best.kernel, loss, forgetting="auto", restart=True,
        compressor=KOMP(eps=0.05, max_atoms=_ATOMS),
    )  # fmt: skip
    learner.start_from(best.atoms, weights, centres, X, y.mean(axis=1))
    return Conditional(learner, np.sort(left_out + centres, axis=1))


def _try(kernel: Kernel, X: Array, y: Array, loss: Quantiles) -> _Tried:
    """Fit both quantiles with one kernel, and choose λ by the loss of left-out predictions."""
    n, ones = len(X), np.ones(len(X))
    atoms = COLK(kernel, loss, n_outputs=2, compressor=KOMP(eps=0.05, max_atoms=_ATOMS))
    atoms.learn(X, y.mean(axis=1))
    start = KernelExpansion(kernel, atoms.function.atoms, np.zeros(atoms.n_atoms))
    span, samples = Span(kernel, X, start.atoms), LeaveOneOut if n > _FEW else CrossValidation
    last: Any = np.arange(n) if n > _FEW else np.random.default_rng(0).permutation(n) % _FOLDS
    found = [
        samples(X, y[:, k], ones, last).fit(start, span, 0.0, level, _LEAST)
        for k, level in enumerate(loss.levels)
    ]
    left_out = np.column_stack([each[2] for each in found])
    lost = 0.0
    for k, level in enumerate(loss.levels):
        rest = y[:, k] - left_out[:, k]
        shift = np.full(n, weighted_quantile(rest, ones, level))
        lost += float(Pinball(level).value(shift, rest).mean())
    weights = np.column_stack([each[0].weights for each in found])
    return _Tried(atoms, kernel, weights, np.array([each[1] for each in found]), left_out, lost)


def _on_all(best: _Tried, X: Array, y: Array, loss: Quantiles, part: float) -> tuple[Array, Array]:
    """Return weights and left-out predictions of all rows; λ shrinks with their number."""
    atoms = best.atoms.function.atoms
    span, weights, left_out = Span(best.kernel, X, atoms), best.weights.copy(), np.empty(y.shape)
    for k, level in enumerate(loss.levels):
        term, decay = Pinball(level), float(best.decays[k]) * part
        start = KernelExpansion(best.kernel, atoms, weights[:, k])
        found = polish(start, X, y[:, k], term, None, decay, tolerance=_TOLERANCE, span=span)
        weights[:, k] = found.function.weights
        left_out[:, k] = predict_left_out(found.function, X, y[:, k], term, decay, span=span)
    return weights, left_out
