"""Threads that survive an interrupt of the thread that uses them.

Ctrl-C raises KeyboardInterrupt in the main thread wherever a Python function begins, thus also
inside the conditions, semaphores and events of `threading`, which then stay locked for ever. A
`ThreadPoolExecutor` uses them to start and to end its threads. Here are only locks and queues in C,
which an interrupt leaves either as they were or as they should be.
"""

import atexit
import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

__all__ = ["Task", "Workers"]

Result = TypeVar("Result")


class Task(Generic[Result]):
    """A call that a thread makes, if it is still wanted by then.

    Parameters
    ----------
    call : callable
        A function without arguments.
    """

    __slots__ = ("_call", "_done", "_error", "_result", "is_wanted")

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call: Callable[[], Result] | None = call
        self._result: Result | None = None
        self._error: BaseException | None = None
        self.is_wanted = True
        self._done = allocate_lock()
        self._done.acquire()

    def run(self) -> None:
        """Make the call, and keep its result or its error."""
        call, self._call = self._call, None
        try:
            if self.is_wanted and call is not None:
                self._result = call()
        except BaseException as error:  # it belongs to the thread that waits
            self._error = error
        finally:
            self._done.release()

    def wait(self) -> None:
        """Wait for the end of the call."""
        with self._done:
            pass

    def result(self) -> Result:
        """Wait for the call; return its result, or raise its error."""
        self.wait()
        if self._error is None:
            return cast(Result, self._result)
        try:
            raise self._error
        finally:
            del self  # the error refers to this frame


class Workers:
    """Threads that run tasks in their order, until `end`.

    Parameters
    ----------
    count : int
        Number of threads. They start when they are first needed.

    Examples
    --------
    >>> workers = Workers(2)
    >>> tasks = [workers.submit(lambda k=k: k * k) for k in range(4)]
    >>> [task.result() for task in tasks]
    [0, 1, 4, 9]
    >>> workers.end()
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        self._ends: list[Any] = []  # a lock of each thread, which is free when it has ended
        _open.add(self)

    def submit(self, call: Callable[[], Result]) -> Task[Result]:
        """Return a task that makes a call in one of the threads."""
        if len(self._ends) < self._count:
            self._ends.append(allocate_lock())
            self._ends[-1].acquire()
            start_new_thread(_work, (self._tasks, self._ends[-1]))
        task = Task(call)
        self._tasks.put(task)
        return task

    def end(self) -> None:
        """Let each thread end after its task, and wait for them; may be called again."""
        self._tasks.put(None)
        for each in self._ends:
            with each:
                pass
        _open.discard(self)


# Workers that have not ended. The exit of the process waits for them.
_open: set[Workers] = set()


def _work(tasks: "SimpleQueue[Task[Any] | None]", end: Any) -> None:
    """Run tasks until there is none; then the next thread finds none either."""
    try:
        while (task := tasks.get()) is not None:
            task.run()
            del task  # its result may be large
        tasks.put(None)
    finally:
        end.release()


def _end_all() -> None:
    for each in list(_open):
        each.end()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):  # a child of a fork has none of the threads
    os.register_at_fork(after_in_child=_open.clear)
