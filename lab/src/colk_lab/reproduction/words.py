"""Write numbers and comparisons as text; the minus sign is always U+2212."""

from colk_lab.statistics import Interval

__all__ = [
    "MINUS",
    "compared",
    "comparisons",
    "count",
    "exponent",
    "listed",
    "percent",
    "show",
    "span",
]

MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"
# Changes above this percentage are written as a factor.
_MANY = 200.0


def show(value: float) -> str:
    """Write a number with three digits, with an exponent only if it is needed.

    Examples
    --------
    >>> show(0.012345), show(-1.5), show(12345.6), show(1.2e-7), show(0.0)
    ('0.0123', '−1.50', '12346', '1.20e−07', '0')
    """
    size = abs(value)
    if value == 0.0:
        text = "0"
    elif size < 1e-4 or size >= 1e6:
        text = f"{value:.2e}"
    elif size >= 100.0:
        text = f"{value:.0f}"
    elif size >= 10.0:
        text = f"{value:.1f}"
    elif size >= 1.0:
        text = f"{value:.2f}"
    else:
        text = f"{value:.3g}"
    return text.replace("-", MINUS).replace("inf", "∞")


def exponent(value: float) -> str:
    """Write an exponent with two decimals.

    Examples
    --------
    >>> exponent(-0.987)
    '−0.99'
    """
    return f"{value:.2f}".replace("-", MINUS)


def percent(value: float, *, signed: bool = False) -> str:
    r"""Write a percentage with two digits.

    Examples
    --------
    >>> percent(3.24), percent(-0.123), percent(41.6, signed=True), percent(350.0, signed=True)
    ('3.2\xa0%', '−0.1\xa0%', '+42\xa0%', '+350\xa0%')
    """
    if value != value:
        return "unknown"
    size = abs(value)
    sign = "+" if signed and value > 0 else ""
    digits = 0 if size >= 9.95 else 1
    text = f"{sign}{value:.{digits}f}".replace("-0.0", "0.0").replace("+0.0", "0.0")
    return (text.replace("-", MINUS) + _SPACE + "%").replace("inf", "∞")


def compared(found: Interval, other: str, *, brackets: bool = False) -> str:
    r"""Compare with another value: above, below, a factor, or within the noise.

    Examples
    --------
    >>> compared(Interval(3.0, -2.0, 8.0), "BSGD's")
    "3.0\xa0% above BSGD's, within the noise"
    >>> compared(Interval(-12.0, -15.0, -9.0), "POLK's")
    "12\xa0% below POLK's"
    >>> compared(Interval(400.0, 300.0, 500.0), "POLK's")
    "5.0 times POLK's"
    """
    if found.value != found.value:
        return f"not comparable to {other}, as runs diverged"
    if found.value > _MANY:
        times = 1.0 + found.value / 100.0
        text = f"{times:.1f} times {other}" if times < 10.0 else f"{times:.0f} times {other}"
    else:
        way = "above" if found.value > 0.0 else "below"
        text = f"{percent(abs(found.value))} {way} {other}"
    if found.below_zero or found.above_zero:
        return text
    return f"{text} (within the noise)" if brackets else f"{text}, within the noise"


def span(found: Interval, unit: str) -> str:
    r"""Write a number with its interval.

    Examples
    --------
    >>> span(Interval(-1.0, -1.2, -0.8), "exponent")
    '−1.00 [−1.20, −0.80]'
    >>> span(Interval(3.0, -2.0, 8.0), "%")
    '+3.0\xa0% [−2.0\xa0%, +8.0\xa0%]'
    """
    if unit == "%":
        value, low, high = (percent(x, signed=True) for x in (found.value, found.low, found.high))
    else:
        value, low, high = (exponent(x) for x in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def count(number: int, total: int) -> str:
    """Write a count out of a total.

    Examples
    --------
    >>> count(7, 7), count(0, 7), count(3, 7)
    ('all 7', 'none of 7', '3 of 7')
    """
    if number == total:
        return "both" if total == 2 else f"all {total}"
    return f"none of {total}" if number == 0 else f"{number} of {total}"


def listed(names: list[str]) -> str:
    """Join names with commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def comparisons(changes: dict[str, Interval], what: str) -> str:
    """Summarise several comparisons: lower than some, higher than others.

    Examples
    --------
    >>> found = {"POLK": Interval(-9.0, -12.0, -6.0), "BSGD": Interval(1.0, -1.0, 3.0)}
    >>> comparisons(found, "COLK's error")
    "COLK's error is lower than that of POLK and within the noise of BSGD"
    """
    below = [name for name, found in changes.items() if found.below_zero]
    above = [name for name, found in changes.items() if found.above_zero]
    same = [name for name in changes if name not in (*below, *above)]
    clauses = [
        f"{way} {_whose(names, len(changes))}"
        for way, names in (
            ("lower than that of", below),
            ("higher than that of", above),
            ("within the noise of", same),
        )
        if names
    ]
    return f"{what} is {listed(clauses)}"


def _whose(names: list[str], total: int) -> str:
    return f"all {total} others" if len(names) == total > 1 else listed(names)
