"""Adaptive conformal inference: the width of the intervals follows the observed misses."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._validation import Array, check_count, check_fraction
from colk.conformal.levels import EVERYTHING, Counts, Levels, check_coverage
from colk.conformal.tails import RecentValues
from colk.errors import FileFormatError

__all__ = ["AdaptiveInterval"]

# In rounds of more targets than this, α_t moves by this number times the mean update, so that one
# large round does not move it too far.
_FULL_ROUND = 25

# Upper bound on the memory of a residual in the rings and sorted memories, with room to grow.
_BYTES_OF_RESIDUAL = 128.0


class Level(Counts):
    """State of the intervals with one nominal coverage.

    Parameters
    ----------
    aim : float
        α_t: the share of recent residuals that the interval leaves out.

    Examples
    --------
    >>> Level(0.1).aim
    0.1
    """

    def __init__(self, aim: float) -> None:
        super().__init__()
        self.aim = aim


@stored.stores(
    rate=stored.Number(),
    window=stored.Count(1),
    recent=stored.Array("n_recent", 2),
    levels=stored.ListOf(
        stored.Record(
            {
                "coverage": stored.Number(),
                "aim": stored.Number(at_most=1.0),  # there are no quantiles beyond 1
                "seen": stored.Count(),
                "missed": stored.Count(),
            }
        )
    ),
)
class AdaptiveInterval(Levels[Level]):
    """Prediction intervals from recent residuals, for any stream of targets.

    An interval goes from the α_t/2 quantile to the 1 − α_t/2 quantile of the residuals of the last
    `window` samples. For a nominal coverage of 1 − α, each sample updates
    α_t ← α_t + rate·(α − missed). If α_t ≤ 0, the interval is the whole line.

    The sum of these updates telescopes. For any targets, the share of misses among T samples is
    therefore at most α + (α + rate)/(rate·T). It is at least α − (1 − α)/(rate·T), unless α_t stays
    at 1, which means that even intervals of length 0 miss too seldom.

    A round is a set of B targets that become known together, so their intervals share one α_t.
    After the round α_t moves by the sum of the B updates; if B > 25, by 25 times their mean. With
    r = rate·min(1, 25/B) the share of misses is then at most α + (α + rB)/(rT).

    Parameters
    ----------
    rate : float, default=0.01
        Step size of α_t, in (0, 1]. With a larger rate, intervals recover sooner from a jump, but
        their widths vary more.
    window : int, default=500
        Number of recent residuals. Lower it if the noise changes fast.

    References
    ----------
    Gibbs and Candès, "Adaptive conformal inference under distribution shift", 2021.

    Examples
    --------
    >>> from colk.conformal import AdaptiveInterval
    >>> interval = AdaptiveInterval(rate=0.01, window=100)
    >>> interval.reach(0.5)
    (-inf, inf)
    >>> for residual in range(-50, 51):
    ...     interval.update([residual], [residual])
    >>> low, high = interval.reach(0.5)
    >>> -50.0 <= low < 0.0 < high <= 50.0
    True
    """

    def __init__(self, rate: float = 0.01, window: int = 500) -> None:
        super().__init__()
        self.rate = check_fraction(rate, "rate")
        self.window = check_count(window, "window")
        self._remember()

    def __repr__(self) -> str:
        return f"AdaptiveInterval(rate={self.rate}, window={self.window})"

    def _remember(self, below: Array | None = None, above: Array | None = None) -> None:
        """Keep the residuals of both ends, from these ones on."""
        self._below = RecentValues((self.window,), 1, below)
        self._above = RecentValues((self.window,), 1, above)

    def _to_file(self) -> dict[str, Any]:
        return {
            "rate": self.rate,
            "window": self.window,
            "recent": np.column_stack([self._below.rows(), self._above.rows()]),
            "levels": [{"coverage": key, **vars(level)} for key, level in self._levels.items()],
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "AdaptiveInterval":
        interval, recent = cls(values["rate"], values["window"]), values["recent"]
        if len(recent) > interval.window:
            raise FileFormatError(
                f"{len(recent)} residuals are stored, window is {interval.window}"
            )
        budget(_BYTES_OF_RESIDUAL * len(recent), "the residuals of an AdaptiveInterval")
        interval._remember(recent[:, :1], recent[:, 1:])
        for known in values["levels"]:
            level = Level(known["aim"])
            level.restore(known["missed"], known["seen"])
            interval._levels[check_coverage(known["coverage"])] = level
        return interval

    def follow(self, coverage: float) -> None:
        """Start to adapt intervals of this nominal coverage."""
        level = check_coverage(coverage)
        self._levels.setdefault(level, Level(1.0 - level))

    def reach(self, coverage: float) -> tuple[float, float]:
        """Return the lower and upper end of an interval relative to the prediction.

        The ends are infinite until there are 2/(1 − coverage) residuals, so that each tail has one.

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        """
        self.follow(coverage)
        aim = self._levels[coverage].aim
        if aim <= 0.0 or not self.is_known(coverage):
            return EVERYTHING
        return self._below.quantile(0, 0, 1.0 - 0.5 * aim), self._above.quantile(0, 0, 0.5 * aim)

    def ends(self, coverage: float, lows: Array, highs: Array) -> Array:
        """Return the ends of intervals, of shape (n, 2).

        Parameters
        ----------
        coverage : float
            Nominal coverage. The first call starts to adapt its intervals.
        lows, highs : array of shape (n, 1)
            The predicted ends; equal if the model predicts a point.
        """
        low, high = self.reach(coverage)
        return np.column_stack([lows[:, 0] + low, highs[:, 0] + high])

    def is_known(self, coverage: float) -> bool:
        """Return whether both tails have a residual, or the window is full."""
        needed = math.ceil(round(2.0 / (1.0 - coverage), 6))
        return self._below.count >= min(needed, self.window)

    def update(self, below: ArrayLike, above: ArrayLike) -> None:
        """Update from a round of targets after `reach` gave their intervals.

        Parameters
        ----------
        below, above : sequence of float
            Targets minus the predicted lower and upper ends; equal if the model predicts a point.
        """
        lows, highs = _columns(below), _columns(above)
        for coverage, level in self._levels.items():
            if not self.is_known(coverage):
                continue
            low, high = self.reach(coverage)
            n, missed = len(lows), int(np.count_nonzero((lows < low) | (highs > high)))
            level.add(missed, n)
            rate = self.rate * min(1.0, _FULL_ROUND / n)
            level.aim = min(level.aim + rate * (n * (1.0 - coverage) - missed), 1.0)
        for i in range(len(lows)):
            self._below.add_row(lows, i)
            self._above.add_row(highs, i)

    def calibrate(self, below: ArrayLike, above: ArrayLike) -> None:
        """Start from the residuals of exchangeable samples, so that intervals are finite at once.

        For n residuals, the ends of an interval are the residuals of ranks (n + 1)α/2 and
        (n + 1)(1 − α/2). It covers a new target with probability 1 − α or more, as in split
        conformal prediction. The window grows to n if it is smaller.

        Parameters
        ----------
        below, above : sequence of float
            As in `update`.
        """
        lows, highs = _columns(below), _columns(above)
        self.window = max(self.window, len(lows))
        self._remember(lows, highs)
        for coverage, level in self._levels.items():
            level.aim = 1.0 - coverage


def _columns(values: ArrayLike) -> Array:
    return np.array(values, dtype=np.float64).reshape(-1, 1)
