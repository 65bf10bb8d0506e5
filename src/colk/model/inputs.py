"""Turn X into the rows that the learner takes: encoded, and scaled if `standardize` says so."""

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from colk import _stored as stored
from colk._encoding.columns import Column, Table, is_missing
from colk._encoding.effects import Places
from colk._encoding.encoder import TableEncoder
from colk._encoding.frames import names_of
from colk._engine.running_scale import COLUMNS, RunningScale
from colk._validation import Array
from colk.errors import FileFormatError
from colk.kernels import Mixed
from colk.learners.rescaled import Change, Move
from colk.model.settings import Settings
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Inputs", "are_scaled"]

# Numbers need no scaling unless a column is smaller than another by the factor _APART, both in
# standard deviation and in range. With fewer than _FEWEST rows, scales are not reliable.
_APART = 10.0
_FEWEST = 30
_SIDE_BY_SIDE = 64


def are_scaled(X: Array) -> bool:
    """Return whether the columns of X have about the same scale, or too few rows to tell.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> are_scaled(X), are_scaled(X * [1.0, 100.0])
    (True, False)
    """
    if len(X) < _FEWEST:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = _ranges(X)
        small = (ranges > 0.0) & (ranges * _APART < ranges.max())
        if not small.any():
            return True
        deviations = X.std(axis=0)
    return not bool((small & (deviations * _APART < deviations.max())).any())


def _ranges(X: Array) -> Array:
    """Return the ranges of the columns; 64 rows side by side make NumPy's inner loops long."""
    n_whole = len(X) // _SIDE_BY_SIDE * _SIDE_BY_SIDE
    wide = X[:n_whole].reshape(-1, _SIDE_BY_SIDE * X.shape[1])
    parts = [X[n_whole:]]
    if n_whole:
        parts += [extreme(wide, axis=0).reshape(-1, X.shape[1]) for extreme in (np.min, np.max)]
    return np.asarray(np.ptp(np.concatenate(parts), axis=0))


@stored.stores(
    encoder=stored.Object(TableEncoder),
    scale=stored.Optional(stored.Object(RunningScale)),
)
class Inputs:
    """The encoder of the columns of X, and the scale of its numbers.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.
    scale : RunningScale, optional
        The scale of the columns with units. Default: they are not scaled.

    Attributes
    ----------
    running : RunningScale or None
        The means and deviations that each row of a stream changes.
    is_settled : bool
        Whether rows of numbers change nothing but `running`.
    takes_numbers : bool
        Whether rows of finite numbers are scaled, and nothing else.
    is_plain : bool
        Whether rows of finite numbers are neither encoded nor scaled.
    moves : tuple
        Places in the latest rows of a stream after which the scale has followed, and its changes;
        see `followed`.
    is_identity : bool
        Whether the learner takes such rows as they are, because no column is constant either.

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [2.0, 6.0], [3.0, 8.0]])
    >>> inputs, rows = Inputs.of(X, None)
    >>> rows
    array([[1., 7., 1.],
           [2., 6., 0.],
           [3., 8., 0.]])
    """

    def __init__(self, encoder: TableEncoder, scale: RunningScale | None = None) -> None:
        self.encoder, self.scale = encoder, scale
        self.running, self.is_settled = scale, True
        self.moves: tuple[Move, ...] = ()
        self.takes_numbers = encoder.is_plain and not encoder.has_constants
        self.is_plain = scale is None and encoder.is_plain
        self.is_identity = self.is_plain and self.takes_numbers

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return self.encoder.n_columns

    @property
    def width(self) -> int:
        """Number of features that the learner sees."""
        return self.encoder.width

    @classmethod
    def of(
        cls, source: Array | Table, names: Sequence[str] | None, *, is_sparse: bool = False
    ) -> tuple["Inputs", Array]:
        """Return the inputs of the first data, without a scale, and the encoded rows.

        Parameters
        ----------
        source : array of shape (n, p), or columns and their values by name
            The data.
        names : sequence of str, optional
            Names of the columns of an array.
        is_sparse : bool, default=False
            Whether the data were a sparse matrix, whose constant columns are not left out.
        """
        if isinstance(source, tuple):
            encoder = TableEncoder.of(*source)
        else:
            known = names_of(source.shape[1]) if names is None else names
            encoder = TableEncoder.of_matrix(source, known)
        if not is_sparse:
            encoder.watch_constants()
        rows = cls(encoder)._encoded(source, encoder, training=True)
        return cls(encoder), rows

    @classmethod
    def fitted(
        cls,
        source: Array | Table,
        names: Sequence[str] | None,
        standardize: bool | str,
        settings: Settings,
        is_sparse: bool = False,
    ) -> tuple["Inputs", Array]:
        """Return the inputs of data, scaled if they need it, and the encoded data.

        Parameters
        ----------
        source, names
            As for `of`.
        standardize : bool or "auto"
            Whether to scale numbers. "auto" scales them if there are gaps, categories or dates, or
            if their scales differ, unless the kernel has a bandwidth in the units of X.
        settings : Settings
            The settings of the model, which name the kernel.
        is_sparse : bool, default=False
            Whether the data were a sparse matrix.
        """
        inputs, rows = cls.of(source, names, is_sparse=is_sparse)
        if not isinstance(standardize, str):
            return inputs.scaled(rows) if standardize else (inputs, rows)
        if standardize != "auto":
            raise ValueError(f"standardize must be True, False or 'auto', got {standardize!r}")
        needs_it = not inputs.is_plain or (settings.uses_distance and not are_scaled(rows))
        return inputs.scaled(rows) if needs_it and not settings.has_units else (inputs, rows)

    def scaled(self, rows: Array) -> tuple["Inputs", Array]:
        """Return the inputs with the scale of these encoded rows, and the rows scaled.

        Parameters
        ----------
        rows : array of shape (n, width)
            Encoded rows, as `of` returns them.
        """
        measured = rows[:, : self.encoder.n_measured]
        if measured.shape[1] == 0:
            return self, rows
        scale = RunningScale(measured.shape[1], COLUMNS).merged(measured, np.ones(len(rows)))
        rows = rows.copy()
        scale.scale(rows)
        return Inputs(self.encoder, scale), rows

    def encode(self, source: Array | Table, places: Places | None = None) -> Array:
        """Return data as the learner takes them.

        Parameters
        ----------
        source : array of shape (n, p), or columns and their values by name
            The data.
        places : array of shape (n,), optional
            The numbers of the rows in the data of a fit. Default: the rows are new.
        """
        rows = self._encoded(source, self.encoder, places)
        if self.scale is not None:
            rows = rows.copy() if rows is source else rows
            self.scale.scale(rows)
        return rows

    def with_effects(self, rows: Array, targets: Array, weight: Array, places: Places) -> Array:
        """Find the effects of categories; return the rows with out-of-fold effects appended.

        Until `end_fit`, rows with numbers are encoded with out-of-fold effects, too.

        Parameters
        ----------
        rows : array of shape (n, width)
            The rows of a fit, as the learner takes them.
        targets : array of shape (n, q)
            Targets in units of their deviation (`colk._encoding.effects.effect_targets`).
        weight : array of shape (n,)
            Weights of the rows.
        places : array of shape (n,)
            The numbers of the rows in the data.
        """
        encoder = self.encoder
        if not encoder.categorical:
            return rows
        encoder.effects = []
        raw = rows * self.unit + self.center
        wider = encoder.find_effects(raw, targets, weight, places)
        return np.ascontiguousarray(np.column_stack([rows, wider[:, rows.shape[1] :]]))

    def end_fit(self) -> None:
        """Treat all later rows as new rows: effects of categories no longer depend on folds."""
        self.encoder.end_fit()

    @property
    def center(self) -> Array:
        """The number that is subtracted from each column of an encoded row."""
        center = np.zeros(self.width)
        if self.scale is not None:
            center[: self.encoder.n_measured] = self.scale.means
        return center

    @property
    def unit(self) -> Array:
        """The divisor of each column of an encoded row."""
        unit = np.ones(self.width)
        if self.scale is not None:
            unit[: self.encoder.n_measured] = self.scale.units
        return unit

    def in_units(self, function: KernelExpansion) -> KernelExpansion:
        """Return a function of scaled rows as a function of encoded rows.

        Parameters
        ----------
        function : KernelExpansion
            A function whose kernel has a bandwidth.
        """
        kernel, unit = function.kernel, self.encoder.without_constants(self.unit)
        if self.scale is None and (unit == 1.0).all():
            return function
        if kernel.metric is not None:
            return self._in_units_of_metric(function, unit)
        atoms = np.asarray(function.atoms) * self.unit + self.center
        numbers = kernel.kernel if isinstance(kernel, Mixed) else kernel
        if not hasattr(numbers, "bandwidth"):
            if self.scale is None:
                return function
            raise TypeError(
                f"{type(kernel).__name__} has no bandwidth to express in the units of X: use "
                "learner_.function, whose points are scaled, or standardize=False"
            )
        if isinstance(kernel, Mixed):
            unit = np.delete(unit, kernel.categorical)
        if len(unit):
            spread = tuple((np.asarray(numbers.bandwidth) * unit).tolist())
            numbers = numbers.replace(bandwidth=spread)
        is_mixed = isinstance(kernel, Mixed)
        kernel = kernel.replace(kernel=numbers) if is_mixed else numbers
        return KernelExpansion(kernel, atoms, function.weights)

    def _in_units_of_metric(self, function: KernelExpansion, unit: Array) -> KernelExpansion:
        """Return a function of scaled rows in a metric as one of encoded rows with these units."""
        kernel: Any = function.kernel
        zero = self.center - self.encoder.with_constants(np.zeros(self.width))
        if not (kernel.is_shift_invariant or (zero == 0.0).all()):
            raise TypeError(
                f"{type(kernel.of_atoms).__name__} in a metric depends on the zero of scaled rows: "
                "use learner_.function, whose points are scaled, or standardize=False"
            )
        atoms = np.asarray(function.atoms) + (zero / self.unit) @ kernel.metric
        shares = np.where(unit == self.unit, 1.0 / unit, 0.0)  # 0 in constant columns
        scaled = kernel.replace(metric=kernel.metric * shares[:, None])
        return KernelExpansion(scaled, atoms, function.weights)

    def learned(self, source: Array | Table) -> tuple["Inputs", Array]:
        """Return the inputs after more data of a stream, and the data as the learner takes them.

        New values of categories are known from now on, and the scale is that of all data so far.

        Parameters
        ----------
        source : array of shape (n, p), or columns and their values by name
            The data.
        """
        is_new = isinstance(source, tuple) and self.encoder.unknown(source[1])
        encoder = (deepcopy if is_new else copy)(self.encoder)
        rows = self._encoded(source, encoder, training=True)
        if self.scale is None:
            return Inputs(encoder), rows
        rows, scale = rows.copy(), copy(self.scale)
        found = Inputs(encoder, scale)
        found.moves = tuple(found._scaled_in_parts(rows, 0))
        return found, rows

    def _scaled_in_parts(self, rows: Array, n_before: int) -> Iterator[Move]:
        """Scale rows of a stream in place, row by row; yield what moves the rows after a place."""
        running, start = self.running, 0
        assert running is not None
        while start < len(rows):
            stop = min(start + running.until_due, len(rows))
            running.absorb(rows[start:stop])
            start = stop
            change = self.followed()
            if change is not None:
                yield n_before + stop, change

    def follow_for(self, settings: Settings) -> Self:
        """Let a model follow the scale of a stream, if it remembers enough for it.

        Gradient steps forget samples elsewhere, so the solution for all of them is not known in
        another scale. The scale of each row is then that of the rows up to it, as in a model of a
        relationship that may change.

        Parameters
        ----------
        settings : Settings
            The settings of the model.
        """
        if self.scale is not None and settings.solver == "newton" and settings.remembers:
            self.scale.holds = True
        return self

    def followed(self) -> Change | None:
        """Let the scale follow the rows so far, if that is due.

        Returns a and b, with which a·x + b is a row in the new scale, of a row x in that before;
        None if the scale has not changed.
        """
        change = self.running.follow() if self.running is not None and self.running.is_due else None
        if change is None:
            return None
        factors, shifts = np.ones(self.width), np.zeros(self.width)
        factors[: self.encoder.n_measured], shifts[: self.encoder.n_measured] = change
        return factors, shifts

    def _encoded(
        self,
        source: Array | Table,
        encoder: TableEncoder,
        places: Places | None = None,
        training: bool = False,
    ) -> Array:
        self._check_source(source)
        if not isinstance(source, tuple):
            return encoder.encode_matrix(source, training=training)
        if training:
            return encoder.admit_and_encode(source[1], grows=False)
        return encoder.encode(source[1], places)

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "Inputs":
        encoder, scale = values["encoder"], values["scale"]
        if scale is not None and scale.n_columns != encoder.n_measured:
            raise FileFormatError("the scale has other columns than the encoder")
        return cls(encoder, scale)

    def _check_source(self, source: Array | Table) -> None:
        """Raise if the data have columns of other kinds than the first data."""
        if isinstance(source, tuple):
            self._check_kinds(*source)
        elif any(kind != "number" for _, kind in self.encoder.columns):
            raise ValueError(
                "the model was fitted with a table of numbers, categories or dates, so X must be "
                "such a table, not an array of numbers"
            )

    def _check_kinds(self, columns: Sequence[Column], table: dict[str, Any]) -> None:
        """Raise if a column is of another kind than in the first data; gaps fit every kind."""
        known = dict(self.encoder.columns)
        for name, kind in columns:
            differs = known.get(name, kind) != kind
            if differs and not all(is_missing(value) for value in table[name]):
                raise ValueError(
                    f"column {name!r} holds values of the kind {kind!r}, but the model was fitted "
                    f"with {known[name]!r}"
                )
