"""Load models for the commands."""

from pathlib import Path
from typing import Any

from colk.persistence import load
from colk.tabular import TableModel
from colk.tabular.intervals import conformal_ends

__all__ = ["interval_coverage", "load_model", "load_table_model"]


def load_model(path: Path) -> Any:
    """Return the model in a file; raise a clear error if the file is missing."""
    if not path.exists():
        raise OSError(f"there is no file {path}")
    return load(path)


def load_table_model(path: Path) -> TableModel:
    """Return the `TableModel` in a file; raise if it holds another kind of model."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ValueError(  # noqa: TRY004, the file is wrong
            f"{path} holds a {type(model).__name__}; this command takes models of colk fit or of "
            f"TableModel. In Python, colk.load({str(path)!r}) loads it"
        )
    return model


def interval_coverage(model: TableModel, asked: float | None) -> float | None:
    """Return the coverage of the intervals to compute, or None if there are none.

    Raises an error before anything is written if the model has too few residuals for them.
    """
    coverage = asked or model.notes.get("intervals")
    if coverage is None:
        return None
    if not len(model.residuals):
        raise ValueError("the model has no intervals: fit it with colk fit --intervals")
    conformal_ends(model.residuals, coverage)
    return float(coverage)
