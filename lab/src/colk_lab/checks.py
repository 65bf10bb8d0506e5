"""Checks of the settings of a run."""

__all__ = ["check_count", "check_fraction"]


def check_count(value: int, name: str, *, at_least: int = 1) -> int:
    """Return a whole number of at least `at_least`.

    Examples
    --------
    >>> check_count(0, "jobs")
    Traceback (most recent call last):
    ValueError: jobs must be at least 1, got 0
    """
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value!r}")
    return value


def check_fraction(value: float, name: str) -> float:
    """Return a number in (0, 1].

    Examples
    --------
    >>> check_fraction(2.0, "scale")
    Traceback (most recent call last):
    ValueError: scale must lie in (0, 1], got 2.0
    """
    if not 0.0 < value <= 1.0:
        raise ValueError(f"{name} must lie in (0, 1], got {value!r}")
    return value
