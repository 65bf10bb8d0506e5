"""Test error of every method over the training sets: Figure 2 of the paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.methods import METHODS
from colk_lab.reproduction.outliers.runs import OutlierRuns, final, objective
from colk_lab.reproduction.panels import letter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["boxes_figure"]


def boxes_figure(found: OutlierRuns) -> Figure:
    """Draw a box for each method, with printed and with tuned settings."""
    return Figure(
        name="outliers-boxes",
        title="Test error over the training sets (Figure 2), printed and tuned settings",
        caption=(
            "Mean squared distance to the noiseless function at the end of a training set. Boxes "
            "show quartiles, whiskers the range, and dots the runs. The numbers at the right are "
            "mean model orders. The grey method is not in the paper; it minimises the mean of a "
            "Huber loss and averages its iterates."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=4.0,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    names = ("protocol", "method", "run", "error", "mean_loss", "objective", "order")
    rows = [
        (protocol, name, i, *values)
        for protocol, group in (("printed", found.printed), ("tuned", found.tuned))
        for name, results in group.items()
        for i, values in enumerate(
            zip(
                final(results, "error"),
                [result["moments"][-1, 0] for result in results],
                objective(results)[:, -1],
                final(results, "order"),
                strict=True,
            )
        )
    ]
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    left, right = canvas.subplots(1, 2, sharex=True, sharey=True)
    names = list(found.tuned)[::-1]
    _draw_panel(left, found.printed, names)
    _draw_panel(right, found.tuned, names)
    left.set_xscale("log")
    left.set_yticks(range(len(names)), [METHODS[name].label for name in names])
    letter(left, "a", "Printed settings")
    letter(right, "b", "Tuned settings")
    for axes in (left, right):
        axes.set_xlabel("test error (units of $y^2$)")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)


def _draw_panel(axes: "Axes", group: dict[str, Any], names: Sequence[str]) -> None:
    rng = np.random.default_rng(0)
    for place, name in enumerate(names):
        if name not in group:
            continue
        errors = final(group[name], "error")
        color = PALETTE[METHODS[name].color]
        axes.boxplot(
            errors[np.isfinite(errors)],
            positions=[place],
            orientation="horizontal",
            widths=0.6,
            whis=(0, 100),
            showcaps=False,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": color, "alpha": 0.3, "edgecolor": color},
            medianprops={"color": color, "linewidth": 2},
            whiskerprops={"color": color},
        )
        jitter = place + rng.uniform(-0.2, 0.2, len(errors))
        axes.scatter(errors, jitter, s=6, color=color, linewidths=0)
        order = np.nanmean(final(group[name], "order"))
        axes.annotate(
            f"{order:.0f}",
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
