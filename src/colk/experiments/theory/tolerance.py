"""How far a measured exponent may miss the theorem's, and how that is drawn."""

from typing import TYPE_CHECKING

import numpy as np

from colk._validation import Array
from colk.experiments.style import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TOLERANCE", "guide"]

# The interval of an exponent has to end within this of the theorem's.
TOLERANCE = 0.15


def guide(axes: "Axes", x: Array, y: Array, bound: Array, name: str) -> None:
    """Draw a bound up to its constant through the middle of the points, with the tolerance."""
    centre = np.exp(np.log(x).mean())
    line = bound * np.exp(np.log(y).mean() - np.log(bound).mean())
    # Slower: a smaller exponent where the bound rises, a larger one where it falls.
    slower = -TOLERANCE if bound[-1] > bound[0] else TOLERANCE
    axes.plot(x, line, "--", color=INK, linewidth=0.9, label=f"theorem, {name}")
    edge = line * (x / centre) ** slower
    axes.fill_between(x, line, edge, color=PALETTE["grey"], alpha=0.25, linewidth=0)
