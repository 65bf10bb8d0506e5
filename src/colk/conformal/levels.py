"""What all rules of intervals have: nominal coverages, and counts of the targets inside."""

import math
from typing import Any, Generic, TypeVar

from colk._validation import check_number
from colk.errors import FileFormatError

__all__ = ["EVERYTHING", "Counts", "Levels", "check_coverage", "check_method"]

EVERYTHING = (-math.inf, math.inf)


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


class Counts:
    """Numbers of judged targets and of missed ones.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.add(missed=1, seen=4)
    >>> counts.coverage
    0.75
    """

    def __init__(self) -> None:
        self.seen, self.missed = 0, 0

    def add(self, missed: int, seen: int) -> None:
        """Add a round of targets."""
        self.seen, self.missed = self.seen + seen, self.missed + missed

    def restore(self, missed: int, seen: int) -> None:
        """Restore stored counts."""
        if missed > seen:
            raise FileFormatError(f"{missed} of {seen} targets were missed")
        self.seen, self.missed = seen, missed

    @property
    def coverage(self) -> float:
        """The share of targets that were not missed; NaN before the first."""
        return 1.0 - self.missed / self.seen if self.seen else math.nan


L = TypeVar("L", bound=Counts)


class Levels(Generic[L]):
    """The states of the intervals of several nominal coverages.

    Examples
    --------
    >>> levels: Levels[Counts] = Levels()
    >>> levels.coverages, levels.observed_coverage(0.9)
    ([], nan)
    """

    def __init__(self) -> None:
        self._levels: dict[float, L] = {}

    @property
    def coverages(self) -> list[float]:
        """The nominal coverages whose intervals adapt."""
        return list(self._levels)

    def observed_coverage(self, coverage: float) -> float:
        """Return the share of targets inside their finite intervals; NaN before the first.

        Parameters
        ----------
        coverage : float
            The nominal coverage.
        """
        level = self._levels.get(coverage)
        return math.nan if level is None else level.coverage
