"""The page of `colk fit --report`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._version import __version__
from colk.cli.figures import features, predictions, stream
from colk.cli.pages.drawing import draw
from colk.cli.pages.render import inline, render
from colk.cli.summary import shortened
from colk.persistence.atomic import write_whole
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

__all__ = ["figure", "worst_rows", "write_page"]

# Largest number of features in the table of relevance.
_MOST_RELEVANT = 30
# Width of the page's column in inches.
_WIDTH = 7.4


def write_page(
    path: Path,
    model: TableModel,
    record: RunRecord,
    lines: Mapping[str, str],
    rejects: Sequence[tuple[str, str, str]] = (),
    left_out: Sequence[Sequence[Any]] | None = None,
) -> None:
    """Write a page about a model.

    Parameters
    ----------
    path : Path
        The HTML file.
    model : TableModel
        The model.
    record : RunRecord
        Errors that the run recorded.
    lines : mapping of str to str
        The summary that the command prints.
    rejects : sequence of (str, str, str)
        For each reason of a rejection: the reason, the number of rows, and the first row.
    left_out : sequence of (target, prediction), optional
        Rows of the fit, each predicted by the weights that the others give.
    """
    figures = []
    if record.rows:
        pairs, how = record.sample, "before learning"
        caption = "A sample of the rows, each predicted before the model learned it."
        if left_out is not None:
            pairs, how = [list(pair) for pair in left_out], "from the other rows"
            caption = "A sample of the rows, each predicted by the weights that the others give."
        figures = [
            figure(
                "stream",
                "Error before learning, and size",
                stream(record, model),
                2.8,
                "Each row is predicted before the model learns it. From the second pass on, the "
                "model has learned the row in an earlier pass. Dotted lines mark rises of the "
                "error.",
            ),
            figure(
                "predictions",
                "Predictions and targets",
                predictions(pairs, model, f"predicted {how}"),
                4.5,
                caption,
                width=5.0,
            ),
        ]
    paint, n_rows = features(model)
    figures.append(
        figure(
            "function",
            "The learned function",
            paint,
            0.6 + 2.2 * n_rows,
            "The prediction along each feature. The other numbers are at their mean, the other "
            "categories at the first value seen. Dates over more than a month are drawn at one "
            "hour of the day, and over more than 30 weeks on one day of the week. Further panels "
            "of a date show a day, a week at noon, and a year on one weekday at noon, all in the "
            "middle of the dates. Ticks mark atoms. Of more than twelve features, the figure shows "
            "those along which the prediction varies most.",
        )
    )
    page = render(
        "model",
        title=f"Model of {model.target}",
        summary=lines,
        figures=figures,
        worst=worst_rows(model, record) if record.rows else None,
        relevance=_relevance(model),
        rejects=rejects,
        settings=_settings(model),
    )
    write_whole(path, [page.encode()])


def figure(
    name: str,
    title: str,
    paint: "Callable[[Figure], None]",
    height: float,
    caption: str,
    width: float = _WIDTH,
) -> dict[str, Any]:
    """Draw a figure for a page, and return it with its title and caption.

    Parameters
    ----------
    name, title : str
        Prefix of its ids, and its heading.
    paint : callable
        Draws on an empty figure.
    height : float
        Height in inches.
    caption : str
        Text below the figure.
    width : float, default=7.4
        Width in inches.
    """
    (svg,) = draw(paint, width, height, "svg")
    return {
        "title": title,
        "caption": caption,
        "svg": inline(svg, name, title),
        "narrow": width < _WIDTH,
    }


def _relevance(model: TableModel) -> list[tuple[str, str]]:
    """Return features and their relevance to the kernel, largest first; the largest is 1."""
    found = None if model.race is None else model.race.relevance
    if found is None or not np.max(found, initial=0.0) > 0.0:
        return []
    shares = np.asarray(found) / np.max(found)
    named = zip(model.columns, shares.tolist(), strict=False)
    most = sorted(named, key=lambda each: -each[1])[:_MOST_RELEVANT]
    return [(name, f"{share:.3f}") for name, share in most]


def worst_rows(model: TableModel, record: RunRecord) -> dict[str, Any]:
    """Return head, rows and caption of the table of the largest residuals."""
    rows = [
        (Path(file).name, f"{line:,}", _shown(y), _shown(predicted), f"{size:.6g}")
        for (file, line), (size, y, predicted) in _once(record.worst).items()
    ]
    meaning = "1 − the predicted probability of the label, or 1 for a wrong label"
    return {
        "head": ("file", "line", model.target, "predicted", "residual"),
        "rows": rows,
        "caption": "The residual is |target − prediction|."
        if model.task == "regression"
        else f"The residual is {meaning} if the loss gives no probabilities.",
    }


def _once(worst: Sequence[tuple[Any, ...]]) -> dict[tuple[str, int], tuple[float, Any, Any]]:
    """Return residuals by file and line, largest first; a row of several passes has its largest."""
    largest: dict[tuple[str, int], tuple[float, Any, Any]] = {}
    for size, file, line, y, predicted in sorted(worst, reverse=True):
        largest.setdefault((file, line), (size, y, predicted))
    return largest


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _settings(model: TableModel) -> dict[str, str]:
    return {
        "task": model.task,
        "target": model.target,
        "features": ", ".join(model.features),
        **{name: shortened(text) for name, text in model.description().items()},
        "colk": __version__,
    }
