"""One HTML file about a model: nothing is fetched, and it is readable in the dark."""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from colk._version import __version__
from colk.cli.figures import draw, features, predictions, stream
from colk.cli.record import Record
from colk.persistence.atomic import write_whole
from colk.tabular import TableModel

__all__ = ["write_page"]


def write_page(path: Path, model: TableModel, record: Record, lines: Mapping[str, str]) -> None:
    """Write a page about a model.

    Parameters
    ----------
    path : Path
        Where it goes.
    model : TableModel
        The model.
    record : Record
        What its run noted.
    lines : mapping of str to str
        The summary.
    """
    parts = [_pairs(lines)]
    if record.rows:
        parts += [
            _figure("Over the stream", draw(stream(record, model), 9.0, 3.0, "svg"), _STREAM),
            _figure(
                "Predictions and targets", draw(predictions(record, model), 5.0, 4.5, "svg"), _CLOUD
            ),
            _worst(model, record),
        ]
    paint, n_rows = features(model)
    parts.append(
        _figure("The learned function", draw(paint, 9.0, 0.6 + 2.4 * n_rows, "svg"), _FEATURES)
    )
    parts += ["<h2>Settings</h2>", _pairs(_settings(model))]
    title = html.escape(f"{model.target}, learned")
    page = _PAGE.format(title=title, style=_STYLE, body="\n".join(parts))
    write_whole(path, [page.encode()])


_STREAM = "Each row is predicted before its step; in passes after the first it was met before."
_CLOUD = "A sample of the stream, each row predicted before its step."
_FEATURES = (
    "Along each feature, other numbers at their mean, other categories at the first that was seen. "
    "Ticks are atoms. Of more than twelve features, those along which it varies most."
)


def _figure(title: str, picture: bytes, caption: str) -> str:
    source = "data:image/svg+xml;base64," + base64.b64encode(picture).decode()
    return (
        f"<h2>{html.escape(title)}</h2>\n<figure>"
        f'<img alt="{html.escape(title)}" src="{source}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _worst(model: TableModel, record: Record) -> str:
    head = ("file", "line", model.target, "predicted", "residual")
    if model.task == "classification":
        head = ("file", "line", model.target, "predicted", "1 − share")
    rows = [
        (Path(file).name, f"{line:,}", _shown(y), _shown(predicted), f"{size:.4g}")
        for (file, line), (size, y, predicted) in _once(record.worst).items()
    ]
    return f"<h2>Largest residuals</h2>\n{_table(head, rows)}"


def _once(worst: Sequence[tuple[Any, ...]]) -> dict[tuple[str, int], tuple[float, Any, Any]]:
    """Residuals, largest first; of a line that several passes met, the largest."""
    largest: dict[tuple[str, int], tuple[float, Any, Any]] = {}
    for size, file, line, y, predicted in sorted(worst, reverse=True):
        largest.setdefault((file, line), (size, y, predicted))
    return largest


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _settings(model: TableModel) -> dict[str, str]:
    return {
        "task": model.task,
        "target": model.target,
        "features": ", ".join(model.features),
        **model.description(),
        "colk": __version__,
    }


def _pairs(pairs: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in pairs.items()
    )
    return f'<div class="wide"><table class="pairs"><tbody>{rows}</tbody></table></div>'


_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --quiet: #555; --line: #ddd; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #121212; --quiet: #aaa; --line: #333; }
  img { filter: invert(.93) hue-rotate(180deg); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption { font-size: .88rem; color: var(--quiet); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid var(--line); }
.pairs th { font-weight: 400; color: var(--quiet); width: 8rem; }
.wide { overflow-x: auto; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""
