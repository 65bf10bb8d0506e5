"""Turn rows of a table into points: encode them, fill gaps, and standardise."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import Column, as_numbers, as_seconds, check_numbers
from colk._encoding.dates import cycles_in
from colk._encoding.effects import effect_targets
from colk._encoding.encoder import TableEncoder
from colk._engine.locks import Guarded
from colk._engine.running_scale import COLUMNS, RunningScale
from colk._validation import Array
from colk.losses import Loss
from colk.model import Settings
from colk.model.inputs import Inputs
from colk.model.stream_inputs import StreamInputs

if TYPE_CHECKING:
    from colk.tabular.reading import Columns

__all__ = ["TableRows"]


class TableRows(Guarded):
    """The part of `TableModel` that turns rows into points.

    `fit` finds how gaps are filled, the cycles of dates and the scales on a sample. `learn` sees
    each row once: its inputs are those of `colk.model.stream_inputs`, with all cycles of dates.
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
    _inputs: Inputs
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

    def _start_inputs(self) -> None:
        """Begin with inputs that have not seen any rows."""
        self._set_inputs(StreamInputs.begun(self._table_columns(), is_scaled=self._scales_a_stream))
        self._targets = RunningScale(1)
        self._has_fixed_scales = False

    @property
    def _scales_a_stream(self) -> bool:
        """Whether numbers of a stream are scaled."""
        return not self.settings.has_units if self.scale == "auto" else bool(self.scale)

    @property
    def is_scaled(self) -> bool:
        """Whether numbers are standardised."""
        return self._inputs.scale is not None

    def _set_inputs(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self.settings = replace(self.settings, categorical=inputs.encoder.categorical)

    @property
    def _encoder(self) -> TableEncoder:
        return self._inputs.encoder

    def _scan_scale(self) -> RunningScale:
        """The scale of the numbers in the scan of a fit."""
        if self._inputs.scale is None:
            encoder = self._encoder
            self._inputs = Inputs(encoder, RunningScale(encoder.n_measured, COLUMNS))
        return cast(RunningScale, self._inputs.scale)

    @property
    def needs_medians(self) -> bool:
        """Whether a fit must find medians and cycles before the scales, for gaps or dates."""
        return bool(self._encoder.gaps or self.dates)

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

    def find_medians(self, measured: Array) -> None:
        """Set the medians that fill gaps and the cycles of dates; reset the scales.

        Parameters
        ----------
        measured : array of shape (n, m)
            The result of `measured` for a sample of the rows.
        """
        before = self._encoder
        typical, cycles = {}, {}
        columns = [column for column in self._table_columns() if column.kind != "category"]
        for (name, kind), values in zip(columns, measured.T, strict=True):
            known = values[~np.isnan(values)]
            typical[name] = float(np.median(known)) if len(known) else 0.0
            if kind == "date":
                cycles[name] = cycles_in(values)
        values = {name: before.values_of(name) for name in self.categorical}
        gaps = [name for name, _ in columns if name in before.gaps]
        table = self._table_columns()
        encoder = TableEncoder(table, typical, cycles, values, gaps).watch_constants()
        self._set_inputs(Inputs(encoder, RunningScale(encoder.n_measured, COLUMNS)))
        self._targets = RunningScale(1)

    @property
    def constant_columns(self) -> list[str]:
        """Names of the encoded columns that have had one value so far; they are left out."""
        return self._encoder.constant_names

    # -- rows as numbers ---------------------------------------------------------------------

    def _encoded(self, columns: Mapping[str, Any], y: Any, first: int) -> tuple[Array, Any]:
        """Return checked rows as a matrix, and targets as a column of numbers or texts.

        `first` is the index of the first row in the data of a fit.
        """
        missing = [name for name in self.features if name not in columns]
        if missing:
            raise ValueError(f"column {missing[0]!r} is missing")
        n = len(columns[self.features[0]])
        targets = self._checked_targets(y, n)[:, None]
        return self._encoder.admit_and_encode(columns, np.arange(first, first + n)), targets

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

    def find_effects(
        self, X: Array, targets: Array, places: NDArray[np.int64], n_rows: int
    ) -> Array:
        """Find the effects of categories; return the rows with out-of-fold effects appended.

        Parameters
        ----------
        X : array of shape (n, width)
            Encoded rows, not standardised.
        targets : array of shape (n, 1)
            Targets as the loss takes them, standardised.
        places : array of shape (n,)
            The indices of the rows in the data.
        n_rows : int
            Number of rows in the data.
        """
        n_classes = max(2, len(self.labels)) if self._has_classes else 0
        found = effect_targets(targets, n_classes)
        return self._encoder.find_effects(X, found, np.ones(len(X)), places, n_rows)

    @property
    def _has_classes(self) -> bool:
        return self.loss.kind == "multiclass"

    def end_fit(self) -> None:
        """Treat all later rows as new rows; effects of categories no longer depend on folds."""
        self._encoder.end_fit()

    def _class_targets(self, labels: Any) -> Array:
        """Return classes as the loss takes them, of shape (n, 1)."""
        places = {label: place for place, label in enumerate(self.labels)}
        targets = np.array([places[label] for label in labels], dtype=np.float64)[:, None]
        return 2.0 * targets - 1.0 if self.loss.kind == "binary" else targets

    def update_scales(self, X: Array, targets: Array) -> None:
        """Add rows to the means and deviations, and standardise them in place.

        Parameters
        ----------
        X, targets : arrays
            The result of `encode`.
        """
        self._scan_scale().absorb(X)
        if self.task == "regression":
            self._targets.absorb(targets)

    def standardize(self, X: Array, targets: Array) -> None:
        """Standardise rows in place.

        Parameters
        ----------
        X, targets : arrays
            The result of `encode`.
        """
        self._scan_scale().scale(X)
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
        return self._inputs.encode((self._table_columns(), dict(columns)))
