"""The axes that a display draws on."""

from typing import Any

from colk._extras import needed_for

__all__ = ["axes_of"]


def axes_of(ax: Any) -> Any:
    """Return the axes given, or those of a new figure; says what to install where there is none."""
    if ax is not None:
        return ax
    with needed_for("a display", extra="plot"):
        import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1]
