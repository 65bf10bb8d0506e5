"""One end of an interval: experts of several memories, mixed by their pinball losses.

Both classes are compiled. A *view* is one prediction of the end; most rules have one.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._engine.buffers import zeros
from colk._engine.c_types import ConstMatrix, Indices, Matrix, Readonly, Vector
from colk._engine.fixed_share import FixedShare
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["MEMORIES", "PER_VIEW", "RecentValues", "Tail"]

# Each memory has two experts: its quantile, and its quantile plus a tracker that is multiplied by
# KEPT in each step. Chosen with the constants below on generated streams and bike rentals.
MEMORIES = (1000, 100, 10)
PER_VIEW = 2 * len(MEMORIES)
KEPT: float = 0.8

# Losses are divided by their running mean over LEVEL samples and clipped at MOST_LOSS. RATE and
# SHARE are those of the update of the weights.
RATE: float = 0.3
MOST_LOSS: float = 10.0
LEVEL: float = 200.0
SHARE: float = 0.01

# First weights of the experts of a view, which also divide the share: long memories have more.
_FIRST = (0.3, 0.3, 0.15, 0.15, 0.05, 0.05)

# The correction is CORRECTION·sinh(E/EXCESS) units.
CORRECTION: float = 0.1
EXCESS: float = 10.0 / 3.0
# E stays at least at LEAST, where an end is one unit inside the mean of the experts; otherwise it
# would fall without end while the narrowest intervals cover all targets. sinh of LARGEST is finite.
LEAST: float = -10.0
LARGEST: float = 1000.0

# In rounds of more samples than this, E moves by this number times the mean update.
FULL_ROUND: float = 25.0

# Rooms for values, before they grow with the number of values.
_FIRST_ROOM = 32


class RecentValues:  # final
    """The latest values of a stream, sorted for each of several memories.

    Parameters
    ----------
    sizes : sequence of int
        Lengths of the memories, decreasing.
    n_views : int, default=1
        Number of values in a row.
    rows : array of shape (n, n_views), optional
        The first rows.

    Attributes
    ----------
    window : int
        Length of the longest memory.
    count : int
        Number of rows in the longest memory.

    Examples
    --------
    >>> recent = RecentValues((4, 2))
    >>> for value in (5.0, 3.0, 9.0, 1.0, 2.0):
    ...     recent.add(value)
    >>> recent.memory(0).tolist(), recent.memory(1).tolist()
    ([1.0, 2.0, 3.0, 9.0], [1.0, 2.0])
    >>> recent.quantile(0, 0, 0.4), recent.unit(0, 1)
    (3.0, 0.5)
    """

    sizes: Readonly[tuple[int, ...]]
    n_views: Readonly[int]
    n_sizes: int
    window: Readonly[int]
    count: Readonly[int]
    place: int  # of the oldest value, once the longest memory is full
    room: int
    lengths: Indices
    ring: Matrix  # (n_views, room)
    ordered: Matrix  # (n_views · n_sizes, room): each memory of each view, increasing

    def __init__(self, sizes: Sequence[int], n_views: int = 1, rows: Array | None = None) -> None:
        self.window, self.n_views, self.n_sizes = sizes[0], n_views, len(sizes)
        self.sizes = tuple(min(size, self.window) for size in sizes)
        self.lengths = np.array(self.sizes, dtype=np.intp)
        self.count, self.place = 0, 0
        latest = np.empty((0, n_views)) if rows is None else rows[-self.window :]
        self._make_room(max(len(latest), _FIRST_ROOM))
        n, self.count = len(latest), len(latest)
        ring, ordered = np.asarray(self.ring), np.asarray(self.ordered)
        ring[:, :n] = latest.T
        for row in range(len(ordered)):
            kept = ring[row // len(sizes), max(n - self.sizes[row % len(sizes)], 0) : n]
            ordered[row, : len(kept)] = np.sort(kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecentValues, (self.sizes, self.n_views, self.rows())

    def rows(self) -> Array:
        """Return the rows in the longest memory, the oldest first; shape (n, n_views)."""
        known = np.asarray(self.ring)[:, : self.count].T
        return np.ascontiguousarray(np.roll(known, -self.place, axis=0))

    def memory(self, memory: int, view: int = 0) -> Array:
        """Return the sorted values of a memory."""
        known = min(self.count, self.sizes[memory])
        return np.array(np.asarray(self.ordered)[view * self.n_sizes + memory, :known])

    def _make_room(self, room: int) -> None:
        before, self.room = self.count, min(room, self.window)
        ring = zeros((self.n_views, self.room))
        ordered = zeros((self.n_views * self.n_sizes, self.room))
        if before > 0:
            ring[:, :before] = np.asarray(self.ring)[:, :before]
            ordered[:, :before] = np.asarray(self.ordered)[:, :before]
        self.ring, self.ordered = ring, ordered

    def add(self, value: float) -> None:
        """Add a value, if there is one view."""
        self.add_row(np.full((1, 1), value), 0)

    def add_row(self, rows: ConstMatrix, i: int) -> int:  # cpdef
        """Add row i; a full memory drops its oldest value."""
        if self.count == self.room and self.room < self.window:
            self._make_room(4 * self.room)
        for view in range(self.n_views):
            for memory in range(self.n_sizes):
                self._replace(view, memory, rows[i, view])
            self.ring[view, self._next_place()] = rows[i, view]
        if self.count < self.window:
            self.count += 1
        else:
            self.place = (self.place + 1) % self.window
        return 0

    def _next_place(self) -> int:  # cdef inline noexcept
        """Return the place of the next row in the ring."""
        return self.count if self.count < self.window else self.place

    def _replace(self, view: int, memory: int, value: float) -> int:  # cdef noexcept
        """Insert a value in a sorted memory, which drops its oldest one if it is full."""
        row: int = view * self.n_sizes + memory
        length: int = self.lengths[memory]
        n: int = min(self.count, length)
        free: int = n
        if self.count >= length:
            oldest: int = self._next_place() - length
            if oldest < 0:
                oldest += self.window
            free = min(self._rank(row, n, self.ring[view, oldest]), n - 1)
        while free > 0 and self.ordered[row, free - 1] > value:
            self.ordered[row, free] = self.ordered[row, free - 1]
            free -= 1
        last: int = min(n, length - 1)
        while free < last and self.ordered[row, free + 1] < value:
            self.ordered[row, free] = self.ordered[row, free + 1]
            free += 1
        self.ordered[row, free] = value
        return 0

    def _rank(self, row: int, n: int, value: float) -> int:  # cdef noexcept
        """Return the number of smaller values."""
        low: int = 0
        high: int = n
        while low < high:
            middle: int = (low + high) // 2
            if self.ordered[row, middle] < value:
                low = middle + 1
            else:
                high = middle
        return low

    def _known(self, memory: int) -> int:  # cdef inline noexcept
        """Return the number of values in a memory."""
        return self.count if self.count < self.lengths[memory] else self.lengths[memory]

    def quantile(self, view: int, memory: int, share: float) -> float:  # cpdef nogil noexcept
        """Return the value that a new one exceeds with this probability, if exchangeable.

        NaN before the first row.
        """
        row: int = view * self.n_sizes + memory
        last: int = self._known(memory) - 1
        if last < 0:
            return math.nan
        place: float = min(max((last + 2) * (1.0 - share) - 1.0, 0.0), 1.0 * last)
        before: int = int(place)
        before = min(before, max(last - 1, 0))
        after: int = min(before + 1, last)
        low: float = self.ordered[row, before]
        found: float = low + (place - before) * (self.ordered[row, after] - low)
        return found

    def unit(self, view: int, memory: int) -> float:  # cpdef nogil noexcept
        """Return half the distance of the deciles, or of the extremes if the deciles are equal."""
        row: int = view * self.n_sizes + memory
        last: int = self._known(memory) - 1
        if last < 0:
            return math.nan
        low: int = int(0.1 * last)
        high: int = int(0.9 * last)
        apart: float = self.ordered[row, high] - self.ordered[row, low]
        if not apart > 0.0:
            apart = self.ordered[row, last] - self.ordered[row, 0]
        return 0.5 * apart


class Tail:  # final
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
    distance, unit : float
        Weighted means of the experts' distances and of their units, after `reach`.
    views : array of shape (n_views,)
        Sums of the weights of the experts of each view, after `reach`.
    """

    share: Readonly[float]
    n_views: Readonly[int]
    n_memories: int
    excess: Readonly[float]
    level: float  # running mean of the pinball loss of the mixture
    seen: int
    distance: Readonly[float]
    unit: Readonly[float]
    views: Readonly[Vector]
    steps: Vector  # the trackers z
    bases: Vector  # the quantile of each memory of each view
    spreads: Vector  # and its unit
    mixture: FixedShare

    def __init__(self, share: float, n_views: int, state: dict[str, Array] | None = None) -> None:
        self.share, self.n_views, self.n_memories = share, n_views, len(MEMORIES)
        self.excess, self.level, self.seen = 0.0, 0.0, 0
        self.distance, self.unit, self.views = 0.0, 0.0, np.zeros(n_views)
        self.steps, self.bases, self.spreads = np.zeros((3, n_views * len(MEMORIES)))
        self.mixture = FixedShare(np.tile(_FIRST, n_views) / n_views, SHARE)
        if state is not None:
            self.restore(state["moments"], state["steps"], state["weights"])

    def __reduce__(self) -> tuple[Any, ...]:
        return Tail, (self.share, self.n_views, self.state())

    def state(self) -> dict[str, Array]:
        """Return the arrays that `restore` takes."""
        return {
            "moments": np.array([self.excess, self.level, self.seen]),
            "steps": np.array(self.steps),
            "weights": np.array(self.mixture.weights),
        }

    def restore(self, moments: Array, steps: Array, weights: Array) -> None:
        """Restore a stored state: excess, level and number of samples; trackers; weights."""
        if len(steps) != len(self.steps) or len(weights) != len(self.mixture.weights):
            raise FileFormatError("the experts of an interval have other numbers of views")
        if moments[1:].min() < 0.0 or not math.isclose(weights.sum(), 1.0, rel_tol=1e-6):
            raise FileFormatError("the weights of the experts of an interval do not add up to 1")
        self.excess, self.level, self.seen = float(moments[0]), float(moments[1]), int(moments[2])
        np.asarray(self.steps)[:] = steps
        self.mixture.unpack({"weights": weights})

    def _mix(self, recent: RecentValues) -> int:  # cdef noexcept
        """Find the quantiles and the units of all memories, and their weighted means."""
        self.distance, self.unit = 0.0, 0.0
        for view in range(self.n_views):
            self.views[view] = 0.0
            for memory in range(self.n_memories):
                k: int = view * self.n_memories + memory
                self.bases[k] = recent.quantile(view, memory, self.share)
                self.spreads[k] = recent.unit(view, memory)
                moving: float = self.mixture.weights[2 * k + 1]
                weight: float = self.mixture.weights[2 * k] + moving
                self.views[view] += weight
                self.distance += weight * self.bases[k] + moving * self.spreads[k] * self.steps[k]
                self.unit += weight * self.spreads[k]
        return 0

    def reach(self, recent: RecentValues, at_rest: bool = False) -> float:
        """Return the distance of the end from the weighted mean of the predicted ends.

        Parameters
        ----------
        recent : RecentValues
            The residuals of each view.
        at_rest : bool
            Whether to take the quantile of all values in the longest memory, for exchangeable data.
        """
        if not at_rest:
            return self._corrected(recent)
        whole = RecentValues((recent.window,), 1, recent.rows().mean(axis=1, keepdims=True))
        np.asarray(self.views)[:] = 1.0 / self.n_views
        return float(whole.quantile(0, 0, self.share))

    def _corrected(self, recent: RecentValues) -> float:  # cdef noexcept
        """Return the distance of the mixed end with the correction."""
        self._mix(recent)
        return self.distance + self.unit * self.correction()

    def correction(self) -> float:  # cpdef nogil noexcept
        """Return the correction in units."""
        return CORRECTION * math.sinh(min(self.excess, LARGEST) / EXCESS)

    def judge(self, n_beyond: int, n: int) -> int:  # cpdef
        """Move the correction by a round of n samples, of which these were beyond the end."""
        moved: float = (n_beyond - n * self.share) * min(1.0, FULL_ROUND / n)
        self.excess = max(self.excess + moved, LEAST)
        return 0

    def _loss(self, residual: float) -> float:  # cdef inline noexcept
        return residual * (1.0 - self.share) if residual > 0.0 else -residual * self.share

    def learn(self, rows: ConstMatrix, i: int, recent: RecentValues) -> int:  # cpdef
        """Move the trackers and the weights by the residuals of one sample, one for each view."""
        self._mix(recent)
        mixed: float = -self.distance
        for view in range(self.n_views):
            mixed += self.views[view] * rows[i, view]
        loss: float = self._loss(mixed)
        self.seen += 1
        if self.seen > 5:  # one gross loss must not change the unit of the losses
            loss = min(loss, MOST_LOSS * self.level)
        self.level += (loss - self.level) / min(1.0 * self.seen, LEVEL)
        unit: float = max(self.level, 1e-300)
        for k in range(self.n_views * self.n_memories):
            alone: float = rows[i, k // self.n_memories] - self.bases[k]
            moved: float = alone - self.spreads[k] * self.steps[k]
            self.mixture.lost[2 * k] = RATE * min(self._loss(alone) / unit, MOST_LOSS)
            self.mixture.lost[2 * k + 1] = RATE * min(self._loss(moved) / unit, MOST_LOSS)
            self.steps[k] = KEPT * self.steps[k] - self.share
            if moved > 0.0:
                self.steps[k] += 1.0
        self.mixture.update()
        return 0
