"""Print tables of results and write them to docs/tables."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from colk_lab.markdown import table

__all__ = ["FIGURES", "ROOT", "TABLES", "kept", "publish", "table"]

ROOT = Path(__file__).resolve().parents[4]
TABLES, FIGURES = ROOT / "docs" / "tables", ROOT / "docs" / "figures"


def publish(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; in a clone of the repository, also write it to docs/tables/`name`.md."""
    text = table(columns, rows)
    if TABLES.is_dir():
        (TABLES / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def kept(path: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result in a file; compute it if there is no such file, so that a run can go on."""
    if not path.exists():
        path.write_text(json.dumps(compute()), encoding="utf-8")
        print(path.stem, flush=True)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
