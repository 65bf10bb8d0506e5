"""Running statistics of the losses of a stream."""

from typing import ClassVar

from colk import _stored as stored
from colk._engine.c_types import Public
from colk._engine.window import Window

__all__ = ["LossStatistics"]


class LossStatistics:  # final
    """Mean and spread of the losses, and the mean distance of predictions from targets."""

    names: ClassVar[tuple[str, ...]] = ("level", "spread", "distance")

    level: Public[float]  # mean loss
    spread: Public[float]  # mean absolute deviation of the losses
    distance: Public[float]  # mean |f − y|

    def __init__(self) -> None:
        self.level = self.spread = self.distance = 0.0

    def fields(self) -> dict[str, stored.Field]:
        """Fields that `pack` returns."""
        return dict.fromkeys(self.names, stored.Number(finite=False))

    def pack(self) -> dict[str, float]:
        """Return the statistics by name."""
        return {name: getattr(self, name) for name in self.names}

    def unpack(self, packed: dict[str, float]) -> None:
        """Restore a packed state."""
        for name in self.names:
            setattr(self, name, packed[name])

    def follow(self, w: Window, is_first: bool, rate: float) -> None:  # cdef
        """Update the mean, the spread and the distance with the samples of a window."""
        share, columns = 1.0 / w.size, min(w.predictions.shape[1], w.targets.shape[1])  # type: float, int
        for b in range(w.size):
            loss, gap = w.losses[b], 0.0  # type: float, float
            for c in range(columns):
                gap += abs(w.predictions[b, c] - w.targets[b, c]) / columns
            if is_first:
                self.level += share * loss
                self.spread += share * abs(loss)
                self.distance += share * gap
            else:
                self.spread += rate * share * (abs(loss - self.level) - self.spread)
                self.level += rate * share * (loss - self.level)
                self.distance += rate * share * (gap - self.distance)
