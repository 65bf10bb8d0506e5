"""A path from the model of the mean loss to a risk, judged by the held-out value of that risk.

A risk may depend on few samples: CVaR with a tail of 0.05 depends on one in twenty. If such a risk
is minimised with the λ of the mean, the model overfits them; and if the noise has no long tail,
there is nothing to gain. Therefore weights are found for a few shares of the risk and a few larger
λ, each from its neighbour, with smoothed kinks. Leave-one-out predictions in closed form give the
held-out value of the requested risk itself. The model of the mean is kept unless a point is better
by more standard errors than the rule requires; the rule is stricter if few samples dominate the
gain. If the largest losses alone dominate, as under a large tilt, groups of samples are compared
instead, because each group has its own largest losses.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array
from colk.losses import Loss
from colk.risks import LossRisk, Mean, Risk
from colk.risks.base import shares
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.leave_one_out import leave_one_out
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.path_result import PathPoint, RiskPath
from colk.rkhs.polishing.span import Span

__all__ = ["follow_risk_path"]

# Shares of the risk, and factors of λ.
_SHARES = (0.25, 0.5, 1.0)
_FACTORS = (1.0, 4.0, 16.0, 64.0)
# Smoothing of CVaR's kink, as a share of the mean absolute deviation of the losses.
_SOFTNESS = 0.3
# Accuracy of the weights: the norm of the gradient relative to that at f = 0.
_ACCURACY = 3e-3
_NEWTON_STEPS = 25
# Largest number of samples for the comparison.
_MOST_SAMPLES = 3000
# If the gains of n samples dominate, the gain must exceed (2 + 5/√n) standard errors. If n is below
# 5, no point is chosen, because leave-one-out in closed form is not accurate for samples that
# dominate.
_ERRORS, _FEW_SAMPLES, _LEAST_SAMPLES = 2.0, 5.0, 5.0
# For groups, n is their number. Each group needs at least _GROUP_SIZE samples.
_GROUPS, _GROUP_SIZE = 16, 30


def follow_risk_path(
    function: KernelExpansion,
    X: Array,
    y: Array,
    loss: Loss,
    risk: LossRisk,
    regularization: float,
    sample_weight: ArrayLike | None = None,
) -> RiskPath:
    """Return the path from the mean to a risk; its chosen point is the best for new samples.

    Parameters
    ----------
    function : KernelExpansion
        The function that minimises the mean loss plus λ/2 ‖f‖² on its atoms.
    X : array of shape (n, p)
        Points.
    y : array of shape (n,) or (n, r)
        Targets.
    loss : Loss
        The loss.
    risk : LossRisk
        The requested risk.
    regularization : float
        λ > 0 of the function.
    sample_weight : array of shape (n,), optional
        Weights of the samples.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Huber
    >>> from colk.risks import CVaR
    >>> from colk.rkhs.polishing import polish
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(600, 1))
    >>> atoms = KernelExpansion(Gaussian(0.5), np.linspace(-1.0, 1.0, 10)[:, None], np.zeros(10))
    >>> def share(noise):
    ...     y = np.sin(3.0 * X[:, 0]) + noise
    ...     mean = polish(atoms, X, y, Huber(), regularization=1e-4)
    ...     return follow_risk_path(mean.function, X, y, Huber(), CVaR(0.1), 1e-4).chosen.share
    >>> share(0.5 * rng.normal(size=600)), share(rng.exponential(size=600))
    (0.0, 1.0)
    """
    share = shares(len(X), sample_weight)
    rows = np.flatnonzero(share > 0.0)
    if len(rows) > _MOST_SAMPLES:
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, _MOST_SAMPLES).astype(int))]
    part = float(share[rows].sum())
    span = Span(function.kernel, X[rows], function.atoms)
    start = span.coordinates(function.weights.reshape(function.n_atoms, -1))
    compared = _Comparison(loss, risk, HeldBlock(span, y[rows], share[rows] / part), start)
    # λ is measured in samples, and a part of them has that part of the curvature.
    for factor in _FACTORS:
        v = start
        for step, each in _steps(risk):
            v = compared.add(v, step, factor, factor * regularization / part, each)
    return compared.verdict(regularization, len(rows))


def _steps(risk: LossRisk) -> Iterator[tuple[float, Risk]]:
    """Yield the mean, and the risks on the way to the requested one."""
    yield 0.0, Mean()
    for share in _SHARES:
        blended = risk.blended(share)
        if blended is not None:
            yield share, blended


def _is_better(point: PathPoint) -> bool:
    """Whether a point is clearly better than the mean."""
    if not point.deciding >= _LEAST_SAMPLES:
        return False
    return point.gain > (_ERRORS + _FEW_SAMPLES / math.sqrt(point.deciding)) * point.error


class _Comparison:
    """Held-out values of the requested risk along the path."""

    def __init__(self, loss: Loss, risk: LossRisk, rows: HeldBlock, start: Array) -> None:
        self._loss, self._risk, self._rows, self._share = loss, risk, rows, rows.share
        self._n_outputs = start.shape[1]
        self._units = Search.held(rows, loss, Mean(), 1.0, self._n_outputs).units(start)
        self._mean_influence: Array | None = None
        self._mean_of_groups = np.zeros(0)
        self._points: list[PathPoint] = []
        self._risks: list[Risk] = []

    def add(self, v: Array, share: float, factor: float, decay: float, risk: Risk) -> Array:
        """Find the coordinates of a point from those of its neighbour, and record their risk."""
        search = Search.held(self._rows, self._loss, risk, decay, self._n_outputs)
        search.smooth(self._units[0], _SOFTNESS * self._units[1])
        v, *_ = search.descend(v, _ACCURACY * search.reference(v), _NEWTON_STEPS)
        losses = self._loss.value(leave_one_out(search, v), self._rows.targets)
        self._note(losses, share, factor)
        self._risks.append(search.objective.risk)
        return v

    def _note(self, losses: Array, share: float, factor: float) -> None:
        s = self._share
        influence = self._risk.influence(losses, s)
        if self._mean_influence is None:
            self._mean_influence, self._mean_of_groups = influence, self._of_groups(losses)
        held_out, mean_loss = float(s @ influence), float(s @ losses)
        gains = self._mean_influence - influence
        gain = float(s @ gains)
        spread = (s * (gains - gain)) ** 2
        error = float(np.sqrt(spread.sum()))
        # The number of samples whose gains would have this spread if all were alike.
        deciding = float(spread.sum() ** 2 / np.sum(spread**2)) if error > 0.0 else 0.0
        n_groups = len(self._mean_of_groups)
        if 0.0 < deciding < _LEAST_SAMPLES and n_groups and (self._mean_of_groups > 0.0).all():
            base = float(s @ self._mean_influence)
            relative = base * (1.0 - self._of_groups(losses) / self._mean_of_groups)
            gain, deciding = float(relative.mean()), float(n_groups)
            error, held_out = float(relative.std(ddof=1)) / math.sqrt(n_groups), base - gain
        self._points.append(PathPoint(share, factor, held_out, mean_loss, gain, error, deciding))

    def _of_groups(self, losses: Array) -> Array:
        """Return the risk in each group of samples; empty if there are too few samples."""
        if len(losses) < _GROUPS * _GROUP_SIZE:
            return np.zeros(0)
        parts = [slice(k, None, _GROUPS) for k in range(_GROUPS)]
        return np.array([self._risk.value(losses[part], self._share[part]) for part in parts])

    def verdict(self, regularization: float, n_samples: int) -> RiskPath:
        """Return the path; the best point that is clearly better than the mean is chosen."""
        better = [k for k, point in enumerate(self._points) if _is_better(point)]
        best = min(better, key=lambda k: self._points[k].held_out, default=0)
        return RiskPath(
            risk=self._risk,
            points=tuple(self._points),
            chosen=self._points[best],
            chosen_risk=self._risks[best],
            regularization=regularization * self._points[best].factor,
            n_samples=n_samples,
        )
