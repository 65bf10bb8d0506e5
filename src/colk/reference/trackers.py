"""Trackers: the update of g by one sample. Samples are as in `colk.reference.risks`.

Examples
--------
>>> import numpy as np
>>> from colk.reference import trackers
>>> from colk.risks import CVaR, Variance
>>> trackers.start(CVaR(0.1), -2.0)
array([-2.,  2.])
>>> trackers.track("average", Variance(0.1), np.array([1.0]), 2.0, 3.0, 0.25)
array([1.5])
>>> trackers.track("momentum", Variance(0.1), np.array([1.0]), 2.0, 3.0, 0.25)
array([2.25])
"""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference.risks import inner, kind, n_inner, of_disutility

__all__ = ["start", "track"]


def start(risk: Any, sample: Any) -> Array:
    """Return g from the first sample; its size is the first estimate of a spread."""
    if kind(risk) in ("CustomRisk", "Composition"):
        return inner(risk, sample, np.zeros(n_inner(risk)))
    if kind(risk) == "AUC":
        return np.array([0.5, *inner(risk, sample, np.zeros(3))[1:]])
    if kind(risk) == "Spectral":
        return np.array([*[sample] * (n_inner(risk) - 1), abs(sample)])
    if of_disutility(risk):
        scale = abs(sample)
        if hasattr(risk, "level"):
            scale = inner(risk, 0.0, np.array([-abs(sample), 1.0]))[1] or 1.0
        return np.array([sample, scale])
    power = risk.order if kind(risk) == "MeanSemideviation" else 1.0
    return np.array([sample, abs(sample) ** power])[: n_inner(risk)]


def track(tracker: Any, risk: Any, g: Array, before: Any, now: Any, rate: float) -> Array:
    """Return g after a sample, given its values under f_{t−1} and f_t.

    Inner values use g before the sample. A rate of 1 forgets all earlier samples.
    """
    if rate >= 1.0:
        return start(risk, now)
    momentum = tracker == "momentum" or type(tracker).__name__ == "Momentum"
    if kind(risk) == "Entropic":
        return _track_log_mean(risk.tilt, g, before, now, rate, momentum)
    if kind(risk) == "AUC":
        return _track_classes(g, before, now, rate, momentum)
    averaged = np.asarray((1.0 - rate) * g + rate * inner(risk, now, g))
    if of_disutility(risk):
        most = abs(now - g[0])
        return np.array([np.clip(averaged[0], g[0] - most, g[0] + most), averaged[1]])
    if not momentum or kind(risk) in ("CVaR", "Spectral"):  # a threshold is not an expectation
        return averaged
    moved = np.asarray((1.0 - rate) * (g - inner(risk, before, g)) + inner(risk, now, g))
    if kind(risk) == "MeanSemideviation" and not moved[1] > 0.5 * (1.0 - rate) * g[1]:
        moved[1] = averaged[1]  # a mean of powers is positive
    return moved


def _track_classes(g: Array, before: Any, now: Any, rate: float, momentum: bool) -> Array:
    """Track the share of the positive class slowly, and the mean of the class of the sample."""
    (f,), (y,) = now
    (earlier,) = before[0]
    moved, own = g.copy(), 1 if y > 0 else 2
    moved[0] += 0.01 * rate * (float(y > 0) - g[0])
    moved[own] = (1.0 - rate) * (g[own] - (earlier if momentum else 0.0))
    moved[own] += f if momentum else rate * f
    return moved


def _track_log_mean(
    tilt: float, g: Array, before: float, now: float, rate: float, momentum: bool
) -> Array:
    """Track c = (1/t) log E exp(tℓ) by the tracker of E exp(tℓ), relative to exp(tc)."""
    exponent = tilt * (now - g)
    if momentum:
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = (1.0 - rate) * (1.0 - np.exp(tilt * (before - g))) + np.exp(exponent)
        if 0.5 * (1.0 - rate) < ratio[0] < np.inf:  # a mean of exponentials is positive
            return np.asarray(g + np.log(ratio) / tilt)
    return np.asarray(g + np.logaddexp(np.log(1.0 - rate), np.log(rate) + exponent) / tilt)
