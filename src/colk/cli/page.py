"""The page of `colk fit --report`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk._version import __version__
from colk.cli.figures import errors, features, predictions, stream
from colk.cli.form import form
from colk.cli.pages.drawing import draw
from colk.cli.pages.render import inline, render
from colk.cli.relevance import direction_rows, feature_rows
from colk.cli.summary import is_stream, shortened
from colk.persistence.atomic import write_whole
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

__all__ = ["figure", "worst_rows", "write_page"]

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
    pairs = record.sample if left_out is None else [list(pair) for pair in left_out]
    streams = is_stream(model.notes)
    if pairs:
        how = "before learning" if streams else "after learning"
        caption = f"A sample of the rows, each predicted {how} it."
        if left_out is not None:
            how = "from the other rows"
            caption = "A sample of the rows, each predicted by the weights that the others give."
        paint = predictions(pairs, model, f"predicted {how}")
        title = "Predictions and targets"
        figures.append(figure("predictions", title, paint, 4.5, caption, width=5.0))
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
    if streams and record.rows:
        figures.append(
            figure(
                "stream",
                "Error before learning, and size",
                stream(record, model),
                2.8,
                "Each row is predicted before the model learns it. Dotted lines mark rises of the "
                "error.",
            )
        )
    elif record.rows:
        figures.append(
            figure(
                "stream",
                "Error along the rows",
                errors(record, model),
                2.8,
                "The error of the finished model, in the order of the rows. It has learned these "
                "rows, so errors of new rows are larger. Dotted lines mark rises of the error.",
            )
        )
    found = model.relevance
    page = render(
        "model",
        title=f"Model of {model.target}",
        summary=lines,
        form=form(model),
        figures=figures,
        worst=worst_rows(model, record) if record.rows else None,
        relevance=feature_rows(model.feature_relevance),
        directions=[] if found is None else direction_rows(found, model.columns),
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
