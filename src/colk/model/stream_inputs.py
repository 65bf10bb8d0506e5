"""The inputs of a stream: scales, categories and gaps are learned row by row.

The result does not depend on the parts in which the rows arrive. A row is scaled by the means and
the deviations of the rows up to it. A gap is filled with the mean of the rows before it; after the
first 500 rows, with the expected value given the other cells of its row, as in a fit.
"""

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from colk import _stored as stored
from colk._encoding.columns import Column, Table, checked_table
from colk._encoding.dates import CYCLES
from colk._encoding.effects import Places
from colk._encoding.encoder import TableEncoder
from colk._engine.running_scale import COLUMNS, RunningScale
from colk._validation import Array
from colk.errors import FileFormatError
from colk.model.inputs import Inputs
from colk.model.parts import taken
from colk.selection import WARM_UP

__all__ = ["StreamInputs"]


@stored.stores(
    encoder=stored.Object(TableEncoder),
    running=stored.Optional(stored.Object(RunningScale)),
    is_scaled=stored.Flag(),
    first=stored.Optional(
        stored.Array(
            stored.Size("n_first", at_most=WARM_UP - 1), stored.Size("n_cells"), finite=False
        )
    ),
)
class StreamInputs(Inputs):
    """The inputs of a stream.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.
    running : RunningScale or None
        Means and deviations of the numbers so far; None if they are no longer needed.
    is_scaled : bool
        Whether numbers are scaled by them.
    first : array of shape (n, n_cells) or None
        The first rows, with gaps; None after 500 rows.

    Examples
    --------
    >>> inputs = StreamInputs.begun([Column("a", "number"), Column("b", "number")], is_scaled=False)
    >>> a = np.random.default_rng(0).normal(size=600)
    >>> inputs, rows = inputs.learned(np.column_stack([a, 2.0 * a]))
    >>> inputs.encode(np.array([[1.0, np.nan]])).round(1)
    array([[1., 2.]])
    """

    def __init__(
        self,
        encoder: TableEncoder,
        running: RunningScale | None,
        is_scaled: bool,
        first: Array | None,
    ) -> None:
        super().__init__(encoder, running if is_scaled else None)
        self.running, self.is_scaled = running, is_scaled
        self._first = None if first is None else [first]
        self.is_settled = first is None
        self._n_absorbed = 0  # of the latest rows

    @classmethod
    def begun(cls, columns: Sequence[Column], *, is_scaled: bool) -> Self:
        """Return the inputs before the first row.

        Parameters
        ----------
        columns : sequence of Column
            Names and kinds of the columns.
        is_scaled : bool
            Whether to scale numbers.
        """
        cycles = {name: tuple(CYCLES) for name, kind in columns if kind == "date"}
        encoder = TableEncoder(columns, cycles=cycles).watch_constants()
        running = RunningScale(encoder.n_measured, COLUMNS)
        return cls(encoder, running, is_scaled, np.zeros((0, encoder.n_fixed)))

    @property
    def first(self) -> Array | None:
        """The first rows, with gaps; None after 500 rows."""
        return None if self._first is None else np.concatenate(self._first)

    @property
    def n_first(self) -> int:
        """Number of rows so far, at most 500."""
        return WARM_UP if self._first is None else sum(map(len, self._first))

    # -- learning ----------------------------------------------------------------------------

    def widened(self, columns: Sequence[Column]) -> Self:
        """Return the inputs with more columns of numbers, which were 0 in all rows so far.

        Parameters
        ----------
        columns : sequence of Column
            Names and kinds of the columns; all others must be numbers, too.
        """
        n_new, running = len(columns), self.running
        if running is not None:
            running = running.widened(n_new, self.n_first)
        first = self._first and [np.pad(rows, ((0, 0), (0, n_new))) for rows in self._first]
        return self._with(self.encoder.widened(columns), running, first)

    def learned(self, source: Array | Table) -> tuple[Self, Array]:
        """Return the inputs after more rows, and the rows as the learner takes them.

        Parameters
        ----------
        source : array of shape (n, p), or columns and their values by name
            The rows.
        """
        self._check_source(source)
        is_new = isinstance(source, tuple) and self.encoder.unknown(source[1])
        encoder, running = (deepcopy if is_new else copy)(self.encoder), copy(self.running)
        found = self._with(encoder, running, self._first)
        parts = [found._take(part) for part in self._parts(source)]
        width = found.encoder.width
        rows = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
        learned = self._with(encoder, found.running, found._first)
        learned.moves = found.moves
        return learned, np.concatenate(rows)

    def _with(
        self, encoder: TableEncoder, running: RunningScale | None, first: list[Array] | None
    ) -> Self:
        """Return inputs with other parts."""
        found = type(self)(encoder, running, self.is_scaled, None)
        found._first, found.is_settled = None if first is None else list(first), first is None
        return found

    def _parts(self, source: Array | Table) -> Iterator[Array | Table]:
        """Yield the rows until the first 500 are complete, and the others."""
        if self._first is None:
            yield source
            return
        n = len(next(iter(source[1].values()))) if isinstance(source, tuple) else len(source)
        lacking = WARM_UP - self.n_first
        for places in (np.arange(min(lacking, n)), np.arange(min(lacking, n), n)):
            if len(places):
                yield taken(source, places)

    def _take(self, source: Array | Table) -> Array:
        """Learn rows; return them as the learner takes them."""
        encoder = self.encoder
        if isinstance(source, tuple):
            encoder.admit(source[1], grows=False)
        held, marks = encoder.meet(self._with_gaps(source))
        if self._first is None:
            rows = self._absorbed(encoder.filled(held))
        else:
            rows = self._filled_one_by_one(held)
            self._first.append(held)
            if self.n_first == WARM_UP:
                self._settle(np.concatenate(self._first))
        return np.ascontiguousarray(np.column_stack([rows, marks]))

    def _settle(self, first: Array) -> None:
        """Find by the first rows how gaps are filled from now on."""
        assert self.running is not None
        self.encoder.settle(first, self.running.averages)
        self._first, self.is_settled = None, True
        self.running = self.running if self.is_scaled else None

    def _filled_one_by_one(self, rows: Array) -> Array:
        """Return rows with gaps filled by the means of the rows before them, and scaled."""
        filled, start = [rows[:0]], 0
        for row in np.flatnonzero(np.isnan(rows).any(axis=1)).tolist():
            filled.append(self._absorbed(rows[start:row].copy()))
            filled.append(self._absorbed(self._by_means(rows[row : row + 1])))
            start = row + 1
        filled.append(self._absorbed(rows[start:].copy()))
        return np.concatenate(filled)

    def _by_means(self, rows: Array) -> Array:
        """Return rows with gaps filled by the means so far; those of circles by 0."""
        assert self.running is not None
        typical = np.zeros(rows.shape[1])
        typical[: self.encoder.n_measured] = self.running.averages
        return np.where(np.isnan(rows), typical, rows)

    def _absorbed(self, rows: Array) -> Array:
        """Add rows without gaps to the means; return them scaled, if they are to be."""
        n_before, self._n_absorbed = self._n_absorbed, self._n_absorbed + len(rows)
        if self.is_scaled:
            self.moves += tuple(self._scaled_in_parts(rows, n_before))
        elif self.running is not None:
            self.running.absorb(rows.copy())
        return rows

    def keep_one(self, row: Array) -> None:
        """Keep one of the first rows, which was added to `running`.

        Parameters
        ----------
        row : array of shape (1, p)
            Finite numbers, not scaled.
        """
        if self._first is not None:
            self._first = [*self._first, row.copy()]
            if self.n_first == WARM_UP:
                self._settle(np.concatenate(self._first))

    # -- encoding ----------------------------------------------------------------------------

    def encode(self, source: Array | Table, places: Places | None = None) -> Array:
        """Return data as the learner takes them; see `Inputs`."""
        if self._first is None:
            return super().encode(source, places)
        self._check_source(source)
        held, marks = self.encoder.seen(self._with_gaps(source))
        rows = np.ascontiguousarray(np.column_stack([self._by_means(held), marks]))
        if self.scale is not None:
            self.scale.scale(rows)
        return rows

    def _with_gaps(self, source: Array | Table) -> Array:
        if not isinstance(source, tuple):
            return source
        return self.encoder.with_gaps(checked_table(self.encoder.columns, source[1]))

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        encoder, running, first = values["encoder"], values["running"], values["first"]
        is_needed = values["is_scaled"] or first is not None
        if is_needed != (running is not None):
            raise FileFormatError("the means of a stream are needed for scales and for gaps only")
        if running is not None and running.n_columns != encoder.n_measured:
            raise FileFormatError("the scale has other columns than the encoder")
        if first is not None and (first.shape[1] != encoder.n_fixed or np.isinf(first).any()):
            raise FileFormatError("the first rows have other columns than the encoder")
        return cls(**values)
