"""The stream of a method that adapts the tube of its loss."""

from typing import Any

from colk.losses.regression import AdaptiveTube
from colk.step import KernelStream

__all__ = ["TubeStream"]


class TubeStream(KernelStream):
    """A kernel stream with the loss `AdaptiveTube`, which each step widens or narrows."""

    adaptive: AdaptiveTube

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.adaptive = common["loss"]

    def adapt(self, step: float, factor: float) -> float:
        """Widen the tube where the sample lies outside it, narrow it otherwise."""
        self.adaptive.adapt(
            self.window.predictions[0, 0],
            self.window.targets[0, 0],
            step * self.window.weights[0],
        )
        return step
