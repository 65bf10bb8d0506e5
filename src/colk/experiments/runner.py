"""Run tasks in parallel processes and keep their results on disk, both by joblib."""

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

from colk._validation import check_count
from colk.experiments.tasks import Result, Task, fingerprint

__all__ = ["Runner", "Watch"]


class Watch:
    """Is told what runs. This one ignores it; a subclass shows progress."""

    def begin(self, names: Sequence[str]) -> None:
        """Take the names of the tasks that run next, in their order."""

    def finish(self, name: str, seconds: float, *, found: bool = False) -> None:
        """Take a finished task: its name, its rough seconds, whether it was in the cache."""


class Runner:
    """Runs tasks, or loads their results from the cache.

    The results do not depend on the number of processes, because linear algebra runs on one
    thread in each by default.

    Parameters
    ----------
    folder : path
        The cache. A finished task stays there even if a later one fails or is interrupted.
    jobs : int
        Number of processes. With 1 the tasks run in this process.
    watch : Watch, optional
        Is told about each task.
    one_thread : bool
        Whether linear algebra runs on one thread. Otherwise one process runs the tasks, with the
        threads that a user has.
    backend : {"loky", "dask"}
        The backend of joblib: processes of this machine, or the workers of the Dask client of this
        process, all of them, which must see the folder.

    Attributes
    ----------
    computed, found : int
        Number of tasks that ran, and of those whose result was in the cache.

    Examples
    --------
    >>> import tempfile
    >>> from colk.experiments.laws import signal_on_grid
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
            # Long tasks begin first, so that no process waits long for the last one.
            missing = dict(sorted(missing.items(), key=lambda item: -item[1].seconds))
            self._watch.begin([task.name for task in missing.values()])
            self._compute(missing, results)
        return [results[place] for place in range(len(tasks))]

    def _load(self, task: Task) -> Result | None:
        """Return a result of the cache, or None if there is none or it cannot be read."""
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
        """Run tasks and enter their results by their places."""
        calls = (
            delayed(_numbered)(place, self._call, _arguments(task)) for place, task in tasks.items()
        )
        with (
            warnings.catch_warnings(),
            threadpool_limits(self._threads),
            self._configured(),
        ):
            _ignore_slow_disk()
            # Tasks that are lost by an interruption.
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
    """Run a task. The code's fingerprint is part of the cache's key."""
    return function(**settings)


def _numbered(place: int, call: Any, arguments: tuple[Any, ...]) -> tuple[int, Result]:
    return place, call(*arguments)


def _ignore_slow_disk() -> None:
    """Ignore joblib's warning that writing to the cache takes long."""
    warnings.filterwarnings("ignore", "Persisting input arguments took")


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end if it is killed, even before this call."""
    _ignore_slow_disk()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
