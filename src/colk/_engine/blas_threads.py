"""Keep BLAS at one thread while the library computes.

The matrices of a fit are small, so waking a second thread takes longer than it saves. On a busy
machine, BLAS threads also wait for each other.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import RLock, get_ident
from typing import Any
from weakref import ref

__all__ = ["BLAS_WINDOW", "few_blas_threads", "one_blas_thread"]

# Steps on fewer samples than this do not call BLAS.
BLAS_WINDOW = 8
# With fewer atoms than this one thread is faster.
_THREADS_FROM = 256


class _User:
    """A context in which BLAS has one thread; it ends with its frame, also after an interrupt."""


# Users and their threads. The first user lowers the counts of the process, the last restores them.
_users: list[tuple[ref[_User], int]] = []
# The BLAS libraries with lowered counts, and their counts before.
_before: list[tuple[Any, int]] = []
# Garbage collection may end a context while its thread is in `_update`.
_lock = RLock()


def _forget_users() -> None:
    """Forget the users of other threads, which do not exist in a child of a fork."""
    global _lock
    _lock = RLock()
    _users.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_users)


@cache
def _libraries(with_scipy: bool) -> list[Any]:
    """Return the loaded BLAS libraries; SciPy may load one of its own later."""
    from threadpoolctl import ThreadpoolController

    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _update(user: _User | None = None) -> None:
    """Lower the counts for a new user, or restore them if none is left.

    After an interrupt, the next call completes the work.
    """
    with _lock:
        if user is not None:
            _users.append((ref(user), get_ident()))
        _users[:] = [(each, thread) for each, thread in _users if each() is not None]
        if _users and not _before:
            libraries = _libraries("scipy.linalg" in sys.modules)
            _before[:] = [(library, library.num_threads) for library in libraries]
        in_this_thread = get_ident() in [thread for _, thread in _users]
        for library, count in _before:
            is_used = in_this_thread if _is_local(library) else len(_users) > 0
            # threadpoolctl lets only one thread set counts, unless that thread is forgotten.
            getattr(library, "clear_controlling_thread", _ignore)(force=True)
            library.set_num_threads(1 if is_used else count)
            getattr(library, "clear_controlling_thread", _ignore)(force=True)
        if not _users:
            _before.clear()


def _is_local(library: Any) -> bool:
    """Return whether each thread has its own count."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", "") == "openmp"


def _ignore(force: bool) -> None:
    """Do nothing; older versions of threadpoolctl let any thread set counts."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Return a context, or decorate a function, in which BLAS uses one thread.

    Threads may be in such contexts at the same time; the last one to leave restores the counts.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    user: _User | None = _User()
    try:
        _update(user)
        yield
    finally:
        user = None
        _update()


def few_blas_threads(n_atoms: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if there are few atoms.

    Examples
    --------
    >>> with few_blas_threads(n_atoms=1000):
    ...     pass
    """
    return nullcontext() if n_atoms >= _THREADS_FROM else one_blas_thread()
