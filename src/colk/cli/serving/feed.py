"""Pass the state of a running stream to the pages that watch it."""

import json
import threading
from collections.abc import Mapping
from typing import Any

__all__ = ["LiveFeed"]


class LiveFeed:
    """Passes the latest state of a stream to any number of readers, in any thread.

    Examples
    --------
    >>> feed = LiveFeed()
    >>> feed.publish({"rows": 10})
    >>> feed.after(0, timeout=0.0)
    (1, '{"rows": 10}')
    >>> feed.after(1, timeout=0.0) is None
    True
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self._state: dict[str, Any] = {}
        self.is_closed = False

    def publish(self, state: Mapping[str, Any]) -> None:
        """Replace the state.

        Parameters
        ----------
        state : mapping
            Numbers, texts and lists of them.
        """
        with self._changed:
            self._state = dict(state)
            self._tell()

    def _tell(self) -> None:
        self._number += 1
        self._changed.notify_all()

    def after(self, number: int, timeout: float) -> tuple[int, str] | None:
        """Return the number of the latest state and the state as JSON, if it is newer.

        Parameters
        ----------
        number : int
            The number of the reader's last state; 0 for none.
        timeout : float
            Seconds to wait for a newer state. If none comes, the result is None.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._number > number or self.is_closed, timeout)
            if self._number <= number or not self._state:
                return None
            return self._number, json.dumps(self._state, allow_nan=False)

    def close(self) -> None:
        """Wake all readers and let them end."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()
