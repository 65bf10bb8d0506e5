"""Prediction intervals without settings: quantile trackers of several memories, mixed online."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._validation import Array
from colk.conformal.levels import EVERYTHING, Counts, Levels, check_coverage
from colk.conformal.tails import MEMORIES, RecentValues, Tail
from colk.errors import FileFormatError

__all__ = ["TrackedInterval"]

# Intervals are finite from this many residuals on, or from 2/(1 − coverage) if that is less.
_ENOUGH = 30

# Upper bound on the memory of a residual in a ring and the sorted memories, with room to grow.
_BYTES_OF_RESIDUAL = 128.0


class TrackedLevel(Counts):
    """State of the intervals with one nominal coverage: both ends.

    Parameters
    ----------
    coverage : float
        Nominal coverage.
    n_views : int
        Number of predictions of each end.

    Examples
    --------
    >>> TrackedLevel(0.9, n_views=1).needed
    20
    """

    def __init__(self, coverage: float, n_views: int) -> None:
        super().__init__()
        share = 0.5 * (1.0 - coverage)
        self.low, self.high = Tail(share, n_views), Tail(share, n_views)
        self.needed = math.ceil(round(2.0 / (1.0 - coverage), 6))


@stored.stores(
    n_views=stored.Count(1),
    at_rest=stored.Flag(),
    window=stored.Count(1),
    recent=stored.Array("n_recent", 2, "n_views"),
    levels=stored.ListOf(
        stored.Record(
            {
                "coverage": stored.Number(),
                "seen": stored.Count(),
                "missed": stored.Count(),
                # of both ends: excess, level and seen, then the steps and the weights
                "moments": stored.Array(2, 3),
                "steps": stored.Array(2, "n_steps"),
                "weights": stored.Array(2, "n_experts", above=0.0),
            }
        )
    ),
)
class TrackedInterval(Levels[TrackedLevel]):
    """Prediction intervals for any stream of targets, with no setting to choose.

    Each end is a mean of experts. An expert is the quantile of the residuals in a memory of 1000,
    100 or 10 samples, alone or plus a tracker z of that quantile, in units u of the spread in the
    memory: z ← 0.8·z + miss − α/2, where α = 1 − coverage, and miss is 1 if the target was beyond
    the expert's end. The weights of the experts decrease exponentially with their pinball losses
    (fixed share), so a long memory leads while nothing changes, and a short one after a change.
    The two ends differ if the residuals are skewed. No interval is infinite after 30 residuals.

    Each end then moves by u·sinh(0.3·E)/10, where E is the number of targets beyond this end so
    far, minus α/2 for each target, but at least −10, and u is the mean unit of the experts. This
    gives a guarantee for every sequence of targets: as long as each target differs from the mean of
    the experts by at most C units, at most Tα/2 + e(C) + 1 of T targets are beyond an end, where
    e(C) = 10/3·asinh(10·C), which is 18 for C = 10. They are at least Tα/2 − e(C) − 1, unless E is
    cut off at −10 or u = 0, which means that even narrow intervals miss too seldom. If rounds of B
    targets share one state, 1 becomes B; for B > 25 the bound is (e(C) + 25)·B/25.

    Parameters
    ----------
    n_views : int, default=1
        Number of predictions of each end, whose experts are mixed. All of them are passed to
        `update` and `ends`.

    References
    ----------
    Angelopoulos, Candès, Tibshirani, "Conformal PID control for time series prediction", 2023.
    Herbster, Warmuth, "Tracking the best expert", Machine Learning, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.conformal import TrackedInterval
    >>> interval = TrackedInterval()
    >>> interval.reach(0.9)
    (-inf, inf)
    >>> for residual in np.random.default_rng(0).normal(size=1000):
    ...     interval.update([residual], [residual])
    >>> low, high = interval.reach(0.9)
    >>> -2.0 < low < -1.3, 1.3 < high < 2.0
    (True, True)
    """

    def __init__(self, n_views: int = 1) -> None:
        super().__init__()
        self.n_views = n_views
        self._at_rest = False
        self._remember(MEMORIES[0])

    def __repr__(self) -> str:
        return "TrackedInterval()"

    def _remember(
        self, window: int, below: Array | None = None, above: Array | None = None
    ) -> None:
        """Keep up to `window` residuals, from these ones on."""
        sizes = (window, *MEMORIES[1:])
        self._below = RecentValues(sizes, self.n_views, below)  # of −residuals
        self._above = RecentValues(sizes, self.n_views, above)

    def _to_file(self) -> dict[str, Any]:
        ends = {key: (level.low.state(), level.high.state()) for key, level in self._levels.items()}
        return {
            "n_views": self.n_views,
            "at_rest": self._at_rest,
            "window": self._above.window,
            "recent": np.stack([self._below.rows(), self._above.rows()], axis=1),
            "levels": [
                {
                    "coverage": key, "seen": level.seen, "missed": level.missed,
                    **{name: np.array([low[name], high[name]]) for name in low},
                }
                for (key, level), (low, high) in zip(
                    self._levels.items(), ends.values(), strict=True
                )
            ],
        }  # fmt: skip

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "TrackedInterval":
        interval, recent = cls(values["n_views"]), values["recent"]
        if len(recent) > values["window"]:
            raise FileFormatError(
                f"{len(recent)} residuals are stored, window is {values['window']}"
            )
        budget(_BYTES_OF_RESIDUAL * recent.size, "the residuals of a TrackedInterval")
        interval._remember(values["window"], recent[:, 0], recent[:, 1])
        interval._at_rest = values["at_rest"]
        for known in values["levels"]:
            interval.follow(known["coverage"])
            level = interval._levels[known["coverage"]]
            level.restore(known["missed"], known["seen"])
            for k, tail in enumerate((level.low, level.high)):
                tail.restore(known["moments"][k], known["steps"][k], known["weights"][k])
        return interval

    def follow(self, coverage: float) -> None:
        """Start to adapt intervals of this nominal coverage."""
        if coverage not in self._levels:
            level = check_coverage(coverage)
            self._levels[level] = TrackedLevel(level, self.n_views)

    def is_known(self, coverage: float) -> bool:
        """Return whether there are enough residuals for finite intervals."""
        self.follow(coverage)
        return self._can_end(self._levels[coverage])

    def _can_end(self, level: TrackedLevel) -> bool:
        if self._at_rest:
            return self._above.count >= level.needed - 1
        return self._above.count >= min(level.needed, _ENOUGH)

    def reach(self, coverage: float) -> tuple[float, float]:
        """Return the lower and upper end of an interval relative to the prediction.

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        """
        self.follow(coverage)
        level = self._levels[coverage]
        if not self._can_end(level):
            return EVERYTHING
        low = level.low.reach(self._below, self._at_rest)
        return -low, level.high.reach(self._above, self._at_rest)

    def ends(self, coverage: float, lows: Array, highs: Array) -> Array:
        """Return the ends of intervals, of shape (n, 2).

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        lows, highs : array of shape (n, n_views)
            The predicted ends; equal if the model predicts a point.
        """
        low, high = self.reach(coverage)
        level, found = self._levels[coverage], np.empty((len(lows), 2))
        found[:, 0] = low + self._mixed(level.low, lows)
        found[:, 1] = high + self._mixed(level.high, highs)
        return found

    def _mixed(self, tail: Tail, values: Array) -> Array:
        """Return the mean of the views of an end, after `reach`."""
        return values[:, 0] if self.n_views == 1 else values @ np.asarray(tail.views)

    def update(self, below: ArrayLike, above: ArrayLike) -> None:
        """Update from a round of targets after `reach` or `ends` gave their intervals.

        Parameters
        ----------
        below, above : sequence of float, or array of shape (n, n_views)
            Targets minus the predicted lower and upper ends; equal if the model predicts a point.
        """
        lows, highs = self._residuals(below, above)
        for level in self._levels.values():
            if self._can_end(level):
                self._judge(level, lows, highs)
        self._at_rest = False
        for i in range(len(lows)):
            for level in self._levels.values():
                if self._can_end(level):
                    level.low.learn(lows, i, self._below)
                    level.high.learn(highs, i, self._above)
            self._below.add_row(lows, i)
            self._above.add_row(highs, i)

    def _residuals(self, below: ArrayLike, above: ArrayLike) -> tuple[Array, Array]:
        """Return the distances of the targets beyond both ends, of shape (n, n_views)."""
        lows = -np.asarray(below, dtype=np.float64).reshape(-1, self.n_views)
        highs = np.array(above, dtype=np.float64, order="C").reshape(-1, self.n_views)
        return np.ascontiguousarray(lows), highs

    def _judge(self, level: TrackedLevel, below: Array, above: Array) -> None:
        """Count the misses of a round, and move the corrections of both ends by them."""
        n, either = len(below), np.zeros(len(below), dtype=bool)
        sides = ((level.low, self._below, below), (level.high, self._above, above))
        for tail, recent, residuals in sides:
            reach = tail.reach(recent, self._at_rest)
            beyond = self._mixed(tail, residuals) > reach
            either |= beyond
            tail.judge(int(np.count_nonzero(beyond)), n)
        level.add(int(np.count_nonzero(either)), n)

    def calibrate(self, below: ArrayLike, above: ArrayLike) -> None:
        """Start from the residuals of exchangeable samples, so that intervals are finite at once.

        For n residuals, the ends of an interval are the residuals of ranks (n + 1)α/2 and
        (n + 1)(1 − α/2), until the first update. It covers a new target with probability 1 − α or
        more, as in split conformal prediction. The longest memory grows to n if it is shorter.

        Parameters
        ----------
        below, above : sequence of float, or array of shape (n, n_views)
            As in `update`.
        """
        lows, highs = self._residuals(below, above)
        self._remember(max(self._above.window, len(lows)), lows, highs)
        followed, self._levels, self._at_rest = self._levels, {}, True
        for coverage in followed:
            self.follow(coverage)
