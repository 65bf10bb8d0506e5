"""Fit a table model to files that workers read, with one partition for each file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk.distributed.engines import DaskParts, ExecutorParts, Parts, Progress, run_alone
from colk.distributed.rows import PartitionError, PartitionRows
from colk.model.parts import Part
from colk.tabular import TableModel
from colk.tabular.reading import Columns, Source

__all__ = ["TableFile", "fit_table"]

Table = dict[str, Any]


@dataclass(frozen=True)
class TableFile:
    """A file that one task reads as a whole.

    Parameters
    ----------
    path : str
        The file.
    wanted : Columns
        The columns to read.
    options : tuple
        Further arguments of `Source`.
    """

    path: str
    wanted: Columns
    options: tuple[Any, ...] = ()

    def __call__(self) -> Table:
        """Return the usable rows, column by column."""
        wanted = self.wanted
        names = [*wanted.numbers, *wanted.texts, *wanted.dates]
        try:
            batches = [
                rows.columns for rows in Source([self.path], *self.options).rows(self.wanted)
            ]
        except (OSError, ValueError) as error:
            raise PartitionError(f"{self.path} cannot be read: {error}") from error
        if not batches:
            return {name: np.empty(0) for name in names}
        return {name: np.concatenate([np.asarray(b[name]) for b in batches]) for name in names}


def part_of_table(table: Table, model: TableModel) -> Part:
    """Return the rows of a file as a part of a fit."""
    return Part(*model.checked_rows(table, table[model.target]), 0)


def fit_table(
    model: TableModel,
    files: Sequence[TableFile],
    engine: Any,
    sample_size: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Fit a model to the rows of all files; return their number.

    Parameters
    ----------
    model : TableModel
        The model, which is fitted from scratch.
    files : sequence of TableFile
        The files.
    engine : concurrent.futures.Executor or distributed.Client
        The executor or client that runs the tasks.
    sample_size : int, optional
        Number of rows in the sample that determines scales, kernel, atoms and λ. Default: as in
        `TableModel.fit`.
    progress : callable, optional
        As in `DaskParts`.
    """
    if not model.polish:
        raise ValueError(
            "polish=False is not possible here, because only the polish finds weights for the rows "
            "of all files"
        )
    rows = PartitionRows(_parts(files, engine, progress).derive(part_of_table, model))
    model.fit_rows(rows, model.new_fit(sample_size=sample_size))
    return int(rows.n_rows)


def _parts(files: Sequence[TableFile], engine: Any, progress: Progress | None) -> Parts:
    from concurrent.futures import Executor

    if isinstance(engine, Executor):
        return ExecutorParts(engine, files, progress)
    futures = [engine.submit(run_alone, file, pure=False) for file in files]
    return DaskParts(engine, futures, progress)
