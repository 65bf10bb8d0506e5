"""Titles of tables that have none, and the order of the gallery."""

from pathlib import Path

from sphinx.application import Sphinx

# From the first fit to what is one's own.
FIRST = ("first_fit", "multiclass", "outliers", "model_selection", "quantiles_with_coverage")
LAST = ("own_loss", "own_risk")


def reading_order(name: str) -> tuple[int, str]:
    """Sort examples by what they need of the reader."""
    stem = Path(name).stem.removeprefix("plot_")
    if stem in FIRST:
        return FIRST.index(stem), stem
    return len(FIRST) + (1 + LAST.index(stem) if stem in LAST else 0), stem


def name_table(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a table the name of its file for a title, where it begins without one."""
    if docname.startswith("tables/") and not source[0].startswith("# "):
        title = Path(docname).name.replace("_", " ").capitalize()
        source[0] = f"# {title}\n\n{source[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every source as it is read."""
    app.connect("source-read", name_table)
    return {"parallel_read_safe": True}
