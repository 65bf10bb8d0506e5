"""The tolerance of a measured exponent, as text and in figures."""

from typing import TYPE_CHECKING

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.words import exponent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TOLERANCE", "at_least", "at_most", "guide"]

# An interval may miss the exponent of the theorem by at most this.
TOLERANCE = 0.15


def at_most(bound: float) -> str:
    """Return the largest allowed exponent as text, with its two summands.

    Examples
    --------
    >>> at_most(-0.5)
    'at most −0.35 (theorem −0.50, tolerance 0.15)'
    """
    return f"at most {exponent(bound + TOLERANCE)} {_made(bound)}"


def at_least(bound: float) -> str:
    """Return the smallest allowed exponent as text, with its two summands.

    Examples
    --------
    >>> at_least(1.0)
    'at least 0.85 (theorem 1.00, tolerance 0.15)'
    """
    return f"at least {exponent(bound - TOLERANCE)} {_made(bound)}"


def _made(bound: float) -> str:
    return f"(theorem {exponent(bound)}, tolerance {exponent(TOLERANCE)})"


def guide(axes: "Axes", x: Array, y: Array, bound: Array, name: str) -> None:
    """Draw a bound through the middle of the points, with the tolerance as a grey area."""
    centre = np.exp(np.log(x).mean())
    line = bound * np.exp(np.log(y).mean() - np.log(bound).mean())
    # A slower rate has a smaller exponent if the bound rises, and a larger one if it falls.
    slower = -TOLERANCE if bound[-1] > bound[0] else TOLERANCE
    axes.plot(x, line, "--", color=INK, linewidth=0.9, label=f"theorem, {name}")
    edge = line * (x / centre) ** slower
    axes.fill_between(x, line, edge, color=PALETTE["grey"], alpha=0.25, linewidth=0)
