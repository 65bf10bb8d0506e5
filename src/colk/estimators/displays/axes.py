"""The axes that a display draws on."""

from typing import Any

__all__ = ["axes_of"]


def axes_of(ax: Any) -> Any:
    """Return the axes given, or those of a new figure; says what to install where there is none."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("displays need matplotlib: pip install 'colk[plot]'") from error
    return plt.subplots(layout="constrained")[1]
