"""A run of `colk fit`: passes over the data, checkpoints, and the position of the run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.cli.left_out import HeldOutRows
from colk.cli.options import Rejects
from colk.cli.reader_thread import read_ahead
from colk.persistence import save
from colk.tabular import TableModel
from colk.tabular.baselines import Baselines
from colk.tabular.passes import TableFit
from colk.tabular.reading import Position, Rows, Source
from colk.tabular.record import Predicted, RunRecord, Score
from colk.tabular.sample import RowSample

__all__ = ["Place", "Run"]

# Largest number of rows that are predicted together and then learned.
_PIECE = 4096
# A piece is at most 1/_SHARE of the rows before it, so pieces are small at the beginning.
_SHARE = 8

# Largest number of residuals that calibrate intervals: of held-out rows, and of a pipe's latest.
_RESIDUALS = 10_000
_LATEST = 1000

# Cost of a pass per row, relative to reading; for the polish, the cost of all its passes.
_COSTS = {"scan": 1.0, "learn": 8.0, "collect": 1.0, "polish": 8.0}


@dataclass(frozen=True)
class Place:
    """The place of a run in its learning passes.

    Parameters
    ----------
    epoch : int
        Number of finished learning passes.
    position : Position
        Start of the batch that is being learned.
    begun : bool
        Whether the rejected rows of the batch were counted.
    before, taken : int
        Usable rows of this pass before the batch, and usable rows of the batch that were learned.
    total : int
        Number of usable rows learned in all passes.
    counts_rejects : bool
        Whether the learning pass counts rejected rows, because no pass has read them before.

    Examples
    --------
    >>> Place.of({**Place(total=3).state, "epoch": 1})
    Place(epoch=1, position=Position(file=0, offset=0, line=1), begun=False, ..., total=3, ...)
    """

    epoch: int = 0
    position: Position = field(default_factory=Position)
    begun: bool = False
    before: int = 0
    taken: int = 0
    total: int = 0
    counts_rejects: bool = False

    @property
    def state(self) -> dict[str, Any]:
        """The place as a dictionary of numbers."""
        return asdict(self)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Place":
        """Check the numbers of a state; return its place."""
        place = cls(**{**state, "position": Position(**state["position"])})
        counts = (*asdict(place.position).values(), place.epoch, place.before, place.taken)
        if any(type(each) is not int or each < 0 for each in (*counts, place.total)):
            raise ValueError("numbers in the place of a run must be whole and at least 0")
        return place


class Run:
    """Fits a model to the rows of a source.

    Parameters
    ----------
    model : TableModel
        The model; its notes record the run.
    source : Source
        The data.
    rejects : Rejects
        Counts unusable rows.
    record : RunRecord
        Errors of the rows before they are learned.
    place : Place
        The place where the run begins.
    fit : TableFit
        The passes.
    left_out : HeldOutRows
        Draws the held-out rows.
    every : int or None
        Number of rows between two checkpoints; None: no checkpoints.
    path : Path
        File of the model.
    """

    def __init__(
        self,
        model: TableModel,
        source: Source,
        rejects: Rejects,
        record: RunRecord,
        place: Place,
        fit: TableFit,
        left_out: HeldOutRows,
        every: int | None,
        path: Path,
    ) -> None:
        self.model, self.source, self.fit = model, source, fit
        self.rejects, self.record, self.place = rejects, record, place
        self.left_out, self.every, self.path = left_out, every, path
        self.work_done = 0.0
        self._has_scanned = False  # rows with gaps are scanned twice
        self._baselines = Baselines(
            model.wanted_features.numbers + model.dates,
            model.categorical,
            model.task == "classification",
        )
        files = [prefix.state for prefix in source.prefixes()]
        self._read = {"columns": list(source.kinds), "files": files}

    def learn(self, stopped: Callable[[], bool], show: Callable[[int], None]) -> bool:
        """Make the remaining passes; return whether all were finished.

        Parameters
        ----------
        stopped : callable
            Returns whether to stop; called between pieces.
        show : callable
            Called with the number of rows after each piece.
        """
        while self.fit.phase != "done":
            in_learning, before = self.fit.phase == "learn", self.work_done
            one_pass = self._learning_pass if in_learning else self._whole_pass
            if not one_pass(before, stopped, show) or stopped():
                return False
            self._end_pass(in_learning)
        if self.left_out.calibration:
            self.calibrate()
        return True

    def _end_pass(self, in_learning: bool) -> None:
        rows, notes = self.model.rows, self.model.notes
        is_last = self.place.epoch + 1 >= self.fit.epochs
        if in_learning and is_last and notes.get("phase") == "done" and notes.get("rows") == rows:
            self.fit.phase = "done"  # there are no new rows, so the weights stay
            return
        self.fit.end_pass()
        if self.fit.phase == "learn":
            self.place = Place(self.fit.epoch, total=self.place.total)
        elif in_learning:  # no pass has counted the rejects among rows that are appended later
            self.place = replace(self.place, counts_rejects=True)
        if self.every is not None and rows:
            self.save()

    # -- passes ------------------------------------------------------------------------------

    def _whole_pass(
        self, work_before: float, stopped: Callable[[], bool], show: Callable[[int], None]
    ) -> bool:
        """Read all rows for the scan or the polish, which begin again after an interruption."""
        is_scan = self.fit.phase == "scan" and not self._has_scanned
        before = 0
        for rows in read_ahead(self._all_rows(), stopped):
            if is_scan:
                self.rejects.add(self._path(rows), rows.rejects)
            columns, lines = self._kept(rows, slice(0, len(rows)), before)
            before += len(rows)
            self._feed(columns, self._path(rows), lines)
            if is_scan:
                self._baselines.add(columns, columns[self.model.target])
            self._work(work_before, rows.done)
            show(0)
            if stopped():
                return False
        self._has_scanned = self._has_scanned or is_scan
        return True

    def _learning_pass(
        self, work_before: float, stopped: Callable[[], bool], show: Callable[[int], None]
    ) -> bool:
        """Learn the rows from `place` on."""
        for rows in read_ahead(self.source.rows(self.model.wanted, self.place.position), stopped):
            path = self._path(rows)
            known = self.place.begun and rows.start == self.place.position
            if not known:
                before = self.place.before + self.place.taken
                if self.place.counts_rejects:
                    self.rejects.add(path, rows.rejects)
                self.place = replace(
                    self.place, position=rows.start, begun=True, before=before, taken=0
                )
            while self.place.taken < len(rows):
                start = self.place.taken
                stop = min(len(rows), start + self._piece())
                self._learn_piece(rows, slice(start, stop), path)
                self.place = replace(self.place, taken=stop, total=self.place.total + stop - start)
                self._work(work_before, rows.done)
                show(stop - start)
                if self.every is not None and self.place.total % self.every == 0:
                    self.save()
                if stopped():
                    return False
        return True

    def _piece(self) -> int:
        """Return the number of rows to the next boundary, which depends only on earlier rows."""
        total = self.place.total
        size = min(_PIECE, 1 << max((total // _SHARE).bit_length() - 1, 0))
        room = size - total % size
        return room if self.every is None else min(room, self.every - total % self.every)

    def _learn_piece(self, rows: Rows, which: slice, path: str) -> None:
        columns, lines = self._kept(rows, which, self.place.before + which.start)
        y = columns[self.model.target]
        found = self.record.watch(self.model, columns, y, path, lines)
        if found is not None and (self.place.epoch == 0 or self.source.waits):
            self.record.detect(self.model, columns, found.sizes, self.model.rows)
        self._feed(columns, path, lines)
        if self.source.waits:
            self._baselines.add(columns, y)
            self._remember(found, y)

    def _remember(self, found: Predicted | None, y: Any) -> None:
        """Keep the latest residuals for intervals, because a pipe has no held-out rows."""
        if found is not None and "intervals" in self.model.notes:
            before = self.model.residuals
            self.model.calibrate(np.concatenate([before, y - found.values])[-_LATEST:])

    def _feed(self, columns: Mapping[str, Any], path: str, lines: NDArray[np.int64]) -> None:
        if len(lines) == 0:
            return
        try:
            self.fit.add(columns, columns[self.model.target])
        except (ValueError, ArithmeticError) as error:
            raise type(error)(f"{path}, lines {lines[0]} to {lines[-1]}: {error}") from error

    # -- rows --------------------------------------------------------------------------------

    def _path(self, rows: Rows) -> str:
        return self.source.paths[rows.start.file]

    def _all_rows(self) -> Iterator[Rows]:
        return self.source.rows(self.model.wanted)

    def _kept(
        self, rows: Rows, which: slice, first: int
    ) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Return the rows of a batch that are not held out, and their lines."""
        columns = {name: values[which] for name, values in rows.columns.items()}
        return self.left_out.take("learn", columns, rows.lines[which], first)

    def _left(self, part: str) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """Yield the held-out rows of a part."""
        before = 0
        for rows in read_ahead(self._all_rows()):
            columns, _ = self.left_out.take(part, rows.columns, rows.lines, before)
            before += len(rows)
            yield columns, columns[self.model.target]

    def test(self) -> Score:
        """Return the error of the model on the held-out rows."""
        score = Score()
        for columns, y in self._left("holdout"):
            score.count(self.model, columns, y)
        return score

    def calibrate(self) -> None:
        """Calibrate the intervals of the model by the rows held out for them."""
        sample = RowSample(_RESIDUALS)
        for columns, y in self._left("calibration"):
            if len(y):
                residuals = y - self.model.predict(columns)
                sample.add(residuals[:, None], np.zeros((len(y), 0)))
        if sample.n_seen:
            self.model.calibrate(sample.arrays()[0][:, 0])

    # -- progress and checkpoints ------------------------------------------------------------

    def _work(self, before: float, done: int) -> None:
        """Update the work done: bytes read, times the cost of the pass."""
        phase = self.fit.phase
        passes = 3.0 if phase == "polish" else 1.0
        self.work_done = before + _COSTS[phase] / passes * done

    @property
    def work(self) -> float | None:
        """The work of the remaining passes, in units of reading a byte; None for a pipe."""
        size = self.source.size
        if size is None:
            return None
        left = ["learn"] * (self.fit.epochs - self.fit.epoch)
        left += ["polish"] if self.model.polish else []
        left += [self.fit.phase] if self.fit.phase in ("scan", "collect") else []
        return size * sum(_COSTS[phase] for phase in left)

    def save(self) -> None:
        """Write the model, with the place of the run in its notes."""
        baseline = self._baselines.fitted()
        if baseline is not None:
            self.model.notes["baselines"] = baseline.state
        self.model.notes = {
            **self.model.notes,
            "phase": self.fit.phase,
            "place": self.place.state,
            "read": self._read,
            "polish": self.fit.iterate_state,
            "rows": self.model.rows,
            "rejected": self.rejects.count,
            "rejects_size": self.rejects.size,
            "record": self.record.state,
        }
        save(self.model, self.path)
