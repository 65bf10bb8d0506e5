"""Progress line of `colk fit`: rows per second, error, atoms and time left."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from colk.cli.terminal import beneath

__all__ = ["LiveLine"]

# Seconds between two updates.
_REFRESH = 0.2


class LiveLine:
    """Shows the progress of a run on stderr; a context manager.

    Parameters
    ----------
    work : float or None
        Total work of the run, in the units of `done`; None if it is unknown.
    error_name : str
        Name of the error.
    """

    def __init__(self, work: float | None, error_name: str) -> None:
        columns = [TextColumn("{task.description}")]
        if work is not None:
            columns = [BarColumn(bar_width=20), *columns, TimeRemainingColumn()]  # type: ignore[list-item]
        self._bars = Progress(
            *columns,
            console=Console(file=beneath(sys.stderr)),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._bar = self._bars.add_task("", total=work)
        self._work, self._name = work, error_name
        self._began = self._shown = time.monotonic()
        self._rows = 0

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

    def show(self, phase: str, rows: int, done: float, error: float, n_atoms: int) -> None:
        """Count rows; update the line if 0.2 seconds have passed.

        Parameters
        ----------
        phase : str
            Phase of the fit.
        rows : int
            Number of rows learned since the last call.
        done : float
            Work done so far.
        error : float
            Error of the latest rows.
        n_atoms : int
            Number of atoms of the model.
        """
        self._rows += rows
        now = time.monotonic()
        if now - self._shown < _REFRESH:
            return
        self._shown = now
        text = phase
        if self._rows:
            speed = self._rows / max(now - self._began, 1e-9)
            text += (
                f": {self._rows:,} rows · {speed:,.0f} rows/s · {self._name} {error:.4g} · "
                f"{n_atoms} atoms"
            )
        completed = done if self._work is None else min(done, self._work)
        self._bars.update(self._bar, completed=completed, description=text)
