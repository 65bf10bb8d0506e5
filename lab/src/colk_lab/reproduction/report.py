"""Write the report, and the data and images of each figure to the same folder."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from colk.cli.pages.drawing import draw
from colk.cli.pages.render import inline
from colk.persistence.atomic import write_whole
from colk_lab.origin import Origin
from colk_lab.pages.formulas import plain
from colk_lab.reproduction.chapter import WIDTH, Chapter, Figure, RunPlan, as_columns
from colk_lab.reproduction.page import page
from colk_lab.reproduction.verdict import Verdict

__all__ = ["draw_figures", "write_report"]


def draw_figures(
    chapters: Sequence[Chapter], folder: Path, drawn: Callable[[Figure], None]
) -> dict[str, Markup]:
    """Write CSV, PNG and SVG of every figure; return the SVG images for the page, by name.

    Parameters
    ----------
    chapters : sequence of Chapter
        The results.
    folder : Path
        Folder of the files. It is created if it does not exist.
    drawn : callable
        Called with each figure after its files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for figure in (figure for chapter in chapters for figure in chapter.figures):
        png, svg = draw(figure.draw, WIDTH, figure.height, "png", "svg")
        _write(folder / f"{figure.name}.csv", _csv(figure.columns))
        write_whole(folder / f"{figure.name}.png", [png])
        write_whole(folder / f"{figure.name}.svg", [svg])
        pictures[figure.name] = inline(svg, figure.name, plain(figure.title))
        drawn(figure)
    return pictures


def write_report(
    chapters: Sequence[Chapter],
    plan: RunPlan,
    folder: Path,
    pictures: Mapping[str, Markup],
    origin: Origin,
) -> Path:
    """Write `verdicts.csv` and `report.html`; return the path of the report.

    Parameters
    ----------
    chapters : sequence of Chapter
        The results.
    plan : RunPlan
        Size of the run.
    folder : Path
        Folder of the files.
    pictures : mapping of str to Markup
        The result of `draw_figures`.
    origin : Origin
        Date, code and machine.

    Returns
    -------
    Path
        The report. Except for its head, it depends only on settings, seed and versions.
    """
    _write_verdicts([v for chapter in chapters for v in chapter.verdicts], folder)
    path = folder / "report.html"
    _write(path, page(chapters, plan, origin, pictures))
    return path


def _write(path: Path, text: str) -> None:
    write_whole(path, [text.encode()])


def _csv(columns: Mapping[str, Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Convert a NumPy number to a Python number, whose text is exact."""
    return value.item() if hasattr(value, "item") else value


def _write_verdicts(verdicts: Sequence[Verdict], folder: Path) -> None:
    rows = [
        (
            *(plain(text) for text in (v.claim, v.where, v.told, part.title, check.label)),
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
