"""Encode columns of numbers, categories and dates, with gaps, as rows for a kernel."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._encoding.columns import Column, as_texts, checked_table
from colk._encoding.constants import ConstantColumns, ConstantValues
from colk._encoding.dates import cycles_in, on_circle, years_of
from colk._encoding.effects import CategoryEffects, EffectColumns, Places
from colk._encoding.gap_columns import MISSING, GapColumns
from colk._encoding.gaps import FEWEST_ROWS, MOST_COLUMNS, GapFiller
from colk._encoding.stored import FIELDS, StoredEncoder
from colk._validation import Array

__all__ = ["MISSING", "OTHER", "TableEncoder"]

# Code of a category for an unknown value.
OTHER = -1.0

# Bytes for the values of categories, and for each value besides its text. A stream of new values
# fills them, and later values count as unknown.
_MOST_TEXT = 2**24
_PER_VALUE = 64

# Largest number of rows that determine the median of a column.
_TYPICAL_ROWS = 20_000


@stored.stores(FIELDS, optional=["constants"])
class TableEncoder(EffectColumns, ConstantColumns, GapColumns, StoredEncoder):
    """Encodes columns of numbers, categories and dates as rows of numbers.

    The columns of an encoded row are, in this order:

    - each number, and each date in years since 2000;
    - for each date and each of its cycles (day, week, year), a point on a circle, two numbers;
    - for each category, a code. Codes are compared by equality (`colk.kernels.Mixed`). A gap has
      code 0, values have codes 1, 2, … in order of appearance, and unknown values have code −1;
    - for each column of numbers or dates with gaps, an indicator that is 1 in a gap and else 0,
      in the order in which the columns first had a gap;
    - for each category with many values, its effect on the target, if `find_effects` was called.

    A gap in a number or date is filled with its expected value given the other cells of the row, if
    the first data had gaps, at least 30 rows and at most 60 columns; each value of a category
    counts as a column. Otherwise it is filled with the column's median.

    New values of a category get new codes, until all values take 16 MB. The first gap in a column
    adds an indicator at the end of the row, which is 0 in all earlier rows.

    Parameters
    ----------
    columns : sequence of Column
        Names and kinds of the columns.
    typical : mapping of str to float, optional
        The value that fills gaps in a column of numbers or dates. Default: 0.
    cycles : mapping of str to sequence of str, optional
        The cycles of each date. Default: none.
    values : mapping of str to sequence of str, optional
        Values of each category so far. Default: none.
    gaps : sequence of str, default=()
        Columns of numbers and dates that have had a gap.
    filler : GapFiller, optional
        Fills gaps from the other cells of a row: numbers, circles, and indicators of the categories
        in `predictors`. Default: gaps are filled with `typical`.
    predictors : mapping of str to int, optional
        The number of values of each category that the filler uses. Default: none.
    effects : sequence of CategoryEffects, default=()
        The effects of categories on the target.
    constants : ConstantValues, optional
        Columns that have had one value so far, which new rows keep. Default: not watched.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.tabular import Column, TableEncoder
    >>> columns = [Column("size", "number"), Column("city", "category")]
    >>> table = {"size": [1.0, np.nan, 4.0], "city": ["Bonn", "Rome", None]}
    >>> encoder = TableEncoder.of(columns, table)
    >>> encoder.names, encoder.categorical
    (['size', 'city', 'size is missing'], (1,))
    >>> encoder.encode(table)
    array([[1. , 1. , 0. ],
           [2.5, 2. , 1. ],
           [4. , 0. , 0. ]])
    >>> encoder.encode({"size": [3.0], "city": ["Oslo"]})
    array([[ 3., -1.,  0.]])
    """

    def __init__(
        self,
        columns: Sequence[Column],
        typical: Mapping[str, float] | None = None,
        cycles: Mapping[str, Sequence[str]] | None = None,
        values: Mapping[str, Sequence[str]] | None = None,
        gaps: Sequence[str] = (),
        filler: GapFiller | None = None,
        predictors: Mapping[str, int] | None = None,
        effects: Sequence[CategoryEffects] = (),
        constants: ConstantValues | None = None,
    ) -> None:
        self.columns = tuple(Column(*column).check() for column in columns)
        if not columns or len({column.name for column in columns}) < len(columns):
            raise ValueError("a table must have columns with different names")
        measured = [name for name, kind in self.columns if kind != "category"]
        self._typical = {name: float((typical or {}).get(name, 0.0)) for name in measured}
        self._cycles = {name: tuple((cycles or {}).get(name, ())) for name in self._of("date")}
        self._codes: dict[str, dict[str | None, float]] = {}
        self._text_size = 0
        for name in self._of("category"):
            self._codes[name] = {None: MISSING}
            self._admit_values(name, (values or {}).get(name, ()))
        self.gaps = list(gaps)
        self._filler, self._predictors = filler, dict(predictors or {})
        self.effects, self.constants = list(effects), constants

    @classmethod
    def of(cls, columns: Sequence[Column], table: Mapping[str, Any]) -> "TableEncoder":
        """Return an encoder whose medians, cycles and values come from a table.

        Parameters
        ----------
        columns : sequence of Column
            Names and kinds of the columns.
        table : mapping of str to array
            The columns by name.
        """
        known = checked_table(columns, table)
        typical, cycles = {}, {}
        for name, kind in columns:
            if kind != "category":
                typical[name] = _median(known[name])
            if kind == "date":
                cycles[name] = cycles_in(known[name])
        encoder = cls(columns, typical, cycles)
        encoder._admit(known)
        if encoder.gaps:
            encoder.find_filler(encoder.with_gaps(known))
        return encoder

    def _of(self, kind: str) -> list[str]:
        return [column.name for column in self.columns if column.kind == kind]

    # -- the columns of an encoded row -------------------------------------------------------

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    @property
    def n_measured(self) -> int:
        """Number of leading columns of an encoded row that have units: numbers and dates."""
        return len(self._typical)

    @property
    def _n_circles(self) -> int:
        return sum(len(cycles) for cycles in self._cycles.values())

    @property
    def width(self) -> int:
        """Number of columns of an encoded row."""
        return self._n_described + sum(effects.n_targets for effects in self.effects)

    @property
    def _n_described(self) -> int:
        """Number of columns of an encoded row without the effects of categories."""
        return self.n_fixed + len(self.gaps)

    @property
    def n_fixed(self) -> int:
        """Number of leading columns of an encoded row: numbers, dates, circles and codes."""
        return self.n_measured + 2 * self._n_circles + len(self._codes)

    @property
    def categorical(self) -> tuple[int, ...]:
        """Columns of an encoded row that are codes of categories."""
        return tuple(range(self.n_fixed - len(self._codes), self.n_fixed))

    @property
    def names(self) -> list[str]:
        """Names of the columns of an encoded row."""
        circles = [
            f"{function} of {cycle} of {name}"
            for name, cycles in self._cycles.items()
            for cycle in cycles
            for function in ("sine", "cosine")
        ]
        gaps = [f"{name} is missing" for name in self.gaps]
        return [*self._typical, *circles, *self._codes, *gaps, *self._effect_names()]

    @property
    def is_plain(self) -> bool:
        """Whether encoding leaves rows unchanged, because they are numbers without gaps."""
        return self.width == self.n_columns == len(self._of("number"))

    # -- learning the table ------------------------------------------------------------------

    def admit(self, table: Mapping[str, Any], *, grows: bool = True) -> None:
        """Give codes to new values of categories, and an indicator to columns with a first gap.

        Parameters
        ----------
        table : mapping of str to array
            The columns by name.
        grows : bool, default=True
            Whether encoded rows may become wider. If not, or if there are effects, a first gap is
            filled but gets no indicator.
        """
        self._admit(checked_table(self.columns, table), grows)

    def _admit(self, known: Mapping[str, Any], grows: bool = True) -> None:
        for name, kind in self.columns:
            if kind == "category":
                self._admit_values(name, known[name], _MOST_TEXT)
            elif grows and not self.effects and self._has_first_gap(name, known[name]):
                self.gaps.append(name)

    def _has_first_gap(self, name: str, values: Array) -> bool:
        return name not in self.gaps and bool(np.isnan(values).any())

    def _admit_values(self, name: str, values: Iterable[Any], most: float = math.inf) -> None:
        codes = self._codes[name]
        for value in dict.fromkeys(values):
            size = self._text_size + _PER_VALUE + len(value or "")
            if value not in codes and size <= most:
                codes[value], self._text_size = float(len(codes)), size

    def values_of(self, name: str) -> list[str]:
        """Return the values of a category so far, in the order of their codes.

        Parameters
        ----------
        name : str
            The column.
        """
        return [value for value in self._codes[name] if value is not None]

    def n_values(self, name: str) -> int:
        """Return the number of different values of a category so far.

        Parameters
        ----------
        name : str
            The column.
        """
        return len(self._codes[name]) - 1

    # -- encoding ----------------------------------------------------------------------------

    def encode(self, table: Mapping[str, Any], places: Places | None = None) -> Array:
        """Return the rows as a matrix of shape (n, width).

        Parameters
        ----------
        table : mapping of str to array
            The columns by name. Other columns are ignored.
        places : array of shape (n,), optional
            The indices of training rows in the data of a fit. Default: the rows are new.
        """
        return self._encode(checked_table(self.columns, table), places)

    def admit_and_encode(
        self, table: Mapping[str, Any], places: Places | None = None, *, grows: bool = True
    ) -> Array:
        """Return training rows as `encode` does, after `admit`; the table is checked once.

        Parameters
        ----------
        table, places, grows
            As for `encode` and `admit`.
        """
        known = checked_table(self.columns, table)
        self._admit(known, grows)
        return self._encode(known, places, training=True)

    def _encode(
        self, known: Mapping[str, Any], places: Places | None, training: bool = False
    ) -> Array:
        fixed = self.with_gaps(known)
        marks, n_kept = self.marks(fixed), self.n_fixed - len(self._codes)
        held = self._held(fixed, training)
        parts = [self._filled(self._cells(held)), held[:, n_kept:], marks]
        rows = np.ascontiguousarray(np.column_stack(parts))
        return self._with_effects(rows, places) if self.effects else rows

    def _coded(self, name: str, values: Any) -> Array:
        codes = self._codes[name]
        return np.fromiter((codes.get(value, OTHER) for value in values), np.float64, len(values))

    def with_gaps(self, known: Mapping[str, Any]) -> Array:
        """Return numbers, dates and circles with NaN for gaps, and codes, of shape (n, n_fixed).

        Parameters
        ----------
        known : mapping of str to array
            The columns, as `checked_table` returns them.
        """
        n_rows = len(known[self.columns[0].name])
        parts: list[Any] = [np.empty((n_rows, 0))]
        parts += [
            years_of(known[name]) if name in self._cycles else known[name] for name in self._typical
        ]
        for name, cycles in self._cycles.items():
            parts += [on_circle(known[name], cycle) for cycle in cycles]
        parts += [self._coded(name, known[name]) for name in self._codes]
        return np.column_stack(parts)

    @classmethod
    def of_matrix(cls, X: Array, names: Sequence[str]) -> "TableEncoder":
        """Return the encoder of a matrix of numbers, with NaN for gaps.

        Parameters
        ----------
        X : array of shape (n, p)
            The matrix.
        names : sequence of str
            Names of its columns.
        """
        is_gap: list[bool] = np.asarray(np.isnan(X).any(axis=0)).tolist()
        columns = [Column(name, "number") for name in names]
        gaps = [name for name, gap in zip(names, is_gap, strict=True) if gap]
        has_filler = bool(gaps) and 1 < len(names) <= MOST_COLUMNS and len(X) >= FEWEST_ROWS
        filler = GapFiller.of(X) if has_filler else None
        typical = dict(zip(names, map(_median, X.T), strict=True))
        return cls(columns, typical, gaps=gaps, filler=filler)

    def encode_matrix(self, X: Array, *, training: bool = False) -> Array:
        """Return the encoded rows of a matrix of numbers, with NaN for gaps.

        Returns X itself if neither X nor earlier data have gaps, and no column is constant.

        Parameters
        ----------
        X : array of shape (n, p)
            The columns, in their order.
        training : bool, default=False
            Whether the rows are learned.
        """
        is_gap, X = np.isnan(X), self._held(X, training)
        if is_gap.any() or np.isnan(X).any():
            X = self._filled(X)
        if not self.gaps:
            return X
        places = [name in self.gaps for name in self._typical]
        order = [self.gaps.index(name) for name in self._typical if name in self.gaps]
        marks = np.empty((len(X), len(self.gaps)))
        marks[:, order] = is_gap[:, places]
        return np.ascontiguousarray(np.column_stack([X, marks]))

    def widened(self, columns: Sequence[Column]) -> "TableEncoder":
        """Return an encoder of numbers with more of them, which were 0 in all rows so far.

        Parameters
        ----------
        columns : sequence of Column
            Names and kinds of the new columns.
        """
        numbers, n_new = [*self.columns, *columns], len(columns)
        filler = None if self._filler is None else self._filler.widened(n_new)
        held = None if self.constants is None else self.constants.widened(n_new)
        return TableEncoder(numbers, self._typical, gaps=self.gaps, filler=filler, constants=held)

    def unknown(self, table: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of rows with an unknown value, for each category that has such rows.

        Parameters
        ----------
        table : mapping of str to array
            The columns by name.
        """
        found = {
            name: sum(value not in codes for value in as_texts(table[name], name))
            for name, codes in self._codes.items()
        }
        return {name: count for name, count in found.items() if count}

    def description(self) -> list[tuple[str, str, str]]:
        """Return name, kind and encoding of each column, as text."""
        return [(name, kind, self._use_of(name, kind)) for name, kind in self.columns]

    def _use_of(self, name: str, kind: str) -> str:
        if kind == "category":
            use = f"{self.n_values(name)} values, compared by equality; a gap is one more value"
            has_effect = f"effect of {name}" in self._effect_names()
            return use + ("; level and slopes of each value" if has_effect else "")
        uses = ["a number"] if kind == "number" else ["trend"]
        uses += [f"time of {cycle}" for cycle in self._cycles.get(name, ())]
        if name in self.gaps:
            uses.append("gaps are filled and marked")
        return ", ".join(uses)


def _median(values: Array) -> float:
    some = values[:: -(-len(values) // _TYPICAL_ROWS) or 1]
    known = some[~np.isnan(some)]
    return float(np.median(known)) if len(known) else 0.0
