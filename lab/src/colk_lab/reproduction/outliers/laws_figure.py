"""Test error and model order with other distributions of outliers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import FAINT, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.laws import LAWS
from colk_lab.reproduction.methods import COMPARED, METHODS
from colk_lab.reproduction.outliers.runs import OutlierRuns, final
from colk_lab.reproduction.panels import letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["laws_figure"]


def laws_figure(found: OutlierRuns) -> Figure:
    """Draw every method's error and order for each distribution, with printed settings."""
    return Figure(
        name="outliers-laws",
        title="Other distributions of outliers",
        caption=(
            "The paper does not state the distribution. Printed settings. Dots are medians over "
            "the training sets, bars their middle 80 %. (a) Mean squared distance to the noiseless "
            "function. If outliers are skewed, the mean of y lies above this function. (b) Model "
            "order at the end of the training set."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=6.2,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    names = ("law", "method", "run", "error", "order", "order_halfway")
    rows = [
        (str(law), name, i, result["error"][-1], result["order"][-1], halfway_order(result))
        for law, group in found.laws.items()
        for name, results in group.items()
        for i, result in enumerate(results)
    ]
    return as_columns(names, rows)


def halfway_order(result: Any) -> float:
    """Model order at the evaluation nearest to half of the samples."""
    samples = result["samples"]
    return float(result["order"][np.argmin(np.abs(samples - samples[-1] / 2))])


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    left, right = canvas.subplots(1, 2, sharey=True)
    places = np.arange(len(LAWS))[::-1]
    shifts = np.linspace(0.32, -0.32, len(COMPARED))
    for name, shift in zip(COMPARED, shifts, strict=True):
        method = METHODS[name]
        for axes, what in ((left, "error"), (right, "order")):
            values = np.array([final(found.laws[law][name], what) for law in LAWS])
            low, middle, high = np.nanquantile(values, [0.1, 0.5, 0.9], axis=1)
            axes.errorbar(
                middle,
                places + shift,
                xerr=[middle - low, high - middle],
                fmt="o",
                markersize=3.5,
                color=PALETTE[method.color],
                label=method.label,
                elinewidth=1.2,
            )
    left.set_xscale("log")
    left.set_yticks(places, [str(law) for law in LAWS])
    left.set_xlabel("test error (units of $y^2$)")
    right.set_xlabel("model order (atoms or features)")
    right.set_xlim(0.0)
    letter(left, "a", "Test error")
    letter(right, "b", "Model order")
    for axes in (left, right):
        axes.grid(visible=False, axis="y")
        for edge in places[:-1] - 0.5:
            axes.axhline(edge, color=FAINT, linewidth=0.6)
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4)
