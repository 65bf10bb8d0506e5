"""The largest gain of a risk: in theory, and on a path if the test rows were known."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from colk.losses import Huber, Loss
from colk.risks import LossRisk, Mean
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish
from colk_lab.tables.risk_sets import N_TRAIN, RiskSet

__all__ = ["hindsight", "least_ratio"]

Array = NDArray[np.float64]

# Points, and draws of the target of each; the same number of new draws judge.
N_POINTS, N_DRAWS = 150, 300
# A risk that fewer rows determine cannot be estimated.
FEWEST = 5.0
SHARES, FACTORS = (0.25, 0.5, 1.0), (1.0, 4.0, 16.0, 64.0)


def _least(noise: Array, risk: LossRisk, start: Array) -> Array:
    """Return the shift of each point with the least risk; rows of `noise` are draws."""

    def objective(shifts: Array) -> tuple[float, Array]:
        f, y = np.tile(shifts, len(noise)), noise.ravel()
        value, by_loss = risk.value_and_gradient(Huber().value(f, y))
        slopes = by_loss * Huber().slope(f, y).ravel()
        return value, slopes.reshape(noise.shape).sum(axis=0)

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x)


def least_ratio(data_set: RiskSet, risk: LossRisk, unit: float) -> float | None:
    """Return the least risk of any function, relative to the function of the least mean loss.

    The distribution of the targets at a point is known, so this needs no model. None for measured
    data, and if the risk of as many rows as a model sees rests on fewer than five of them, so that
    it cannot be estimated.

    Parameters
    ----------
    data_set : RiskSet
        The set.
    risk : LossRisk
        The risk.
    unit : float
        The unit of the targets, in which the Huber loss has the threshold 1.
    """
    if data_set.make is None:
        return None
    rng = np.random.default_rng(0)
    _, clean, targets = data_set.make(N_POINTS, rng)
    noise, new = (
        np.array([(targets(rng) - clean) / unit for _ in range(N_DRAWS)]) for _ in range(2)
    )
    mean = _least(noise, Mean(), np.median(noise, axis=0))
    losses = Huber().value(np.tile(mean, N_DRAWS), new.ravel())
    shuffled = rng.permutation(losses)[: N_TRAIN * (len(losses) // N_TRAIN)]
    weights = [np.abs(risk.gradient(group)) for group in shuffled.reshape(-1, N_TRAIN)]
    if np.median([float(w.sum() ** 2 / np.sum(w**2)) for w in weights]) < FEWEST:
        return None
    best = Huber().value(np.tile(_least(noise, risk, mean), N_DRAWS), new.ravel())
    return min(risk.value(best) / risk.value(losses), 1.0)


def hindsight(
    function: KernelExpansion, X: Array, y: Array, loss: Loss, risk: LossRisk
) -> Iterator[KernelExpansion]:
    """Yield the functions of a path on these atoms, from the mean to the risk.

    Parameters
    ----------
    function, X, y, loss, risk
        As in `follow_risk_path`.
    """
    mean = polish(function, X, y, loss, Mean(), 1e-6, choose=True, tolerance=1e-3)
    yield mean.function
    for factor in FACTORS:
        start = mean.function
        for share in SHARES:
            blended = risk.blended(share)
            if blended is not None:
                decay = factor * mean.regularization
                start = polish(start, X, y, loss, blended, decay, tolerance=1e-2).function
                yield start
