"""Prediction intervals without settings: quantile trackers of several memories, mixed online."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.conformal.adaptive import EVERYTHING, check_coverage
from colk.conformal.tails import MEMORIES, RecentValues, Tail
from colk.errors import FileFormatError

__all__ = ["TrackedInterval"]

# Intervals are finite from this many residuals on, or from 2/(1 − coverage) if that is less.
_ENOUGH = 30

# Upper bound on the memory of a residual in a queue and the sorted lists.
_BYTES_OF_RESIDUAL = 250.0


@dataclass
class TrackedLevel:
    """State of the intervals with one nominal coverage."""

    low: Tail
    high: Tail
    seen: int = 0
    missed: int = 0


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
class TrackedInterval:
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
        self.n_views = n_views
        self._levels: dict[float, TrackedLevel] = {}
        self._at_rest = False
        self._remember_up_to(MEMORIES[0])

    def __repr__(self) -> str:
        return "TrackedInterval()"

    def _remember_up_to(self, window: int) -> None:
        """Forget all residuals; keep up to `window` from now on."""
        sizes = (window, *MEMORIES[1:])
        self._below = [RecentValues(sizes) for _ in range(self.n_views)]  # of −residuals
        self._above = [RecentValues(sizes) for _ in range(self.n_views)]

    def _to_file(self) -> dict[str, Any]:
        sides = [[list(view.values) for view in side] for side in (self._below, self._above)]
        return {
            "n_views": self.n_views,
            "at_rest": self._at_rest,
            "window": self._above[0].sizes[0],
            "recent": np.ascontiguousarray(np.array(sides, dtype=np.float64).transpose(2, 0, 1)),
            "levels": [
                {
                    "coverage": coverage, "seen": level.seen, "missed": level.missed,
                    "moments": np.array(
                        [[t.excess, t.level, t.seen] for t in (level.low, level.high)]
                    ),
                    "steps": np.array([level.low.steps, level.high.steps]),
                    "weights": np.array([level.low.weights, level.high.weights]),
                }
                for coverage, level in self._levels.items()
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
        interval._remember_up_to(values["window"])
        interval._at_rest = values["at_rest"]
        for below, above in recent.tolist():
            interval._remember(below, above)
        for known in values["levels"]:
            if known["missed"] > known["seen"]:
                raise FileFormatError(f"{known['missed']} of {known['seen']} targets were missed")
            interval.follow(known["coverage"])
            level = interval._levels[known["coverage"]]
            level.seen, level.missed = known["seen"], known["missed"]
            for k, tail in enumerate((level.low, level.high)):
                tail.restore(known["moments"][k], known["steps"][k], known["weights"][k])
        return interval

    @property
    def coverages(self) -> list[float]:
        """The nominal coverages whose intervals adapt."""
        return list(self._levels)

    def follow(self, coverage: float) -> None:
        """Start to adapt intervals of this nominal coverage."""
        level = check_coverage(coverage)
        if level not in self._levels:
            share = 0.5 * (1.0 - level)
            self._levels[level] = TrackedLevel(Tail(share, self.n_views), Tail(share, self.n_views))

    def is_known(self, coverage: float) -> bool:
        """Return whether there are enough residuals for finite intervals."""
        needed = math.ceil(round(2.0 / (1.0 - coverage), 6))
        known = len(self._above[0].values)
        return known >= needed - 1 if self._at_rest else known >= min(needed, _ENOUGH)

    def reach(self, coverage: float) -> tuple[float, float]:
        """Return the lower and upper end of an interval relative to the prediction.

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        """
        none = np.zeros((1, self.n_views))
        low, high = self.ends(coverage, none, none)[0].tolist()
        return low, high

    def ends(self, coverage: float, lows: Array, highs: Array) -> Array:
        """Return the ends of intervals, of shape (n, 2).

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        lows, highs : array of shape (n, n_views)
            The predicted ends; equal if the model predicts a point.
        """
        self.follow(coverage)
        if not self.is_known(coverage):
            return np.tile(EVERYTHING, (len(lows), 1))
        level = self._levels[coverage]
        below = level.low.mixture(self._below, self._at_rest)
        above = level.high.mixture(self._above, self._at_rest)
        return np.column_stack(
            [lows @ below.views - below.reach, highs @ above.views + above.reach]
        )

    def update(self, below: Sequence[Any], above: Sequence[Any]) -> None:
        """Update from a round of targets after `reach` or `ends` gave their intervals.

        Parameters
        ----------
        below, above : sequence of float, or array of shape (n, n_views)
            Targets minus the predicted lower and upper ends; equal if the model predicts a point.
        """
        lows = np.asarray(below, dtype=np.float64).reshape(-1, self.n_views)
        highs = np.asarray(above, dtype=np.float64).reshape(-1, self.n_views)
        for coverage, level in self._levels.items():
            if self.is_known(coverage):
                self._judge(level, -lows, highs)
        self._at_rest = False
        active = list(self._levels.items())
        for low, high in zip((-lows).tolist(), highs.tolist(), strict=True):
            for coverage, level in active:
                if self.is_known(coverage):
                    level.low.learn(low, self._below)
                    level.high.learn(high, self._above)
            self._remember(low, high)

    def _judge(self, level: TrackedLevel, below: Array, above: Array) -> None:
        """Count the misses of a round, and move the corrections of both ends by them."""
        n, either = len(below), np.zeros(len(below), dtype=bool)
        sides = ((level.low, self._below, below), (level.high, self._above, above))
        for tail, recent, residuals in sides:
            given = tail.mixture(recent, self._at_rest)
            beyond = residuals @ given.views > given.reach
            either |= beyond
            tail.judge(int(np.count_nonzero(beyond)), n)
        level.seen += n
        level.missed += int(np.count_nonzero(either))

    def _remember(self, below: Sequence[float], above: Sequence[float]) -> None:
        for side, values in ((self._below, below), (self._above, above)):
            for view, value in zip(side, values, strict=True):
                view.add(value)

    def calibrate(self, below: Sequence[Any], above: Sequence[Any]) -> None:
        """Start from the residuals of exchangeable samples, so that intervals are finite at once.

        For n residuals, the ends of an interval are the residuals of ranks (n + 1)α/2 and
        (n + 1)(1 − α/2), until the first update. It covers a new target with probability 1 − α or
        more, as in split conformal prediction. The longest memory grows to n if it is shorter.

        Parameters
        ----------
        below, above : sequence of float, or array of shape (n, n_views)
            As in `update`.
        """
        lows = np.asarray(below, dtype=np.float64).reshape(-1, self.n_views)
        highs = np.asarray(above, dtype=np.float64).reshape(-1, self.n_views)
        self._remember_up_to(max(self._above[0].sizes[0], len(lows)))
        for low, high in zip((-lows).tolist(), highs.tolist(), strict=True):
            self._remember(low, high)
        followed, self._levels, self._at_rest = self._levels, {}, True
        for coverage in followed:
            self.follow(coverage)

    def observed_coverage(self, coverage: float) -> float:
        """Return the share of targets inside their finite intervals; NaN before the first.

        Parameters
        ----------
        coverage : float
            The nominal coverage.
        """
        level = self._levels.get(coverage)
        if level is None or level.seen == 0:
            return math.nan
        return 1.0 - level.missed / level.seen
