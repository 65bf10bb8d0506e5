"""Trackers of g: running estimates of the inner expectations of a risk.

A tracker moves a mean towards the inner value of each sample. `TRACKERS` lists them by name.
"""

from typing import ClassVar

import cython
from numpy.typing import ArrayLike

from colk._engine.contracts import TrackerContract
from colk._engine.terms import overridden, term_by_name
from colk._validation import Array, check_fraction, check_vector

__all__ = ["TRACKERS", "Extrapolation", "Momentum", "MovingAverage", "Tracker", "as_tracker"]


class Tracker(TrackerContract):
    """The update rule of a tracked mean g for a sample with the inner value `now`.

    Attributes
    ----------
    remembers : bool
        Whether it needs `before`, the inner value of the previous iterate at the same sample.

    Examples
    --------
    To define a tracker, write a class with the method `update`:

    >>> from colk.trackers import Tracker
    >>> class Slowest(Tracker):
    ...     def update(self, g, before, now, rate):
    ...         return g + rate**2 * (now - g)
    >>> Slowest()
    Slowest()
    """

    _hooks: ClassVar[tuple[str, ...]] = ("update",)

    remembers: ClassVar[bool] = False

    def update(self, g: float, before: float, now: float, rate: float) -> float:  # cdef
        """Return the tracked mean after a sample, for a rate in (0, 1)."""
        with cython.gil:
            return float(overridden(self, "update")(g, before, now, rate))

    def follow(
        self, inner: ArrayLike, before: ArrayLike | None = None, *, rate: float = 0.1
    ) -> Array:
        """Return g after each inner value of a stream; the first value initialises it.

        `before` are the inner values of the previous iterate at the same samples. Default: the same
        values, as if the function did not change. `rate` is β, in (0, 1].

        Examples
        --------
        >>> MovingAverage().follow([0.0, 1.0, 1.0], rate=0.5)
        array([0.  , 0.5 , 0.75])
        """
        now = check_vector(inner, None, "inner")
        earlier = now if before is None else check_vector(before, len(now), "before")
        beta, path = check_fraction(rate, "rate"), now.copy()
        if beta < 1.0:
            for t in range(1, len(now)):
                path[t] = self.update(path[t - 1], earlier[t], now[t], beta)
        return path


class Momentum(Tracker):
    """The paper's eq. (track1): g ← (1 − β)(g − inner at f_{t−1}) + inner at f_t.

    Both inner values are of the same sample. Their common part cancels, so g follows a moving f
    without lag.

    Examples
    --------
    >>> Momentum()
    Momentum()
    """

    remembers: ClassVar[bool] = True

    def update(self, g: float, before: float, now: float, rate: float) -> float:
        return (1.0 - rate) * (g - before) + now


class MovingAverage(Tracker):
    """SCGD's tracker: g ← (1 − β)g + β·inner at f_t.

    Examples
    --------
    >>> MovingAverage()
    MovingAverage()
    """

    def update(self, g: float, before: float, now: float, rate: float) -> float:
        return (1.0 - rate) * g + rate * now


class Extrapolation(Tracker):
    """Accelerated SCGD's tracker: g ← (1 − β)g + β·inner at a function ahead of f_t.

    `AcceleratedSCGD` stores this function, f_{t−1} + (f_t − f_{t−1})/β.

    Examples
    --------
    >>> Extrapolation()
    Extrapolation()
    """

    remembers: ClassVar[bool] = True

    def update(self, g: float, before: float, now: float, rate: float) -> float:
        return (1.0 - rate) * g + rate * before


TRACKERS: dict[str, type[Tracker]] = {"momentum": Momentum, "average": MovingAverage}


def as_tracker(tracker: Tracker | str) -> Tracker:
    """Return a tracker object; a name gives the tracker of `TRACKERS`.

    Examples
    --------
    >>> as_tracker("average")
    MovingAverage()
    """
    return term_by_name(tracker, Tracker, TRACKERS, "tracker")
