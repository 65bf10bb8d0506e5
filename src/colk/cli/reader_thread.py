"""A thread that parses the next batch while the current one is learned."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["is_reading", "read_ahead"]

Item = TypeVar("Item")

# Largest number of items in the queue.
_DEPTH = 2
# Seconds between two checks whether to stop.
_PATIENCE = 0.1
# Seconds that the consumer waits for the thread to end; only a pipe takes longer.
_FAREWELL = 2.0

_NAME = "colk reader"
_END = object()


def is_reading() -> bool:
    """Whether a thread still reads, for example from a pipe without new data.

    Examples
    --------
    >>> is_reading()
    False
    """
    return any(thread.name == _NAME for thread in threading.enumerate())


def read_ahead(
    items: Iterator[Item], stopped: Callable[[], bool] = lambda: False
) -> Iterator[Item]:
    """Iterate in a second thread, at most two items ahead of the consumer.

    The thread ends before the iteration does, unless it waits for a pipe.

    Parameters
    ----------
    items : iterator
        The items. An error in it is raised in the consumer.
    stopped : callable, optional
        Returns whether to end early; called while waiting. Default: never.

    Examples
    --------
    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    waiting: queue.Queue[object] = queue.Queue(_DEPTH)
    left = threading.Event()

    def put(item: object) -> None:
        while not left.is_set():
            try:
                waiting.put(item, timeout=_PATIENCE)
            except queue.Full:
                continue
            return

    def read() -> None:
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
            put(_END)
        except BaseException as error:  # raised in the consumer's thread
            put(error)

    reader = threading.Thread(target=read, name=_NAME, daemon=True)
    reader.start()
    try:
        while not stopped():
            try:
                item = waiting.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            if item is _END:
                return
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]
    finally:
        left.set()
        reader.join(_FAREWELL)
