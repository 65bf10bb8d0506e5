"""Items that several threads work on; each takes the next one when it is free.

The thread that asks for the results works as well, instead of sleeping while there is work. Waking
a thread takes as long as some thousand operations.
"""

from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from threading import Condition
from typing import Generic, TypeVar

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

    def results(self, context: Context) -> Iterator[Result]:
        """Work in a context, and yield the results. The first item that fails raises its error."""
        for wanted in range(len(self._items)):
            while not self._is_done(wanted):
                place = self._taken(waits=False)
                if place is None:
                    with self._changed:
                        self._changed.wait_for(lambda: self._is_done(wanted))  # noqa: B023
                else:
                    context.run(self._run, place)
            if wanted in self._errors:
                raise self._errors[wanted]
            found = self._found.pop(wanted)
            with self._changed:
                self._n_returned = wanted + 1
                self._changed.notify_all()
            yield found

    def _is_done(self, place: int) -> bool:
        return place in self._found or place in self._errors

    def _taken(self, waits: bool) -> int | None:
        """Take the next item; return its index, or None if no item may be taken, or not yet."""
        with self._changed:
            if waits:
                self._changed.wait_for(lambda: self._n_taken >= self._n_open or self._may_take())
            if self._n_taken >= self._n_open or not self._may_take():
                return None
            self._n_taken += 1
            return self._n_taken - 1

    def _may_take(self) -> bool:
        return self._n_taken < self._n_returned + self._ahead

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
