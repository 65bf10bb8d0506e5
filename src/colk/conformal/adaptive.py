"""Adaptive conformal inference: the width of the intervals follows the observed misses."""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array, check_count, check_fraction, check_number
from colk.errors import FileFormatError

__all__ = ["AdaptiveInterval", "check_coverage", "check_method"]

EVERYTHING = (-math.inf, math.inf)

# In rounds of more targets than this, α_t moves by this number times the mean update, so that one
# large round does not move it too far.
_FULL_ROUND = 25

# Upper bound on the memory of a residual in a queue and two lists.
_BYTES_OF_RESIDUAL = 300.0


def check_coverage(coverage: float) -> float:
    """Return the coverage if it lies between 0 and 1; raise otherwise.

    Examples
    --------
    >>> check_coverage(0.9)
    0.9
    """
    check_number(coverage, "coverage", above=0.0)
    if coverage >= 1.0:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
    return float(coverage)


def check_method(model: Any, method: str, for_river: str) -> None:
    """Raise if a model does not have the method that a wrapper calls.

    Parameters
    ----------
    model : object
        The model.
    method : str
        The method.
    for_river : str
        The class of `colk.river` that wraps River's models, for the message.

    Examples
    --------
    >>> check_method({}, "predict", "ConformalRegressor")
    Traceback (most recent call last):
    TypeError: model must have the method predict, got dict; for River's models use colk.river...
    """
    if not callable(getattr(model, method, None)):
        raise TypeError(
            f"model must have the method {method}, got {type(model).__name__}; for River's models "
            f"use colk.river.{for_river}"
        )


@dataclass
class Level:
    """State of the intervals with one nominal coverage."""

    aim: float  # α_t: the share of recent residuals that the interval leaves out
    seen: int = 0
    missed: int = 0


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
class AdaptiveInterval:
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
    >>> -50.0 < low < 0.0 < high < 50.0
    True
    """

    def __init__(self, rate: float = 0.01, window: int = 500) -> None:
        self.rate = check_fraction(rate, "rate")
        self.window = check_count(window, "window")
        self._levels: dict[float, Level] = {}
        self._recent: deque[tuple[float, float]] = deque()
        self._below: list[float] = []  # sorted residuals of the lower ends
        self._above: list[float] = []  # sorted residuals of the upper ends

    def __repr__(self) -> str:
        return f"AdaptiveInterval(rate={self.rate}, window={self.window})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the queue of residuals as a list."""
        return {**self.__dict__, "_recent": list(self._recent)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _recent=deque(state["_recent"]))

    def _to_file(self) -> dict[str, Any]:
        return {
            "rate": self.rate,
            "window": self.window,
            "recent": np.array(self._recent, dtype=np.float64).reshape(-1, 2),
            "levels": [{"coverage": key, **asdict(level)} for key, level in self._levels.items()],
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "AdaptiveInterval":
        interval, recent = cls(values["rate"], values["window"]), values["recent"]
        if len(recent) > interval.window:
            raise FileFormatError(
                f"{len(recent)} residuals are stored, window is {interval.window}"
            )
        budget(_BYTES_OF_RESIDUAL * len(recent), "the residuals of an AdaptiveInterval")
        interval._recent = deque((below, above) for below, above in recent.tolist())
        interval._below, interval._above = (np.sort(column).tolist() for column in recent.T)
        for known in values["levels"]:
            level = Level(known["aim"], known["seen"], known["missed"])
            if level.missed > level.seen:
                raise FileFormatError(f"{level.missed} of {level.seen} targets were missed")
            interval._levels[check_coverage(known["coverage"])] = level
        return interval

    @property
    def coverages(self) -> list[float]:
        """The nominal coverages whose intervals adapt."""
        return list(self._levels)

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
        return _quantile(self._below, 0.5 * aim), _quantile(self._above, 1.0 - 0.5 * aim)

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
        return len(self._recent) >= min(needed, self.window)

    def update(self, below: Sequence[float], above: Sequence[float]) -> None:
        """Update from a round of targets after `reach` gave their intervals.

        Parameters
        ----------
        below, above : sequence of float
            Targets minus the predicted lower and upper ends; equal if the model predicts a point.
        """
        for coverage, level in self._levels.items():
            if not self.is_known(coverage):
                continue
            low, high = self.reach(coverage)
            missed = sum(b < low or a > high for b, a in zip(below, above, strict=True))
            level.seen += len(below)
            level.missed += missed
            rate = self.rate * min(1.0, _FULL_ROUND / len(below))
            level.aim = min(level.aim + rate * (len(below) * (1.0 - coverage) - missed), 1.0)
        for pair in zip(below, above, strict=True):
            self._remember(pair)

    def _remember(self, pair: tuple[float, float]) -> None:
        if len(self._recent) == self.window:
            oldest = self._recent.popleft()
            for known, value in zip((self._below, self._above), oldest, strict=True):
                del known[bisect_left(known, value)]
        self._recent.append(pair)
        insort(self._below, pair[0])
        insort(self._above, pair[1])

    def calibrate(self, below: Sequence[float], above: Sequence[float]) -> None:
        """Start from the residuals of exchangeable samples, so that intervals are finite at once.

        For n residuals, the ends of an interval are the residuals of ranks (n + 1)α/2 and
        (n + 1)(1 − α/2). It covers a new target with probability 1 − α or more, as in split
        conformal prediction. The window grows to n if it is smaller.

        Parameters
        ----------
        below, above : sequence of float
            As in `update`.
        """
        self._recent, self._below, self._above = deque(), [], []
        self.window = max(self.window, len(below))
        for pair in zip(below, above, strict=True):
            self._remember(pair)
        n = len(self._recent)
        for coverage, level in self._levels.items():
            place = (n + 1) * (0.5 + 0.5 * coverage) - 1.0
            level.aim = 2.0 * (1.0 - place / (n - 1)) if n > 1 else 0.0

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


def _quantile(values: list[float], share: float) -> float:
    """Return the interpolated quantile of sorted values."""
    place = share * (len(values) - 1)
    before = min(int(place), len(values) - 2) if len(values) > 1 else 0
    after = min(before + 1, len(values) - 1)
    return values[before] + (place - before) * (values[after] - values[before])
