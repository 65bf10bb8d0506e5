"""Items that several threads work on; each takes the next one when it is free.

The thread that asks for the results works as well, instead of sleeping while there is work. Waking
a thread takes as long as some thousand operations. If the caller waits for an item of another
thread, and that item itself consists of several items, the caller takes some of those.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import Context
from threading import Condition
from typing import Any, Generic, TypeVar

__all__ = ["SharedItems"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class SharedItems(Generic[Item, Result]):
    """The results of a function of each item, in the order of the items.

    Parameters
    ----------
    function : callable
        The function.
    items : sequence
        The items.
    ahead : int
        Largest number of results that are computed before the caller asks for them.

    Examples
    --------
    >>> from contextvars import copy_context
    >>> from threading import Thread
    >>> shared = SharedItems(abs, [-1, -2, 3], ahead=2)
    >>> Thread(target=shared.help).start()
    >>> list(shared.results(copy_context()))
    [1, 2, 3]
    """

    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], ahead: int
    ) -> None:
        self._function, self._items, self._ahead = function, items, ahead
        self._changed = Condition()
        self._n_taken = self._n_returned = 0
        self._n_open = len(items)  # items from here on are not taken any more
        self._nested: list[SharedItems[Any, Any]] = []  # the items inside those of helpers
        self._is_abandoned = False
        self._found: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    @property
    def is_over(self) -> bool:
        """Whether all results have been returned."""
        return self._n_returned == len(self._items)

    def stop(self) -> None:
        """Take no more items."""
        with self._changed:
            self._n_open = self._n_taken
            self._changed.notify_all()

    def help(self) -> None:
        """Work until no items are left; for the threads that help the caller of `results`."""
        while (place := self._taken(waits=True)) is not None:
            self._run(place)

    def abandon(self) -> None:
        """Take no more items, and let nested work fail: the caller of `results` has left."""
        with self._changed:
            self._n_open, self._is_abandoned = self._n_taken, True
            self._changed.notify_all()
            nested = [*self._nested]
        for one in nested:
            one.abandon()

    @contextmanager
    def offered(self, nested: "SharedItems[Any, Any]") -> Iterator[None]:
        """Return a context in which the caller of `results` helps with nested work if it waits."""
        with self._changed:
            self._nested.append(nested)
            self._changed.notify_all()
            is_late = self._is_abandoned
        if is_late:
            nested.abandon()
        try:
            yield
        finally:
            with self._changed:
                self._nested.remove(nested)

    def results(self, context: Context) -> Iterator[Result]:
        """Work in a context, and yield the results. The first item that fails raises its error."""
        for wanted in range(len(self._items)):
            while not self._is_done(wanted):
                if not self._work(context):
                    nested = self._nested_until(wanted)
                    if nested is not None:
                        nested._work(context)
            if wanted in self._errors:
                raise self._errors[wanted]
            found = self._found.pop(wanted)
            with self._changed:
                self._n_returned = wanted + 1
                self._changed.notify_all()
            yield found

    def _work(self, context: Context) -> bool:
        """Work on the next item in a context; return False if no item may be taken."""
        place = self._taken(waits=False)
        if place is not None:
            context.run(self._run, place)
        return place is not None

    def _nested_until(self, wanted: int) -> "SharedItems[Any, Any] | None":
        """Wait for nested work with an item to take, or for the wanted result; then return None."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_done(wanted) or self._is_abandoned or self._open_nested()
            )
            if self._is_done(wanted):
                return None
            if self._is_abandoned:  # a caller that was interrupted may have taken the item
                raise CancelledError
            return self._open_nested()

    def _open_nested(self) -> "SharedItems[Any, Any] | None":
        return next((one for one in self._nested if one._is_open()), None)

    def _is_done(self, place: int) -> bool:
        return place in self._found or place in self._errors

    def _taken(self, waits: bool) -> int | None:
        """Take the next item; return its index, or None if no item may be taken, or not yet."""
        with self._changed:
            if waits:
                self._changed.wait_for(lambda: self._n_taken >= self._n_open or self._is_open())
            if not self._is_open():
                return None
            self._n_taken += 1
            return self._n_taken - 1

    def _is_open(self) -> bool:
        """Whether an item may be taken now."""
        return self._n_taken < min(self._n_open, self._n_returned + self._ahead)

    def _run(self, place: int) -> None:
        try:
            self._found[place] = self._function(self._items[place])
        except BaseException as error:
            self._errors[place] = error
            self.stop()
            if not isinstance(error, Exception):  # such as Ctrl-C, which is raised at once
                raise
        with self._changed:
            self._changed.notify_all()
