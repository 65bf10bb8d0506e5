"""Tolerance of a measured exponent, and how figures show it."""

from typing import TYPE_CHECKING

import numpy as np

from colk._pages.colors import INK, PALETTE
from colk._validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TOLERANCE", "guide"]

# An interval may miss the exponent of the theorem by this much.
TOLERANCE = 0.15


def guide(axes: "Axes", x: Array, y: Array, bound: Array, name: str) -> None:
    """Draw a bound through the middle of the points, with the tolerance as a grey area."""
    centre = np.exp(np.log(x).mean())
    line = bound * np.exp(np.log(y).mean() - np.log(bound).mean())
    # Slower means a smaller exponent if the bound rises and a larger one if it falls.
    slower = -TOLERANCE if bound[-1] > bound[0] else TOLERANCE
    axes.plot(x, line, "--", color=INK, linewidth=0.9, label=f"theorem, {name}")
    edge = line * (x / centre) ** slower
    axes.fill_between(x, line, edge, color=PALETTE["grey"], alpha=0.25, linewidth=0)
