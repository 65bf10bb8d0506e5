"""A run of `colk fit`: one fit of files, or the stream of a pipe, and what is recorded of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk.cli.left_out import HeldOutRows
from colk.cli.place import Place
from colk.cli.quality import BaselineScores, Quality, coverage_of, cross_coverage
from colk.cli.reader_thread import read_ahead
from colk.cli.rejects import Rejects
from colk.cli.row_order import RowOrder
from colk.model.baselines import Baselines, LinearBaseline
from colk.model.fit import Fit
from colk.model.parts import Part
from colk.model.rows import LocalRows
from colk.model.sample import RowSample
from colk.persistence import save
from colk.tabular import TableModel
from colk.tabular.left_out import LeftOutRows
from colk.tabular.reading import RowBatch, Source
from colk.tabular.record import Predicted, RunRecord, Score

__all__ = ["Phase", "Run"]

Phase = Literal["learn", "scan", "weights", "record", "done"]

# Largest number of rows that are predicted together and then learned.
_PIECE = 4096
# A piece is at most 1/_SHARE of the rows before it, so pieces are small at the beginning.
_SHARE = 8

# Largest number of residuals that calibrate intervals: of held-out rows, and of a pipe's latest.
_RESIDUALS = 10_000
_LATEST = 1000

# Cost of a pass per row, relative to reading; for the weights, the cost of all passes.
_COSTS = {"scan": 1.0, "weights": 4.0, "record": 2.0}


class _StoppedError(Exception):
    """The user has stopped the run."""


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
        The place where a stream begins.
    left_out : HeldOutRows
        Draws the held-out rows.
    path : Path
        File of the model.
    every : int or None
        Number of rows between two checkpoints of a stream; None: no checkpoints. Files have one,
        when kernel and atoms are chosen.
    epochs : int or None
        As for `TableModel.fit`.

    Attributes
    ----------
    phase : {"learn", "scan", "weights", "record", "done"}
        What the run is doing. Files are scanned, then the weights of all rows are found, then the
        errors of the finished model are recorded. A stream is learned.
    """

    def __init__(
        self,
        model: TableModel,
        source: Source,
        rejects: Rejects,
        record: RunRecord,
        place: Place,
        left_out: HeldOutRows,
        path: Path,
        every: int | None = None,
        epochs: int | None = None,
    ) -> None:
        self.model, self.source = model, source
        self.rejects, self.record, self.place = rejects, record, place
        self.left_out, self.every, self.path, self.epochs = left_out, every, path, epochs
        self.phase: Phase = "learn" if source.waits else "scan"
        self.left_out_rows: LeftOutRows | None = None
        self.work_done = 0.0
        self._stopped: Callable[[], bool] = lambda: False
        self._show: Callable[[int], None] = lambda rows: None
        self._baselines = Baselines(
            model.wanted_features.numbers + model.dates,
            model.categorical,
            model.task == "classification",
        )
        self._measured = BaselineScores()
        self._order = RowOrder([*model.dates, model.target])
        files = [prefix.state for prefix in source.prefixes()]
        self.read = {"columns": list(source.kinds), "files": files}

    def learn(self, stopped: Callable[[], bool], show: Callable[[int], None]) -> bool:
        """Fit the files, or learn the stream; return whether all rows were used.

        Parameters
        ----------
        stopped : callable
            Returns whether to stop; called between pieces.
        show : callable
            Called with the number of rows after each piece.
        """
        self._stopped, self._show = stopped, show
        if self.phase == "done":  # there are no new rows
            return True
        try:
            if self.source.waits:
                self._learn_stream()
            else:
                self._fit_files()
        except _StoppedError:
            return False
        self.phase = "done"
        return True

    def nothing_learned(self) -> ValueError:
        """Return the error of a run without a usable row."""
        why = f"; first reason: {self.rejects.first}" if self.rejects.first else ""
        return ValueError(f"no row could be learned{why}")

    def _go_on(self, rows: int) -> None:
        """Show the progress; raise if the user has stopped the run."""
        self._show(rows)
        if self._stopped():
            raise _StoppedError

    # -- files -------------------------------------------------------------------------------

    def _fit_files(self) -> None:
        fit = self.model.new_fit(self.epochs)
        self.model.fit_rows(LocalRows(self._checked), fit, self._keep_choice)
        self._record()
        if self.left_out.calibration:
            self.calibrate()
        self._judge(fit)

    def _checked(self) -> Iterator[Any]:
        """Yield the rows that are not held out, checked; an error names their lines."""
        for columns, path, lines in self._pieces():
            try:
                checked = self.model.checked_rows(columns, columns[self.model.target])
            except (ValueError, ArithmeticError) as error:
                raise _at(path, lines, error) from error
            if self.phase == "scan":
                self._baselines.add(columns, columns[self.model.target])
                self._measured.add(columns, columns[self.model.target])
                self._order.add(columns)
            yield checked

    def _pieces(self) -> Iterator[tuple[dict[str, Any], str, NDArray[np.int64]]]:
        """Yield the columns, the file and the lines of rows that are not held out."""
        before, work_before = 0, self.work_done
        for rows in read_ahead(self._all_rows(), self._stopped):
            path = self._path(rows)
            if self.phase == "scan":
                self.rejects.add(path, rows.rejects)
            columns, lines = self._kept(rows, slice(0, len(rows)), before)
            before += len(rows)
            if len(lines):
                yield columns, path, lines
            self.work_done = max(self.work_done, work_before + _COSTS[self.phase] * rows.done)
            self._go_on(0)
        self._go_on(0)
        if self.phase == "scan":
            self.rejects.check(before)
            if before == 0:
                raise self.nothing_learned()

    def _keep_choice(self) -> None:
        """Continue with the weights of all rows; the model can predict already."""
        self.phase = "weights"
        if self.every is not None:
            self.save()
        if self._stopped():
            raise _StoppedError

    def _record(self) -> None:
        """RunRecord the errors of the finished model, in the order of the rows."""
        self.phase, seen = "record", 0
        self.model.notes["order"] = self._order.names
        is_sorted = self.model.target in self._order.names
        for columns, path, lines in self._pieces():
            found = self.record.watch(self.model, columns, columns[self.model.target], path, lines)
            if found is not None and not is_sorted:  # errors differ along a sorted target
                self.record.detect(self.model, columns, found.sizes, seen)
            seen += len(lines)

    # -- a stream ----------------------------------------------------------------------------

    def _learn_stream(self) -> None:
        """Learn the rows from `place` on."""
        for rows in read_ahead(
            self.source.rows(self.model.wanted, self.place.position), self._stopped
        ):
            path, before = self._path(rows), self.place.before + self.place.taken
            if not (self.place.begun and rows.start == self.place.position):
                self.rejects.add(path, rows.rejects)
                self.rejects.check(before + len(rows), has_ended=False)
                self.place = replace(
                    self.place, position=rows.start, begun=True, before=before, taken=0
                )
            while self.place.taken < len(rows):
                start = self.place.taken
                stop = min(len(rows), start + self._piece())
                self._learn_piece(rows, slice(start, stop), path)
                self.place = replace(self.place, taken=stop, total=self.place.total + stop - start)
                if self.every is not None and self.place.total % self.every == 0:
                    self.save()
                self._go_on(stop - start)
        self.rejects.check(self.place.before + self.place.taken)

    def _piece(self) -> int:
        """Return the number of rows to the next boundary, which depends only on earlier rows."""
        total = self.place.total
        size = min(_PIECE, 1 << max((total // _SHARE).bit_length() - 1, 0))
        room = size - total % size
        return room if self.every is None else min(room, self.every - total % self.every)

    def _learn_piece(self, rows: RowBatch, which: slice, path: str) -> None:
        columns, lines = self._kept(rows, which, self.place.before + which.start)
        y = columns[self.model.target]
        found = self.record.watch(self.model, columns, y, path, lines)
        if found is not None:
            self.record.detect(self.model, columns, found.sizes, self.model.rows)
        if len(lines):
            try:
                self.model.learn(columns, y)
            except (ValueError, ArithmeticError) as error:
                raise _at(path, lines, error) from error
        self.model.notes.pop("quality", None)  # it was that of the model before
        self._baselines.add(columns, y)
        self._remember(found, y)

    def _remember(self, found: Predicted | None, y: Any) -> None:
        """Keep the latest residuals for intervals, because a pipe has no held-out rows."""
        if found is not None and "intervals" in self.model.notes:
            before = self.model.residuals
            self.model.calibrate(np.concatenate([before, y - found.values])[-_LATEST:])

    # -- rows --------------------------------------------------------------------------------

    def _path(self, rows: RowBatch) -> str:
        return self.source.paths[rows.start.file]

    def _all_rows(self) -> Iterator[RowBatch]:
        return self.source.rows(self.model.wanted)

    def _kept(
        self, rows: RowBatch, which: slice, first: int
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

    def _judge(self, fit: Fit) -> None:
        """Note how good the finished model is."""
        if fit.final is not None:
            self.left_out_rows = LeftOutRows(self.model, fit.final, fit.judged)
        if self.left_out.holdout > 0.0:
            self.model.notes["quality"] = self._held_out().state
            return
        if self.left_out_rows is None:
            return
        covered, share = None, self.model.notes.get("intervals")
        if share is not None:
            covered = cross_coverage(self.model.residuals, share)
        others = self._measured.of(self._baselines.fitted())
        known = Quality(False, self.left_out_rows.score, others, covered)
        self.model.notes["quality"] = known.state

    def _held_out(self) -> Quality:
        """Return the errors on the held-out rows."""
        score, others, residuals = Score(), BaselineScores(), []
        share = self.model.notes.get("intervals")
        for columns, y in self._left("holdout"):
            if len(y):
                found = score.count(self.model, columns, y)
                others.add(columns, y)
                if share is not None:
                    residuals.append(y - found.values)
        baseline = self._baselines.fitted() or LinearBaseline.of_notes(self.model.notes)
        covered = None
        if share is not None and residuals:
            covered = coverage_of(np.concatenate(residuals), self.model.residuals, share)
        return Quality(True, score, others.of(baseline), covered)

    def calibrate(self) -> None:
        """Calibrate the intervals of the model by the rows held out for them."""
        sample, first = RowSample(self.model.seed, are_labels=False, size=_RESIDUALS), 0
        for columns, y in self._left("calibration"):
            if len(y):
                residuals = (y - self.model.predict(columns))[:, None]
                sample.add(Part(residuals, y, np.ones(len(y)), first))
                first += len(y)
        if sample.n_rows:
            found: Any = sample.drawn().source
            self.model.calibrate(found[:, 0])

    # -- progress and checkpoints ------------------------------------------------------------

    @property
    def work(self) -> float | None:
        """The work of the passes, in units of reading a byte; None for a pipe."""
        size = self.source.size
        return None if size is None else size * sum(_COSTS.values())

    def save(self, path: Path | None = None) -> None:
        """Write the model, with the place of the run in its notes.

        Parameters
        ----------
        path : Path, optional
            The file. Default: that of the run.
        """
        baseline = self._baselines.fitted()
        if baseline is not None:
            self.model.notes["baselines"] = baseline.state
        self.model.notes = {
            **self.model.notes,
            "phase": "done" if self.source.waits else self.phase,
            "epochs": self.epochs,
            "place": self.place.state,
            "read": self.read,
            "rows": self.model.rows,
            "rejected": self.rejects.count,
            "rejects_size": self.rejects.size,
            "record": self.record.state,
        }
        save(self.model, path or self.path)


def _at(path: str, lines: NDArray[np.int64], error: Exception) -> Exception:
    """Return the error with the file and the lines of the rows that caused it."""
    return type(error)(f"{path}, lines {lines[0]} to {lines[-1]}: {error}")
