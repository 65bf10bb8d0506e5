"""How figures look: a colour for each method, type of one size, and small helpers of drawing."""

from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DARK", "FAINT", "INK", "PALETTE", "RC", "band", "letter"]

# Lines, type and what is drawn in black; samples in the background. On the page both follow the
# reader's choice of light or dark.
INK = "#1b1c1e"
FAINT = "#bbbbbc"

# Okabe and Ito's colours, with Tol's olive in place of their yellow, which is faint on white, a
# grey and a brown. Each belongs to one method, in every figure.
PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "purple": "#CC79A7",
    "ink": INK,
    "olive": "#999933",
    "grey": "#7F7F7F",
    "brown": "#8C564B",
}
# The same on a dark page: those that would be hard to see are lighter.
DARK = {
    **PALETTE,
    "blue": "#3D8FD9",
    "vermillion": "#F07A2B",
    "sky": "#A5DBFA",
    "ink": "#E6E6E8",
    "grey": "#A0A0A0",
    "brown": "#C08A7D",
}

_SIZE = 10.0

RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": _SIZE,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": _SIZE,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": _SIZE,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.fontsize": _SIZE,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    "svg.hashsalt": "colk",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": _SIZE,
    "ytick.color": INK,
    "ytick.labelsize": _SIZE,
}


def band(axes: "Axes", x: Array, runs: Array, color: str, label: str, **style: Any) -> None:
    """Draw the median of the runs (rows) over x, and the band of their middle 80 %."""
    low, middle, high = np.nanquantile(runs, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(x, middle, color=color, label=label, **style)


def letter(axes: "Axes", mark: str, text: str) -> None:
    """Title a panel."""
    axes.set_title(f"({mark}) {text}")
