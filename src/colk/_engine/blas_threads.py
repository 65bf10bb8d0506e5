"""Keep BLAS at one thread while the library computes.

The matrices of a fit are small, so waking a second thread takes longer than it saves. On a busy
machine, BLAS threads also wait for each other.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

__all__ = ["BLAS_WINDOW", "few_blas_threads", "one_blas_thread"]

# Steps on fewer samples than this do not call BLAS.
BLAS_WINDOW = 8
# With fewer atoms than this one thread is faster.
_THREADS_FROM = 256


# Held by the thread that lowered the thread counts, which belong to the process. The same thread
# restores them, because OpenBLAS may ignore a thread other than the one that set a count.
_lowered = Lock()

if hasattr(os, "register_at_fork"):
    # A child has only the thread that forked, so another thread may not hold the lock there.
    os.register_at_fork(after_in_child=lambda: globals().update(_lowered=Lock()))


@cache
def _thread_pools(with_scipy: bool) -> Any:
    """Return the controller of the loaded libraries; SciPy may load a BLAS of its own later."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Return a context, or decorate a function, in which BLAS uses one thread.

    While one thread is in such a context, entering it in another thread has no effect.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    lock = _lowered
    if not lock.acquire(blocking=False):
        yield
        return
    try:
        with _thread_pools("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        lock.release()


def few_blas_threads(n_atoms: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if there are few atoms.

    Examples
    --------
    >>> with few_blas_threads(n_atoms=1000):
    ...     pass
    """
    return nullcontext() if n_atoms >= _THREADS_FROM else one_blas_thread()
