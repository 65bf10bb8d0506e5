"""Figure of mean loss and dispersion for growing weights of a risk."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.methods import METHODS
from colk_lab.reproduction.panels import letter
from colk_lab.reproduction.risk.runs import FAMILIES, NOISES, RiskRuns
from colk_lab.statistics import mean_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["frontier_figure"]


def frontier_figure(found: RiskRuns) -> Figure:
    """Draw a panel for each family of risks."""
    return Figure(
        name="risk-frontier",
        title="Mean loss and dispersion for growing weights of the risk",
        caption=(
            r"Measured on the test set. Every dot is a weight $\eta$; the hollow dot is "
            r"$\eta = 0$, the mean alone, at the same step size. Dots are means over the training "
            "sets, and crosses are their 95 % intervals. Left: skewed noise. Right: skewed and "
            "heteroscedastic noise. Small dots are the optimum of each risk on the test set; no "
            "function has a lower risk on it."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=10.0,
    )


def _columns(found: RiskRuns) -> dict[str, Sequence[Any]]:
    rows = []
    for (noise, family), points in found.online.items():
        for k, weight in enumerate((0.0, *FAMILIES[family].weights)):
            best = found.batch[noise, family][k]
            rows += [
                (noise, family, weight, i, *point, *best, found.excess[noise, family][k, i])
                for i, point in enumerate(points[k])
            ]
    names = (
        "noise",
        "family",
        "weight",
        "run",
        "mean",
        "dispersion",
        "batch_mean",
        "batch_dispersion",
        "excess_risk",
    )
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: RiskRuns) -> None:
    panels = canvas.subplots(len(FAMILIES), len(NOISES))
    marks = iter("abcdefgh")
    for row, noise in zip(panels.T, NOISES, strict=True):
        color = PALETTE[METHODS["colk"].color]
        for axes, (family, form) in zip(row, FAMILIES.items(), strict=True):
            points, best = found.online[noise, family], found.batch[noise, family]
            middle = points.mean(axis=1)
            half = np.array([[mean_interval(group[:, k]).half for k in (0, 1)] for group in points])
            axes.plot(*best.T, ".-", color=INK, linewidth=0.9, markersize=4, label="batch optimum")
            axes.errorbar(
                *middle.T,
                xerr=half[:, 0],
                yerr=half[:, 1],
                color=color,
                marker="o",
                markersize=4,
                linewidth=1.0,
                label="COLK",
            )
            axes.plot(*middle[0], "o", color=color, markerfacecolor="white", markersize=6, zorder=5)
            letter(axes, next(marks), form.label)
            axes.set_xlabel(r"mean of $\ell$")
            axes.set_ylabel(form.unit)
    for axes, noise in zip(panels[0], NOISES, strict=True):
        axes.set_title(f"{noise.capitalize()} noise\n{axes.get_title(loc='left')}")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2)
