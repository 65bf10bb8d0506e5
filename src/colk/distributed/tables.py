"""Fit a table model to files that workers read, with one partition for each file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk._validation import Array
from colk.distributed.engines import DaskParts, ExecutorParts, Parts, Progress, run_alone
from colk.distributed.rows import PartitionError, normalise_block, weight_block
from colk.rkhs.polishing import Block, RowBlocks, final_polish
from colk.rkhs.polishing.all_rows import polish_all_rows
from colk.tabular import TableModel
from colk.tabular.reading import Columns, Source

__all__ = ["TableFile", "fit_table"]

_LEAST_REGULARIZATION = 1e-12

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


def count_rows(table: Table, target: str) -> tuple[int]:
    """Return the number of rows."""
    return (len(table[target]),)


def sample_table(table: Table, own: tuple[int, int], seed: int, model: TableModel) -> Table:
    """Return random rows of a file, at least one for each label; each file has its own seed."""
    (size, place), target = own, table[model.target]
    order = np.random.default_rng([seed, place]).permutation(len(target))
    chosen = order[:size]
    if model.task == "classification" and len(order):
        _, first = np.unique(np.asarray(target).astype(str)[order], return_index=True)
        chosen = np.union1d(chosen, order[first])
    chosen = np.sort(chosen)
    return {name: column[chosen] for name, column in table.items()}


def table_block(table: Table, model: TableModel, rule: Any) -> Block:
    """Return the rows as the learner sees them; outliers have weight 0."""
    X, targets = model.points(table), model.encode_targets(table[model.target])
    share = np.ones(len(X))
    if rule is not None and len(X):
        share[rule.outliers(X, targets[:, 0])] = 0.0
    return Block(X, targets[:, 0], share)


def fit_table(
    model: TableModel,
    files: Sequence[TableFile],
    engine: Any,
    sample_size: int = 20_000,
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
    sample_size : int, default=20000
        Number of rows in the sample that determines scales, kernel, atoms and λ.
    progress : callable, optional
        As in `DaskParts`.
    """
    parts = _parts(files, engine, progress)
    counts = [n for (n,) in parts.fetch(parts.each(count_rows, model.target))]
    places = [k for k, n in enumerate(counts) if n]
    if not places:
        raise ValueError("no file has a usable row")
    n_rows, parts = sum(counts), parts.chosen(places)
    own = [(-(-sample_size * counts[k] // n_rows), k) for k in places]
    drawn = parts.fetch(parts.each(sample_table, model.seed, model, per_block=[own]))
    sample = {name: np.concatenate([each[name] for each in drawn]) for name in drawn[0]}
    y = sample.pop(model.target)
    model.fit([(sample, y)])
    if len(y) < n_rows and model.n_atoms > 0 and model.polish:
        _polish(model, parts, model.points(sample), model.encode_targets(y)[:, 0])
    return int(n_rows)


def _parts(files: Sequence[TableFile], engine: Any, progress: Progress | None) -> Parts:
    from concurrent.futures import Executor

    if isinstance(engine, Executor):
        return ExecutorParts(engine, files, progress)
    futures = [engine.submit(run_alone, file, pure=False) for file in files]
    return DaskParts(engine, futures, progress)


def _polish(model: TableModel, parts: Parts, X: Array, y: Array) -> None:
    """Minimise the objective on all rows over the weights of the atoms."""
    least = max(model.recipe.regularization, _LEAST_REGULARIZATION)
    final = final_polish(model.function, X, y, model.loss, model.risk, least, path=model.risk_path)
    blocks = parts.derive(table_block, model, final.rule)
    total, _ = blocks.total(weight_block)
    blocks = blocks.derive(normalise_block, total)
    kept = np.ones(len(X)) if final.outliers is None else np.where(final.outliers, 0.0, 1.0)
    part = float(kept.sum())
    sample = RowBlocks.of(X, y, kept / part)
    found = polish_all_rows(final, blocks, sample, part / total)
    model.set_weights(found.function.weights)
