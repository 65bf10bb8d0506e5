"""Read ahead: the next batch is parsed while this one is learned."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["ahead"]

Item = TypeVar("Item")

# Batches that wait to be learned.
_DEPTH = 2
# Seconds between two looks at whether to stop.
_PATIENCE = 0.1

_END = object()


def ahead(items: Iterator[Item], stopped: Callable[[], bool] = lambda: False) -> Iterator[Item]:
    """Iterate in a thread of its own, at most two items ahead.

    Parameters
    ----------
    items : iterator
        What to iterate over; its errors are raised here.
    stopped : callable
        Whether to end before the items do; asked while waiting.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
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
        except BaseException as error:  # raised where the items are used
            put(error)

    threading.Thread(target=read, daemon=True).start()
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
