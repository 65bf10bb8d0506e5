"""Effects of the values of a category on the target, with shrinkage and out of fold.

A few hundred atoms cannot represent a category with hundreds of values, if each value has its own
level and changes the effect of a number. A linear model with random effects can: the target is
b·z + u_v·z for the value v of the category. The vector z consists of a 1, numbers, and sines and
cosines of numbers; the effects u_v are normal with mean 0. The expected u_v·z becomes a feature of
the row. For a training row it is computed from rows of other folds, so that it does not depend on
the row's own target.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._validation import Array

__all__ = [
    "FARTHEST_EFFECT",
    "FREQUENCIES",
    "N_FOLDS",
    "CategoryEffects",
    "EffectColumns",
    "Places",
    "effect_targets",
]

N_FOLDS = 5

# Categories with few values get no effects, because atoms can represent them. Categories with
# nearly as many values as rows get none either, because there is too little data for each value.
_FEW_VALUES = 150
_MOST_SHARE = 0.8
_FEWEST_ROWS = 100

# Largest number of columns with a curve for each value; of columns with slopes, if there are fewer
# than _ROWS_FOR_CURVES rows per value; and of targets with effects.
_MOST_CURVES = 3
_MOST_SLOPES = 8
_ROWS_FOR_CURVES = 3.0
FREQUENCIES = (1.5, 3.0)
_PER_CURVE = 1 + 2 * len(FREQUENCIES)
_MOST_TARGETS = 10

# Largest size of the moments of all values, and number of rows whose products are in memory.
_MOST_MOMENTS = 2**24
_BLOCK = 8192

# Numbers are clipped at this many units from their median, and targets from their mean.
FARTHEST_EFFECT = 3.0
_FARTHEST_TARGET = 5.0

# Rounds of the EM algorithm, and the number of values that it uses.
_ROUNDS = 30
_EM_VALUES = 2000
_TINY = 1e-8

Places = NDArray[np.int64]
Codes = NDArray[np.intp]


def effect_targets(targets: Array, n_classes: int) -> Array:
    """Return targets that can be averaged: clipped numbers, or an indicator of each class.

    Parameters
    ----------
    targets : array of shape (n,) or (n, q)
        Targets as the loss takes them.
    n_classes : int
        Number of classes if the targets are class indices, or 0 if they are numbers.

    Examples
    --------
    >>> effect_targets(np.array([0.0, 1.0, 1.0]), n_classes=2).T
    array([[0., 1., 1.]])
    """
    columns = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
    if n_classes == 0:
        return np.clip(columns, -_FARTHEST_TARGET, _FARTHEST_TARGET)
    first = 1 if n_classes == 2 else 0
    return np.asarray(columns == np.arange(first, n_classes), dtype=np.float64)


@stored.stores(
    column=stored.Count(at_most=2**31),
    numbers=stored.ListOf(stored.Count(at_most=2**31), size="n_numbers"),
    center=stored.Array("n_numbers"),
    unit=stored.Array("n_numbers", above=0.0),
    has_curves=stored.Flag(),
    tables=stored.Array("n_tables", "n_targets", "n_values", "n_terms"),
)
class CategoryEffects:
    """The level of each value of a category, and its slopes or curves.

    Parameters
    ----------
    column : int
        The column of an encoded row with the codes of the category.
    numbers : sequence of int
        The columns that have slopes or curves.
    center, unit : array of shape (k,)
        Medians and units of these columns.
    has_curves : bool
        Whether values have a curve for each number, not only a slope.
    tables : array of shape (1 or 6, q, v, k + 1 or 5k + 1)
        The effects of each value for each target: first from all rows, then, until the fit ends,
        without the rows of each fold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.column_stack([rng.normal(size=3000), rng.integers(1, 201, size=3000)])
    >>> y = np.where(rows[:, 1] == 7.0, 2.0 + rows[:, 0], 0.0)
    >>> effects = CategoryEffects.of(rows, 1, 1, 201, y[:, None], np.ones(3000), np.arange(3000))
    >>> effects.values(np.array([[0.0, 7.0], [1.0, 7.0], [1.0, -1.0]])).round(0).T + 0.0
    array([[2., 3., 0.]])
    """

    def __init__(
        self,
        column: int,
        numbers: list[int],
        center: Array,
        unit: Array,
        has_curves: bool,
        tables: Array,
    ) -> None:
        self.column, self.numbers = column, list(numbers)
        self.center, self.unit, self.has_curves, self.tables = center, unit, has_curves, tables

    @property
    def n_targets(self) -> int:
        """Number of columns that the effects add to a row."""
        return int(self.tables.shape[1])

    @classmethod
    def of(
        cls,
        rows: Array,
        n_measured: int,
        column: int,
        n_codes: int,
        targets: Array,
        weight: Array,
        places: Places,
    ) -> "CategoryEffects | None":
        """Return the effects of a category; None if it has too few values, or too many.

        Parameters
        ----------
        rows : array of shape (n, width)
            Encoded rows.
        n_measured : int
            Number of leading columns that are numbers.
        column : int
            The column of the category.
        n_codes : int
            Number of its codes, including the code of a gap.
        targets : array of shape (n, q)
            The result of `effect_targets`.
        weight : array of shape (n,)
            Weights of the rows.
        places : array of shape (n,)
            The numbers of the rows in the data. Row i is in fold i mod 5.
        """
        counted = weight > 0.0
        n, q = int(counted.sum()), targets.shape[1]
        if n < _FEWEST_ROWS or not 1 <= q <= _MOST_TARGETS:
            return None
        codes = rows[counted, column].astype(np.intp)
        n_seen = len(np.unique(codes))
        n_terms = math.isqrt(_MOST_MOMENTS // (N_FOLDS * n_codes))
        if n_terms == 0 or not _FEW_VALUES < n_seen <= _MOST_SHARE * n:
            return None
        center, unit = _scales(rows[counted, :n_measured])
        varies = np.flatnonzero(unit > 0.0)
        scales, empty = (center[varies], unit[varies]), np.zeros((1, q, 1, 1))
        has_curves = n >= _ROWS_FOR_CURVES * n_seen and n_terms > _PER_CURVE
        found = cls(column, varies.tolist(), *scales, has_curves, empty)
        deviations = targets - np.average(targets, axis=0, weights=weight)
        found._keep_slopes(rows[counted], codes, deviations[counted], n_codes, n_terms)
        Z, folds = found._terms(rows[counted]), found._folds(places[counted])
        tables = [
            _tables(Z, y, weight[counted], codes, n_codes, folds) for y in deviations[counted].T
        ]
        found.tables = np.stack(tables, axis=1)
        return found

    def _keep_slopes(
        self, rows: Array, codes: Codes, targets: Array, n_codes: int, n_terms: int
    ) -> None:
        """Keep the columns whose slopes differ most between the values."""
        most = min(_MOST_SLOPES, n_terms - 1)
        if self.has_curves:
            most = min(_MOST_CURVES, (n_terms - 1) // _PER_CURVE)
        if len(self.numbers) <= most:
            return
        Z, scores = self._scaled(rows), np.zeros(len(self.numbers))
        for y in targets.T:
            products = Z * y[:, None]
            sums = _sums(codes, products, n_codes)
            # Σ_v Σ_{i ≠ j in v} z_i y_i z_j y_j, whose mean is 0 if no slope differs
            scores += (sums * sums).sum(axis=0) - (products * products).sum(axis=0)
        kept = np.sort(np.argsort(-scores, kind="stable")[:most])
        self.numbers = [self.numbers[k] for k in kept.tolist()]
        self.center, self.unit = self.center[kept], self.unit[kept]

    def _scaled(self, rows: Array) -> Array:
        """Return the numbers in their units."""
        scaled = (rows[:, self.numbers] - self.center) / self.unit
        return np.clip(scaled, -FARTHEST_EFFECT, FARTHEST_EFFECT)

    def _terms(self, rows: Array) -> Array:
        """Return z for each row: a 1, the numbers, and sines and cosines of them."""
        numbers = self._scaled(rows)
        terms = [np.ones((len(rows), 1)), numbers]
        for frequency in FREQUENCIES if self.has_curves else ():
            terms += [np.sin(frequency * numbers), np.cos(frequency * numbers)]
        return np.column_stack(terms)

    def _folds(self, places: Places) -> Codes:
        return np.asarray(places % N_FOLDS, dtype=np.intp)

    def values(self, rows: Array, places: Places | None = None) -> Array:
        """Return the expected effects, of shape (n, q); 0 for a value without rows.

        Parameters
        ----------
        rows : array of shape (n, width)
            Encoded rows.
        places : array of shape (n,), optional
            The indices of training rows in the data. Default: the rows are new.
        """
        codes = rows[:, self.column].astype(np.intp)
        known = (codes >= 0) & (codes < self.tables.shape[2])
        table = np.zeros(len(rows), dtype=np.intp)
        if places is not None and len(self.tables) > 1:
            table = self._folds(places) + 1
        effects = self.tables[table, :, np.where(known, codes, 0), :]
        return np.asarray(np.einsum("nk,nqk->nq", self._terms(rows), effects) * known[:, None])

    def final(self) -> "CategoryEffects":
        """Return the effects for new rows only, without the tables of the folds."""
        return CategoryEffects(**{**self._to_file(), "tables": self.tables[:1]})

    def _to_file(self) -> dict[str, Any]:
        names = ("column", "numbers", "center", "unit", "has_curves", "tables")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "CategoryEffects":
        n_tables, _, _, n_terms = values["tables"].shape
        effects = cls(**values)
        per_number = _PER_CURVE if effects.has_curves else 1
        expected = 1 + per_number * len(effects.numbers)
        if n_tables not in (1, N_FOLDS + 1) or n_terms != expected:
            raise stored.refuse("tables", "effects of each value and fold", values["tables"])
        return effects


class EffectColumns:
    """The part of `TableEncoder` that adds the effects of categories to encoded rows."""

    effects: list[CategoryEffects]
    _codes: dict[str, dict[str | None, float]]

    @property
    @abstractmethod
    def n_measured(self) -> int:
        """Number of leading columns of an encoded row that have units."""

    @property
    @abstractmethod
    def categorical(self) -> tuple[int, ...]:
        """Columns of an encoded row that are codes of categories."""

    def _effect_names(self) -> list[str]:
        coded = dict(zip(self.categorical, self._codes, strict=True))
        return [
            f"effect of {coded[effects.column]}" + (f" on target {k}" if k else "")
            for effects in self.effects
            for k in range(effects.n_targets)
        ]

    def _with_effects(self, rows: Array, places: Places | None) -> Array:
        return np.column_stack([rows, *(effects.values(rows, places) for effects in self.effects)])

    def find_effects(self, rows: Array, targets: Array, weight: Array, places: Places) -> Array:
        """Find the effects of categories with many values; return rows with effects appended.

        Parameters
        ----------
        rows : array of shape (n, width)
            Encoded rows, without effects.
        targets : array of shape (n, q)
            Targets in units of their deviation (`colk._encoding.effects.effect_targets`).
        weight : array of shape (n,)
            Weights of the rows.
        places : array of shape (n,)
            The numbers of the rows in the data. They determine the folds; the effect in a row is
            computed from the rows of other folds.
        """
        given = (targets, weight, places)
        found = (
            CategoryEffects.of(rows, self.n_measured, column, len(codes), *given)
            for column, codes in zip(self.categorical, self._codes.values(), strict=True)
        )
        self.effects = [effects for effects in found if effects is not None]
        return self._with_effects(rows, places) if self.effects else rows

    def end_fit(self) -> None:
        """Drop the tables of the folds, because all later rows are new."""
        self.effects = [effects.final() for effects in self.effects]


def _scales(numbers: Array) -> tuple[Array, Array]:
    """Return medians, and half the distance between the quantiles at 16 % and 84 %."""
    if numbers.shape[1] == 0:
        return np.zeros(0), np.zeros(0)
    low, center, high = np.quantile(numbers, [0.16, 0.5, 0.84], axis=0)
    unit = 0.5 * (high - low)
    return center, np.where(unit > 1e-12 * np.abs(center), unit, 0.0)


def _sums(codes: Codes, values: Array, n_codes: int) -> Array:
    """Return the sums of the rows of each code."""
    sums = np.zeros((n_codes, *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def _tables(
    Z: Array,
    y: Array,
    weight: Array,
    codes: Codes,
    n_codes: int,
    folds: Codes,
) -> Array:
    """Return the effects of each value, from all rows and without each fold."""
    weight = weight / weight.mean()
    share = Z * weight[:, None]
    common = np.linalg.solve(Z.T @ share + 1e-6 * len(y) * np.eye(Z.shape[1]), share.T @ y)
    rest = y - Z @ common
    places = codes * N_FOLDS + folds
    d = Z.shape[1]
    moments = np.zeros((n_codes * N_FOLDS, d, d))
    for start in range(0, len(y), _BLOCK):
        some = slice(start, start + _BLOCK)
        np.add.at(moments, places[some], share[some, :, None] * Z[some, None, :])
    A = moments.reshape(n_codes, N_FOLDS, d, d)
    b = _sums(places, share * rest[:, None], n_codes * N_FOLDS).reshape(n_codes, N_FOLDS, d)
    whole_A, whole_b = A.sum(axis=1), b.sum(axis=1)
    spread, noise = _variances(whole_A, whole_b, float(weight @ rest**2), float(weight.sum()))
    tables = [_expected(whole_A, whole_b, spread, noise)[0]]
    tables += [
        _expected(whole_A - A[:, k], whole_b - b[:, k], spread, noise)[0] for k in range(N_FOLDS)
    ]
    return np.stack(tables)


def _expected(A: Array, b: Array, spread: Array, noise: float) -> tuple[Array, Array]:
    """Return means and covariances of the effects, given the moments of their rows."""
    covariances = np.asarray(np.linalg.inv(A / noise + np.diag(1.0 / spread)), dtype=np.float64)
    return np.einsum("vij,vj->vi", covariances, b) / noise, covariances


def _variances(A: Array, b: Array, squares: float, total: float) -> tuple[Array, float]:
    """Return the variances of levels and slopes, and of the noise, by the EM algorithm."""
    some = np.flatnonzero(A[:, 0, 0] > 0.0)
    some = some[:: -(-len(some) // _EM_VALUES)]
    share = float(A[some, 0, 0].sum()) / total
    A, b, squares, total = A[some], b[some], squares * share, total * share
    unit = max(squares / total, _TINY)
    spread, noise = np.full(A.shape[1], 0.3 * unit / A.shape[1]), 0.5 * unit
    for _ in range(_ROUNDS):
        means, covariances = _expected(A, b, spread, noise)
        second = means**2 + np.einsum("vii->vi", covariances)
        spread = np.maximum(second.mean(axis=0), _TINY * unit)
        fitted = np.einsum("vi,vij,vj->", means, A, means) - 2.0 * float((means * b).sum())
        doubt = float(np.einsum("vij,vji->", covariances, A))
        noise = max((squares + fitted + doubt) / total, _TINY * unit)
    return spread, noise
