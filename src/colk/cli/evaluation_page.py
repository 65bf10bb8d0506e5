"""The page of `colk evaluate --report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._version import __version__
from colk.cli.evaluate import confusion_table, metrics_table
from colk.cli.figures import errors, predictions
from colk.cli.page import figure, worst_rows
from colk.cli.pages.colors import PALETTE
from colk.cli.pages.render import render
from colk.cli.summary import shortened
from colk.persistence.atomic import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from colk.cli.evaluation import ModelMetrics
    from colk.cli.rejects import Rejects

__all__ = ["write_evaluation"]


def write_evaluation(
    path: Path, evaluation: "ModelMetrics", lines: Mapping[str, str], rejects: "Rejects"
) -> None:
    """Write a page with the metrics of a model.

    Parameters
    ----------
    path : Path
        The HTML file.
    evaluation : ModelMetrics
        The metrics.
    lines : mapping of str to str
        The summary that the command prints.
    rejects : Rejects
        The unusable rows.
    """
    model, record = evaluation.model, evaluation.record
    head, rows = metrics_table(evaluation)
    figures = [
        figure(
            "errors",
            "Error over the rows",
            errors(record, model),
            2.8,
            "The mean error of neighbouring rows, in their order.",
        )
    ]
    confusion = None
    if evaluation.classes:
        table = confusion_table(evaluation)
        confusion = {"head": table[0], "rows": table[1:]}
        if not np.isnan(evaluation.classes["model"].values["log loss"]):
            figures.append(
                figure(
                    "calibration",
                    "Calibration",
                    _calibration(evaluation),
                    4.0,
                    "The rows are in ten bins by the probability of the predicted label. On the "
                    "grey line, the share of right labels equals this probability.",
                    width=5.0,
                )
            )
    else:
        figures.append(
            figure(
                "predictions",
                "Predictions and targets",
                predictions(record.sample, model, "predicted"),
                4.5,
                "A sample of the rows.",
                width=5.0,
            )
        )
    page = render(
        "evaluation",
        title=f"ModelMetrics of {model.target}",
        summary=lines,
        metrics={"head": head, "rows": rows},
        notes=_notes(evaluation),
        confusion=confusion,
        figures=figures,
        worst=worst_rows(model, record),
        rejects=rejects.reasons,
        settings={
            "task": model.task,
            **{name: shortened(text) for name, text in model.description().items()},
            "colk": __version__,
        },
    )
    write_whole(path, [page.encode()])


def _notes(evaluation: "ModelMetrics") -> str:
    told = "The baselines are a constant"
    if "linear" in evaluation.metrics:
        told += ", a linear model"
    text = f"{told} and the target of the previous row (“no change”)."
    coverage = evaluation.numbers["model"].coverage if evaluation.numbers else None
    level = evaluation.numbers["model"].quantile if evaluation.numbers else None
    if level is not None:
        text += (
            f" The model predicts the quantile of level {level:g}: judge it by the pinball loss "
            f"and by the share of targets below the prediction, nominally {level:g}."
        )
    if coverage is not None:
        text += (
            f" Coverage is the share of targets inside their intervals, nominally {coverage:g}. "
            "The interval score is the width, plus 2/(1 − coverage) times the distance to the "
            "interval if the target lies outside; lower is better."
        )
    return text


def _calibration(evaluation: "ModelMetrics") -> "Callable[[Figure], None]":
    """Draw the share of right labels over the predicted probability."""
    rows, confidence, right = evaluation.classes["model"].bins.T
    filled = rows > 0.0

    def paint(drawn: "Figure") -> None:
        axes: Any = drawn.subplots()
        axes.plot([0.0, 1.0], [0.0, 1.0], color=PALETTE["grey"], linewidth=0.8)
        size = 6.0 + 40.0 * rows[filled] / rows.sum()
        x, y = confidence[filled] / rows[filled], right[filled] / rows[filled]
        axes.plot(x, y, color=PALETTE["blue"])
        axes.scatter(x, y, s=size * 3.0, color=PALETTE["blue"])
        axes.set_xlabel("mean probability of the predicted label")
        axes.set_ylabel("share of right labels")
        low = min(0.5, *x, *y) if filled.any() else 0.0
        axes.set_xlim(max(low - 0.05, 0.0), 1.02)
        axes.set_ylim(max(low - 0.05, 0.0), 1.02)

    return paint
