"""Parse dates and times in cells: text to seconds since 1970."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime

__all__ = ["as_moment", "is_day_first", "is_moment"]

_DAY = r"(?P<a>\d{1,4})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})"
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})([.,](?P<rest>\d+))?)?"
    r"\s*(?P<half>[aApP][mM])?\s*(?P<zone>Z|UTC|[+-]\d{2}(:?\d{2})?)?"
)
_MOMENT = re.compile(rf"({_DAY}([T ]\s*{_TIME})?|{_TIME.replace('?P<', '?P<only_')})", re.ASCII)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# A day with the month as a word, perhaps after the day of the week.
_NAMED = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[\s/-]?(?P<month>{'|'.join(_MONTHS)})[a-z]*"
    rf"|(?P<month_1>{'|'.join(_MONTHS)})[a-z]*\.?[\s/-](?P<day_2>\d{{1,2}})(?:st|nd|rd|th)?,?)"
    r"\.?,?[\s/-]?(?P<year>\d{4}|\d{2})(?!\d),?",
    re.ASCII | re.IGNORECASE,
)
# A year and a month.
_MONTH = re.compile(r"\d{4}[-/](0[1-9]|1[0-2])", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN = 40


def is_moment(text: str) -> bool:
    """Whether a text is a date, a time, or both.

    Examples
    --------
    >>> [is_moment(text) for text in ("17.11.2026 8:30", "Nov 17, 2026", "2026-11", "12:30")]
    [True, True, True, True]
    >>> [is_moment(text) for text in ("1-2", "1.5", "12-34-5678")]
    [False, False, False]
    """
    found = _MOMENT.fullmatch(_in_figures(text))
    return found is not None and any(_is_real(found.groupdict(), first) for first in (True, False))


def _is_real(parts: dict[str, str | None], day_first: bool) -> bool:
    try:
        _seconds(parts, day_first)
    except (ValueError, OverflowError):
        return False
    return True


def _in_figures(text: str) -> str:
    """Write the month of a date as a number, and a month as its first day.

    Examples
    --------
    >>> _in_figures("17 Nov 2026 8:30"), _in_figures("November 17, 2026"), _in_figures("2026-11")
    ('2026-11-17 8:30', '2026-11-17', '2026-11-01')
    """
    if _MONTH.fullmatch(text):
        return f"{text}{text[4]}01"
    found = _NAMED.match(text)
    if found is None:
        return text
    month = _MONTHS.index((found["month"] or found["month_1"]).lower()) + 1
    year = _year(found["year"])
    return f"{year}-{month}-{found['day'] or found['day_2']}{text[found.end() :]}"


def _year(digits: str) -> int:
    """Return a year of four digits for one of two or four."""
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 70 else 1900)


def is_day_first(texts: Iterable[str]) -> bool:
    """Whether dates such as 3/4/2026 have the day first.

    A part above 12 decides. If there is none, the month is first for slashes, else the day.

    Examples
    --------
    >>> is_day_first(["3/4/2026", "13/4/2026"]), is_day_first(["3/4/2026"])
    (True, False)
    """
    by_mark = True
    for text in texts:
        found = _MOMENT.fullmatch(text.strip())
        if found is None or found["a"] is None or len(found["a"]) == 4:
            continue
        if int(found["a"]) > 12:
            return True
        if int(found["b"]) > 12:
            return False
        by_mark = found["mark"] != "/"
    return by_mark


def as_moment(text: str, name: str, day_first: bool = True) -> float:
    """Return the seconds since 1970 of a date, or since midnight of a time; NaN if it is missing.

    Times without a zone are taken as UTC.

    Parameters
    ----------
    text : str
        The cell.
    name : str
        Name of the column, for messages.
    day_first : bool
        Whether the day comes first in dates that do not begin with the year.

    Examples
    --------
    >>> as_moment("1970-01-02", "when"), as_moment("1.2.1970 00:01", "when")
    (86400.0, 2678460.0)
    >>> as_moment("01:00 pm", "when"), as_moment("1970-01-01T01:00+01:00", "when")
    (46800.0, 0.0)
    """
    text = text.strip()
    if not text or text.lower() in ("na", "nan", "null", "none", "nat", "n/a"):
        return math.nan
    found = _MOMENT.fullmatch(_in_figures(text))
    try:
        if found is None:
            raise ValueError(text)  # noqa: TRY301, reported below
        return _seconds(found.groupdict(), day_first)
    except (ValueError, OverflowError) as error:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise ValueError(f"{name} is {shown!r}, not a date or time") from error


def _seconds(parts: dict[str, str | None], day_first: bool) -> float:
    date = _EPOCH
    prefix = "only_" if parts["a"] is None else ""
    if parts["a"] is not None:
        date = datetime(*_date(parts, day_first), tzinfo=UTC)
    hour, minute, second, rest, half, zone = (
        parts[prefix + name] for name in ("hour", "minute", "second", "rest", "half", "zone")
    )
    hours = int(hour or 0)
    if half is not None:
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    if hours > 24 or int(minute or 0) > 59 or int(second or 0) > 60:
        raise ValueError("no time of day")
    seconds = 3600.0 * hours + 60.0 * int(minute or 0) + int(second or 0) + float(f"0.{rest or 0}")
    return (date - _EPOCH).total_seconds() + seconds - _offset(zone)


def _date(parts: dict[str, str | None], day_first: bool) -> tuple[int, int, int]:
    first, second, third = (str(parts[name]) for name in ("a", "b", "c"))
    if len(first) == 4:
        return int(first), int(second), int(third)
    if len(third) not in (2, 4):
        raise ValueError("no year")
    day, month = (first, second) if day_first else (second, first)
    return _year(third), int(month), int(day)


def _offset(zone: str | None) -> float:
    """Return the seconds by which a zone is ahead of UTC."""
    if zone is None or zone in ("Z", "UTC"):
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = 3600.0 * int(digits[:2]) + 60.0 * int(digits[2:])
    return seconds if zone[0] == "+" else -seconds
