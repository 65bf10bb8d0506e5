"""One HTML file with everything in it, and the data and pictures of each figure beside it."""

import base64
import csv
import html
import io
import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from colk._version import __version__
from colk.experiments.chapter import Chapter, Figure, Plan, Table, Verdict, as_columns
from colk.experiments.style import RC
from colk.extras import needed_for

__all__ = ["write_report"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")
_CLASSES = {"holds": "yes", "holds in part": "part", "does not hold": "no"}


def write_report(chapters: Sequence[Chapter], plan: Plan, out: str | os.PathLike[str]) -> Path:
    """Write figures, data and `report.html`; return the path of the last.

    Parameters
    ----------
    chapters : sequence of Chapter
        What was found.
    plan : Plan
        How much was run.
    out : path
        The folder; made where it is missing.

    Returns
    -------
    Path
        The report. It depends on the settings, the seed and the versions only.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    body = [_verdicts(chapters)]
    body += [
        _chapter(
            chapter, {figure.name: _write_figure(figure, folder) for figure in chapter.figures}
        )
        for chapter in chapters
    ]
    body.append(_settings(chapters, plan))
    _write_verdicts([v for chapter in chapters for v in chapter.verdicts], folder)
    path = folder / "report.html"
    _write(path, _PAGE.format(style=_STYLE, contents=_contents(chapters), body="\n".join(body)))
    return path


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


# -- files beside the report ----------------------------------------------------------------------


def _write_figure(figure: Figure, folder: Path) -> str:
    """Write CSV, PNG and SVG; return the SVG as a data URI."""
    with needed_for("a figure", extra="cli"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

    _write(folder / f"{figure.name}.csv", _csv(figure.columns))
    with mpl.rc_context(cast(Any, RC)):
        canvas = Canvas(figsize=(figure.width, figure.height))
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
        canvas.savefig(folder / f"{figure.name}.png", metadata={"Software": None})
        vector = io.BytesIO()
        canvas.savefig(vector, format="svg", metadata={"Date": None})
    _write(folder / f"{figure.name}.svg", vector.getvalue().decode())
    return "data:image/svg+xml;base64," + base64.b64encode(vector.getvalue()).decode()


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
        (v.claim, v.where, v.outcome, m.protocol, m.what, m.value, m.low, m.high)
        for v in verdicts
        for m in v.numbers
    ]
    head = ("claim", "where", "outcome", "protocol", "what", "value", "low", "high")
    _write(folder / "verdicts.csv", _csv(as_columns(head, rows)))


# -- the page -------------------------------------------------------------------------------------


def _contents(chapters: Sequence[Chapter]) -> str:
    links = [(c.name, c.title) for c in chapters]
    links = [("verdicts", "Verdicts"), *links, ("settings", "Settings")]
    return " · ".join(f'<a href="#{name}">{html.escape(title)}</a>' for name, title in links)


def _verdicts(chapters: Sequence[Chapter]) -> str:
    verdicts = [v for chapter in chapters for v in chapter.verdicts]
    rows = "\n".join(_verdict(v) for v in verdicts)
    counts = [sum(v.outcome == outcome for v in verdicts) for outcome in _CLASSES]
    count = f"Of {len(verdicts)} claims {counts[0]} hold, {counts[1]} in part, {counts[2]} do not."
    head = "<tr><th>What the paper says</th><th>Found</th><th>Numbers</th></tr>"
    return (
        '<section id="verdicts"><h2>Verdicts</h2>\n'
        f"<p>{count} Brackets are 95 % intervals, paired over the runs. “Printed” are the settings "
        "that the paper prints; “tuned” gives every method the same number of trials on a "
        "validation split.</p>\n"
        f'<div class="wide"><table class="verdicts"><thead>{head}</thead><tbody>\n{rows}\n'
        "</tbody></table></div></section>"
    )


def _verdict(verdict: Verdict) -> str:
    lines = []
    for protocol in dict.fromkeys(m.protocol for m in verdict.numbers):
        numbers = "; ".join(str(m) for m in verdict.numbers if m.protocol == protocol)
        prefix = f"<b>{html.escape(protocol.capitalize())}:</b> " if protocol else ""
        lines.append(f"<p>{prefix}{html.escape(numbers)}.</p>")
    lines.append(f'<p class="reading">{html.escape(verdict.reading)}</p>')
    mark = f'<span class="{_CLASSES[verdict.outcome]}">{verdict.outcome}</span>'
    claim = (
        f'<p>{html.escape(verdict.claim)}</p><p class="reading">{html.escape(verdict.where)}</p>'
    )
    return f"<tr><td>{claim}</td><td>{mark}</td><td>{''.join(lines)}</td></tr>"


def _chapter(chapter: Chapter, pictures: Mapping[str, str]) -> str:
    parts = [f'<section id="{chapter.name}"><h2>{html.escape(chapter.title)}</h2>']
    parts += [f"<p>{html.escape(text)}</p>" for text in chapter.text.split("\n\n")]
    for figure in chapter.figures:
        parts.append(
            f'<figure id="{figure.name}"><h3>{html.escape(figure.title)}</h3>'
            f'<img alt="{html.escape(figure.title)}" src="{pictures[figure.name]}">'
            f"<figcaption>{html.escape(figure.caption)} Data: <code>{figure.name}.csv</code>."
            "</figcaption></figure>"
        )
    parts += [_table(table) for table in chapter.tables]
    return "\n".join([*parts, "</section>"])


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.head)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="wide" id="{table.name}"><h3>{html.escape(table.title)}</h3>'
        f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
        f'<p class="reading">{html.escape(table.caption)}</p></div>'
    )


def _settings(chapters: Sequence[Chapter], plan: Plan) -> str:
    general = {
        "runs": str(plan.runs),
        "seed": str(plan.seed),
        "share of the full sample sizes": f"{plan.scale:g}",
        "colk": __version__,
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in _PACKAGES},
    }
    parts = ['<section id="settings"><h2>Settings, seeds and versions</h2>', _pairs(general)]
    for chapter in chapters:
        parts += [f"<h3>{html.escape(chapter.title)}</h3>", _pairs(chapter.settings)]
    return "\n".join([*parts, "</section>"])


def _pairs(pairs: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>"
        for name, value in pairs.items()
    )
    return f'<div class="wide"><table class="pairs"><tbody>{rows}</tbody></table></div>'


_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
  max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: .3rem; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
nav { font-size: .9rem; }
a { color: #005a8c; }
figure { margin: 1.8rem 0; }
figure img { width: 100%; height: auto; display: block; }
figcaption, .reading { font-size: .88rem; color: #555; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem;
  border-bottom: 1px solid #ddd; }
td p { margin: 0 0 .35rem; }
.verdicts td:first-child { width: 30%; }
.verdicts td:nth-child(2) { width: 8.5rem; }
.pairs td:first-child { width: 14rem; color: #555; }
.wide { overflow-x: auto; margin: 1.2rem 0; }
.yes, .part, .no { display: inline-block; padding: .1rem .5rem; border-radius: 1rem;
  white-space: nowrap; font-weight: 600; border: 1px solid; }
.yes { color: #00543d; background: #e2f4ee; }
.part { color: #6b4a00; background: #fdf2d8; }
.no { color: #8c3d00; background: #fbe7da; }
@media (max-width: 42rem) {
  .verdicts thead { display: none; }
  .verdicts td, .verdicts td:first-child, .verdicts td:nth-child(2) { display: block; width: auto;
    border: 0; padding: .25rem 0; }
  .verdicts tr { display: block; border-bottom: 1px solid #ddd; padding: .6rem 0; }
}
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>COLK, reproduced</title>
<style>{style}</style>
</head>
<body>
<h1>Compositional online learning with kernels, reproduced</h1>
<nav>{contents}</nav>
{body}
</body>
</html>
"""
