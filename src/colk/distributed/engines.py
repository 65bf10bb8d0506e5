"""Partitions on the workers of a Dask cluster, or of any executor of `concurrent.futures`.

Results are the same to the bit for any number of workers, because sums are added in a tree whose
shape depends only on the number of partitions, and each task uses BLAS with one thread. Every task
is a pure function, so tasks of a worker that died run again elsewhere.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, Protocol
from uuid import uuid4
from weakref import WeakSet

from colk._engine.blas_threads import one_blas_thread
from colk._engine.thread_pool import use_threads
from colk.rkhs.polishing.blocks import add
from colk.rkhs.polishing.objective import SmoothedObjective

__all__ = ["DaskParts", "ExecutorParts", "Parts", "Progress", "run_alone"]

# Number of results that one task adds.
_FAN_IN = 8
# Bytes of partitions that each process of an executor keeps in memory.
_KEPT = 2**29
# Seconds without any worker after which a fit ends, and seconds between two looks.
_PATIENCE = 40.0
_LOOK = 2.0
# Clients whose clusters have had workers.
_have_worked: WeakSet[Any] = WeakSet()

Progress = Callable[[str, int, int], None]  # name of the pass, partitions done, all partitions


class Parts(Protocol):
    """Partitions on workers: the interface of `Blocks`, and methods that make new partitions."""

    def __len__(self) -> int: ...

    def each(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """As in `Blocks`."""

    def total(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """As in `Blocks`."""

    def fetch(self, results: Any) -> list[Any]:
        """As in `Blocks`."""

    def derive(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> "Parts":
        """Return new partitions `function(part, *own, *common)`, which stay on the workers."""

    def chosen(self, places: Sequence[int]) -> "Parts":
        """Return some of the partitions."""


def run_alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task in one thread, so that its bits do not depend on the cores of a worker."""
    with one_blas_thread(), use_threads(1):
        return function(*arguments)


def _add_all(*results: Any) -> Any:
    return reduce(add, results)


def _same(value: Any) -> Any:
    return value


def _tree(items: list[Any], join: Callable[..., Any]) -> Any:
    """Join neighbours, at most `_FAN_IN` at a time, until one item is left."""
    while len(items) > 1:
        groups = [items[i : i + _FAN_IN] for i in range(0, len(items), _FAN_IN)]
        items = [group[0] if len(group) == 1 else join(*group) for group in groups]
    return items[0]


class DaskParts:
    """Partitions that are futures of a Dask client.

    Parameters
    ----------
    client : distributed.Client
        The client.
    parts : sequence of Future
        A future of each partition. It must be the result of a task: scattered data are lost if
        their worker dies.
    progress : callable, optional
        Called with the name of a pass, the number of partitions done, and that of all partitions.
    """

    def __init__(self, client: Any, parts: Sequence[Any], progress: Progress | None = None) -> None:
        self._client, self._parts, self._progress = client, list(parts), progress
        self._shared: tuple[Any, Any] = (None, None)

    def __len__(self) -> int:
        return len(self._parts)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # With pure=False, arguments are not hashed.
        return self._client.submit(run_alone, function, *arguments, pure=False)

    def _share(self, value: Any) -> Any:
        """Return a future of an objective, which all tasks of a stage share."""
        if not isinstance(value, SmoothedObjective):
            return value
        if self._shared[0] is not value:
            self._shared = value, self._submit(_same, value)
        return self._shared[1]

    def each(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> list[Any]:
        """Return futures of `function(part, *own, *common)`."""
        shared = [self._share(value) for value in common]
        calls = zip(self._parts, *per_block, strict=True)
        return [self._submit(function, *own, *shared) for own in calls]

    def total(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """Return the sum of the results, added in a tree on the workers."""
        found = self.each(function, *common, per_block=per_block)
        root = _tree(list(found), partial(self._submit, _add_all))
        if self._progress is not None:
            self._watch(function, found)
        return self.fetch([root])[0]

    def _watch(self, function: Callable[..., Any], futures: Sequence[Any]) -> None:
        assert self._progress is not None
        for done in _waited(self._client, futures):
            self._progress(function.__name__, done, len(futures))

    def fetch(self, results: Any) -> list[Any]:
        """Wait for futures; see `gathered` for the errors."""
        return gathered(self._client, results)

    def derive(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> "DaskParts":
        """Return futures of new partitions."""
        shared = [self._submit(_same, value) for value in common]
        parts = self.each(function, *shared, per_block=per_block)
        return DaskParts(self._client, parts, self._progress)

    def chosen(self, places: Sequence[int]) -> "DaskParts":
        """Return some of the partitions."""
        return DaskParts(self._client, [self._parts[k] for k in places], self._progress)


def gathered(client: Any, futures: Any) -> list[Any]:
    """Return the results of futures; translate Dask's errors into messages with advice."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        wanted = list(futures)
        for _ in _waited(client, wanted):
            pass
        return list(client.gather(wanted))
    except KilledWorker as error:
        raise MemoryError(
            "workers died again and again in the same task, probably because they ran out of "
            "memory: make partitions smaller, or give workers more memory"
        ) from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise ConnectionError(
            "the Dask scheduler has stopped or has lost the results; nothing was fitted"
        ) from error


def _waited(client: Any, futures: Sequence[Any]) -> Iterator[int]:
    """Wait for futures; yield the number that are done, each time that it has grown.

    Dask itself would wait for ever if all workers are gone.
    """
    from distributed import wait

    waiting, latest = list(futures), time.monotonic()
    while waiting:
        if client not in _have_worked and client.nthreads():
            _have_worked.add(client)
        try:
            found: Any = wait(waiting, _LOOK, "FIRST_COMPLETED")  # type: ignore[no-untyped-call]
        except TimeoutError as error:
            now = time.monotonic()
            if client.nthreads() or client not in _have_worked:  # workers may not have begun yet
                latest = now
            elif now - latest > _PATIENCE:
                raise ConnectionError(
                    f"the Dask cluster has had no worker for {_PATIENCE:.0f} seconds; nothing was "
                    "fitted"
                ) from error
        else:
            waiting = list(found.not_done)
            yield len(futures) - len(waiting)


@dataclass(frozen=True)
class _Part:
    """A partition that a task computes, from another partition or without arguments."""

    compute: Callable[..., Any] = field(compare=False)
    parent: "_Part | None" = field(default=None, compare=False)
    common: tuple[Any, ...] = field(default=(), compare=False)
    key: str = field(default_factory=lambda: uuid4().hex)  # equal in all processes


# Partitions in memory, and their bytes. Threads share them; each operation on them is atomic.
_in_memory: dict[str, tuple[Any, int]] = {}


def _computed(part: _Part) -> Any:
    """Return a partition from memory, or compute it.

    If memory is full, random partitions are removed. Removing the least recently used one would be
    worst, because passes go through all partitions in turn and need that one next.
    """
    found = _in_memory.get(part.key)
    if found is not None:
        return found[0]
    earlier = () if part.parent is None else (_computed(part.parent),)
    value = part.compute(*earlier, *part.common)
    _in_memory[part.key] = value, _size(value)
    while len(_in_memory) > 1 and sum(size for _, size in list(_in_memory.values())) > _KEPT:
        _in_memory.pop(random.choice(list(_in_memory)), None)
    return value


def _size(value: Any) -> int:
    """Return the approximate number of bytes in the arrays and data frames of a partition."""
    if hasattr(value, "memory_usage"):
        return int(value.memory_usage().sum())
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, tuple | list | dict):
        return sum(_size(each) for each in parts)
    return int(getattr(value, "nbytes", 0))


def _run_on(function: Callable[..., Any], part: _Part, *arguments: Any) -> Any:
    return function(run_alone(_computed, part), *arguments)


class ExecutorParts:
    """Partitions that the tasks of an executor load; a process keeps some of them in memory.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        A pool of processes, of threads, or of another library.
    sources : sequence of callable
        For each partition, a function without arguments that loads it. For processes, the
        functions must be picklable.
    progress : callable, optional
        As in `DaskParts`.
    """

    def __init__(
        self,
        executor: Executor,
        sources: Sequence[Callable[[], Any]],
        progress: Progress | None = None,
    ) -> None:
        parts = [each if isinstance(each, _Part) else _Part(each) for each in sources]
        self._executor, self._parts, self._progress = executor, parts, progress

    def __len__(self) -> int:
        return len(self._parts)

    def each(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> list[Any]:
        """Return the results of `function(part, *own, *common)`."""
        own = list(zip(*per_block, strict=True)) if per_block else [()] * len(self._parts)
        results = []
        try:
            futures = [
                self._executor.submit(run_alone, _run_on, function, part, *values, *common)
                for part, values in zip(self._parts, own, strict=True)
            ]
            for done, future in enumerate(futures, 1):
                results.append(future.result())
                if self._progress is not None:
                    self._progress(function.__name__, done, len(futures))
        except BrokenExecutor as error:
            raise MemoryError(
                "a process of the executor died, probably because it ran out of memory: make "
                "partitions smaller, or use fewer processes"
            ) from error
        return results

    def total(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> Any:
        """Return the sum of the results, added in the same tree as on a cluster."""
        return _tree(self.each(function, *common, per_block=per_block), _add_all)

    def fetch(self, results: Any) -> list[Any]:
        """Return the results as a list."""
        return list(results)

    def derive(
        self, function: Callable[..., Any], *common: Any, per_block: Sequence[Any] = ()
    ) -> "ExecutorParts":
        """Return new partitions, which tasks compute from the old ones."""
        own = zip(*per_block, strict=True) if per_block else [()] * len(self._parts)
        parts = [
            _Part(function, part, (*values, *common))
            for part, values in zip(self._parts, own, strict=True)
        ]
        return ExecutorParts(self._executor, parts, self._progress)  # type: ignore[arg-type]

    def chosen(self, places: Sequence[int]) -> "ExecutorParts":
        """Return some of the partitions."""
        parts = [self._parts[k] for k in places]
        return ExecutorParts(self._executor, parts, self._progress)  # type: ignore[arg-type]
