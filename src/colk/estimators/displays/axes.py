"""Base class of the displays with one pair of axes."""

from abc import ABC, abstractmethod
from typing import Any, Self

from colk._extras import needed_for

__all__ = ["OneAxesDisplay", "axes_of"]


def axes_of(ax: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    with needed_for("a display", extra="plot"):
        import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1]


class OneAxesDisplay(ABC):
    """A display that is drawn on one pair of axes."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        self.ax_ = axes_of(ax)
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on these axes."""
