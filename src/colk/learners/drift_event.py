"""The event of a drift: its time, its severity, and the features that changed."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from colk.errors import FileFormatError

__all__ = ["DriftEvent"]


@dataclass(frozen=True)
class DriftEvent:
    """A change of a stream.

    Parameters
    ----------
    time : int
        Number of samples up to the alarm.
    severity : float
        Mean loss of the latest samples divided by that before, minus 1: 0 is no change, 1 is
        twice the loss, 9 is ten times the loss. It has no upper end.
    features : dict
        The features whose means changed, with the change in standard deviations, the largest first.

    Examples
    --------
    >>> DriftEvent(time=1200, severity=0.8)
    DriftEvent(time=1200, severity=0.8, features={})
    """

    time: int
    severity: float
    features: dict[Hashable, float] = field(default_factory=dict)

    @property
    def state(self) -> list[Any]:
        """The event as numbers and names."""
        return [self.time, self.severity, list(self.features), list(self.features.values())]

    @classmethod
    def of(cls, state: Any) -> "DriftEvent":
        """Return the event of a state.

        Parameters
        ----------
        state : list
            A value of the property `state`.
        """
        try:
            time, severity, names, changes = state
            found = zip(names, map(float, changes), strict=True)
            return cls(int(time), float(severity), dict(found))
        except (TypeError, ValueError) as error:
            message = "a stored drift event needs a time, a severity and feature names"
            raise FileFormatError(message) from error
