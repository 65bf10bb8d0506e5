"""The law behind the checks: a slope is the derivative of its function."""

from collections.abc import Callable

import numpy as np

from colk._validation import Array

__all__ = ["assert_convex", "assert_slope", "require"]

Along = Callable[[Array], Array]


def require(condition: bool | np.bool_, law: str) -> None:
    """Raise an AssertionError that names the law, also where Python runs with -O."""
    if not condition:
        raise AssertionError(law)


def assert_slope(value: Along, slope: Along, at: Array, law: str, scale: float = 1.0) -> None:
    """Assert that `slope` is the derivative of `value` at the points `at`, of size `scale`.

    The central difference may leave the slope by rounding, and by as much as the slope itself
    changes over the difference: so a kink within it proves nothing and raises nothing.
    """
    step = 1e-6 * (scale + np.abs(at))
    low, high = at - step, at + step
    ends = value(low), value(high)
    difference = (ends[1] - ends[0]) / (high - low)
    middle, change = slope(at), np.abs(slope(high) - slope(low))
    sizes = np.abs(ends[0]) + np.abs(ends[1]) + np.abs(at)
    rounding = 8.0 * np.finfo(float).eps * sizes / step
    excess = np.abs(difference - middle) - change - rounding - 1e-6 * np.abs(middle) - 1e-12
    worst = int(np.argmax(excess))
    require(
        np.isfinite(excess).all() and excess[worst] <= 0.0,
        f"{law}: at {at[worst]:.6g} the slope is {middle[worst]:.6g}, "
        f"the difference quotient {difference[worst]:.6g}",
    )


def assert_convex(value: Along, low: Array, high: Array, law: str) -> None:
    """Assert that `value`, rowwise, lies below its chord from `low` to `high` at three points."""
    ends = value(low), value(high)
    for share in (0.25, 0.5, 0.75):
        middle = value((1.0 - share) * low + share * high)
        chord = (1.0 - share) * ends[0] + share * ends[1]
        slack = 1e-10 * (np.abs(ends[0]) + np.abs(ends[1])) + 1e-12
        require((middle <= chord + slack).all(), f"{law}: a value lies above its chord")
