"""Record of a run: errors before learning, model order, a sample, and the worst rows."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colk._validation import Array
from colk.learners import DriftDetector, DriftEvent
from colk.tabular.model import TableModel

__all__ = ["Predicted", "RunRecord", "Score"]


# Largest number of segments in the curve; if there are more, neighbours are merged.
_STRETCHES = 200
# Largest number of pairs of target and prediction; if there are more, every second one is dropped.
_SAMPLE = 1000
# Number of rows with the largest residuals.
_WORST = 20


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of some rows.

    Parameters
    ----------
    values : array of shape (n,)
        Numbers or labels.
    shares : array of shape (n, C) or None
        Probabilities of the model's labels, if its loss gives them.
    sizes : array of shape (n,)
        |residual| of each row; see `Score` for classes.
    errors : array of shape (n,)
        |residual| for numbers; for labels, 1 if wrong and 0 if right.
    """

    values: Any
    shares: Array | None
    sizes: Array
    errors: Array

    @classmethod
    def of(cls, model: TableModel, columns: Mapping[str, Any], y: Any) -> "Predicted":
        """Predict rows and compute their errors.

        Parameters
        ----------
        model : TableModel
            The model.
        columns, y
            The rows.
        """
        if model.task == "regression":
            values = model.predict(columns)
            sizes = np.abs(y - values)
            return cls(values, None, sizes, sizes)
        if not model.loss.is_likelihood:
            values = model.predict(columns)
            wrong = np.asarray(values != y, dtype=np.float64)
            return cls(values, None, wrong, wrong)
        shares = model.predict_proba(columns)
        values = np.array(model.labels, dtype=object)[shares.argmax(axis=1)]
        places = {label: place for place, label in enumerate(model.labels)}
        of_label = [
            shares[row, places[each]] if each in places else 0.0 for row, each in enumerate(y)
        ]
        wrong = np.asarray(values != y, dtype=np.float64)
        return cls(values, shares, 1.0 - np.array(of_label), wrong)


class Score:
    """Sums of errors.

    A residual is target − prediction. For classes it is 1 − the probability of the label, or 1 for
    a wrong label if the loss gives no probabilities.

    Parameters
    ----------
    rows : int
        Number of rows.
    absolute, squares : float
        Sum of |residual|, or number of wrong labels; and sum of squared residuals.

    Examples
    --------
    >>> Score(4, 2.0, 16.0).error, Score(4, 2.0, 16.0).root_mean_square
    (0.5, 2.0)
    """

    def __init__(self, rows: int = 0, absolute: float = 0.0, squares: float = 0.0) -> None:
        self.rows, self.absolute, self.squares = rows, absolute, squares

    @property
    def error(self) -> float:
        """Mean |residual|, or share of wrong labels."""
        return self.absolute / self.rows if self.rows else math.nan

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared residual."""
        return math.sqrt(self.squares / self.rows) if self.rows else math.nan

    def count(self, model: TableModel, columns: Mapping[str, Any], y: Any) -> Predicted:
        """Predict rows and add up their errors; return the predictions.

        Parameters
        ----------
        model : TableModel
            The model.
        columns, y
            The rows.
        """
        found = Predicted.of(model, columns, y)
        self.add(found)
        return found

    def add(self, found: Predicted) -> None:
        """Add up the errors of predictions.

        Parameters
        ----------
        found : Predicted
            The predictions.
        """
        self.rows += len(found.errors)
        self.absolute += float(found.errors.sum())
        self.squares += float(found.sizes @ found.sizes)

    @property
    def sums(self) -> list[float]:
        """The arguments that make an equal score."""
        return [self.rows, self.absolute, self.squares]


class RunRecord(Score):
    """Errors of rows before they are learned, in bounded memory.

    Parameters
    ----------
    state : mapping, optional
        The `state` of a record to continue.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.tabular import TableModel
    >>> columns, y = {"x": np.arange(10.0)}, np.arange(10.0)
    >>> model = TableModel("y", ["x"]).learn(columns, y)
    >>> record = RunRecord()
    >>> _ = record.watch(model, columns, y, "a.csv", np.arange(2, 12))
    >>> record.rows, len(record.worst)
    (10, 10)
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = {} if state is None else state
        if not isinstance(state, Mapping):
            raise TypeError(f"the record of a run must be a mapping, got a {type(state).__name__}")
        super().__init__(
            int(state.get("rows", 0)),
            float(state.get("absolute", 0.0)),
            float(state.get("squares", 0.0)),
        )
        self.width = int(state.get("width", 1))
        # For each segment: rows, sum of |residual| (wrong labels for classes), last model order.
        self.curve: list[list[float]] = _rows_of(state.get("curve", ()))
        self.stride = int(state.get("stride", 1))
        self.sample: list[list[Any]] = _rows_of(state.get("sample", ()))
        # A heap of |residual|, file, line, target and prediction, least first.
        self.worst: list[tuple[Any, ...]] = [
            tuple(each) for each in _rows_of(state.get("worst", ()))
        ]
        if min(self.rows, self.width - 1, self.stride - 1) < 0:
            raise ValueError("the record of a run has counts below 0")
        self.drifts = [DriftEvent.of(each) for each in state.get("drifts", ())]
        self._detector = DriftDetector()

    @property
    def state(self) -> dict[str, Any]:
        """The record as a dictionary of numbers and lists."""
        return {
            "rows": self.rows,
            "absolute": self.absolute,
            "squares": self.squares,
            "width": self.width,
            "curve": _columns_of(self.curve),
            "stride": self.stride,
            "sample": _columns_of(self.sample),
            "worst": _columns_of(self.worst),
            "drifts": [event.state for event in self.drifts],
        }

    @property
    def recent(self) -> float:
        """The mean error over the last two segments."""
        last = self.curve[-2:]
        rows = sum(each[0] for each in last)
        return sum(each[1] for each in last) / rows if rows else math.nan

    def watch(
        self, model: TableModel, columns: Mapping[str, Any], y: Any, path: str, lines: Any
    ) -> Predicted | None:
        """Predict rows, record their errors, and return the predictions, or None without rows.

        Parameters
        ----------
        model : TableModel
            The model; during a fit, before it learns these rows.
        columns, y
            The rows.
        path, lines
            Their file and lines.
        """
        if model.rows == 0 or len(y) == 0:
            return None
        first = -self.rows % self.stride
        found = self.count(model, columns, y)
        self._keep_worst(found.sizes, path, lines, y, found.values)
        for row in range(first, len(y), self.stride):
            self.sample.append([_plain(y[row]), _plain(found.values[row])])
        while len(self.sample) > _SAMPLE:
            self.sample, self.stride = self.sample[::2], 2 * self.stride
        self.extend(found.errors, model.n_atoms)
        return found

    def _keep_worst(self, sizes: Array, path: str, lines: Any, y: Any, predictions: Any) -> None:
        least = self.worst[0][0] if len(self.worst) == _WORST else -1.0
        for row in np.flatnonzero(sizes > least):
            told = (
                float(sizes[row]),
                path,
                int(lines[row]),
                _plain(y[row]),
                _plain(predictions[row]),
            )
            if len(self.worst) < _WORST:
                heapq.heappush(self.worst, told)
            else:
                heapq.heappushpop(self.worst, told)

    def detect(
        self, model: TableModel, columns: Mapping[str, Any], losses: Array, n_before: int
    ) -> list[DriftEvent]:
        """Look for a rise of the losses; return new drifts with their row numbers.

        Parameters
        ----------
        model : TableModel
            The model.
        columns : mapping of str to array
            The rows.
        losses : array of shape (n,)
            Their losses before they were learned.
        n_before : int
            Number of rows that the model had learned before them.
        """
        numbers = {name: columns[name] for name in model.wanted_features.numbers}
        offset = n_before - self._detector.n_seen
        found = self._detector.update_many(losses, numbers)
        drifts = [replace(event, time=event.time + offset) for event in found]
        self.drifts = self.drifts + drifts
        return drifts

    def extend(self, errors: Array, n_atoms: int) -> None:
        """Continue the curve with the errors of rows.

        Parameters
        ----------
        errors : array of shape (n,)
            The error of each row.
        n_atoms : int
            Number of atoms of the model.
        """
        start = 0
        while start < len(errors):
            if not self.curve or self.curve[-1][0] >= self.width:
                self.curve.append([0.0, 0.0, 0.0])
            last = self.curve[-1]
            part = errors[start : start + self.width - int(last[0])]
            last[0] += len(part)
            last[1] += float(part.sum())
            last[2] = float(n_atoms)
            start += len(part)
            if len(self.curve) > _STRETCHES:
                pairs = zip(self.curve[::2], [*self.curve[1::2], [0.0, 0.0, 0.0]], strict=False)
                self.curve = [[a[0] + b[0], a[1] + b[1], b[2] or a[2]] for a, b in pairs]
                self.width *= 2


def _plain(value: Any) -> float | str:
    return value if isinstance(value, str) else float(value)


def _columns_of(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _rows_of(columns: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]
