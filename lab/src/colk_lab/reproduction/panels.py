"""Parts that the figures share: a band of runs and the title of a panel."""

from typing import TYPE_CHECKING, Any

import numpy as np

from colk_lab.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["band", "letter"]


def band(axes: "Axes", x: Array, runs: Array, color: str, label: str, **style: Any) -> None:
    """Draw the median of the runs (rows) over x and a band from their 10 % to 90 % quantile."""
    low, middle, high = np.nanquantile(runs, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(x, middle, color=color, label=label, **style)


def letter(axes: "Axes", mark: str, text: str) -> None:
    """Set the title of a panel: its letter in brackets, then a text."""
    axes.set_title(f"({mark}) {text}")
