"""Functions of COLK and POLK from two training sets: Figure 1d of the paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from colk.cli.pages.colors import FAINT, INK, PALETTE
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.laws import signal
from colk_lab.reproduction.methods import METHODS
from colk_lab.reproduction.outliers.runs import LAW, N_SAMPLES, OutlierRuns
from colk_lab.reproduction.panels import letter
from colk_lab.reproduction.streams import GRID, draw_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["functions_figure"]

_SHOWN = ("colk", "polk")
_PROTOCOLS = ("printed", "tuned")


def functions_figure(found: OutlierRuns) -> Figure:
    """Draw the learned functions of the first two training sets over the data of one."""
    return Figure(
        name="outliers-functions",
        title="Learned functions from two training sets (Figure 1d)",
        caption=(
            "Solid and dashed lines show two training sets. Dots are 1500 samples of the first; "
            "some outliers lie outside the panel. The thin line is the noiseless function. Left: "
            "printed settings. Right: tuned settings."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=5.2,
    )


def _columns(found: OutlierRuns) -> dict[str, Sequence[Any]]:
    names = ("protocol", "method", "run", "x", "signal", "function")
    rows = [
        (protocol, name, i, *values)
        for protocol in _PROTOCOLS
        for name in _SHOWN
        for i, result in enumerate(getattr(found, protocol)[name])
        for values in zip(GRID, signal(GRID), result["function"], strict=True)
    ]
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: OutlierRuns) -> None:
    (X, y), _ = draw_data(LAW, found.plan.size(N_SAMPLES), found.plan.seed, run=0)
    panels = canvas.subplots(2, 2, sharex=True, sharey=True)
    for row, name in zip(panels, _SHOWN, strict=True):
        for axes, protocol in zip(row, _PROTOCOLS, strict=True):
            method, results = METHODS[name], getattr(found, protocol)[name]
            axes.scatter(X[:1500, 0], y[:1500], s=2, color=FAINT, rasterized=True)
            axes.plot(GRID, signal(GRID), color=INK, linewidth=0.8, label="noiseless function")
            for result, line, place in zip(results, ("-", "--"), ("first", "second"), strict=False):
                axes.plot(
                    GRID,
                    result["function"],
                    line,
                    color=PALETTE[method.color],
                    label=f"{method.label}, {place} training set",
                )
            mark = "abcd"[2 * _SHOWN.index(name) + _PROTOCOLS.index(protocol)]
            letter(axes, mark, f"{method.label}, {protocol}")
    truth = signal(GRID)
    panels[0, 0].set_ylim(truth.min() - 1.5, truth.max() + 1.5)
    for axes in panels[1]:
        axes.set_xlabel("x")
    for axes in panels[:, 0]:
        axes.set_ylabel("y")
    handles = [handle for axes in panels[:, 0] for handle in axes.get_legend_handles_labels()[0]]
    labels = [label for axes in panels[:, 0] for label in axes.get_legend_handles_labels()[1]]
    unique = dict(zip(labels, handles, strict=True))
    canvas.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=3)
