"""Labels of logarithmic axes, with at least two labelled ticks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["name_log_axes"]

_NAME = "log scale"


def name_log_axes(figure: "Figure") -> None:
    """Name every logarithmic axis in its label, and label at least two of its ticks.

    Parameters
    ----------
    figure : Figure
        A finished matplotlib figure.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                _label_ticks(axis)
                _name(axis)


def _label_ticks(axis: "Axis") -> None:
    """Put ticks at 1, 2 and 5 times powers of ten if the axis shows one power only."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if sum(low <= place <= high for place in axis.get_majorticklocs()) < 2:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _name(axis: "Axis") -> None:
    """Add "log scale" to the label. Panels beside one with the same axis need no label."""
    text = axis.get_label_text()
    if text:
        axis.set_label_text(f"{text}, {_NAME}")
    elif any(tick.label1.get_visible() for tick in axis.get_major_ticks()):
        axis.set_label_text(_NAME)
