"""Run tasks in parallel processes and keep their results on disk, with joblib."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from joblib import Memory, Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from colk_lab.checks import check_count
from colk_lab.tasks import Result, Task, fingerprint

__all__ = ["Runner", "Watch"]


class Watch:
    """Receives the tasks that start and finish; this one does nothing, a subclass shows them."""

    def begin(self, names: Sequence[str]) -> None:
        """Receive the names of the tasks that start, in their order."""

    def finish(self, name: str, seconds: float, *, found: bool = False) -> None:
        """Receive a finished task: name, approximate seconds, and whether it was in the cache."""


class Runner:
    """Runs tasks, or loads their results from the cache.

    The results do not depend on the number of processes, because by default linear algebra uses
    one thread in each process.

    Parameters
    ----------
    folder : path
        Folder of the cache. The result of a finished task stays there even if a later task fails.
    jobs : int, default=1
        Number of processes. With 1, the tasks run in this process.
    watch : Watch, optional
        Receives each task. Default: none.
    one_thread : bool, default=True
        Whether linear algebra uses one thread. If not, one process runs the tasks, with the
        default number of threads.
    backend : {"loky", "dask"}, default="loky"
        The backend of joblib: processes on this machine, or all workers of the current Dask client,
        which must share the folder.

    Attributes
    ----------
    computed, found : int
        Number of tasks that ran, and of those whose result was in the cache.

    Examples
    --------
    >>> import tempfile
    >>> from colk_lab.reproduction.laws import signal_on_grid
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Runner(folder)
    ...     results = run([Task(signal_on_grid, {"n": n}) for n in (2, 3)])
    >>> [len(result["x"]) for result in results], run.computed
    ([2, 3], 2)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        jobs: int = 1,
        watch: Watch | None = None,
        one_thread: bool = True,
        backend: str = "loky",
    ) -> None:
        self.jobs = check_count(jobs, "jobs") if one_thread else 1
        self._threads = 1 if one_thread else None
        self._backend = backend
        self.computed = 0
        self.found = 0
        self._watch = watch or Watch()
        self._call: Any = Memory(Path(folder), verbose=0).cache(_call)

    def __call__(self, tasks: Sequence[Task]) -> list[Result]:
        """Return the results of the tasks, in their order."""
        results: dict[int, Result] = {}
        missing: dict[int, Task] = {}
        for place, task in enumerate(tasks):
            result = self._load(task)
            if result is None:
                missing[place] = task
            else:
                results[place] = result
                self.found += 1
                self._watch.finish(task.name, task.seconds, found=True)
        if missing:
            # Long tasks start first, so that no process is idle for long at the end.
            missing = dict(sorted(missing.items(), key=lambda item: -item[1].seconds))
            self._watch.begin([task.name for task in missing.values()])
            self._compute(missing, results)
        return [results[place] for place in range(len(tasks))]

    def _load(self, task: Task) -> Result | None:
        """Return a result from the cache, or None if it is missing or cannot be read."""
        arguments = _arguments(task)
        if not self._call.check_call_in_cache(*arguments):
            return None
        kept = self._call.call_and_shelve(*arguments)
        try:
            result: Result = kept.get()
        except Exception:  # a damaged file may fail in any way
            kept.clear()
            return None
        return result

    def _compute(self, tasks: Mapping[int, Task], results: dict[int, Result]) -> None:
        """Run tasks and add their results by index."""
        calls = (
            delayed(_numbered)(place, self._call, _arguments(task)) for place, task in tasks.items()
        )
        with (
            warnings.catch_warnings(),
            threadpool_limits(self._threads),
            self._configured(),
        ):
            _ignore_slow_disk()
            # joblib warns if an interruption leaves tasks undone.
            warnings.filterwarnings("ignore", r"[\s\S]*adjusting the input task iterator")
            # joblib takes a process that has grown by 300 MB for a leak and starts a new one. No
            # task is lost. Libraries that a task loads may take as much: Java keeps its heap.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            jobs = self.jobs if self._backend == "loky" else -1
            with closing(Parallel(jobs, return_as="generator_unordered")(calls)) as outputs:
                for place, result in outputs:
                    results[place] = result
                    self.computed += 1
                    self._watch.finish(tasks[place].name, tasks[place].seconds)

    def _configured(self) -> Any:
        if self._backend == "dask":
            return parallel_config("dask")
        return parallel_config(
            "loky", inner_max_num_threads=1, initializer=_start_worker, initargs=(os.getpid(),)
        )


def _arguments(task: Task) -> tuple[Callable[..., Result], Mapping[str, Any], str]:
    code = fingerprint(task.function.__module__, task.uses_package)
    return task.function, task.settings, code


def _call(function: Callable[..., Result], settings: Mapping[str, Any], code: str) -> Result:
    """Run a task; the fingerprint of the code is only part of the cache key."""
    return function(**settings)


def _numbered(place: int, call: Any, arguments: tuple[Any, ...]) -> tuple[int, Result]:
    return place, call(*arguments)


def _ignore_slow_disk() -> None:
    """Ignore joblib's warning that writing to the cache takes long."""
    warnings.filterwarnings("ignore", "Persisting input arguments took")


def _start_worker(parent: int) -> None:
    """Ignore Ctrl-C, which the parent handles, and end this process if the parent is killed."""
    _ignore_slow_disk()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
