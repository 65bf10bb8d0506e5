"""Running statistics of the losses of a stream, and the detection of an abrupt change."""

import math
from typing import ClassVar

from colk import _stored as stored
from colk._engine.window import Window

__all__ = ["LossStatistics"]

# A change is abrupt if the share of losses above the earlier TAIL quantile exceeds MOST_BEYOND. The
# share is tracked at the rate SHARE_RATE, the quantile at TAIL_RATE.
TAIL, TAIL_RATE, SHARE_RATE, MOST_BEYOND = 0.1, 0.01, 0.05, 0.6


class LossStatistics:
    """Mean, spread and tail of the losses, and the mean distance of predictions from targets."""

    names: ClassVar[tuple[str, ...]] = ("level", "spread", "distance", "tail_loss", "beyond")

    level: float  # mean loss
    spread: float  # mean absolute deviation of the losses
    distance: float  # mean |f − y|
    tail_loss: float  # quantile 1 − TAIL of the losses
    beyond: float  # share of the latest losses above it

    def __init__(self) -> None:
        self.level = self.spread = self.distance = self.tail_loss = self.beyond = 0.0

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

    def follow(self, w: Window, is_first: bool, rate: float) -> None:
        """Update the mean, the spread and the distance with the samples of a window."""
        share, columns = 1.0 / w.size, min(w.predictions.shape[1], w.targets.shape[1])
        for b in range(w.size):
            loss, gap = w.losses[b], 0.0
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

    def has_changed(self, w: Window, is_first: bool) -> bool:
        """Whether most of the latest losses lie above the earlier tail quantile."""
        for b in range(w.size):
            loss = w.losses[b]
            if is_first:
                self.tail_loss = loss
            above = 1.0 if loss > self.tail_loss else 0.0
            self.beyond += SHARE_RATE * (above - self.beyond)
            self.tail_loss -= TAIL_RATE * math.sqrt(TAIL) * self.spread * (1.0 - above / TAIL)
        return self.beyond > MOST_BEYOND
