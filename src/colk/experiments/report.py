"""One HTML file with everything in it, and the data and pictures of each figure beside it."""

import csv
import io
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from colk._extras import needed_for
from colk.experiments.chapter import WIDTH, Chapter, Figure, Plan, as_columns
from colk.experiments.forecast import DRAWING, Forecast
from colk.experiments.mathematics import plain
from colk.experiments.origin import Origin
from colk.experiments.page import page
from colk.experiments.style import FAINT, PALETTE, RC
from colk.experiments.verdict import Verdict

__all__ = ["draw_figures", "write_report"]


def draw_figures(
    chapters: Sequence[Chapter], out: str | os.PathLike[str], forecast: Forecast
) -> dict[str, str]:
    """Write CSV, PNG and SVG of every figure; return them as SVG for the page, by name."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for figure in (figure for chapter in chapters for figure in chapter.figures):
        forecast.begin(DRAWING + figure.name, 1.0)
        start = time.process_time()
        pictures[figure.name] = inlined(_write_figure(figure, folder), figure)
        forecast.finish(DRAWING + figure.name, 1.0, time.process_time() - start)
    return pictures


def write_report(
    chapters: Sequence[Chapter],
    plan: Plan,
    out: str | os.PathLike[str],
    pictures: Mapping[str, str],
    origin: Origin,
) -> Path:
    """Write the verdicts' numbers and `report.html`; return the path of the last.

    Parameters
    ----------
    chapters : sequence of Chapter
        What was found.
    plan : Plan
        How much was run.
    out : path
        The folder.
    pictures : mapping of str to str
        What `draw_figures` returned.
    origin : Origin
        Where the report comes from.

    Returns
    -------
    Path
        The report. But for its head it depends on settings, seed and versions only.
    """
    folder = Path(out)
    _write_verdicts([v for chapter in chapters for v in chapter.verdicts], folder)
    path = folder / "report.html"
    _write(path, page(chapters, plan, origin, pictures))
    return path


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def _write_figure(figure: Figure, folder: Path) -> str:
    """Write CSV, PNG and SVG; return the last."""
    with needed_for("a figure", extra="cli"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

    _write(folder / f"{figure.name}.csv", _csv(figure.columns))
    with mpl.rc_context(cast(Any, RC)):
        canvas = Canvas(figsize=(WIDTH, figure.height))
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
        canvas.savefig(folder / f"{figure.name}.png", metadata={"Software": None})
        vector = io.BytesIO()
        canvas.savefig(vector, format="svg", metadata={"Date": None})
    text = vector.getvalue().decode()
    _write(folder / f"{figure.name}.svg", text)
    return text


def inlined(picture: str, figure: Figure) -> str:
    """An SVG as part of the page: colours follow the page's, names are the figure's own.

    Parameters
    ----------
    picture : str
        As matplotlib writes it.
    figure : Figure
        What it shows.
    """
    text = re.sub(r"<metadata>.*?</metadata>", "", picture[picture.index("<svg") :], flags=re.S)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{figure.name}-", text)
    for name, value in {**PALETTE, "faint": FAINT, "paper": "#ffffff"}.items():
        text = text.replace(value.lower(), f"var(--{name})")
    title = plain(figure.title).replace('"', "”").replace("&", "and")
    return text.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1).strip()


def _csv(columns: Mapping[str, Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Numbers as Python's own: the shortest text that gives them back exactly."""
    return value.item() if hasattr(value, "item") else value


def _write_verdicts(verdicts: Sequence[Verdict], folder: Path) -> None:
    rows = [
        (
            *(plain(text) for text in (v.claim, v.where, v.outcome, part.title, check.label)),
            check.column,
            v.unit,
            check.interval.value,
            check.interval.low,
            check.interval.high,
            check.low,
            check.high,
            check.state,
        )
        for v in verdicts
        for part in v.parts
        for check in part.checks
    ]
    head = (
        *("claim", "where", "outcome", "part", "with", "protocol", "unit", "value"),
        *("low", "high", "region_low", "region_high", "says"),
    )
    _write(folder / "verdicts.csv", _csv(as_columns(head, rows)))
