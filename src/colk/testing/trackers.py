"""Check a tracker: it keeps a mean that every sample confirms, and stays bounded and finite."""

import numpy as np

from colk.testing._slopes import require
from colk.trackers import Tracker

__all__ = ["check_tracker"]

_RATES = (1e-3, 0.1, 0.5, 0.999)


def check_tracker(tracker: Tracker, *, n: int = 500, seed: int = 0) -> None:
    """Raise an AssertionError that names the law which `tracker` breaks.

    - It keeps a mean that every sample confirms: update(g, g, g, β) = g.
    - If inner values are at most 1 in size, the mean is at most 2/β in size.
    - Finite values never make the mean NaN or infinite.

    Parameters
    ----------
    tracker : Tracker
        The tracker to check.
    n : int
        Number of samples of a stream. Default: 500.
    seed : int
        Seed of the random inner values. Default: 0.

    Examples
    --------
    >>> from colk.trackers import Momentum, Tracker
    >>> check_tracker(Momentum())
    >>> class Sum(Tracker):
    ...     def update(self, g, before, now, rate):
    ...         return g + now
    >>> check_tracker(Sum())
    Traceback (most recent call last):
    ...
    AssertionError: Sum: a mean that every sample confirms is kept ...
    """
    if not isinstance(tracker, Tracker):
        raise TypeError(f"check_tracker needs a Tracker, got {type(tracker).__name__}")
    rng, name = np.random.default_rng(seed), type(tracker).__name__
    for rate in _RATES:
        for level in (0.0, 1.0, -3.0, 1e-12, 1e12):
            kept = tracker.follow(np.full(n, level), rate=rate)
            require(
                np.allclose(kept, level, rtol=1e-9, atol=0.0),
                f"{name}: a mean that every sample confirms is kept (β = {rate:g}, g = {level:g})",
            )
        inner, before = rng.uniform(-1.0, 1.0, (2, n))
        path = tracker.follow(inner, before, rate=rate)
        require(np.isfinite(path).all(), f"{name}: the mean is finite (β = {rate:g})")
        require(
            (np.abs(path) <= 2.0 / rate).all(), f"{name}: the mean is within 2/β = {2 / rate:g}"
        )
