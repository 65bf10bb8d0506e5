"""The columns of a River model: features, which may appear at any time, and marks of their gaps."""

from collections.abc import Container, Hashable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._encoding.columns import Column
from colk._validation import Array
from colk.errors import FileFormatError
from colk.model.stream_inputs import StreamInputs
from colk.river.features import Features, checked_columns, checked_features
from colk.selection import WARM_UP

__all__ = ["FeatureColumns"]

Cells = tuple[Array, NDArray[np.bool_]]  # (n, p) values, NaN in gaps, and whether they were given

# Largest number of texts that get a column; later texts are ignored.
MOST_TEXTS = 200

# A feature that is absent is a gap if it was in this share of the first 500 samples, or of the
# samples so far, once there are _FEWEST.
_USUAL = 0.5
_FEWEST = 100


@stored.stores(
    names=stored.ListOf(stored.Anything(), size="n_features"),
    is_mark=stored.Array("n_columns", dtype=np.bool_),
    inputs=stored.Optional(stored.Object(StreamInputs)),
    counts=stored.Array("n_features", at_least=0.0),
)
class FeatureColumns:
    """Features and the marks of their gaps, in the order in which they appeared.

    Parameters
    ----------
    names : list
        Names of the features; a text of a feature is a feature of its own.
    is_mark : array of bool of shape (k,)
        Whether a column marks the gaps of a feature.
    inputs : StreamInputs or None
        What fills the gaps; None without features.
    counts : array of shape (p,)
        Number of the first 500 samples that had each feature.

    Examples
    --------
    >>> columns = FeatureColumns().admitting(["a", "b"], ["a", "b"])
    >>> columns, rows = columns.learned(columns.cells({"a": 1.0, "b": 2.0}))
    >>> columns, rows = columns.learned(columns.cells({"a": 3.0, "b": None}))
    >>> columns.shown, rows
    (['a', 'b', 'b is missing'], array([[3., 2., 1.]]))
    """

    def __init__(
        self,
        names: list[Hashable] | None = None,
        is_mark: NDArray[np.bool_] | None = None,
        inputs: StreamInputs | None = None,
        counts: Array | None = None,
    ) -> None:
        self.names = names or []
        self.is_mark = np.zeros(0, dtype=np.bool_) if is_mark is None else is_mark
        self.inputs = inputs
        self.counts = np.zeros(0) if counts is None else counts

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.is_mark)

    @property
    def shown(self) -> list[Hashable]:
        """Name of each column."""
        return self._in_order(self.names, [f"{name} is missing" for name in self._gaps])

    @property
    def is_settled(self) -> bool:
        """Whether a sample without gaps changes nothing."""
        return self.inputs is not None and self.inputs.is_settled

    @property
    def has_texts(self) -> bool:
        """Whether a column may stand for a text."""
        return any(map(_may_be_text, self.names))

    @property
    def _gaps(self) -> list[Hashable]:
        """The features with a mark, in the order of the marks."""
        gaps = [] if self.inputs is None else self.inputs.encoder.gaps
        return [self.names[int(gap)] for gap in gaps]

    def _in_order(self, of_features: list[Any], of_marks: list[Any]) -> list[Any]:
        features, marks = iter(of_features), iter(of_marks)
        return [next(marks if is_mark else features) for is_mark in self.is_mark.tolist()]

    # -- the fast path -----------------------------------------------------------------------

    @property
    def keys(self) -> list[Any]:
        """The key of each column in a sample; a mark has a key that no sample has."""
        return self._in_order(self.names, [object() for _ in self._gaps])

    @property
    def needed(self) -> list[bool]:
        """Whether a sample that lacks a column has a gap."""
        usual = self._usual(self._nothing)[0] if self.is_settled else ~self._are_texts
        return self._in_order(usual.tolist(), [False for _ in self._gaps])

    @property
    def held(self) -> Array:
        """The value of each column that is constant so far; NaN for the others."""
        held = np.full(self.width, np.nan)
        constants = None if self.inputs is None else self.inputs.encoder.constants
        if constants is not None:
            places = np.flatnonzero(~self.is_mark)[constants.places]
            held[places] = constants.values[constants.places]
        return held

    @property
    def takes_plain(self) -> bool:
        """Whether the learner takes samples without gaps as they are."""
        return self.inputs is not None and (
            self.is_settled or not self.inputs.encoder.has_constants
        )

    def keep_one(self, row: Array) -> None:
        """Keep one of the first samples, which the learner took as it was.

        Parameters
        ----------
        row : array of shape (1, k)
            The columns.
        """
        inputs, features = self.inputs, np.ascontiguousarray(row[:, ~self.is_mark])
        assert inputs is not None
        assert inputs.running is not None
        inputs.running.absorb(features.copy())
        inputs.keep_one(features)
        self.counts = self.counts + 1.0  # a file may be reading the old ones

    # -- reading samples ---------------------------------------------------------------------

    def admitting(self, names: Iterable[Hashable], given: Container[Hashable]) -> "FeatureColumns":
        """Return the columns with those of new features, which were 0 in all samples so far.

        Parameters
        ----------
        names : iterable
            Names of features that have a value. Those that are not `given` are texts, of which at
            most 200 get a column.
        given : container
            The features as they were given.
        """
        known, n_texts = set(self.names), int(self._are_texts.sum())
        new = sorted((name for name in names if name not in known), key=str)
        texts = [name for name in new if name not in given]
        refused = set(texts[max(MOST_TEXTS - n_texts, 0) :])
        new = [name for name in new if name not in refused]
        if not new:
            return self
        numbers = [Column(str(len(self.names) + k), "number") for k in range(len(new))]
        if self.inputs is None:
            inputs = StreamInputs.begun(numbers, is_scaled=False)
        else:
            inputs = self.inputs.widened(numbers)
        is_mark = np.append(self.is_mark, np.zeros(len(new), dtype=np.bool_))
        counts = np.append(self.counts, np.zeros(len(new)))
        return FeatureColumns(self.names + new, is_mark, inputs, counts)

    def cells(self, x: Features) -> Cells:
        """Return the features of a sample, with NaN for gaps, and which of them it has.

        Parameters
        ----------
        x : dict
            The sample.
        """
        found = checked_features(x)
        values = np.array([[found.get(name, 0.0) for name in self.names]])
        return values, np.array([[name in found for name in self.names]], dtype=np.bool_)

    def cells_of(self, X: Any) -> Cells:
        """Return the features of the rows of a data frame, as `cells` does.

        Parameters
        ----------
        X : DataFrame
            The rows.
        """
        found, shape = checked_columns(X), (len(X), len(self.names))
        values, is_there = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for column, name in enumerate(self.names):
            if name in found:
                rows, numbers = found[name]
                values[rows, column], is_there[rows, column] = numbers, True
        return values, is_there

    # -- rows of the learner -----------------------------------------------------------------

    def learned(self, cells: Cells) -> tuple["FeatureColumns", Array]:
        """Return the columns after more samples, and the samples as the learner takes them.

        Parameters
        ----------
        cells : arrays of shape (n, p)
            From `cells` or `cells_of`.
        """
        if self.inputs is None:
            return self, np.zeros((len(cells[0]), 0))
        values, is_there = cells
        rows = np.where(~is_there & self._usual(is_there), np.nan, values)
        n_first = min(len(values), WARM_UP - self.inputs.n_first)
        inputs, encoded = self.inputs.learned(rows)
        n_marks = inputs.width - self.inputs.width
        is_mark = np.append(self.is_mark, np.ones(n_marks, dtype=np.bool_))
        counts = self.counts + is_there[:n_first].sum(axis=0)
        found = FeatureColumns(self.names, is_mark, inputs, counts)
        return found, found._placed(encoded)

    def learned_of(self, X: Any, counted: NDArray[np.bool_]) -> tuple["FeatureColumns", Array]:
        """Learn the counted rows of a data frame, as `learned` does.

        Parameters
        ----------
        X : DataFrame
            The rows.
        counted : array of bool of shape (n,)
            Whether a row counts.
        """
        values, is_there = self.cells_of(X)
        return self.learned((values[counted], is_there[counted]))

    def encode(self, cells: Cells) -> Array:
        """Return new samples as the learner takes them.

        Parameters
        ----------
        cells : arrays of shape (n, p)
            From `cells` or `cells_of`.
        """
        values, is_there = cells
        if self.inputs is None:
            return np.zeros((len(values), 0))
        is_gap = ~is_there & self._usual(self._nothing)
        return self._placed(self.inputs.encode(np.where(is_gap, np.nan, values)))

    @property
    def _are_texts(self) -> NDArray[np.bool_]:
        return np.array([_may_be_text(name) for name in self.names], dtype=np.bool_)

    @property
    def _nothing(self) -> NDArray[np.bool_]:
        return np.zeros((1, len(self.names)), dtype=np.bool_)

    def _usual(self, is_there: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether each feature was in most samples before each of these."""
        n_first = 0 if self.inputs is None else self.inputs.n_first
        counted = is_there.copy()
        counted[WARM_UP - n_first :] = False
        before = self.counts + counted.cumsum(axis=0) - counted
        n_before = np.minimum(n_first + np.arange(len(counted)), WARM_UP)[:, None]
        is_usual: NDArray[np.bool_] = (n_before >= _FEWEST) & (before >= _USUAL * n_before)
        return is_usual & ~self._are_texts

    def _placed(self, encoded: Array) -> Array:
        """Return encoded rows, features first, in the order of the columns."""
        if self.is_mark.any():
            order = np.argsort(self.is_mark, kind="stable")
            encoded = encoded[:, np.argsort(order)]
        return np.ascontiguousarray(encoded)

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        names, is_mark, inputs = values["names"], values["is_mark"], values["inputs"]
        if len(set(names)) != len(names):
            raise FileFormatError("two features have the same name")
        kinds = () if inputs is None else inputs.encoder.columns
        if kinds != tuple((str(k), "number") for k in range(len(names))):
            raise FileFormatError("the inputs have other features than the model")
        n_marks = 0 if inputs is None else len(inputs.encoder.gaps)
        if is_mark.sum() != n_marks or len(is_mark) != len(names) + n_marks:
            raise FileFormatError("the marks of gaps are not those of the features")
        return cls(**values)


def _may_be_text(name: Hashable) -> bool:
    return "=" in str(name)
