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

__all__ = ["learned", "searched"]

# A setting is changed while the loss falls by this share, so many times in a row.
_WORTH, _CHANGES = 0.003, 3

# Bounds of the bandwidth, in typical distances, and of the ridge, in samples.
_FACTORS, _RIDGES = (0.03, 10.0), (1e-4, 30.0)

# Rounds of learning: at most _MOST. After the first _LEAST, a round must lower the loss to the
# share _GAIN. A round that raises it to _LOST times the least loss ends the learning.
_MOST, _LEAST, _GAIN, _LOST = 8, 2, 0.99, 1.05

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


def learned(entrant: Entrant, samples: RaceSamples, rounds: int = _MOST) -> Trial:
    """Learn a metric; return the best round, which may be that before the first.

    Parameters
    ----------
    entrant : Entrant
        Where to begin; its kind says what is learned.
    samples : RaceSamples
        Samples.
    rounds : int
        Largest number of rounds. Default: 8.
    """
    best = trial = entrant.trial(samples)
    for k in range(rounds):
        before, following = trial, _next(trial, samples)
        if following is None:
            break
        trial = searched(following, samples, ("factor",))
        if trial.loss < best.loss:
            best = trial
        is_over = k >= _LEAST and not trial.loss < _GAIN * before.loss
        if is_over or not trial.loss < _LOST * best.loss:
            break
    return searched(best.entrant, samples)


def _next(trial: Trial, samples: RaceSamples) -> Entrant | None:
    """Return the entrant whose metric is the root of M; None if f is constant."""
    entrant, weights, K = trial.entrant, trial.weights, trial.K
    if weights is None or K is None:
        return None
    M = _moments(entrant, samples, K, weights)
    if entrant.kind == "diagonal":
        rates = entrant.metric * np.sqrt(M)
        sizes = rates * samples.spread
        if not np.isfinite(sizes).all() or not sizes.max() > 0.0:
            return None
        safe = np.where(samples.spread > 0.0, samples.spread, 1.0)
        sizes = np.maximum(sizes / sizes.max(), _LEAST_RATE)
        return replace(entrant, metric=sizes / safe)
    metric = entrant.metric
    shares, directions = np.linalg.eigh(metric @ M @ metric.T)
    kept = shares > _LEAST_SHARE * shares[-1]
    if not np.isfinite(shares).all() or not shares[-1] > 0.0:
        return None
    return replace(entrant, metric=directions[:, kept] * np.sqrt(shares[kept] / shares[-1]))


def _moments(entrant: Entrant, samples: RaceSamples, K: Array, weights: Array) -> Array:
    """Return M in the coordinates of the metric; for a diagonal, its diagonal."""
    X, categorical = samples.X, list(entrant.contender.categorical)
    Z, kernel = entrant.points(X), entrant.of_points(entrant.bandwidth(X))
    if entrant.kind == "matrix" or not categorical:
        return moments(cast(Stationary, kernel), Z, K, weights, entrant.kind == "matrix")
    mixed, found = cast(Mixed, kernel), np.empty(X.shape[1])
    numbers = np.delete(np.arange(X.shape[1]), categorical)
    found[numbers] = moments(mixed.kernel, Z[:, numbers], K, weights, False)
    changes = category_moments(X[:, categorical], np.array(mixed.weights), K, weights)
    sizes = np.maximum(entrant.metric[categorical], 1e-300)
    found[categorical] = changes / sizes**2
    return found
