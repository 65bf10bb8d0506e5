"""Print tables of results and write them to docs/tables."""

from collections.abc import Sequence
from pathlib import Path

from colk_lab.markdown import table

__all__ = ["FIGURES", "ROOT", "TABLES", "publish", "table"]

ROOT = Path(__file__).resolve().parents[4]
TABLES, FIGURES = ROOT / "docs" / "tables", ROOT / "docs" / "figures"


def publish(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; in a clone of the repository, also write it to docs/tables/`name`.md."""
    text = table(columns, rows)
    if TABLES.is_dir():
        (TABLES / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
