"""Test error on the lidar data, and the verdict."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, as_columns
from colk_lab.reproduction.lidar.runs import CONDITIONS, LidarRuns
from colk_lab.reproduction.methods import CLIPS, COMPARED, METHODS, column
from colk_lab.reproduction.outliers.comparisons import PROTOCOLS, over_clips
from colk_lab.reproduction.panels import letter
from colk_lab.reproduction.verdict import NEGLIGIBLE, Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import compared, comparisons, percent
from colk_lab.statistics import percent_change

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["errors_figure", "lidar_verdict"]

# A method is robust if outliers raise its error by less than this percentage.
_ROBUST = 50.0
# A model is larger than COLK's if it has this percentage more atoms.
_LARGER = 10.0
# Methods that choose their number of atoms; the experiment sets the size of the other models.
_CHOOSES_SIZE = ("polk",)


def values(found: LidarRuns, condition: str, protocol: str, name: str, what: str) -> Array:
    """Return the errors or model orders of all runs."""
    return np.array([float(result[what]) for result in found.results[condition, protocol][name]])


def errors_figure(found: LidarRuns) -> Figure:
    """Draw the test errors under both conditions and protocols."""
    return Figure(
        name="lidar-errors",
        title="Lidar: test error with and without outliers",
        caption=(
            "Mean squared error on held-out points without outliers. Hollow dots: training "
            "without outliers. Filled dots: training with outliers. Dots are medians over the "
            "training sets, bars their middle 80 %."
        ),
        columns=_columns(found),
        draw=lambda canvas: _draw(canvas, found),
        height=3.8,
    )


def _columns(found: LidarRuns) -> dict[str, Sequence[Any]]:
    rows = [
        (condition, protocol, name, i, result["error"], result["order"])
        for (condition, protocol), group in found.results.items()
        for name, results in group.items()
        for i, result in enumerate(results)
    ]
    names = ("condition", "protocol", "method", "run", "error", "order")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", found: LidarRuns) -> None:
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    names = list(METHODS)[::-1]
    for axes, mark, protocol in zip(panels, "ab", PROTOCOLS, strict=True):
        for place, name in enumerate(names):
            for condition, shift in zip(CONDITIONS, (0.18, -0.18), strict=True):
                if name not in found.results[condition, protocol]:
                    continue
                errors = values(found, condition, protocol, name, "error")
                low, middle, high = np.nanquantile(errors, [0.1, 0.5, 0.9])
                color = PALETTE[METHODS[name].color]
                axes.errorbar(
                    [middle],
                    [place + shift],
                    xerr=[[middle - low], [high - middle]],
                    fmt="o",
                    markersize=4.5,
                    color=color,
                    markerfacecolor="white" if CONDITIONS[condition] == 0.0 else color,
                )
        letter(axes, mark, "Printed settings" if protocol == "printed" else "Tuned settings")
        axes.set_xscale("log")
        axes.set_xlabel("test error (squared log ratio)")
        axes.grid(visible=False, axis="y")
    panels[0].set_yticks(range(len(names)), [METHODS[name].label for name in names])


def lidar_verdict(found: LidarRuns) -> Verdict:
    """Judge the paper's sentence on the lidar data."""
    parts, sentences, numbers = [], [], []
    clean, noisy = CONDITIONS
    for protocol in (*(column(clip) for clip in CLIPS), "tuned"):
        errors = {name: values(found, noisy, protocol, name, "error") for name in COMPARED}
        orders = {name: values(found, noisy, protocol, name, "order") for name in COMPARED}
        before = values(found, clean, protocol, "colk", "error")
        raised = Check(
            "COLK", percent_change(errors["colk"], before), high=_ROBUST, column=protocol
        )
        others = [name for name in COMPARED if name != "colk"]
        changes = {
            METHODS[name].label: percent_change(errors["colk"], errors[name]) for name in others
        }
        parts.append(VerdictPart("error with outliers compared with that without", [raised]))
        parts += [_shortfall(name, errors, orders, protocol) for name in others]
        if protocol in PROTOCOLS:
            sentences.append(
                f"{PROTOCOLS[protocol]}, COLK's error with outliers is "
                f"{compared(raised.interval, 'its error without')}. With outliers, "
                f"{comparisons(changes, 'it')}."
            )
        for name in COMPARED:
            label = METHODS[name].label
            numbers.append(Measured(f"error, {label}", float(errors[name].mean()), protocol))
            numbers.append(
                Measured(f"atoms or features, {label}", float(orders[name].mean()), protocol)
            )
    return Verdict(
        short="on lidar COLK is robust to outliers and the other methods fall short",
        claim="On lidar with added outliers COLK is robust, whereas alternatives fall short in "
        "representational efficiency or overfit.",
        quote="It is clear from the figure that the proposed algorithm is robust to outliers in "
        "the data, whereas alternatives fall short in terms of either representational efficiency "
        "or overfitting.",
        where="Section V, on Figure 3",
        found=[*sentences, over_clips(parts)],
        rule=f"Robust means that outliers raise the error by less than {percent(_ROBUST)}. An "
        "alternative falls short if COLK's error is lower, which means that the interval lies "
        f"below {percent(-NEGLIGIBLE)}. POLK chooses its number of atoms, so it also falls short "
        f"if it has over {percent(_LARGER)} more atoms than COLK. The experiment sets the size of "
        "all other models, so their size does not count as evidence.",
        parts=parts,
        plan=found.plan,
        numbers=numbers,
    )


def _shortfall(
    name: str, errors: Mapping[str, Array], orders: Mapping[str, Array], protocol: str
) -> VerdictPart:
    """Check whether a method falls short of COLK in its error, or in a size that it chooses."""
    method = METHODS[name]
    check = partial(Check, column=protocol, color=method.color)
    error = percent_change(errors["colk"], errors[name])
    if name not in _CHOOSES_SIZE:
        lower = check(method.label, error, high=-NEGLIGIBLE)
        return VerdictPart("COLK's error compared with", [lower])
    size = percent_change(orders[name], orders["colk"])
    return VerdictPart(
        f"{method.label} falls short in one of the two",
        [
            check(f"COLK's error compared with {method.label}'s", error, high=-NEGLIGIBLE),
            check(f"{method.label}'s atoms compared with COLK's", size, low=_LARGER),
        ],
        needs="any",
    )
