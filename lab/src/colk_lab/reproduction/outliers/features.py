"""Number of features that an RBF network needs to reach the error of COLK."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.methods import METHODS
from colk_lab.reproduction.outliers.runs import SIZES, OutlierRuns, final
from colk_lab.reproduction.panels import band, letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["features_figure"]


def features_figure(found: OutlierRuns) -> Figure:
    """Draw the errors of RBF networks of several sizes and the error of COLK."""
    return Figure(
        name="outliers-features",
        title="Features of an RBF network and atoms of COLK",
        caption=(
            "Test error of the network of radius 0.06, trained by SCGD, over its number of "
            "features. The cross is COLK at its mean model order; its bar is the middle 80 % of "
            "the training sets. (a) Printed settings. (b) Tuned settings. The network's step size "
            "is proportional to 1/features."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=3.4,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    rows = [
        (protocol, size, i, error)
        for (protocol, size), results in found.networks.items()
        for i, error in enumerate(final(results, "error"))
    ]
    names = ("protocol", "features", "run", "error")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, mark, protocol in zip(panels, "ab", ("printed", "tuned"), strict=True):
        errors = np.array([final(found.networks[protocol, size], "error") for size in SIZES])
        band(
            axes,
            np.array(SIZES, dtype=np.float64),
            errors.T,
            PALETTE[METHODS["scgd"].color],
            METHODS["scgd"].label,
            marker="o",
            markersize=3,
        )
        group = getattr(found, protocol)["colk"]
        low, middle, high = np.quantile(final(group, "error"), [0.1, 0.5, 0.9])
        axes.errorbar(
            [final(group, "order").mean()],
            [middle],
            yerr=[[middle - low], [high - middle]],
            fmt="X",
            color=PALETTE[METHODS["colk"].color],
            markersize=7,
            label="COLK",
        )
        letter(axes, mark, "Printed settings" if protocol == "printed" else "Tuned settings")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.minorticks_off()
        axes.set_xlabel("features, or atoms")
    panels[0].set_ylabel("test error (units of $y^2$)")
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2)
