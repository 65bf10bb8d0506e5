"""Locks of models: one thread at a time, and a fork copies no model in the middle of a change.

A fork copies the locks of other threads in their current state, but not the threads themselves.
Therefore the forking thread first takes all locks, so that the child gets whole models with free
locks. If another thread does not release a lock in time, its model raises an error in the child
instead of waiting for ever.
"""

import os
import threading
import time
import weakref
from _thread import RLock
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import deepcopy
from functools import wraps
from typing import Any, ClassVar, Concatenate, NoReturn, ParamSpec, TypeVar

__all__ = ["LOCK", "Guarded", "Lock", "give_way", "held", "locked"]

P = ParamSpec("P")
R = TypeVar("R")
G = TypeVar("G", bound="Guarded")

# The attribute of a guarded model that holds its lock.
LOCK = "_own_lock"

# Seconds that a fork waits for the locks of other threads.
PATIENCE = 30.0
# Seconds that a thread waits before it takes a lock if another one is about to fork.
_PAUSE = 0.001


class Lock(RLock):  # type: ignore[misc]  # final for the type checker only
    """A lock that its thread can take several times; a fork waits for it.

    Examples
    --------
    >>> lock = Lock()
    >>> with lock, lock:
    ...     "once more"
    'once more'
    """

    def __init__(self) -> None:
        _fork.register(self)

    def free_in_child(self) -> None:
        """Release the lock of a thread that the child of a fork does not have."""
        self._at_fork_reinit()  # type: ignore[attr-defined]
        self.__class__ = _BrokenLock


class _BrokenLock(Lock):  # type: ignore[misc]
    """The lock of a model that was changing when the process was forked."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> NoReturn:
        raise RuntimeError(
            "the process was forked while another thread was changing this model, so this copy is "
            "not whole; fork before that thread learns, or send the model to the child as a file"
        )

    __enter__ = acquire


class _Fork:
    """Takes all locks before a fork, and releases them after it.

    Ctrl-C may end `begin` early, so the other methods do not assume that `begin` has finished.
    """

    def __init__(self) -> None:
        self.is_waiting = False
        self._live: weakref.WeakSet[Lock] = weakref.WeakSet()
        self._registry = threading.RLock()  # guards the set of live locks
        self._turn = threading.RLock()  # one fork at a time
        self._held: list[Lock] = []
        self._missed: list[Lock] = []

    def register(self, lock: Lock) -> None:
        """Add a lock."""
        with self._registry:
            self._live.add(lock)

    def begin(self) -> None:
        """Take all locks, before a fork.

        Nothing is held while waiting, because another thread may hold some of the locks and wait
        for others.
        """
        self._turn.acquire()
        self.is_waiting, self._missed = True, []
        deadline = time.monotonic() + PATIENCE
        while (wanted := self._take_all()) is not None:
            self._release()
            if wanted.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
                self._held.append(wanted)
            else:
                self._missed.append(wanted)

    def _take_all(self) -> Lock | None:
        """Take the locks that are free; return the first that is not, or None."""
        while True:
            self._registry.acquire()
            seen = {id(lock) for lock in (*self._held, *self._missed)}
            new = [lock for lock in self._live if id(lock) not in seen]
            if not new:
                return None  # the registry stays locked, so that no lock is added until the fork
            self._registry.release()
            for lock in new:
                if isinstance(lock, _BrokenLock):
                    self._missed.append(lock)
                elif lock.acquire(blocking=False):
                    self._held.append(lock)
                else:
                    return lock

    def _release(self) -> None:
        while self._held:
            self._held.pop().release()

    def end(self) -> None:
        """Release all locks, after a fork."""
        self._release()
        self._missed, self.is_waiting = [], False
        for lock in (self._registry, self._turn):
            with suppress(RuntimeError):  # it is not ours if Ctrl-C ended `begin`
                lock.release()

    def end_in_child(self) -> None:
        """Release all locks in the child; models that another thread was changing are lost."""
        for lock in (self._registry, self._turn):
            lock._at_fork_reinit()  # type: ignore[attr-defined]
        for lock in list(self._live):
            if isinstance(lock, _BrokenLock):
                continue
            if lock.acquire(blocking=False):
                lock.release()
            else:
                lock.free_in_child()
        self.end()


_fork = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_fork.begin, after_in_parent=_fork.end, after_in_child=_fork.end_in_child
    )


def give_way() -> None:
    """Let a waiting fork take the locks first; call this before you hold a lock for long."""
    if _fork.is_waiting:
        time.sleep(_PAUSE)


class Guarded:
    """A model whose parts change together; a copy or a file has all parts from the same moment.

    Methods that change the parts hold the lock.
    """

    _changing: ClassVar[tuple[str, ...]] = ()  # attributes that are changed in place

    @property
    def _lock(self) -> Lock:
        """The lock of the model, made when it is first needed."""
        give_way()
        lock: Lock | None = self.__dict__.get(LOCK)
        return self.__dict__.setdefault(LOCK, Lock()) if lock is None else lock

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes but the lock, with copies of those that are changed in place."""
        with self._lock:
            state = {name: value for name, value in self.__dict__.items() if name != LOCK}
            return {**state, **{n: deepcopy(state[n]) for n in self._changing if n in state}}


def held(model: Any) -> AbstractContextManager[Any]:
    """Keep other threads from changing a model, if it is a guarded one.

    Examples
    --------
    >>> with held(Guarded()), held("a text"):
    ...     pass
    """
    return model._lock if isinstance(model, Guarded) else nullcontext()


def locked(method: Callable[Concatenate[G, P], R]) -> Callable[Concatenate[G, P], R]:
    """Decorate a method of a guarded model, so that it holds the lock.

    Examples
    --------
    >>> class Counter(Guarded):
    ...     count = 0
    ...
    ...     @locked
    ...     def add(self):
    ...         self.count += 1
    >>> counter = Counter()
    >>> counter.add()
    >>> counter.count
    1
    """

    @wraps(method)
    def call(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return call
