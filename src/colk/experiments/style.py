"""How figures look: colours that the colour-blind can tell apart, and small helpers of drawing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "RC", "band", "letter", "quiet_legend"]

# Okabe and Ito's colours, with Tol's olive in place of their yellow, which is faint on white, and
# a grey.
PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "purple": "#CC79A7",
    "black": "#000000",
    "olive": "#999933",
    "grey": "#7F7F7F",
}

RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    "svg.hashsalt": "colk",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def band(axes: "Axes", x: Array, runs: Array, color: str, label: str, **style: Any) -> None:
    """Draw the median of the runs (rows) over x, and the band of their middle 80 %."""
    low, middle, high = np.nanquantile(runs, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(x, middle, color=color, label=label, **style)


def letter(axes: "Axes", mark: str, text: str) -> None:
    """Title a panel."""
    axes.set_title(f"({mark}) {text}")


def quiet_legend(axes: "Axes", handles: Sequence[Any] | None = None, columns: int = 1) -> None:
    """Put the legend beside the panel, where it hides no data."""
    options: dict[str, Any] = {} if handles is None else {"handles": handles}
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=columns, **options)
