"""Test error and model order over the bound on the gradient, which the paper does not print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.methods import CLIP, CLIPS, COMPARED, METHODS
from colk_lab.reproduction.outliers.runs import OutlierRuns, final
from colk_lab.reproduction.panels import band, letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["clips_figure"]


def clips_figure(found: OutlierRuns) -> Figure:
    """Draw every method's error and order over the bound, with printed settings."""
    return Figure(
        name="outliers-clips",
        title="The bound on the gradient, a free parameter of the printed settings",
        caption=(
            "Assumption 5 bounds the gradient, and the paper prints no bound. All methods have the "
            "same bound C; the vertical line is the default of colk, which the other figures use. "
            "Lines are medians over the training sets, bands their middle 80 %. (a) Mean squared "
            "distance to the noiseless function. (b) Model order at the end. The budgets of the "
            "other methods are COLK's order with the same C."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=4.0,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    rows = [
        (clip, name, i, result["error"][-1], result["order"][-1])
        for clip, group in found.clips.items()
        for name in COMPARED
        for i, result in enumerate(group[name])
    ]
    return as_columns(("gradient_bound", "method", "run", "error", "order"), rows)


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    left, right = canvas.subplots(1, 2)
    clips = np.array(CLIPS)
    for name in COMPARED:
        method = METHODS[name]
        for axes, what in ((left, "error"), (right, "order")):
            values = np.array([final(found.clips[clip][name], what) for clip in CLIPS])
            label = method.label if axes is left else ""
            band(axes, clips, values.T, PALETTE[method.color], label, marker="o", markersize=3)
    left.set_yscale("log")
    right.set_ylim(0.0)
    left.set_ylabel("test error (units of $y^2$)")
    right.set_ylabel("model order (atoms or features)")
    letter(left, "a", "Test error")
    letter(right, "b", "Model order")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(clips, [f"{clip:g}" for clip in CLIPS])
        axes.minorticks_off()
        axes.axvline(CLIP, color=INK, linewidth=0.7)
        axes.set_xlabel("bound C on the gradient")
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4)
