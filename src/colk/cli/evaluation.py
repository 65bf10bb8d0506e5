"""Evaluate a model and its baselines on rows with known targets, in one pass."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from colk.cli.metrics import ClassMetrics, NumberMetrics
from colk.losses import Pinball
from colk.model.baselines import LinearBaseline
from colk.tabular import TableModel
from colk.tabular.record import Predicted, RunRecord

__all__ = ["ModelMetrics"]


class ModelMetrics:
    """Computes the metrics of a model, a constant, "no change", and a linear model.

    The constant and the linear model come from the rows that the model has learned. "No change"
    predicts the target of the previous row.

    Parameters
    ----------
    model : TableModel
        The model.
    coverage : float, optional
        Nominal coverage of the model's intervals. Default: no intervals.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 6.0, 300)
    >>> model = TableModel("y", ["x"]).fit([({"x": x}, np.sin(x))])
    >>> evaluation = ModelMetrics(model)
    >>> evaluation.add({"x": x}, np.sin(x), "a.csv", np.arange(300))
    >>> list(evaluation.metrics), evaluation.metrics["model"].values["R²"] > 0.99
    (['model', 'constant', 'no change'], True)
    """

    def __init__(self, model: TableModel, coverage: float | None = None) -> None:
        self.model, self.record = model, RunRecord()
        self._baseline = LinearBaseline.of_notes(model.notes)
        self._last: Any = None
        self.numbers: dict[str, NumberMetrics] = {}
        self.classes: dict[str, ClassMetrics] = {}
        names = ["model", "constant", "no change", "linear"]
        if self._baseline is None or not self._baseline.is_linear:
            names.remove("linear")
        if model.task == "regression":
            level = model.loss.quantile if isinstance(model.loss, Pinball) else None
            self.numbers = {name: NumberMetrics(quantile=level) for name in names}
            self.numbers["model"] = NumberMetrics(coverage, level)
        else:
            names = [name for name in names if name != "constant" or self._baseline is not None]
            self.classes = {name: ClassMetrics() for name in names}

    @property
    def metrics(self) -> Mapping[str, NumberMetrics | ClassMetrics]:
        """The metrics of the model and of each baseline."""
        return self.numbers or self.classes

    def add(self, columns: Mapping[str, Any], y: Any, path: str, lines: Any) -> None:
        """Add rows.

        Parameters
        ----------
        columns, y
            The rows.
        path, lines
            Their file and lines.
        """
        found = self.record.watch(self.model, columns, y, path, lines)
        if found is not None:
            (self._add_numbers if self.numbers else self._add_labels)(columns, y, found)
            self._last = y[-1]

    def _add_numbers(self, columns: Mapping[str, Any], y: Any, found: Predicted) -> None:
        model, coverage = self.model, self.numbers["model"].coverage
        interval = None if coverage is None else model.predict_interval(columns, coverage)
        self.numbers["model"].add(y, found.values, interval)
        center = model.target_center if self._baseline is None else self._baseline.constant[0]
        self.numbers["constant"].add(y, np.full(len(y), center))
        before = np.concatenate([[center if self._last is None else self._last], y[:-1]])
        self.numbers["no change"].add(y, before)
        if "linear" in self.numbers and self._baseline is not None:
            self.numbers["linear"].add(y, self._baseline.scores(columns)[:, 0])

    def _add_labels(self, columns: Mapping[str, Any], y: Any, found: Predicted) -> None:
        self.classes["model"].add(y, found.values, found.shares, self.model.labels)
        baseline, first = self._baseline, self.model.labels[0]
        if baseline is not None:
            shares = np.tile(baseline.constant, (len(y), 1))
            self.classes["constant"].add(y, _named(shares, baseline), shares, baseline.labels)
            first = baseline.labels[int(baseline.constant.argmax())]
        before = [first if self._last is None else self._last, *y[:-1]]
        self.classes["no change"].add(y, before)
        if "linear" in self.classes and baseline is not None:
            shares = baseline.scores(columns)
            self.classes["linear"].add(y, _named(shares, baseline), shares, baseline.labels)


def _named(shares: Any, baseline: LinearBaseline) -> Any:
    """Return the most probable label of each row."""
    return np.array(baseline.labels, dtype=object)[shares.argmax(axis=1)]
