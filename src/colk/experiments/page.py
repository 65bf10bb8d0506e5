"""The parts of the page: head, verdicts, chapters, settings."""

import html
from collections.abc import Mapping, Sequence

from colk.experiments.chapter import Chapter, Figure, Plan, Table
from colk.experiments.choices import CHOSEN_AFTER, TAKEN
from colk.experiments.forest import COLUMNS, forest, region
from colk.experiments.mathematics import plain, typeset
from colk.experiments.origin import PAPER, Origin
from colk.experiments.page_style import style_sheet
from colk.experiments.verdict import OUTCOMES, Verdict
from colk.experiments.words import show, span

__all__ = ["page"]

_CLASSES = dict(zip(OUTCOMES, ("yes", "part", "no", "few", "few"), strict=True))
_STATES = {"supports": "supports", "contradicts": "contradicts", "open": "leaves it open"}


def page(
    chapters: Sequence[Chapter], plan: Plan, origin: Origin, pictures: Mapping[str, str]
) -> str:
    """The whole page.

    Parameters
    ----------
    chapters : sequence of Chapter
        What was found.
    plan : Plan
        How much was run.
    origin : Origin
        Where it comes from.
    pictures : mapping of str to str
        The figures as SVG, by name.
    """
    verdicts = [v for chapter in chapters for v in chapter.verdicts]
    body = [
        _head(origin),
        _contents(chapters),
        _banner(plan),
        _summary(verdicts),
        *(_verdict(i, verdict) for i, verdict in enumerate(verdicts)),
        "</section>",
        *(_chapter(chapter, pictures) for chapter in chapters),
        _choices(),
        _settings(chapters, plan),
    ]
    return _PAGE.format(style=style_sheet(), body="\n".join(body))


def _head(origin: Origin) -> str:
    pairs = {
        "Paper": PAPER,
        "Date": origin.date,
        "Code": origin.code,
        "Machine": origin.machine,
        "Versions": origin.packages,
        "Took": origin.took,
    }
    rows = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in pairs.items())
    return (
        "<header><h1>Compositional online learning with kernels, reproduced</h1>\n"
        f"<dl>{rows}</dl></header>"
    )


def _contents(chapters: Sequence[Chapter]) -> str:
    links = [
        ("verdicts", "Verdicts"),
        *((c.name, c.title) for c in chapters),
        ("choices", "Choices"),
        ("settings", "Settings"),
    ]
    listed = " · ".join(f'<a href="#{name}">{html.escape(title)}</a>' for name, title in links)
    return f"<nav>{listed}</nav>"


def _banner(plan: Plan) -> str:
    if not plan.lacks:
        return ""
    whole = Plan()
    few = []
    if plan.runs < whole.runs:
        few.append(f"{plan.runs} runs instead of {whole.runs}")
    if plan.scale < whole.scale:
        few.append(f"{100.0 * plan.scale:g} % of the samples")
    judged = (
        "Verdicts say “not enough” where the intervals are too wide to judge."
        if plan.can_judge
        else "That is too little to judge any claim: intervals and sentences show what was "
        "measured, and the full run may say otherwise."
    )
    return f'<p class="banner" role="note"><b>A reduced run:</b> {" and ".join(few)}. {judged}</p>'


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {_CLASSES[verdict.outcome]}">{verdict.outcome}</span>'


def _summary(verdicts: Sequence[Verdict]) -> str:
    counts = {outcome: sum(v.outcome == outcome for v in verdicts) for outcome in OUTCOMES}
    told = ", ".join(f"{outcome.capitalize()}: {n}" for outcome, n in counts.items() if n)
    lines = "".join(
        f'<li>{_badge(v)}<a href="#claim-{i}">{typeset(v.claim)}</a></li>'
        for i, v in enumerate(verdicts)
    )
    return (
        '<section id="verdicts"><h2>Verdicts</h2>\n'
        f"<p>{len(verdicts)} claims of the paper. {told}.</p>\n"
        f'<ul class="list">{lines}</ul>\n'
        "<p>In the plots each line is an estimate with its 95 % interval over the runs, paired "
        "where two methods are compared. It has to lie in the shaded region: a disc supports the "
        "claim, a ring leaves it open, a cross contradicts it. “Printed” are the settings that the "
        "paper prints, “tuned” gives every method the same number of trials on a validation split. "
        "A tap on a figure enlarges it. All intervals: "
        '<a href="verdicts.csv">verdicts.csv</a>.</p>'
    )


def _verdict(place: int, verdict: Verdict) -> str:
    found = "".join(f"<p>{typeset(sentence)}</p>" for sentence in verdict.found)
    return (
        f'<article class="verdict" id="claim-{place}">'
        f"<h3>{typeset(verdict.claim)}</h3><p>{_badge(verdict)}</p>"
        f"<blockquote>{typeset(verdict.quote)}<cite>{html.escape(verdict.where)}</cite>"
        f"</blockquote>{found}{forest(verdict)}"
        f'<details><summary>Rule and numbers</summary><p class="quiet">{typeset(verdict.rule)}</p>'
        f"{_intervals(verdict)}{_numbers(verdict)}</details></article>"
    )


def _intervals(verdict: Verdict) -> str:
    rows = [
        (
            part.title,
            check.label,
            COLUMNS.get(check.column, check.column),
            span(check.interval, verdict.unit),
            region(check, verdict.unit),
            _STATES[check.state],
        )
        for part in verdict.parts
        for check in part.checks
    ]
    head = ("what", "with", "where", "found, 95 % interval", "has to lie", "says")
    return _rows(head, rows)


def _numbers(verdict: Verdict) -> str:
    columns = list(dict.fromkeys(m.column for m in verdict.numbers))
    if not columns:
        return ""
    values = {(m.what, m.column): show(m.value) for m in verdict.numbers}
    rows = [
        (what, *(values.get((what, column), "") for column in columns))
        for what in dict.fromkeys(m.what for m in verdict.numbers)
    ]
    return _rows(("mean over the runs", *(COLUMNS.get(c, c) for c in columns)), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, scrolling where it is too wide; columns with nothing in them are left out."""
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    top = "".join(f"<th>{typeset(head[i])}</th>" for i in kept)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{typeset(row[i])}</td>" for i in kept) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{body}\n'
        "</tbody></table></div>"
    )


def _chapter(chapter: Chapter, pictures: Mapping[str, str]) -> str:
    parts = [f'<section id="{chapter.name}"><h2>{html.escape(chapter.title)}</h2>']
    parts += [f"<p>{typeset(text)}</p>" for text in chapter.text.split("\n\n")]
    parts += [_figure(figure, pictures[figure.name]) for figure in chapter.figures]
    parts += [_table(table) for table in chapter.tables]
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure, picture: str) -> str:
    files = ", ".join(
        f'<a href="{figure.name}.{kind}">{figure.name}.{kind}</a>' for kind in ("csv", "png", "svg")
    )
    enlarge = html.escape(f"Enlarge: {plain(figure.title)}")
    return (
        f'<figure id="{figure.name}"><h3>{typeset(figure.title)}</h3>'
        f'<label class="zoom"><input type="checkbox" aria-label="{enlarge}">'
        f'<span class="sheet">{picture}</span></label>'
        f"<figcaption>{typeset(figure.caption)} Files: {files}.</figcaption></figure>"
    )


def _table(table: Table) -> str:
    return (
        f'<div id="{table.name}"><h3>{typeset(table.title)}</h3>{_rows(table.head, table.rows)}'
        f'<p class="quiet">{typeset(table.caption)}</p></div>'
    )


def _choices() -> str:
    def listed(items: Sequence[str]) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"

    return (
        '<section id="choices"><h2>Choices</h2>\n<h3>What was taken</h3>'
        f"{listed(TAKEN)}\n<h3>Chosen after seeing results</h3>"
        "<p>A fresh seed (<code>--seed</code>) is the fair check of these.</p>"
        f"{listed(CHOSEN_AFTER)}</section>"
    )


def _settings(chapters: Sequence[Chapter], plan: Plan) -> str:
    general = {
        "runs": str(plan.runs),
        "seed": str(plan.seed),
        "share of the full sample sizes": f"{plan.scale:g}",
    }
    parts = ['<section id="settings"><h2>Settings</h2>', _pairs(general)]
    seen: dict[str, str] = {}
    for chapter in chapters:
        parts += [f"<h3>{html.escape(chapter.title)}</h3>", _pairs(_shared(chapter, seen))]
    return "\n".join([*parts, "</section>"])


def _shared(chapter: Chapter, seen: dict[str, str]) -> dict[str, str]:
    """Settings, with a word where a tuned one is the very trial of an earlier line."""
    told = {}
    for name, text in chapter.settings.items():
        method, mark, _ = name.partition(", tuned")
        key = f"{method}: {text}"
        told[name] = f"{text} (the same trial as in “{seen[key]}”)" if key in seen else text
        if mark:
            seen.setdefault(key, f"{chapter.title}: {name}")
    return told


def _pairs(pairs: Mapping[str, str]) -> str:
    return f"<dl>{''.join(_pair(name, text) for name, text in pairs.items())}</dl>"


def _pair(name: str, text: str) -> str:
    return f"<dt>{typeset(name)}</dt><dd>{typeset(text)}</dd>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>COLK, reproduced</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
