"""Figures by matplotlib."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from colk._extras import needed_for
from colk.cli.pages.colors import RC
from colk.cli.pages.log_axes import name_log_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(
    paint: "Callable[[Figure], None]", width: float, height: float, *formats: str
) -> list[bytes]:
    """Draw a figure once and return it in each format.

    Parameters
    ----------
    paint : callable
        Draws on an empty matplotlib figure.
    width, height : float
        Size in inches.
    *formats : str
        Matplotlib's names of formats: "svg", "png", "pdf".
    """
    with needed_for("a figure", extra="cli"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    # The same numbers give the same bytes: no date and no version.
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "png": {"Software": None}}
    pictures = []
    with mpl.rc_context(cast(Any, RC)):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        paint(figure)
        name_log_axes(figure)
        for name in formats:
            file = io.BytesIO()
            figure.savefig(file, format=name, metadata=metadata.get(name, {}))
            pictures.append(file.getvalue())
    return pictures
