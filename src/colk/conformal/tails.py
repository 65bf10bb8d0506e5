"""One end of an interval: experts of several memories, mixed by their pinball losses."""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colk._engine.fixed_share import FixedShare
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["MEMORIES", "PER_VIEW", "RecentValues", "Tail"]

# Each memory has two experts: its quantile, and its quantile plus a tracker that is multiplied by
# _KEPT in each step. Chosen with the constants below on generated streams and bike rentals.
MEMORIES = (1000, 100, 10)
PER_VIEW = 2 * len(MEMORIES)
_KEPT = 0.8

# Losses are divided by their running mean over _LEVEL samples and clipped at _MOST_LOSS. _RATE and
# _SHARE are those of the update of the weights.
_RATE, _SHARE, _MOST_LOSS, _LEVEL = 0.3, 0.01, 10.0, 200

# First weights of the experts of a view, which also divide the share: long memories have more.
_FIRST = (0.3, 0.3, 0.15, 0.15, 0.05, 0.05)

# The correction is _CORRECTION·sinh(E/_EXCESS) units.
_CORRECTION, _EXCESS = 0.1, 10.0 / 3.0
# E stays at least at _LEAST, where an end is one unit inside the mean of the experts; otherwise it
# would fall without end while the narrowest intervals cover all targets.
_LEAST, _LARGEST = -10.0, 1000.0  # sinh(300) is finite

# In rounds of more samples than this, E moves by this number times the mean update.
_FULL_ROUND = 25


class RecentValues:
    """The latest values of a stream, sorted for each of several memories.

    Parameters
    ----------
    sizes : sequence of int
        Lengths of the memories, decreasing.

    Examples
    --------
    >>> recent = RecentValues((4, 2))
    >>> for value in (5.0, 3.0, 9.0, 1.0, 2.0):
    ...     recent.add(value)
    >>> recent.ordered
    ([1.0, 2.0, 3.0, 9.0], [1.0, 2.0])
    >>> recent.quantile(0, 0.4), recent.unit(1)
    (3.0, 0.5)
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.values: deque[float] = deque()
        self.ordered: tuple[list[float], ...] = tuple([] for _ in sizes)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the queue of values as a list."""
        return {**self.__dict__, "values": list(self.values)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, values=deque(state["values"]))

    def add(self, value: float) -> None:
        """Add a value; a full memory drops its oldest one."""
        n = len(self.values)
        for size, known in zip(self.sizes, self.ordered, strict=True):
            if n >= size:
                del known[bisect_left(known, self.values[n - size])]
            insort(known, value)
        self.values.append(value)
        if n >= self.sizes[0]:
            self.values.popleft()

    def quantile(self, memory: int, share: float) -> float:
        """Return the value that a new one exceeds with this probability, if exchangeable."""
        known = self.ordered[memory]
        last = len(known) - 1
        place = min(max((last + 2) * (1.0 - share) - 1.0, 0.0), float(last))
        before = min(int(place), max(last - 1, 0))
        after = min(before + 1, last)
        return known[before] + (place - before) * (known[after] - known[before])

    def unit(self, memory: int) -> float:
        """Return half the distance of the deciles, or of the extremes if the deciles are equal."""
        known = self.ordered[memory]
        last = len(known) - 1
        apart = known[int(0.9 * last)] - known[int(0.1 * last)]
        return 0.5 * (apart if apart > 0.0 else known[last] - known[0])


class Mixture(NamedTuple):
    """The mean of the experts: weights of the views, and the distance that is added."""

    views: Array
    reach: float


class Tail:
    """An end that a nominal share of the values exceeds: weighted experts, and the correction.

    Parameters
    ----------
    share : float
        Nominal share of values beyond the end.
    n_views : int
        Number of predictions of the end; each has its own residuals and `PER_VIEW` experts.

    Attributes
    ----------
    excess : float
        E, the number of values beyond the end so far, minus the nominal number; at least −10.
    level : float
        Running mean of the pinball loss of the mixture.
    steps : list of float
        The trackers z.
    """

    def __init__(self, share: float, n_views: int) -> None:
        self.share, self.n_views = share, n_views
        self.excess, self.level, self.seen = 0.0, 0.0, 0
        self.steps = [0.0] * (n_views * len(MEMORIES))
        self._mixture = FixedShare(np.tile(_FIRST, n_views) / n_views, _SHARE)

    def restore(self, moments: Array, steps: Array, weights: Array) -> None:
        """Restore a stored state: excess, level and number of samples; trackers; weights."""
        if len(steps) != len(self.steps) or len(weights) != len(self.weights):
            raise FileFormatError("the experts of an interval have other numbers of views")
        if moments[1:].min() < 0.0 or not math.isclose(weights.sum(), 1.0, rel_tol=1e-6):
            raise FileFormatError("the weights of the experts of an interval do not add up to 1")
        self.excess, self.level, self.seen = float(moments[0]), float(moments[1]), int(moments[2])
        self.steps = steps.tolist()
        self._mixture.unpack({"weights": weights})

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the weights as a list."""
        state = {name: value for name, value in vars(self).items() if name != "_mixture"}
        return {**state, "weights": self.weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["share"], state["n_views"])  # type: ignore[misc]
        self._mixture.unpack({"weights": state.pop("weights")})
        self.__dict__.update(state)

    @property
    def weights(self) -> list[float]:
        """Weights of the experts; their sum is 1."""
        found: list[float] = np.asarray(self._mixture.weights).tolist()
        return found

    def _quantiles(self, recent: Sequence[RecentValues]) -> list[tuple[float, float]]:
        """Return the quantile and the unit of each memory of each view."""
        return [
            (view.quantile(memory, self.share), view.unit(memory))
            for view in recent
            for memory in range(len(MEMORIES))
        ]

    def _mixed(self, known: list[tuple[float, float]]) -> tuple[float, float]:
        """Return the weighted means of the experts' distances and of their units."""
        distance, unit, weights = 0.0, 0.0, self.weights
        for k, (base, spread) in enumerate(known):
            moving = weights[2 * k + 1]
            weight = weights[2 * k] + moving
            distance += weight * base + moving * spread * self.steps[k]
            unit += weight * spread
        return distance, unit

    def view_weights(self) -> list[float]:
        """Return the sum of the weights of each view."""
        weights = self.weights
        return [
            math.fsum(weights[start : start + PER_VIEW])
            for start in range(0, len(weights), PER_VIEW)
        ]

    def mixture(self, recent: Sequence[RecentValues], at_rest: bool = False) -> Mixture:
        """Return the mean of the experts with the correction.

        Parameters
        ----------
        recent : sequence of RecentValues
            The residuals of each view.
        at_rest : bool
            Whether to take the quantile of all values in the longest memory, for exchangeable data.
        """
        if at_rest:
            whole = RecentValues(recent[0].sizes[:1])
            for values in zip(*(view.values for view in recent), strict=True):
                whole.add(math.fsum(values) / self.n_views)
            return Mixture(np.full(self.n_views, 1.0 / self.n_views), whole.quantile(0, self.share))
        distance, unit = self._mixed(self._quantiles(recent))
        return Mixture(np.array(self.view_weights()), distance + unit * self.correction())

    def correction(self) -> float:
        """Return the correction in units."""
        return _CORRECTION * math.sinh(min(self.excess, _LARGEST) / _EXCESS)

    def judge(self, n_beyond: int, n: int) -> None:
        """Move the correction by a round of n samples, of which these were beyond the end."""
        moved = (n_beyond - n * self.share) * min(1.0, _FULL_ROUND / n)
        self.excess = max(self.excess + moved, _LEAST)

    def _loss(self, residual: float) -> float:
        return residual * (1.0 - self.share) if residual > 0.0 else -residual * self.share

    def learn(self, residuals: Sequence[float], recent: Sequence[RecentValues]) -> None:
        """Move the trackers and the weights by the residuals of one sample, one for each view."""
        known = self._quantiles(recent)
        distance, _ = self._mixed(known)
        if self.n_views == 1:
            mixed = residuals[0] - distance
        else:
            pairs = zip(self.view_weights(), residuals, strict=True)
            mixed = math.fsum(weight * value for weight, value in pairs) - distance
        loss, self.seen = self._loss(mixed), self.seen + 1
        if self.seen > 5:  # one gross loss must not change the unit of the losses
            loss = min(loss, _MOST_LOSS * self.level)
        self.level += (loss - self.level) / min(self.seen, _LEVEL)
        unit, lost = max(self.level, 1e-300), self._mixture.lost
        for k, (base, spread) in enumerate(known):
            alone = residuals[k // len(MEMORIES)] - base
            moved = alone - spread * self.steps[k]
            lost[2 * k] = _RATE * min(self._loss(alone) / unit, _MOST_LOSS)
            lost[2 * k + 1] = _RATE * min(self._loss(moved) / unit, _MOST_LOSS)
            self.steps[k] = _KEPT * self.steps[k] + (moved > 0.0) - self.share
        self._mixture.update()
