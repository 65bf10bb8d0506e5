"""A bar with the time that is left."""

from types import TracebackType
from typing import Self

from colk.extras import needed_for

with needed_for("colk.cli.progress", extra="cli"):
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

__all__ = ["Progress"]


class Progress:
    """Counts finished runs; used as a context. Writes to standard error.

    Parameters
    ----------
    total : int
        Runs altogether.
    title : str
        What runs.
    """

    def __init__(self, total: int, title: str) -> None:
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
        )
        self._bar = self._bars.add_task(title, total=total)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def advance(self, finished: int) -> None:
        """Count runs that have just finished, or were found finished."""
        self._bars.advance(self._bar, finished)
