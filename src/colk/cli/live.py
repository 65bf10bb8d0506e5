"""One line that lives: rows a second, error, atoms, time left."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["LiveLine"]

# Seconds between two looks at the clock.
_REFRESH = 0.2


class LiveLine:
    """Shows how a stream is learned; used as a context. Writes to standard error, if anybody looks.

    Parameters
    ----------
    size : int or None
        Of the data, in the units of `done`; None where it cannot be known.
    error_name : str
        What the error is called.
    """

    def __init__(self, size: int | None, error_name: str) -> None:
        self._console = Console(stderr=True)
        columns = [TextColumn("{task.description}")]
        if size is not None:
            columns = [BarColumn(bar_width=20), *columns, TimeRemainingColumn()]  # type: ignore[list-item]
        self._bars = Progress(*columns, console=self._console, transient=True)
        self._bar = self._bars.add_task("", total=size)
        self._size, self._name = size, error_name
        self._began = self._shown = time.monotonic()
        self._rows = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._began

    @property
    def rows(self) -> int:
        """Rows counted."""
        return self._rows

    def show(self, rows: int, done: int, error: float, n_atoms: int) -> None:
        """Count rows; now and then, draw the line anew."""
        self._rows += rows
        now = time.monotonic()
        if now - self._shown < _REFRESH:
            return
        self._shown = now
        speed = self._rows / max(now - self._began, 1e-9)
        text = (
            f"{self._rows:,} rows · {speed:,.0f} rows/s · {self._name} {error:.4g} · "
            f"{n_atoms} atoms"
        )
        self._bars.update(self._bar, completed=done, description=text)
