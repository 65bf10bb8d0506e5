"""Run tasks in parallel processes, and skip those whose result is already there."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from types import TracebackType
from typing import Self

from threadpoolctl import threadpool_limits

from colk._validation import check_count
from colk.experiments.forecast import Forecast
from colk.experiments.tasks import Result, Store, Task

__all__ = ["Runner"]


class Runner:
    """Runs tasks; used as a context, which ends its processes.

    Numbers do not depend on the number of processes: linear algebra runs on one thread in each.

    Parameters
    ----------
    store : Store
        Where results are looked up and kept.
    jobs : int
        Processes. With 1 the tasks run in this one.
    forecast : Forecast, optional
        Told what begins, and what has finished or was found.

    Examples
    --------
    >>> import tempfile
    >>> from colk.experiments.laws import signal_on_grid
    >>> from colk.experiments.tasks import Store, Task
    >>> with tempfile.TemporaryDirectory() as folder, Runner(Store(folder)) as run:
    ...     results = run([Task(signal_on_grid, {"n": n}) for n in (2, 3)])
    >>> [len(result["x"]) for result in results]
    [2, 3]
    """

    def __init__(self, store: Store, jobs: int = 1, forecast: Forecast | None = None) -> None:
        self.store = store
        self.jobs = check_count(jobs, "jobs")
        self.computed = 0
        self.found = 0
        self.forecast = forecast or Forecast([])
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        workers = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        if kind is not None:  # what runs now is lost, what is finished is on disk
            for worker in workers:
                worker.terminate()
        self._pool = None

    def __call__(self, tasks: Sequence[Task]) -> list[Result]:
        """Results of the tasks, in their order."""
        results = [self.store.load(task) for task in tasks]
        missing = []
        for task, result in zip(tasks, results, strict=True):
            if result is None:
                missing.append(task)
            else:
                self.found += 1
                self.forecast.finish(task.name, task.size)
        if self.jobs == 1:
            with threadpool_limits(1):
                for task in missing:
                    self.forecast.begin(task.name, task.size)
                    self._count(task, _compute(self.store, task))
        elif missing:
            self._distribute(missing)
        return [
            _present(self.store.load(task)) if result is None else result
            for task, result in zip(tasks, results, strict=True)
        ]

    def _count(self, task: Task, seconds: float) -> None:
        self.computed += 1
        self.forecast.finish(task.name, task.size, seconds)

    def _distribute(self, tasks: list[Task]) -> None:
        if self._pool is None:
            # A fresh interpreter, not a fork: threads of this process are not copied half-way.
            self._pool = ProcessPoolExecutor(
                self.jobs, multiprocessing.get_context("spawn"), initializer=_begin_worker
            )
        waiting: dict[Future[float], Task] = {
            self._pool.submit(_compute, self.store, task): task for task in tasks
        }
        # Workers take tasks in their order.
        begun = 0
        while waiting:
            while begun < len(tasks) - len(waiting) + self.jobs and begun < len(tasks):
                self.forecast.begin(tasks[begun].name, tasks[begun].size)
                begun += 1
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                self._count(waiting.pop(future), future.result())


def _present(result: Result | None) -> Result:
    if result is None:
        raise OSError("a result vanished from the cache while it was in use; run again")
    return result


def _begin_worker() -> None:
    """Leave Ctrl-C to the first process, end with it, and give linear algebra one thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(1)


def _end_with_parent() -> None:
    """A killed parent cannot say goodbye: its workers would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _compute(store: Store, task: Task) -> float:
    """Run a task and keep its result; returns the processor seconds that it took."""
    start = time.process_time()
    store.save(task, task.run())
    return time.process_time() - start
