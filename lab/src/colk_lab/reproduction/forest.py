"""Lay out the forest plot of a verdict, with one line for each interval.

The report's template draws the plot in HTML and SVG, so it has the page's font and colours.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from colk_lab.pages.formulas import plain
from colk_lab.reproduction.verdict import Check, State, Verdict
from colk_lab.reproduction.words import MINUS, percent, show, span

__all__ = ["Axis", "Forest", "Line", "Tick", "axis", "forest", "region"]

_PERCENT_TICKS = (0.0, -50.0, 100.0, -90.0, 900.0, 9900.0, -20.0, 25.0, -99.0, -5.0, 5.0, -1.0, 1.0)
# Smallest distance between two ticks, as a share of the width, and between those of a narrow plot.
_GAP, _APART = 0.28, 0.55
# Distance of additional ticks from the ends, if an axis has too few.
_OUTER = 0.1
# Smallest distance of a tick from the ends of the axis. Labels closer than _END shift inwards.
_EDGE, _END = 0.03, 0.2
# Distance by which the axis may extend beyond the outermost estimate or region, in its own scale.
_BEYOND = {"%": 1.6, "exponent": 1.0}
_AXES = {"%": "change in %, log scale", "exponent": "exponent"}


@dataclass(frozen=True)
class Tick:
    """A tick of the axis.

    Parameters
    ----------
    place : float
        Position from 0 to 1.
    text : str
        The label.
    """

    place: float
    text: str

    @property
    def shift(self) -> str:
        """CSS class of the label; labels near an end of the axis are shifted."""
        return "first" if self.place < _END else "last" if self.place > 1.0 - _END else ""


@dataclass(frozen=True)
class Line:
    """An interval and the region in which the claim expects it; positions from 0 to 1.

    Parameters
    ----------
    low, value, high : float
        The interval and its estimate. `value` is None if there is no estimate.
    left, right : float
        The ends of the region.
    zero : float or None
        The position of "no change"; None on an axis of exponents.
    color : str
        A name of the palette.
    state : {"supports", "contradicts", "open"}
        Whether the interval supports or contradicts the claim, or leaves it open.
    text : str
        Description for screen readers.
    """

    low: float
    value: float | None
    high: float
    left: float
    right: float
    zero: float | None
    color: str
    state: State
    text: str


@dataclass(frozen=True)
class Forest:
    """The forest plot of a verdict.

    Parameters
    ----------
    columns : list of str
        The protocols or phases that are compared; one empty name if there is only one.
    groups : dict
        For each title of a part, a dict from labels to the lines of the columns.
    ticks, pair : list of Tick
        Ticks of the axis, which all columns share, and the two that a narrow plot has room for.
    axis : str
        Name of the axis.
    """

    columns: list[str]
    groups: dict[str, dict[str, list[Line | None]]]
    ticks: list[Tick]
    pair: list[Tick]
    axis: str


@dataclass(frozen=True)
class Axis:
    """The horizontal axis, which maps values to positions from 0 to 1.

    The axis of percentages is logarithmic, so half and twice are equally far from no change.

    Examples
    --------
    >>> Axis("%", -50.0, 100.0).place(0.0)
    0.5
    >>> Axis("exponent", -1.0, 1.0).place(-1.0)
    0.0
    """

    unit: str
    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the position of a value; values beyond the axis are at its end."""
        low, high = (_scaled(x, self.unit) for x in (self.low, self.high))
        return min(max((_scaled(value, self.unit) - low) / (high - low), 0.0), 1.0)

    def value(self, place: float) -> float:
        """Return the value at a position; the inverse of `place`."""
        low, high = (_scaled(x, self.unit) for x in (self.low, self.high))
        scaled = low + place * (high - low)
        return 100.0 * math.expm1(scaled) if self.unit == "%" else scaled

    def ticks(self) -> "list[Tick]":
        """Choose at least two ticks that do not overlap, the most useful values first."""
        found: list[Tick] = []
        for tick in self._candidates():
            if all(abs(tick.place - other.place) >= _GAP for other in found):
                found.append(tick)
        return found

    def pair(self) -> "list[Tick]":
        """Choose two ticks for a narrow plot, the most useful values that are far apart."""

        def distance(ticks: tuple[Tick, Tick]) -> float:
            return abs(ticks[0].place - ticks[1].place)

        pairs = list(combinations(self._candidates(), 2))
        far = [ticks for ticks in pairs if distance(ticks) >= _APART]
        return list(far[0] if far else max(pairs, key=distance, default=()))

    def _candidates(self) -> "list[Tick]":
        """Return ticks inside the axis: useful values, then values near the ends."""
        ends = (_one_digit(self.value(share)) for share in (1.0 - _OUTER, _OUTER))
        ticks = {
            value: Tick(self.place(value), _tick(value, self.unit))
            for value in (*self._useful(), *ends)
        }
        return [
            tick
            for value, tick in ticks.items()
            if self.low <= value <= self.high and _EDGE <= tick.place <= 1.0 - _EDGE
        ]

    def _useful(self) -> tuple[float, ...]:
        """Return candidates for ticks: round numbers, and common percentages."""
        if self.unit == "%":
            return _PERCENT_TICKS
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step = next(
            (s for s in (step, step / 2, step / 5) if (self.high - self.low) / s >= 3), step
        )
        first = math.ceil(self.low / step)
        return tuple(k * step for k in range(first, math.floor(self.high / step) + 1))


def _one_digit(value: float) -> float:
    """Round to one significant digit."""
    return float(f"{value:.0e}")


def _scaled(value: float, unit: str) -> float:
    return math.log1p(max(value, -99.95) / 100.0) if unit == "%" else value


def _tick(value: float, unit: str) -> str:
    if unit != "%":
        return f"{value:g}".replace("-", MINUS)
    if value >= 900.0:
        return f"×{1.0 + value / 100.0:.0f}"
    sign = MINUS if value < 0.0 else "+" if value > 0.0 else ""
    return f"{sign}{abs(value):g}"


def axis(checks: Iterable[Check], unit: str) -> Axis:
    """Choose an axis that shows all estimates and regions, and most of each interval.

    Examples
    --------
    >>> from colk_lab.statistics import Interval
    >>> found = axis([Check("a", Interval(10.0, -5.0, 30.0), high=0.0)], "%")
    >>> found.low < -5.0 < 30.0 < found.high
    True
    """
    checks = list(checks)
    shown = [c.interval.value for c in checks] + [0.0] * (unit == "%")
    shown += [x for c in checks for x in (c.low, c.high)]
    places = [_scaled(x, unit) for x in shown if math.isfinite(x)] or [0.0]
    room = _BEYOND[unit]
    ends = [_scaled(x, unit) for c in checks for x in (c.interval.low, c.interval.high)]
    low = max(min([*places, *ends]), min(places) - room)
    high = min(max([*places, *ends]), max(places) + room)
    margin = 0.06 * (high - low) or 0.1
    low, high = low - margin, high + margin
    if unit != "%":
        return Axis(unit, low, high)
    return Axis(unit, 100.0 * math.expm1(low), 100.0 * math.expm1(high))


def region(check: Check, unit: str) -> str:
    r"""Describe the region in which the claim expects an interval.

    Examples
    --------
    >>> from colk_lab.statistics import Interval
    >>> region(Check("a", Interval(0.0, 0.0, 0.0), high=5.0), "%")
    'below 5.0\xa0%'
    """
    low, high = (percent(x) if unit == "%" else show(x) for x in (check.low, check.high))
    if math.isinf(check.low):
        return f"below {high}"
    return f"above {low}" if math.isinf(check.high) else f"between {low} and {high}"


def forest(verdict: Verdict) -> Forest:
    """Return the forest plot of a verdict."""
    columns = list(dict.fromkeys(check.column for check in verdict.checks))
    labels = list(dict.fromkeys(check.label for check in verdict.checks))
    scale = axis(verdict.checks, verdict.unit)
    groups: dict[str, dict[str, list[Line | None]]] = {}
    for title in dict.fromkeys(part.title for part in verdict.parts):
        checks = [c for part in verdict.parts if part.title == title for c in part.checks]
        groups[title] = {}
        for label in sorted({check.label for check in checks}, key=labels.index):
            found = {check.column: check for check in checks if check.label == label}
            groups[title][label] = [
                _line(found[column], scale) if column in found else None for column in columns
            ]
    return Forest(columns, groups, scale.ticks(), scale.pair(), _AXES[verdict.unit])


def _line(check: Check, scale: Axis) -> Line:
    found = check.interval
    meaning = "leaves the claim open" if check.state == "open" else f"{check.state} the claim"
    return Line(
        low=scale.place(found.low),
        value=None if math.isnan(found.value) else scale.place(found.value),
        high=scale.place(found.high),
        left=scale.place(check.low),
        right=scale.place(check.high),
        zero=scale.place(0.0) if scale.unit == "%" else None,
        color=check.color,
        state=check.state,
        text=plain(f"{check.label}: {span(found, scale.unit)}, {meaning}"),
    )
