"""Add titles and descriptions to tables, and set the order of the gallery."""

import ast
import re
from pathlib import Path

from sphinx.application import Sphinx

# The gallery begins with basic examples and ends with user-defined terms.
FIRST = ("first_fit", "multiclass", "outliers", "model_selection", "quantiles_with_coverage")
LAST = ("own_loss", "own_risk")

BENCHMARKS = Path(__file__).parents[2] / "lab" / "src" / "colk_lab" / "tables"
TITLES = {
    "choice": "Automatic choice of kernel and metric",
    "conformal": "Conformal intervals on streams",
    "convergence_distance": "Distance to the optimum",
    "convergence_objective": "Objective relative to the optimum",
    "convergence_trackers": "Errors of the trackers",
    "doors": "The command and the estimator on the same rows",
    "drift": "Streams with and without drift",
    "engines": "Speed of two builds",
    "failure_modes": "Difficult tables and streams",
    "headline": "One pass compared with a support vector machine",
    "instructions": "Instructions per sample",
    "interval_scores": "Intervals on real sets: interval scores",
    "interval_series": "Intervals on series",
    "interval_slabs": "Intervals on real sets: worst slabs",
    "log_scores": "Log scores of normal distributions",
    "lstd": "Policy evaluation",
    "merge": "Merged learners compared with one learner",
    "newton_drift": "Newton steps: rounding errors",
    "newton_passes": "Newton steps: one pass compared with five gradient passes",
    "newton_speed": "Newton steps: time per step",
    "newton_std": "Newton steps: coverage of standard deviations",
    "newton_streams": "Newton steps: forgetting on streams",
    "one_sample": "Time per sample",
    "pairing": "Pairings",
    "polish": "Polishing the weights",
    "quantiles": "Coverage of quantiles",
    "race_streams": "Automatic kernel choice: streams",
    "real_sets": "All methods on the real sets",
    "own_risks": "Risks of an equation, and losses that are not convex",
    "risk_costs": "What a risk costs: the mean loss",
    "risk_expected": "What a risk can gain",
    "risk_pays": "On which data a risk pays",
    "risk_peers": "The tail: other methods",
    "risk_summary": "What a risk gains and what it costs",
    "risk_streams": "Risks on streams",
    "risk_streams_time": "Risks on streams: time",
    "rivals_after_fit": "A rival kernel after `fit`",
    "rivals_tables": "A rival kernel beside a table's model",
    "rivals_time": "A rival kernel: time per row",
    "robust": "Outliers",
    "robust_streams": "Outliers of streams",
    "rules": "What each rule is worth",
    "scale": "Scaling over rows, atoms and workers",
    "shards": "Fits over partitions compared with fits in memory",
    "verdicts": "Which results reproduce",
}


def reading_order(name: str) -> tuple[int, str]:
    """Sort key: basic examples first, user-defined terms last."""
    stem = Path(name).stem.removeprefix("plot_")
    if stem in FIRST:
        return FIRST.index(stem), stem
    return len(FIRST) + (1 + LAST.index(stem) if stem in LAST else 0), stem


def words_of(name: str) -> str:
    """Return the docstring of the benchmark that writes a table."""
    kind = name.split("_")[0]
    for script in sorted(BENCHMARKS.glob("*.py")):
        text = script.read_text("utf-8")
        if f'publish("{name}"' in text or f'publish(f"{kind}_{{' in text:
            said = ast.get_docstring(ast.parse(text)) or ""
            said = re.sub(r"^ *python -m colk_lab.tables .*\n+", "", said, flags=re.MULTILINE)
            return f"{said}\n\nMade by `python -m colk_lab.tables {script.stem}`.\n\n"
    return ""


def name_table(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add a title and a description to a table page that has none."""
    if docname.startswith("tables/") and not source[0].startswith("# "):
        name = Path(docname).name
        title = TITLES.get(name, name.replace("_", " ").capitalize())
        source[0] = f"# {title}\n\n{words_of(name)}{source[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Run `name_table` on every source."""
    app.connect("source-read", name_table)
    return {"parallel_read_safe": True}
