"""Improve an entrant of the race: its bandwidth, ridge and kernel, and its metric.

A metric is learned from the gradients of the ridge regression: M is the mean of ∇f∇fᵀ over the
samples, and the next metric is the root of M. Directions along which f does not change disappear.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from colk._validation import Array
from colk.kernels import Mixed
from colk.kernels.stationary import Stationary
from colk.selection.entrants import Entrant, Trial
from colk.selection.gradients import category_moments, moments
from colk.selection.samples import RaceSamples

__all__ = ["learned", "searched", "with_sizes"]

# A setting is changed while the loss falls by this share, so many times in a row.
_WORTH, _CHANGES = 0.003, 3

# Bounds of the bandwidth, in typical distances, and of the ridge, in samples.
_FACTORS, _RIDGES = (0.03, 10.0), (1e-4, 30.0)

# Rounds of learning: at most _MOST. After the first _LEAST, a round must lower the loss to the
# share _GAIN. A round that raises it to _LOST times the least loss ends the learning.
_MOST, _LEAST, _GAIN, _LOST = 8, 2, 0.99, 1.05

# Largest number of products of a sample, an atom, and a feature or an output, for one metric; of
# more samples, evenly spaced ones have a gradient.
_PRODUCTS = 4e7

# Smallest rate of a feature, and smallest share of M of a direction, as shares of the largest.
_LEAST_RATE, _LEAST_SHARE = 1e-3, 1e-4


def searched(
    entrant: Entrant,
    samples: RaceSamples,
    settings: tuple[str, ...] = ("factor", "ridge", "place"),
    step: float = 2.0,
) -> Trial:
    """Change bandwidth, ridge and kernel, one after the other, while the left-out loss falls.

    Parameters
    ----------
    entrant : Entrant
        Where to begin.
    samples : RaceSamples
        Samples.
    settings : tuple of str
        The settings to change. Default: "factor", "ridge" and "place".
    step : float
        Factor of a change of the bandwidth. Default: 2.
    """
    best = entrant.trial(samples)
    for setting in settings:
        for way in (-1, 1):
            start = best
            for _ in range(_CHANGES):
                other = _changed(best.entrant, setting, way, step)
                trial = None if other is None else other.trial(samples)
                if trial is None or not trial.loss < (1.0 - _WORTH) * best.loss:
                    break
                best = trial
            if best is not start:
                break
    return best


def _changed(entrant: Entrant, setting: str, way: int, step: float) -> Entrant | None:
    """Return the entrant with one setting changed; None beyond the bounds."""
    if setting == "place":
        place = entrant.place + way
        is_known = 0 <= place < len(entrant.contenders)
        return replace(entrant, place=place) if is_known else None
    (low, high), factor = (_FACTORS, step) if setting == "factor" else (_RIDGES, 10.0)
    value = getattr(entrant, setting) * factor**way
    return replace(entrant, **{setting: value}) if low <= value <= high else None


def learned(entrant: Entrant, samples: RaceSamples, is_new: bool = True) -> Trial:
    """Learn a metric; return the best round, which may be that before the first.

    Parameters
    ----------
    entrant : Entrant
        Where to begin; its kind says what is learned.
    samples : RaceSamples
        Samples.
    is_new : bool
        Whether bandwidth and ridge are far from right; otherwise a round that gains nothing ends
        the learning. Default: True.
    """
    best = trial = entrant.trial(samples)
    for k in range(_MOST):
        before, following = trial, _next(trial, samples)
        if following is None:
            break
        trial = searched(following, samples, ("factor",)) if is_new else following.trial(samples)
        if trial.loss < best.loss:
            best = trial
        is_over = (k >= _LEAST or not is_new) and not trial.loss < _GAIN * before.loss
        if is_over or not trial.loss < _LOST * best.loss:
            break
    if is_new:
        return searched(best.entrant, samples)
    return searched(best.entrant, samples, ("place", "factor"), 1.4)


def _next(trial: Trial, samples: RaceSamples) -> Entrant | None:
    """Return the entrant whose metric is the root of M; None if f is constant."""
    entrant = trial.entrant
    if trial.weights is None:
        return None
    M = _moments(entrant, samples, trial.weights)
    if entrant.kind == "diagonal":
        rates = entrant.metric * np.sqrt(M)
        return with_sizes(entrant, samples, rates * samples.spread, _LEAST_RATE)
    metric = entrant.metric
    shares, directions = np.linalg.eigh(metric @ M @ metric.T)
    kept = shares > _LEAST_SHARE * shares[-1]
    if not np.isfinite(shares).all() or not shares[-1] > 0.0:
        return None
    return replace(entrant, metric=directions[:, kept] * np.sqrt(shares[kept] / shares[-1]))


def with_sizes(
    entrant: Entrant, samples: RaceSamples, sizes: Array, least: float
) -> Entrant | None:
    """Return an entrant whose diagonal gives each feature a size; None without a largest size.

    Parameters
    ----------
    entrant : Entrant
        A diagonal.
    samples : RaceSamples
        Samples.
    sizes : array of shape (p,)
        Standard deviations of the features in the metric, up to a factor.
    least : float
        The least size, as a share of the largest.
    """
    if not np.isfinite(sizes).all() or not sizes.max() > 0.0:
        return None
    safe = np.where(samples.spread > 0.0, samples.spread, 1.0)
    return replace(entrant, metric=np.maximum(sizes / sizes.max(), least) / safe)


def _moments(entrant: Entrant, samples: RaceSamples, weights: Array) -> Array:
    """Return M in the coordinates of the metric; for a diagonal, its diagonal."""
    categorical, is_full = list(entrant.contender.categorical), entrant.kind == "matrix"
    n, p = samples.X.shape
    per_row = n * (p if entrant.contender.is_l1 else weights.shape[1])
    rows = np.linspace(0.0, n - 1.0, min(n, int(_PRODUCTS / per_row) + 1)).astype(np.intp)
    X, atoms = samples.X[rows], samples.X
    kernel = entrant.of_points(entrant.bandwidth(samples.X))
    Z, D = entrant.points(X), entrant.points(atoms)
    K = kernel.gram(Z, D)
    if is_full or not categorical:
        return moments(cast(Stationary, kernel), Z, D, K, weights, is_full)
    mixed, found = cast(Mixed, kernel), np.empty(p)
    numbers = np.delete(np.arange(p), categorical)
    found[numbers] = moments(mixed.kernel, Z[:, numbers], D[:, numbers], K, weights, False)
    codes, of_atoms = X[:, categorical], atoms[:, categorical]
    changes = category_moments(codes, of_atoms, np.array(mixed.weights), K, weights)
    found[categorical] = changes / np.maximum(entrant.metric[categorical], 1e-300) ** 2
    return found
