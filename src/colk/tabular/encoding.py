"""Turn rows of a table into points: encode them, fill gaps, and standardise."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import Column, as_numbers, as_seconds, check_numbers
from colk._encoding.dates import CYCLES
from colk._encoding.encoder import TableEncoder
from colk._engine.locks import Guarded
from colk._engine.running_scale import COLUMNS, RunningScale
from colk._validation import Array
from colk.losses import Loss
from colk.model import Settings

if TYPE_CHECKING:
    from colk.tabular.reading import Columns

__all__ = ["TableRows"]


class TableRows(Guarded):
    """The part of `TableModel` that turns rows into points.

    `fit` first finds the medians of the columns, which fill their gaps, and the cycles of dates,
    then the scales. `learn` sees each row once, so it fills a gap with the mean of the rows so far
    and uses all cycles of dates.
    """

    target: str
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    dates: tuple[str, ...]
    task: str
    scale: bool | Literal["auto"]
    settings: Settings
    labels: list[str]
    notes: dict[str, Any]
    _encoder: TableEncoder
    _inputs: RunningScale
    _targets: RunningScale
    _has_fixed_scales: bool

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss."""

    @property
    def wanted(self) -> "Columns":
        """The columns to read for learning; rows without a target are rejected."""
        return self._wanted(with_target=True)

    @property
    def wanted_features(self) -> "Columns":
        """The columns to read for predictions."""
        return self._wanted(with_target=False)

    def _wanted(self, with_target: bool) -> "Columns":
        from colk.tabular.reading import Columns

        numbers = [name for name, kind in self._table_columns() if kind == "number"]
        texts = list(self.categorical)
        if with_target:
            (numbers if self.task == "regression" else texts).append(self.target)
        required = (self.target,) if with_target else ()
        return Columns(
            tuple(numbers),
            tuple(texts),
            dates=self.dates,
            required=required,
            month_first=tuple(self.notes.get("month_first", ())),
        )

    def _table_columns(self) -> list[Column]:
        kinds = {**dict.fromkeys(self.categorical, "category"), **dict.fromkeys(self.dates, "date")}
        return [Column(name, kinds.get(name, "number")) for name in self.features]  # type: ignore[arg-type]

    # -- the encoder -------------------------------------------------------------------------

    def _start_encoder(self) -> None:
        """Begin with an encoder that has not seen any rows."""
        cycles = {name: tuple(CYCLES) for name in self.dates}
        self._set_encoder(TableEncoder(self._table_columns(), cycles=cycles).watch_constants())
        self._targets = RunningScale(1)
        self._has_fixed_scales = False

    def _set_encoder(self, encoder: TableEncoder) -> None:
        self._encoder = encoder
        self._inputs = RunningScale(encoder.n_measured, COLUMNS)
        self.settings = replace(self.settings, categorical=encoder.categorical)

    @property
    def is_scaled(self) -> bool:
        """Whether numbers are standardised; a fit that leaves them as they are has the scale 1."""
        return self._has_fixed_scales or self.scale is not False

    def measured(self, columns: Mapping[str, Any]) -> Array:
        """Return the numbers and dates of rows, NaN for gaps, of shape (n, m).

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        n = len(columns[self.features[0]])
        parts = [
            (as_seconds if kind == "date" else as_numbers)(columns[name], name)
            for name, kind in self._table_columns()
            if kind != "category"
        ]
        return np.column_stack(parts) if parts else np.zeros((n, 0))

    @property
    def constant_columns(self) -> list[str]:
        """Names of the encoded columns that have had one value so far; they are left out."""
        return self._encoder.constant_names

    # -- rows as numbers ---------------------------------------------------------------------

    def _encoded(self, columns: Mapping[str, Any], y: Any) -> tuple[Array, Any]:
        """Return checked rows as a matrix, and targets as a column of numbers or texts."""
        missing = [name for name in self.features if name not in columns]
        if missing:
            raise ValueError(f"column {missing[0]!r} is missing")
        n = len(columns[self.features[0]])
        targets = self._checked_targets(y, n)[:, None]
        return self._encoder.admit_and_encode(columns), targets

    def _checked_targets(self, y: Any, n: int) -> NDArray[Any]:
        """Return the targets of n rows as numbers, or as texts."""
        targets: NDArray[Any]
        if self.task == "regression":
            targets = check_numbers(y, self.target).copy()
        else:
            targets = np.array([str(label) for label in y], dtype=object)
        if len(targets) != n:
            raise ValueError(f"{self.target} has {len(targets)} rows, expected {n}")
        return targets

    def _class_targets(self, labels: Any) -> Array:
        """Return classes as the loss takes them, of shape (n, 1)."""
        places = {label: place for place, label in enumerate(self.labels)}
        targets = np.array([places[label] for label in labels], dtype=np.float64)[:, None]
        return 2.0 * targets - 1.0 if self.loss.kind == "binary" else targets

    def update_scales(self, X: Array, targets: Array, gaps: Array | None = None) -> None:
        """Add rows to the means and deviations, and standardise them in place.

        Parameters
        ----------
        X, targets : arrays
            The result of `encode`.
        gaps : array of shape (n, m), optional
            Which numbers and dates are missing; they are filled with the mean of earlier rows.
        """
        if gaps is not None and gaps.any():
            for piece, missing in _pieces(X, gaps):
                if missing is not None:
                    piece[0, missing] = self._inputs.means[missing]
                self._absorb(piece)
        else:
            self._absorb(X)
        if self.task == "regression":
            self._targets.absorb(targets)

    def _absorb(self, X: Array) -> None:
        if self.is_scaled:
            self._inputs.absorb(X)
        else:
            self._inputs.absorb(X[:, : self._inputs.n_columns].copy())  # the means fill gaps

    def standardize(self, X: Array, targets: Array) -> None:
        """Standardise rows in place.

        Parameters
        ----------
        X, targets : arrays
            The result of `encode`.
        """
        if self.is_scaled:
            self._inputs.scale(X)
        if self.task == "regression":
            self._targets.scale(targets)

    def encode_targets(self, y: Any) -> Array:
        """Return targets as the learner sees them, of shape (n, 1).

        Parameters
        ----------
        y : array of shape (n,)
            Numbers, or labels that the model knows.
        """
        if self.task != "regression":
            return self._class_targets([str(label) for label in y])
        targets = check_numbers(y, self.target)[:, None].copy()
        self._targets.scale(targets)
        return targets

    def points(self, columns: Mapping[str, Any]) -> Array:
        """Return rows as the learner sees them: encoded and standardised.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        X = self._encoder.encode(columns)
        if not self._has_fixed_scales:
            gaps = np.isnan(self.measured(columns))
            rows, places = np.nonzero(gaps)
            X[rows, places] = self._inputs.means[places]
        if self.is_scaled:
            self._inputs.scale(X)
        return X


def _pieces(X: Array, gaps: Array) -> Iterator[tuple[Array, Any]]:
    """Yield runs of rows without gaps, and single rows with the places of their gaps."""
    start = 0
    for row in np.flatnonzero(gaps.any(axis=1)).tolist():
        if row > start:
            yield X[start:row], None
        yield X[row : row + 1], np.flatnonzero(gaps[row])
        start = row + 1
    if start < len(X):
        yield X[start:], None
