"""Objective, test error and model order over the samples: Figures 1a to 1c of the paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.methods import COMPARED, METHODS
from colk_lab.reproduction.outliers.runs import OutlierRuns, objective, signal_objective, stack
from colk_lab.reproduction.panels import band, letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["curves_figure"]


def curves_figure(found: OutlierRuns) -> Figure:
    """Draw objective, test error and model order of every method of the paper."""
    return Figure(
        name="outliers-curves",
        title="Objective, test error and model order over the samples (Figures 1a to 1c)",
        caption=(
            "Printed settings. Lines are medians, bands the middle 80 % of the training sets. "
            "(a) Mean loss plus 0.1 times its variance on the test set. The dashed "
            "line is the value of the noiseless function. (b) Mean squared distance to the "
            "noiseless function. (c) Number of atoms, or of features for the RBF networks and "
            "random features."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=3.8,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    names = ("method", "run", "samples", "objective", "mean_loss", "error", "order")
    rows = [
        (name, i, *values)
        for name in COMPARED
        for i, (result, totals) in enumerate(
            zip(found.printed[name], objective(found.printed[name]), strict=True)
        )
        for values in zip(
            result["samples"],
            totals,
            result["moments"][:, 0],
            result["error"],
            result["order"],
            strict=True,
        )
    ]
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    left, middle, right = canvas.subplots(1, 3)
    for name in COMPARED:
        method, results = METHODS[name], found.printed[name]
        samples = results[0]["samples"] / 1000.0
        color = PALETTE[method.color]
        band(left, samples, objective(results), color, method.label)
        band(middle, samples, stack(results, "error"), color, method.label)
        band(right, samples, stack(results, "order"), color, method.label)
    left.axhline(signal_objective(found.plan), color=INK, linestyle="--", linewidth=1.0)
    left.set_yscale("log")
    middle.set_yscale("log")
    right.set_ylim(0.0)
    letter(left, "a", "Objective on the test set")
    letter(middle, "b", "Test error (units of $y^2$)")
    letter(right, "c", "Model order (atoms)")
    for axes in (left, middle, right):
        axes.set_xlabel("samples (thousands)")
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4)
