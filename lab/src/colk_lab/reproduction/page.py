"""Compute the variables of the report's template."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from colk_lab.origin import Origin
from colk_lab.pages.formulas import plain
from colk_lab.pages.render import render
from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.choices import ASSUMPTIONS, CHOSEN_AFTER
from colk_lab.reproduction.forest import forest, region
from colk_lab.reproduction.verdict import NEGLIGIBLE, OUTCOMES, Verdict
from colk_lab.reproduction.words import listed, percent, show, span

__all__ = ["page"]

_CLASSES = dict(zip(OUTCOMES, ("yes", "part", "no", "few", "few"), strict=True))
_COLUMNS = {"printed": "printed, C = 10", "tuned": "tuned"}
_STATES = {"supports": "supports", "contradicts": "contradicts", "open": "leaves it open"}

Rows = list[tuple[str, ...]]


def page(
    chapters: Sequence[Chapter], plan: RunPlan, origin: Origin, pictures: Mapping[str, Markup]
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    chapters : sequence of Chapter
        The results.
    plan : RunPlan
        Size of the run.
    origin : Origin
        Date, code and machine.
    pictures : mapping of str to Markup
        The figures as SVG, by name.
    """
    verdicts = [verdict for chapter in chapters for verdict in chapter.verdicts]
    return render(
        "report",
        chapters=chapters,
        plan=plan,
        pictures=pictures,
        plain=plain,
        classes=_CLASSES,
        columns=_COLUMNS,
        origin=origin.pairs,
        reduced=_reduced(plan),
        verdicts=verdicts,
        counts=_counts(verdicts),
        believed=_believed(verdicts),
        negligible=percent(NEGLIGIBLE),
        plots=[forest(verdict) for verdict in verdicts],
        numbers=[[*_intervals(verdict), *_measured(verdict)] for verdict in verdicts],
        assumptions=ASSUMPTIONS,
        chosen_after=CHOSEN_AFTER,
        general={
            "runs": plan.runs,
            "seed": plan.seed,
            "share of the full sample sizes": f"{plan.scale:g}",
        },
        settings=_settings(chapters),
    )


def _reduced(plan: RunPlan) -> str:
    """Return a text that compares a reduced run with a full run; empty for a full run."""
    whole = RunPlan()
    parts = []
    if plan.runs < whole.runs:
        parts.append(f"{plan.runs} runs instead of {whole.runs}")
    if plan.scale < whole.scale:
        parts.append(f"{100.0 * plan.scale:g} % of the samples")
    return " and ".join(parts)


def _counts(verdicts: Sequence[Verdict]) -> str:
    counts = {outcome: sum(v.outcome == outcome for v in verdicts) for outcome in OUTCOMES}
    return ", ".join(f"{outcome.capitalize()}: {n}" for outcome, n in counts.items() if n)


def _believed(verdicts: Sequence[Verdict]) -> list[str]:
    """Return sentences that say which claims hold, which hold in part, and which do not."""
    clauses = {
        outcome: [f"that {v.short}{_share(v)}" for v in verdicts if v.outcome == outcome]
        for outcome in ("holds", "holds in part", "does not hold")
    }
    true = [f"You can believe {listed(clauses['holds'])}."] * bool(clauses["holds"])
    part = [f"It is true only in part {listed(clauses['holds in part'])}."]
    return [
        *true,
        *part * bool(clauses["holds in part"]),
        *(f"It is not true {clause}." for clause in clauses["does not hold"]),
    ]


def _share(verdict: Verdict) -> str:
    """Return the count of a claim that holds in part, in brackets."""
    told = verdict.told.removeprefix("holds in ")
    return f" ({told})" if verdict.outcome == "holds in part" else ""


def _intervals(verdict: Verdict) -> list[tuple[tuple[str, ...], Rows]]:
    """Return head and rows of the table of intervals, without empty columns."""
    head = ("quantity", "compared with", "case", "95 % interval", "claim expects", "result")
    rows = [
        (
            part.title,
            check.label,
            _COLUMNS.get(check.column, check.column),
            span(check.interval, verdict.unit),
            region(check, verdict.unit),
            _STATES[check.state],
        )
        for part in verdict.parts
        for check in part.checks
    ]
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    return [(tuple(head[i] for i in kept), [tuple(row[i] for i in kept) for row in rows])]


def _measured(verdict: Verdict) -> list[tuple[tuple[str, ...], Rows]]:
    """Return head and rows of the table of other numbers, if there are any."""
    columns = list(dict.fromkeys(m.column for m in verdict.numbers))
    values = {(m.what, m.column): show(m.value) for m in verdict.numbers}
    rows = [
        (what, *(values.get((what, column), "") for column in columns))
        for what in dict.fromkeys(m.what for m in verdict.numbers)
    ]
    head = ("mean over the runs", *(_COLUMNS.get(column, column) for column in columns))
    return [(head, rows)] if rows else []


def _settings(chapters: Sequence[Chapter]) -> dict[str, dict[str, str]]:
    """Return settings by chapter; a tuned setting that equals an earlier one refers to it."""
    seen: dict[str, str] = {}
    told: dict[str, dict[str, str]] = {}
    for chapter in chapters:
        told[chapter.title] = {}
        for name, text in chapter.settings.items():
            method, tuned, _ = name.partition(", tuned")
            key = f"{method}: {text}"
            same = f" (the same trial as in “{seen[key]}”)" if key in seen else ""
            told[chapter.title][name] = text + same
            if tuned:
                seen.setdefault(key, f"{chapter.title}: {name}")
    return told
