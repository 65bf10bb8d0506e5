"""Split dask collections, arrays in memory and files into partitions, each loaded by a task."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from colk._encoding.frames import is_table
from colk._frames import as_rows, n_rows_of
from colk.distributed.engines import DaskParts, ExecutorParts, Parts, Progress, run_alone
from colk.distributed.files import FileRange, file_ranges
from colk.distributed.rows import checked_rows
from colk.estimators.batches import are_names
from colk.model.parts import Part
from colk.tabular.reading.batches import targets_of

__all__ = ["Partitions", "is_lazy", "partitions_of"]

# Part per partition of arrays in memory.
_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Partitions:
    """Partitions on workers, and the names of their features or None."""

    parts: Parts
    names: list[str] | None


@dataclass(frozen=True)
class _Arrays:
    """A partition in memory."""

    X: Any
    y: Any
    weights: Any
    place: str
    are_labels: bool

    def __call__(self) -> Part:
        return checked_rows(self.X, self.y, self.weights, self.place, self.are_labels)


@dataclass(frozen=True)
class _Columns:
    """A part of a file, whose column `target` is y, or whose columns, if it is a tuple."""

    source: FileRange
    target: str | tuple[str, ...]
    weight: str | None
    are_labels: bool

    def __call__(self) -> Part:
        columns, place = self.source.read(), self.source.place
        y = targets_of(columns, self.target)
        names, n_rows = _features(columns, self.target, self.weight), len(y)
        X = np.column_stack([columns[name] for name in names]) if names else np.empty((n_rows, 0))
        if is_table(X):
            import pandas

            X = pandas.DataFrame({name: columns[name] for name in names})
        weights = None if self.weight is None else columns[self.weight]
        return checked_rows(X, y, weights, place, self.are_labels)


@dataclass(frozen=True)
class _Pickled:
    """A pickled partition of a dask collection, for an executor instead of a cluster."""

    content: bytes

    def __call__(self) -> Part:
        import pickle

        rows: Part = pickle.loads(self.content).compute(scheduler="synchronous")
        return rows


def is_lazy(value: Any) -> bool:
    """Return whether a value is a dask collection.

    Examples
    --------
    >>> is_lazy(np.zeros(3))
    False
    """
    return callable(getattr(value, "__dask_graph__", None)) and not isinstance(value, type)


def partitions_of(
    X: Any,
    y: Any,
    weights: Any,
    engine: Any,
    are_labels: bool,
    progress: Progress | None = None,
) -> Partitions:
    """Split the arguments of `fit` into partitions on an executor or a Dask client.

    Parameters
    ----------
    X, y, weights
        As in the estimators.
    engine : concurrent.futures.Executor or distributed.Client
        The executor or client that runs the tasks.
    are_labels : bool
        Whether targets are labels.
    progress : callable, optional
        As in `DaskParts`.
    """
    if is_lazy(X):
        parts, names = _lazy_parts(X, y, weights, are_labels)
        if isinstance(engine, Executor):
            import cloudpickle

            sources = [_Pickled(cloudpickle.dumps(part)) for part in parts]
            return Partitions(ExecutorParts(engine, sources, progress), names)
        return Partitions(DaskParts(engine, engine.compute(parts), progress), names)
    if _are_files(X):
        loads, names = _file_sources(X, y, weights, are_labels)
    else:
        loads, names = _array_sources(X, y, weights, are_labels), _names(X)
    if isinstance(engine, Executor):
        return Partitions(ExecutorParts(engine, loads, progress), names)
    futures = [engine.submit(run_alone, load, pure=False) for load in loads]
    return Partitions(DaskParts(engine, futures, progress), names)


def _names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _lazy_parts(X: Any, y: Any, weights: Any, are_labels: bool) -> tuple[list[Any], Any]:
    """Return delayed partitions of dask arrays or dataframes with equal chunks of rows."""
    from dask.delayed import delayed

    names = _names(X)
    if names is None:
        X = X.rechunk({1: -1})  # all features of a row in one chunk
    blocks = [_delayed(X, X, "X"), _delayed(y, X, "y")]
    blocks.append(
        [None] * len(blocks[0]) if weights is None else _delayed(weights, X, "sample_weight")
    )
    task = delayed(checked_rows, pure=False)
    calls = enumerate(zip(*blocks, strict=True))
    return [task(*each, f"partition {k}", are_labels) for k, each in calls], names


def _delayed(values: Any, like: Any, name: str) -> list[Any]:
    """Return the chunks of rows of a collection, with the same boundaries as those of X."""
    if not is_lazy(values):
        raise TypeError(f"{name} must be a dask collection, as X is, got {type(values).__name__}")
    if hasattr(values, "rechunk"):
        values = values.rechunk({1: -1}) if values.ndim > 1 else values
        known = hasattr(like, "chunks") and not np.isnan(like.chunks[0]).any()
        if known and not np.isnan(values.chunks[0]).any() and values.shape[0] == like.shape[0]:
            values = values.rechunk({0: like.chunks[0]})
    found = list(np.ravel(values.to_delayed()))
    expected = like.npartitions if not hasattr(like, "chunks") else like.numblocks[0]
    if len(found) != expected:
        raise ValueError(
            f"{name} has {len(found)} partitions, but X has {expected}: give both the same "
            "partitions"
        )
    return found


def _are_files(X: Any) -> bool:
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], str | os.PathLike)


def _file_sources(
    files: Any, target: Any, weight: Any, are_labels: bool
) -> tuple[list[Callable[[], Part]], list[str]]:
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    if not (isinstance(target, str) or are_names(target)) or not isinstance(weight, str | None):
        raise TypeError("if X is files, y and sample_weight must be names of columns")
    ranges = [part for path in paths for part in file_ranges(Path(path))]
    names, target = ranges[0].names, target if isinstance(target, str) else tuple(target)
    for name in [*([target] if isinstance(target, str) else target), weight]:
        if name is not None and name not in names:
            raise ValueError(f"{ranges[0].path} has no column {name!r}, only {', '.join(names)}")
    loads: list[Callable[[], Part]] = [
        _Columns(part, target, weight, are_labels) for part in ranges
    ]
    return loads, _features(names, target, weight)


def _features(names: Iterable[str], target: str | tuple[str, ...], weight: str | None) -> list[str]:
    """Return the columns that are neither a target nor the weight."""
    taken = {weight, *([target] if isinstance(target, str) else target)}
    return [name for name in names if name not in taken]


def _array_sources(X: Any, y: Any, weights: Any, are_labels: bool) -> list[Callable[[], Part]]:
    """Cut arrays in memory into partitions."""
    y, weights = np.asarray(y), None if weights is None else np.asarray(weights)
    chunks = as_rows(X)
    starts = range(0, max(n_rows_of(X), 1), _ROWS)
    rows = [slice(start, start + _ROWS) for start in starts]
    return [
        _Arrays(
            chunks[some],
            y[some],
            None if weights is None else weights[some],
            f"partition {k}",
            are_labels,
        )
        for k, some in enumerate(rows)
    ]
