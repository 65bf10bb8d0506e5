"""A run over a stream: batches are watched, learned and, now and then, saved with their place."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._engine.counter_rng import uniform
from colk.cli.options import Rejects
from colk.cli.reader_thread import ahead
from colk.cli.record import Record, Score
from colk.persistence import save
from colk.tabular import TableModel
from colk.tabular.reading import Columns, Position, Rows, Source

__all__ = ["Place", "Run"]

# Rows that are predicted, then learned, at a time; fewer at the beginning.
_PIECE = 4096
# A piece has at most this share of the rows before it.
_SHARE = 8

# Seed of the draw of rows that are held out.
_HOLDOUT_SEED = 0


@dataclass(frozen=True)
class Place:
    """How far a run is.

    Parameters
    ----------
    epoch : int
        Passes that are finished.
    position : Position
        Where the batch begins that is being learned.
    begun : bool
        Whether its rejects are written.
    before, taken : int
        Usable rows of this pass before the batch, and of the batch that were taken.
    total : int
        Usable rows taken in all passes.

    Examples
    --------
    >>> Place.of({**Place(total=3).state, "epoch": 1})
    Place(epoch=1, position=Position(file=0, offset=0, line=1), begun=False, ..., total=3)
    """

    epoch: int = 0
    position: Position = field(default_factory=Position)
    begun: bool = False
    before: int = 0
    taken: int = 0
    total: int = 0

    @property
    def state(self) -> dict[str, Any]:
        """Everything, as numbers."""
        return asdict(self)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Place":
        """Return the place of a state, whose numbers count."""
        place = cls(**{**state, "position": Position(**state["position"])})
        counts = (*asdict(place.position).values(), place.epoch, place.before, place.taken)
        if any(type(each) is not int or each < 0 for each in (*counts, place.total)):
            raise ValueError("the place of a run is not counted")
        return place


class Run:
    """Learns a stream.

    Parameters
    ----------
    model : TableModel
        What learns; its notes are those of the run.
    source, wanted : Source, Columns
        What to read.
    rejects : Rejects
        Where rows go that cannot be used.
    record : Record
        What is noted.
    place : Place
        Where to begin.
    holdout : float
        Share of the rows that are never learned.
    every : int or None
        Rows between two checkpoints.
    path : Path
        Of the model.
    """

    def __init__(
        self,
        model: TableModel,
        source: Source,
        wanted: Columns,
        rejects: Rejects,
        record: Record,
        place: Place,
        holdout: float,
        every: int | None,
        path: Path,
    ) -> None:
        self.model, self.source, self.wanted = model, source, wanted
        self.rejects, self.record, self.place = rejects, record, place
        self.holdout, self.every, self.path = holdout, every, path

    def learn(
        self, epochs: int, stopped: Callable[[], bool], show: Callable[[int, int], None]
    ) -> bool:
        """Learn until so many passes are made; return whether they were.

        Parameters
        ----------
        epochs : int
            Passes in all.
        stopped : callable
            Whether to stop; asked between pieces.
        show : callable
            Called with the rows of each piece, and how much of the pass is read.
        """
        while True:
            for rows in ahead(self.source.rows(self.wanted, self.place.position), stopped):
                if not self._learn_batch(rows, stopped, show):
                    return False
            if stopped():
                return False
            if self.place.epoch + 1 >= epochs:
                return True
            self.place = Place(self.place.epoch + 1, total=self.place.total)

    def _learn_batch(
        self, rows: Rows, stopped: Callable[[], bool], show: Callable[[int, int], None]
    ) -> bool:
        path = self.source.paths[rows.start.file]
        known = self.place.begun and rows.start == self.place.position
        if not known:
            before = self.place.before + self.place.taken
            self.rejects.add(path, rows.rejects)
            self.place = replace(
                self.place, position=rows.start, begun=True, before=before, taken=0
            )
        while self.place.taken < len(rows):
            start = self.place.taken
            stop = min(len(rows), start + self._piece())
            self._learn_piece(rows, slice(start, stop), path)
            self.place = replace(self.place, taken=stop, total=self.place.total + stop - start)
            show(stop - start, rows.done)
            if self.every is not None and self.place.total % self.every == 0:
                self.save()
            if stopped():
                return False
        return True

    def _piece(self) -> int:
        """Rows up to the next boundary: those depend on the number of rows before, nothing else."""
        total = self.place.total
        size = min(_PIECE, 1 << max((total // _SHARE).bit_length() - 1, 0))
        room = size - total % size
        return room if self.every is None else min(room, self.every - total % self.every)

    def _learn_piece(self, rows: Rows, which: slice, path: str) -> None:
        columns = {name: values[which] for name, values in rows.columns.items()}
        lines = rows.lines[which]
        if self.holdout > 0.0:
            kept = ~self._held(self.place.before + which.start, len(lines))
            columns, lines = {name: v[kept] for name, v in columns.items()}, lines[kept]
        y = columns[self.model.target]
        self.record.watch(self.model, columns, y, path, lines)
        try:
            self.model.learn(columns, y)
        except (ValueError, ArithmeticError) as error:
            raise type(error)(f"{path}, lines {lines[0]} to {lines[-1]}: {error}") from error

    def _held(self, first: int, size: int) -> NDArray[np.bool_]:
        """Which rows of a pass are held out: the same in every pass."""
        numbers = (uniform(_HOLDOUT_SEED, row) for row in range(first, first + size))
        return np.fromiter(numbers, np.float64, size) < self.holdout

    def test(self) -> Score:
        """Return the error of the model, as it is, on the rows that were held out."""
        score, before = Score(), 0
        for rows in ahead(self._again()):
            held = self._held(before, len(rows))
            before += len(rows)
            columns = {name: values[held] for name, values in rows.columns.items()}
            score.count(self.model, columns, columns[self.model.target])
        return score

    def _again(self) -> Iterator[Rows]:
        return self.source.rows(self.wanted)

    def save(self) -> None:
        """Write the model, and with it where the run is."""
        self.model.notes = {
            **self.model.notes,
            "place": self.place.state,
            "rejected": self.rejects.count,
            "rejects_size": self.rejects.size,
            "record": self.record.state,
        }
        save(self.model, self.path)
