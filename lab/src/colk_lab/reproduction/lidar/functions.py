"""The functions of all methods over the lidar data: Figure 3 of the paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import FAINT, PALETTE
from colk.data import load_lidar
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.lidar.runs import CONDITIONS, LidarRuns, prepare
from colk_lab.reproduction.methods import METHODS
from colk_lab.reproduction.streams import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["functions_figure"]


def functions_figure(found: LidarRuns, condition: str) -> Figure:
    """Draw a panel for each method, under one condition."""
    return Figure(
        name="lidar-" + condition.replace(" ", "-"),
        title=f"Lidar {condition} (Figure 3)",
        caption=(
            "Functions learned from the first training set, with tuned settings (solid) and "
            "printed settings (dashed). The band is the middle 80 % of the training sets, with "
            "tuned settings. Dots are training points; some outliers lie outside the panel. The "
            "numbers in brackets are mean model orders with tuned settings."
        ),
        columns=_columns(found, condition),
        draw=lambda canvas: _draw(canvas, found, condition),
        height=5.8,
    )


def _columns(found: LidarRuns, condition: str) -> dict[str, Sequence[Any]]:
    distance, _ = load_lidar()
    span = distance.min() + GRID * (distance.max() - distance.min())
    rows = [
        (protocol, name, i, *values)
        for protocol in ("printed", "tuned")
        for name, results in found.results[condition, protocol].items()
        for i, result in enumerate(results)
        for values in zip(span, result["function"], strict=True)
    ]
    names = ("protocol", "method", "run", "range", "function")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: LidarRuns, condition: str) -> None:
    (X, y), _ = prepare(CONDITIONS[condition], found.plan.seed, run=0)
    distance, log_ratio = load_lidar()
    low, width = distance.min(), distance.max() - distance.min()
    tuned, printed = found.results[condition, "tuned"], found.results[condition, "printed"]
    panels = canvas.subplots(3, 3, sharex=True, sharey=True)
    for axes, name in zip(panels.flat, tuned, strict=True):
        method, color = METHODS[name], PALETTE[METHODS[name].color]
        runs = np.stack([result["function"] for result in tuned[name]])
        axes.scatter(low + width * X[:, 0], y, s=3, color=FAINT)
        axes.fill_between(
            low + width * GRID,
            *np.nanquantile(runs, [0.1, 0.9], axis=0),
            color=color,
            alpha=0.25,
            linewidth=0,
        )
        axes.plot(low + width * GRID, runs[0], color=color)
        if name in printed:
            axes.plot(low + width * GRID, printed[name][0]["function"], "--", color=color)
        order = np.mean([float(result["order"]) for result in tuned[name]])
        axes.set_title(f"{method.label} ({order:.0f})")
    panels[0, 0].set_ylim(log_ratio.min() - 0.25, log_ratio.max() + 0.25)
    for axes in panels[-1]:
        axes.set_xlabel("range (m)")
    for axes in panels[:, 0]:
        axes.set_ylabel("log ratio")
