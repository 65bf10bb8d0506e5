"""Columns that have had one value in all rows so far; the model leaves them out."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._resolution import differ
from colk._validation import Array
from colk.errors import FileFormatError, warn_caller

__all__ = ["ConstantColumns", "ConstantValues", "told_constants", "warn_of_constants"]

# With fewer rows, a column is not taken for constant.
_FEWEST = 20

# The unit of a constant column in a formula, in which no difference counts.
_ENDLESS = 1e30

_NAMED = 5


@stored.stores(
    values=stored.Array("n_cells", finite=False),
    varies=stored.Array("n_cells", dtype=np.bool_),
    n_rows=stored.Count(),
)
class ConstantValues:
    """The columns of a table that have had one value so far, up to rounding errors.

    Such a column says nothing about the targets, and nothing shows how far apart its values may
    be. New rows get its one value, whatever they have; a column whose values were all missing stays
    missing. Once rows with another value are learned, the column counts like any other.

    Parameters
    ----------
    values : array of shape (p,)
        The first value of each column; NaN if it is not known yet.
    varies : array of bool of shape (p,)
        Whether the column has had different values.
    n_rows : int
        Number of rows so far.

    Examples
    --------
    >>> rows = np.column_stack([np.arange(30.0), np.full(30, 5.0)])
    >>> constants = ConstantValues.none(2).learned(rows)
    >>> constants.places
    array([1])
    >>> constants.held(np.array([[7.0, 8.0]]))
    array([[7., 5.]])
    """

    def __init__(self, values: Array, varies: NDArray[np.bool_], n_rows: int) -> None:
        self.values, self.varies, self.n_rows = values, varies, n_rows

    @classmethod
    def none(cls, width: int) -> Self:
        """Return the state before the first row.

        Parameters
        ----------
        width : int
            Number of columns.
        """
        return cls(np.full(width, np.nan), np.zeros(width, dtype=bool), 0)

    @property
    def is_empty(self) -> bool:
        """Whether all columns vary."""
        return bool(self.varies.all())

    @property
    def places(self) -> NDArray[np.intp]:
        """The columns that are constant, as far as the rows are enough to tell."""
        return np.flatnonzero(~self.varies) if self.n_rows >= _FEWEST else np.arange(0)

    def learned(self, cells: Array) -> "ConstantValues":
        """Return the state after more rows.

        Parameters
        ----------
        cells : array of shape (n, p)
            The rows; NaN for gaps.
        """
        if self.is_empty or len(cells) == 0:
            return self
        values, varies = self.values.copy(), self.varies.copy()
        for k in np.flatnonzero(~varies).tolist():
            known = cells[~np.isnan(cells[:, k]), k]
            if len(known):
                values[k] = known[0] if np.isnan(values[k]) else values[k]
                varies[k] = differ(known, values[k]).any()
        return ConstantValues(values, varies, self.n_rows + len(cells))

    def widened(self, n_new: int) -> "ConstantValues":
        """Return the state with more columns, which were 0 in all rows so far.

        Parameters
        ----------
        n_new : int
            Number of new columns.
        """
        first = np.full(n_new, 0.0 if self.n_rows else np.nan)
        varies = np.append(self.varies, np.zeros(n_new, dtype=bool))
        return ConstantValues(np.append(self.values, first), varies, self.n_rows)

    def held(self, cells: Array, *, training: bool = False) -> Array:
        """Return rows with the known value in each constant column.

        Parameters
        ----------
        cells : array of shape (n, p)
            The rows; NaN for gaps.
        training : bool, default=False
            Whether the rows have been learned. Their values are equal up to rounding errors, so
            they are replaced even if the rows are few; gaps are not.
        """
        places = np.flatnonzero(~self.varies) if training else self.places
        if len(places) == 0:
            return cells
        cells, known = cells.copy(), np.broadcast_to(self.values[places], (len(cells), len(places)))
        if len(self.places) == 0:
            known = np.where(np.isnan(cells[:, places]), np.nan, known)
        cells[:, places] = known
        return cells

    @classmethod
    def _from_file(cls, values: dict[str, Array], budget: stored.Budget) -> Self:
        if np.isinf(values["values"]).any():
            raise FileFormatError("the values of constant columns must not be infinite")
        return cls(**values)  # type: ignore[arg-type]


class ConstantColumns:
    """The part of a `TableEncoder` that leaves constant columns out, once it watches for them."""

    constants: ConstantValues | None  # of numbers, dates, circles and codes; None: not watched
    gaps: list[str]

    @property
    @abstractmethod
    def n_fixed(self) -> int:
        """Number of leading columns of an encoded row: numbers, dates, circles and codes."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns of an encoded row."""

    def watch_constants(self) -> Self:
        """Watch for constant columns from the first row on; return the encoder."""
        self.constants = ConstantValues.none(self.n_fixed)
        return self

    @property
    def constant_names(self) -> list[str]:
        """Names of the columns without gaps that are constant, and left out."""
        if self.constants is None:
            return []
        found = [self.names[place] for place in self.constants.places.tolist()]
        return [name for name in found if name not in self.gaps]

    @property
    def has_constants(self) -> bool:
        """Whether a column is, or may turn out to be, constant."""
        return self.constants is not None and not self.constants.is_empty

    def without_constants(self, unit: Array) -> Array:
        """Return the units of the first encoded columns; those of constant columns are endless.

        Parameters
        ----------
        unit : array of shape (k,)
            The units.
        """
        unit = unit.copy()
        if self.constants is not None:
            places = self.constants.places
            unit[places[places < len(unit)]] = _ENDLESS
        return unit

    def with_constants(self, row: Array) -> Array:
        """Return an encoded row with the known values of constant columns; unknown ones are 0.

        Parameters
        ----------
        row : array of shape (k,)
            The row.
        """
        row = row.copy()
        if self.constants is not None:
            places = self.constants.places
            places = places[places < len(row)]
            row[places] = np.nan_to_num(self.constants.values[places])
        return row

    def _held(self, cells: Array, training: bool) -> Array:
        """Return rows with known values in constant columns, after learning rows of training."""
        if self.constants is None:
            return cells
        if training:
            self.constants = self.constants.learned(cells)
        return self.constants.held(cells, training=training)


def told_constants(names: Sequence[str]) -> str:
    """Return the sentence that names constant columns, and says what to do.

    Examples
    --------
    >>> told_constants(["unit"])
    "one value in all rows, so the model leaves out: 'unit'; drop it, or fit rows in which it \
differs"
    """
    called = ", ".join(repr(name) for name in names[:_NAMED])
    more = ", …" if len(names) > _NAMED else ""
    it, differs = ("it", "differs") if len(names) == 1 else ("them", "differ")
    they = "it" if len(names) == 1 else "they"
    return (
        f"one value in all rows, so the model leaves out: {called}{more}; drop {it}, or fit rows "
        f"in which {they} {differs}"
    )


def warn_of_constants(names: Sequence[str]) -> None:
    """Warn of constant columns, if there are any.

    Parameters
    ----------
    names : sequence of str
        Their names.
    """
    if names:
        warn_caller(told_constants(names), UserWarning)
