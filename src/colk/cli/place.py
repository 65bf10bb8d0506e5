"""The place of a run in a stream."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from colk.tabular.reading import Position

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """The place of a run in a stream.

    Parameters
    ----------
    position : Position
        Start of the batch that is being learned.
    begun : bool
        Whether the rejected rows of the batch were counted.
    before, taken : int
        Usable rows before the batch, and usable rows of the batch that were learned.
    total : int
        Number of usable rows learned in all runs.

    Examples
    --------
    >>> Place.of({**Place(total=3).state, "taken": 1})
    Place(position=Position(file=0, offset=0, line=1), begun=False, before=0, taken=1, total=3)
    """

    position: Position = field(default_factory=Position)
    begun: bool = False
    before: int = 0
    taken: int = 0
    total: int = 0

    @property
    def state(self) -> dict[str, Any]:
        """The place as a dictionary of numbers."""
        return asdict(self)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Place":
        """Check the numbers of a state; return its place."""
        place = cls(**{**state, "position": Position(**state["position"])})
        counts = (*asdict(place.position).values(), place.before, place.taken)
        if any(type(each) is not int or each < 0 for each in (*counts, place.total)):
            raise ValueError("numbers in the place of a run must be whole and at least 0")
        return place
