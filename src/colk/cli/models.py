"""Models of files, for commands."""

from pathlib import Path
from typing import Any

from colk.persistence import load
from colk.tabular import TableModel

__all__ = ["load_model", "load_table_model"]


def load_model(path: Path) -> Any:
    """Return the model in a file; a missing file is one clear error."""
    if not path.exists():
        raise OSError(f"there is no file {path}")
    return load(path)


def load_table_model(path: Path) -> TableModel:
    """Return a model of tables, which knows its columns by name."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ValueError(  # noqa: TRY004, the file is wrong
            f"{path} holds a {type(model).__name__}, which knows no columns by name; "
            "colk fit makes models of tables"
        )
    return model
