"""Titles and words for tables that have none, and the order of the gallery."""

import ast
import re
from pathlib import Path

from sphinx.application import Sphinx

# From the first fit to what is one's own.
FIRST = ("first_fit", "multiclass", "outliers", "model_selection", "quantiles_with_coverage")
LAST = ("own_loss", "own_risk")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TITLES = {
    "conformal": "Conformal intervals on streams",
    "convergence_distance": "Distance to the optimum",
    "convergence_objective": "The objective of the optimum",
    "convergence_trackers": "Errors of the trackers",
    "csv_speed": "Rows read a second",
    "defaults_classification": "The defaults, classification",
    "defaults_regression": "The defaults, regression",
    "defaults_units": "The defaults in other units",
    "engines": "Two builds by turns",
    "headline": "One pass beside a support vector machine",
    "lstd": "Policy evaluation",
    "newton_drift": "Curvature: rounding",
    "newton_passes": "Curvature: one pass and five",
    "newton_speed": "Curvature: time of a step",
    "newton_std": "Curvature: coverage of deviations",
    "newton_streams": "Curvature: forgetting on streams",
    "one_sample": "Time of one sample",
    "pairing": "Pairings",
    "polish": "The polish",
    "quantiles": "Coverage of quantiles",
    "race_design": "Choice by the data, where it was designed",
    "race_held_out": "Choice by the data, on new data",
    "race_streams": "Choice by the data, on streams",
    "verdicts": "What of the paper reproduces",
}


def reading_order(name: str) -> tuple[int, str]:
    """Sort examples by what they need of the reader."""
    stem = Path(name).stem.removeprefix("plot_")
    if stem in FIRST:
        return FIRST.index(stem), stem
    return len(FIRST) + (1 + LAST.index(stem) if stem in LAST else 0), stem


def words_of(name: str) -> str:
    """Say what a table shows, in the words of the benchmark that writes it."""
    kind = name.split("_")[0]
    for script in sorted(BENCHMARKS.glob("*.py")):
        text = script.read_text("utf-8")
        if f'publish("{name}"' in text or f'publish(f"{kind}_{{' in text:
            said = ast.get_docstring(ast.parse(text)) or ""
            said = re.sub(r"^ *python benchmarks/.*\n+", "", said, flags=re.MULTILINE)
            return f"{said}\n\nMade by `benchmarks/{script.name}`.\n\n"
    return ""


def name_table(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a table a title, and words that say what it shows, where it begins without them."""
    if docname.startswith("tables/") and not source[0].startswith("# "):
        name = Path(docname).name
        title = TITLES.get(name, name.replace("_", " ").capitalize())
        source[0] = f"# {title}\n\n{words_of(name)}{source[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every source as it is read."""
    app.connect("source-read", name_table)
    return {"parallel_read_safe": True}
