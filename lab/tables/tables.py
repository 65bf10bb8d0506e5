"""Print tables of results and write them to docs/tables."""

from collections.abc import Sequence
from pathlib import Path

from colk_lab.markdown import table

__all__ = ["publish", "table"]

FOLDER = Path(__file__).parents[2] / "docs" / "tables"


def publish(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table and write it to docs/tables/`name`.md."""
    text = table(columns, rows)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
