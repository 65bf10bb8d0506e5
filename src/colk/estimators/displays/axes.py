"""Axes for the displays."""

from typing import Any

from colk._extras import needed_for

__all__ = ["axes_of"]


def axes_of(ax: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    with needed_for("a display", extra="plot"):
        import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1]
