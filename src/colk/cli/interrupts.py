"""Ctrl-C and SIGTERM: a run ends after its step, and no draft of a file is left."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interruptible", "stoppable"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise `KeyboardInterrupt`, so that no draft of a file is left.

    Outside this context, Ctrl-C ends the process at once. This is needed during imports, which do
    not always pass the exception on.

    Examples
    --------
    >>> with interruptible():
    ...     pass
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C or SIGTERM end a run after its step, and a second one end it at once.

    Yields
    ------
    callable
        Returns whether the run should stop.

    Examples
    --------
    >>> with stoppable() as stopped:
    ...     stopped()
    False
    """
    asked: list[int] = []

    def ask(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
