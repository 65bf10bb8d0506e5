"""Publish the state of a run, a server or a file to the page that watches it."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from colk.cli.serving.feed import LiveFeed
from colk.persistence import load
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from colk.cli.run import Run
    from colk.cli.serving.service import Service

__all__ = ["FileState", "ServiceState", "live_page"]

# Seconds between two states.
_PAUSE = 0.3
# Seconds over which rows per second are counted.
_WINDOW = 5.0
# Largest number of drift marks.
_MARKS = 200


class _Speed:
    """Rows per second over the latest seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def after(self, rows: int) -> float:
        now = time.monotonic()
        self._seen.append((now, rows))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        (start, before), (end, latest) = self._seen[0], self._seen[-1]
        return (latest - before) / (end - start) if end > start else 0.0


def state_of(model: TableModel, record: RunRecord, phase: str, rate: float) -> dict[str, Any]:
    """Return the numbers, texts and curves that the page shows.

    Parameters
    ----------
    model : TableModel
        The model.
    record : RunRecord
        Errors of the rows before they were learned.
    phase : str
        Text that says what the run is doing.
    rate : float
        Rows per second.
    """
    ends, curve = 0, []
    for rows, error, atoms in record.curve:
        ends += int(rows)
        curve.append([ends, error / max(rows, 1.0), int(atoms)])
    coverage = model.notes.get("intervals")
    has_intervals = coverage is not None and len(model.residuals) > 0
    return {
        "phase": phase,
        "rows": model.rows,
        "rate": rate,
        "error_name": "mean |residual|" if model.task == "regression" else "error rate",
        "error": None if math.isnan(record.recent) else record.recent,
        "atoms": model.n_atoms,
        "intervals": f"coverage {coverage:g}" if has_intervals else "",
        "curve": curve,
        "drifts": [event.time for event in record.drifts[-_MARKS:]],
    }


class _Publisher:
    """A thread that publishes a state every 0.3 seconds while the context is open."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed, self._speed, self._left = feed, _Speed(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="colk page", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._left.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._left.wait(_PAUSE):
            self._look()

    def _look(self) -> None:
        raise NotImplementedError


class ServiceState(_Publisher):
    """Publishes the state of a server.

    Parameters
    ----------
    service : Service
        The service.
    feed : LiveFeed
        The feed that publishes the state.
    """

    def __init__(self, service: "Service", feed: LiveFeed) -> None:
        super().__init__(feed)
        self._service = service
        self._rows = -1

    def _look(self) -> None:
        model, record = self._service.model, self._service.record
        rate = self._speed.after(model.rows)
        if model.rows == self._rows and rate == 0.0:
            return
        self._rows = model.rows
        phase = "learns from requests" if self._service.learns else "predicts"
        self._feed.publish(self._service.whole(lambda: state_of(model, record, phase, rate)))


class FileState(_Publisher):
    """Publishes the state of a model file whenever the file changes.

    Parameters
    ----------
    path : Path
        File of the model.
    feed : LiveFeed
        The feed that publishes the state.
    """

    def __init__(self, path: Path, feed: LiveFeed) -> None:
        super().__init__(feed)
        self._path, self._stamp = path, (0, 0)

    def _look(self) -> None:
        try:
            found = self._path.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp == self._stamp:
                return
            model = load(self._path)
        except (OSError, ValueError):  # another process is replacing the file
            return
        self._stamp = stamp
        if isinstance(model, TableModel):
            record = RunRecord(model.notes.get("record"))
            rate = self._speed.after(model.rows)
            phase = str(model.notes.get("phase", "learned"))
            self._feed.publish(state_of(model, record, _PHASES.get(phase, phase), rate))


_PHASES = {
    "scan": "reads the table for the first time",
    "learn": "learns",
    "weights": "finds the weights",
    "record": "records the errors",
    "done": "learned",
}


@contextmanager
def live_page(run: "Run", port: int) -> Iterator[Any]:
    """Serve the page of a run while the context is open; yield the port and a function to publish.

    Parameters
    ----------
    run : Run
        The run.
    port : int
        Port on this machine; 0 means a free port.
    """
    from colk.cli.serving.app import make_app
    from colk.cli.serving.server import LOOPBACK_NAMES, listening, running

    feed, speed = LiveFeed(), _Speed()
    shown = [0.0]
    at = listening("127.0.0.1", port)

    def publish(is_last: bool = False) -> None:
        now = time.monotonic()
        if now - shown[0] < _PAUSE and not is_last:
            return
        shown[0] = now
        phase = _PHASES.get(run.phase, run.phase)
        feed.publish(state_of(run.model, run.record, phase, speed.after(run.model.rows)))

    app = make_app(feed, f"Model of {run.model.target}", hosts=LOOPBACK_NAMES)
    with running(app, at, feed.close):
        yield at.getsockname()[1], publish
        publish(is_last=True)
