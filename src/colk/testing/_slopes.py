"""Helpers of the checks: slopes are derivatives, and convex functions lie below their chords."""

from collections.abc import Callable

import numpy as np

from colk._validation import Array

__all__ = ["assert_convex", "assert_finite", "assert_slope", "require", "shown"]

Along = Callable[[Array], Array]
Where = Callable[[int], str]


def require(condition: bool | np.bool_, law: str) -> None:
    """Raise an AssertionError that names the law, also if Python runs with -O."""
    if not condition:
        raise AssertionError(law)


def shown(**values: float | Array) -> str:
    """Return names and values for a message, as in "f = 1.5, y = [0.2 -3]".

    Examples
    --------
    >>> shown(f=1.5, y=np.array([0.25, -3.0]))
    'f = 1.5, y = [0.25 -3]'
    """
    texts = []
    for name, value in values.items():
        numbers = " ".join(f"{number:.6g}" for number in np.ravel(value))
        texts.append(f"{name} = [{numbers}]" if np.size(value) != 1 else f"{name} = {numbers}")
    return ", ".join(texts)


def assert_finite(values: Array, law: str, where: Where) -> None:
    """Assert that all rows of an array are finite; the message shows the first that is not."""
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(bad):
        raise AssertionError(f"{law}: it is {shown(value=values[bad[0]])} at {where(int(bad[0]))}")


def assert_slope(
    value: Along, slope: Along, at: Array, law: str, scale: float = 1.0, where: Where | None = None
) -> None:
    """Assert that `slope` is the derivative of `value` at the points `at`, of size `scale`.

    The central difference may deviate from the slope by rounding, and by as much as the slope
    changes over the difference. A kink within the difference therefore raises nothing.
    """
    step = 1e-6 * (scale + np.abs(at))
    low, high = at - step, at + step
    ends = value(low), value(high)
    difference = (ends[1] - ends[0]) / (high - low)
    middle, change = slope(at), np.abs(slope(high) - slope(low))
    sizes = np.abs(ends[0]) + np.abs(ends[1]) + np.abs(at)
    rounding = 8.0 * np.finfo(float).eps * sizes / step
    excess = np.abs(difference - middle) - change - rounding - 1e-6 * np.abs(middle) - 1e-12
    worst = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    place = f"{at[worst]:.6g}" if where is None else where(worst)
    require(
        np.isfinite(excess).all() and excess[worst] <= 0.0,
        f"{law}: at {place} the slope is {middle[worst]:.6g}, "
        f"but the difference quotient is {difference[worst]:.6g}",
    )


def assert_convex(
    value: Along, low: Array, high: Array, law: str, where: Where | None = None
) -> None:
    """Assert that `value`, row by row, lies below its chord from `low` to `high`."""
    ends = value(low), value(high)
    for share in (0.25, 0.5, 0.75):
        middle = value((1.0 - share) * low + share * high)
        chord = (1.0 - share) * ends[0] + share * ends[1]
        slack = 1e-10 * (np.abs(ends[0]) + np.abs(ends[1])) + 1e-12
        worst = int(np.argmax(middle - chord - slack))
        place = "" if where is None else f" between {where(worst)}"
        require(
            (middle <= chord + slack).all(),
            f"{law}: a value of {middle[worst]:.6g} lies above the chord, which is "
            f"{chord[worst]:.6g} there{place}",
        )
