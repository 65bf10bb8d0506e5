"""A verdict's intervals as lines of one plot, in HTML, so that type and colours are the page's."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from colk.experiments.mathematics import plain, typeset
from colk.experiments.verdict import Check, Verdict
from colk.experiments.words import MINUS, percent, show, span

__all__ = ["COLUMNS", "forest", "region"]

COLUMNS = {"printed": "printed settings", "tuned": "tuned alike", "": ""}
_PERCENT_TICKS = (0.0, -50.0, 100.0, -90.0, 900.0, 9900.0, -20.0, 25.0, -99.0, -5.0, 5.0, -1.0, 1.0)
# Two ticks are no closer than this share of the width.
_GAP = 0.24
_NARROW_GAP = 0.55
# Nor closer than this to an end; where it is close, the label stands beside its place.
_EDGE, _END = 0.03, 0.2
# How far the axis goes beyond the outermost estimate and region, on its own scale.
_BEYOND = {"%": 1.6, "exponent": 1.0}


@dataclass(frozen=True)
class Axis:
    """Places along a plot, from 0 to 1; of per cents, half and twice are equally far from none.

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
        """Where a value lies, within the plot."""
        low, high = (_scaled(x, self.unit) for x in (self.low, self.high))
        return min(max((_scaled(value, self.unit) - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels, the most telling first."""
        chosen: list[tuple[float, str]] = []
        for value in _PERCENT_TICKS if self.unit == "%" else self._round_numbers():
            place = self.place(value)
            inside = self.low <= value <= self.high and _EDGE <= place <= 1.0 - _EDGE
            if inside and all(abs(place - x) >= _GAP for x, _ in chosen):
                chosen.append((place, _tick(value, self.unit)))
        return chosen

    def _round_numbers(self) -> list[float]:
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step = next(
            (s for s in (step, step / 2, step / 5) if (self.high - self.low) / s >= 3), step
        )
        first = math.ceil(self.low / step)
        return [k * step for k in range(first, math.floor(self.high / step) + 1)]


def _scaled(value: float, unit: str) -> float:
    return math.log1p(max(value, -99.95) / 100.0) if unit == "%" else value


def _tick(value: float, unit: str) -> str:
    if unit != "%":
        return f"{value:g}".replace("-", MINUS)
    if value >= 900.0:
        return f"×{1.0 + value / 100.0:.0f}"
    return (
        f"{value:+.0f} %".replace("+0", "0").replace("-", MINUS).replace(" ", "\N{NO-BREAK SPACE}")
    )


def axis(checks: Iterable[Check], unit: str) -> Axis:
    """An axis that shows every estimate, the edges of the regions, and intervals as far as it can.

    Examples
    --------
    >>> from colk.experiments.statistics import Interval
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
    r"""Where the interval has to lie, in words.

    Examples
    --------
    >>> from colk.experiments.statistics import Interval
    >>> region(Check("a", Interval(0.0, 0.0, 0.0), high=5.0), "%")
    'below 5.0\xa0%'
    """
    low, high = (percent(x) if unit == "%" else show(x) for x in (check.low, check.high))
    if math.isinf(check.low) and math.isinf(check.high):
        return "anywhere"
    if math.isinf(check.low):
        return f"below {high}"
    return f"above {low}" if math.isinf(check.high) else f"between {low} and {high}"


def forest(verdict: Verdict) -> str:
    """The plot of a verdict."""
    columns = list(dict.fromkeys(check.column for check in verdict.checks))
    labels = list(dict.fromkeys(check.label for check in verdict.checks))
    scale = axis(verdict.checks, verdict.unit)
    head = "".join(f"<th>{typeset(COLUMNS.get(c, c))}</th>" for c in columns)
    lines = [f"<thead><tr><th></th>{head}</tr></thead>"] if any(columns) else []
    lines.append("<tbody>")
    for title in dict.fromkeys(part.title for part in verdict.parts):
        checks = [c for part in verdict.parts if part.title == title for c in part.checks]
        span_ = len(columns) + 1
        lines.append(f'<tr class="group"><th colspan="{span_}">{typeset(title)}</th></tr>')
        for label in sorted({check.label for check in checks}, key=labels.index):
            found = {check.column: check for check in checks if check.label == label}
            cells = "".join(
                f"<td>{_line(found[c], scale) if c in found else ''}</td>" for c in columns
            )
            lines.append(f"<tr><th>{typeset(label)}</th>{cells}</tr>")
    lines.append(f"</tbody><tfoot><tr><th></th>{len(columns) * _ruler(scale)}</tr></tfoot>")
    return f'<table class="forest columns{len(columns)}">{"".join(lines)}</table>'


def _ruler(scale: Axis) -> str:
    marks: list[str] = []
    roomy: list[float] = []
    for place, text in scale.ticks():
        # On a narrow screen only ticks are shown that are far apart.
        far = all(abs(place - other) >= _NARROW_GAP for other in roomy)
        roomy += [place] * far
        end = "first" if place < _END else "last" if place > 1.0 - _END else ""
        kind = f"{end} {'' if far else 'wide'}".strip()
        marks.append(f'<span class="{kind}" style="left:{100.0 * place:.1f}%">{text}</span>')
    return f'<td><div class="ruler">{"".join(marks)}</div></td>'


def _line(check: Check, scale: Axis) -> str:
    """One interval over its region."""
    found = check.interval
    low, high, value = (100.0 * scale.place(x) for x in (found.low, found.high, found.value))
    left, right = (100.0 * scale.place(x) for x in (check.low, check.high))
    said = plain(f"{check.label}: {span(found, scale.unit)}, {check.state} the claim")
    if check.state == "open":
        said = said.replace("open the claim", "leaves it open")
    parts = [
        f"<title>{said}</title>",
        f'<rect class="region" x="{left:.1f}%" width="{right - left:.1f}%" height="100%"/>',
    ]
    if scale.unit == "%":
        zero = 100.0 * scale.place(0.0)
        parts.append(f'<line class="zero" x1="{zero:.1f}%" x2="{zero:.1f}%" y2="100%"/>')
    color = f"var(--{check.color})"
    parts.append(
        f'<line x1="{low:.1f}%" x2="{high:.1f}%" y1="50%" y2="50%" style="stroke:{color}"/>'
    )
    if not math.isnan(found.value):
        parts.append(
            f'<svg x="{value:.1f}%" y="50%" overflow="visible">{_mark(check, color)}</svg>'
        )
    return f'<svg class="line" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _mark(check: Check, color: str) -> str:
    """A disc supports the claim, a ring leaves it open, a cross contradicts it."""
    if check.state == "contradicts":
        return f'<path d="M-4-4 4 4M-4 4 4-4" style="stroke:{color};stroke-width:2.5"/>'
    fill = color if check.state == "supports" else "var(--paper)"
    return f'<circle r="4.5" style="fill:{fill};stroke:{color};stroke-width:2"/>'
