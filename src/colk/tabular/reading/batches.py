"""The rows of a table as batches of points and targets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.tabular.reading.rows import Columns

if TYPE_CHECKING:
    from colk.tabular.reading.source import Source

__all__ = ["TableBatches"]


class TableBatches:
    """Batches (X, y) of a table; each loop reads the table from the beginning.

    Rows with missing or unreadable cells are skipped.

    Parameters
    ----------
    source : Source
        The table.
    target : str
        The column with the targets. All other columns of numbers are features.

    Examples
    --------
    >>> from importlib.resources import files
    >>> from colk.tabular.reading import Source
    >>> batches = Source([str(files("colk.data") / "lidar.csv")]).batches("logratio")
    >>> [X.shape for X, y in batches]
    [(221, 1)]
    """

    def __init__(self, source: "Source", target: str) -> None:
        if target not in source.kinds:
            raise ValueError(f"the table has no column {target!r}")
        self._source, self._target = source, target
        kinds = source.kinds
        self.features = [
            name for name, kind in kinds.items() if kind == "number" and name != target
        ]
        numbers = [name for name in (*self.features, target) if kinds[name] == "number"]
        texts = () if kinds[target] == "number" else (target,)
        self._wanted = Columns(tuple(numbers), texts)

    def __iter__(self) -> Iterator[tuple[Array, NDArray[Any]]]:
        for rows in self._source.rows(self._wanted):
            if len(rows):
                X = np.column_stack([rows.columns[name] for name in self.features])
                yield X, np.asarray(rows.columns[self._target])
