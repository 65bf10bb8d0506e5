"""Raise KeyboardInterrupt on Ctrl-C while files are written, so that drafts are removed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interruptible"]


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
