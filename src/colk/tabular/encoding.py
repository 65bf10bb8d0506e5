"""Turn rows of a table into points: encode them, fill gaps, and standardise."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk._encoding.columns import Column, check_numbers, check_utf8
from colk._encoding.encoder import TableEncoder
from colk._engine.locks import Guarded
from colk._engine.running_scale import RunningScale
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

    @property
    def _scales_a_stream(self) -> bool:
        """Whether numbers of a stream are scaled."""
        return not self.settings.has_units if self.scale == "auto" else bool(self.scale)

    @property
    def is_scaled(self) -> bool:
        """Whether numbers are standardised."""
        return self._inputs.scale is not None

    def _set_inputs(self, inputs: Inputs) -> None:
        self._inputs = inputs.follow_for(self.settings)
        self.settings = replace(self.settings, categorical=inputs.encoder.categorical)

    @property
    def _encoder(self) -> TableEncoder:
        return self._inputs.encoder

    @property
    def constant_columns(self) -> list[str]:
        """Names of the encoded columns that have had one value so far; they are left out."""
        return self._encoder.constant_names

    # -- rows as numbers ---------------------------------------------------------------------

    def _checked_targets(self, y: Any, n: int) -> NDArray[Any]:
        """Return the targets of n rows as numbers, or as texts."""
        targets: NDArray[Any]
        if self.task == "regression":
            targets = check_numbers(y, self.target).copy()
        else:
            targets = np.array([str(label) for label in y], dtype=object)
            check_utf8(targets.tolist(), self.target)
        if len(targets) != n:
            raise ValueError(f"{self.target} has {len(targets)} rows, expected {n}")
        return targets

    def _class_targets(self, labels: Any) -> Array:
        """Return classes as the loss takes them, of shape (n, 1)."""
        places = {label: place for place, label in enumerate(self.labels)}
        targets = np.array([places[label] for label in labels], dtype=np.float64)[:, None]
        return 2.0 * targets - 1.0 if self.loss.kind == "binary" else targets

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
