"""Threads over blocks of rows, contenders, folds and outputs.

Loops of the library and BLAS release the interpreter's lock, so threads run in parallel. Each item
is processed with one BLAS thread, and results come in the order of the items, so they are identical
bit for bit for any number of threads.
"""

import numbers
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from colk._engine.blas_threads import one_blas_thread
from colk._engine.workers import Task, Workers

__all__ = ["each_in_threads", "map_in_threads", "n_threads", "use_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")

# Pools by their numbers of threads.
Pools = dict[int, Workers]

# Number of results per thread that are computed before the caller asks for them.
_AHEAD = 2

# The number of threads that a caller has set; 0 if it is not set.
_chosen: ContextVar[int] = ContextVar("colk_threads", default=0)

# The pools of the outermost `use_threads`; they are made when they are needed.
_shared: ContextVar[Pools | None] = ContextVar("colk_pools", default=None)


@cache
def _cores() -> int:
    """Return the cores of this process, within the limits of its affinity and its cgroup."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, min(found, _cgroup_cores()))


def _cgroup_cores(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the cores that a container may use, rounded up; many if there is no limit."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):
            words = [word for name in names for word in (root / name).read_text().split()]
            quota, period = (int(word) for word in words)
            if quota > 0 and period > 0:
                return -(-quota // period)
    return sys.maxsize


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads for a parameter `n_jobs`, as scikit-learn reads it.

    None means the number of cores, or the `n_jobs` of a surrounding `joblib.parallel_config`. In a
    worker of joblib, None means 1, because the other workers use the other cores. −1 means all
    cores, −2 all but one.

    Examples
    --------
    >>> n_threads(3), n_threads(-1) >= 1
    (3, True)
    """
    if n_jobs is None:
        n_jobs = -1
        if "joblib" in sys.modules:  # in a worker of joblib it is loaded
            from joblib.parallel import get_active_backend

            backend, given = get_active_backend()
            if backend.nesting_level:
                return 1
            n_jobs = -1 if given is None else int(given)
    if not (isinstance(n_jobs, numbers.Integral) and n_jobs != 0) or isinstance(n_jobs, bool):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    return max(_cores() + 1 + int(n_jobs), 1)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Return a context, or decorate a function, in which the library uses this many threads.

    Inside another such context it has no effect: the outermost caller decides. Threads are started
    once, when they are first needed, and end with the context.

    Examples
    --------
    >>> with use_threads(2):
    ...     map_in_threads(abs, [-1, -2, 3])
    [1, 2, 3]
    """
    if _chosen.get():
        yield
        return
    with _new_pools() as pools:
        token, shared = _chosen.set(n_threads(n_jobs)), _shared.set(pools)
        try:
            yield
        finally:
            _shared.reset(shared)
            _chosen.reset(token)


@contextmanager
def _pools() -> Iterator[Pools]:
    """Return a context with the pools of the outermost `use_threads`, or with new ones."""
    pools = _shared.get()
    if pools is not None:
        yield pools
        return
    with _new_pools() as pools:
        yield pools


@contextmanager
def _new_pools() -> Iterator[Pools]:
    """Return a context with pools, whose threads end with it."""
    pools = Pools()
    try:
        yield pools
    finally:
        try:
            _end(pools)
        except BaseException:  # an interrupt may come before the threads know that they end
            _end(pools)
            raise


def _end(pools: Pools) -> None:
    for workers in pools.values():
        workers.end()


def each_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results of a function, in the order of the items.

    Only a few results are computed ahead, so that items and results may be large. The calling
    thread reads the items and passes them to the pool. A call inside an item stays in its thread,
    unless the item is the only one.

    Examples
    --------
    >>> list(each_in_threads(len, ["a", "bc"]))
    [1, 2]
    """
    count = _chosen.get() or n_threads(None)
    with one_blas_thread(), _pools() as pools:
        if count == 1 or (isinstance(items, Sized) and len(items) <= 1):
            yield from map(function, items)
        else:
            yield from _ahead(function, items, count, pools)


def _ahead(
    function: Callable[[Item], Result], items: Iterable[Item], count: int, pools: Pools
) -> Iterator[Result]:
    """Yield the results of a pool with this many threads."""
    if count not in pools:
        pools[count] = Workers(count)
    waiting, alone = deque[Task[Result]](), copy_context()
    alone.run(_chosen.set, 1)
    try:
        for item in items:
            call: Callable[[], Result] = partial(alone.copy().run, function, item)
            waiting.append(pools[count].submit(call))
            if len(waiting) >= _AHEAD * count:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    finally:
        for task in waiting:
            task.is_wanted = False
        for task in waiting:
            task.wait()


def _first(waiting: deque[Task[Result]]) -> Result:
    """Return the result of the first task, and remove it."""
    result = waiting[0].result()
    waiting.popleft()
    return result


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the results of a function, in the order of the items.

    The number of threads is that of `use_threads`, or the number of cores.

    Parameters
    ----------
    function : callable
        A function of one item, which does not depend on the order of the calls.
    items : iterable
        The items.

    Examples
    --------
    >>> map_in_threads(lambda x: x * x, range(4))
    [0, 1, 4, 9]
    """
    return list(each_in_threads(function, [*items]))
