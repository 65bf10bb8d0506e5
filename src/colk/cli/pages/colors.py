"""Colours of pages and figures, and matplotlib's settings."""

from typing import Any

__all__ = ["DARK", "FAINT", "INK", "PALETTE", "RC"]

# INK draws lines and text, FAINT draws samples in the background. On a page both follow the
# reader's light or dark mode.
INK = "#1b1c1e"
FAINT = "#bbbbbc"

# The palette of Okabe and Ito. Tol's olive replaces their yellow, which is hard to see on white;
# grey and brown are added. A method has the same colour in every figure.
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
# The palette on a dark page: colours that would be hard to see are lighter.
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
