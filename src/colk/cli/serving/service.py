"""Answer requests to a model: convert them to rows, predict and learn."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from colk._encoding.columns import check_utf8
from colk._engine.locks import held
from colk.persistence import save
from colk.tabular import TableModel
from colk.tabular.intervals import conformal_ends
from colk.tabular.moments import as_moment
from colk.tabular.record import RunRecord

__all__ = ["LONGEST_KEY", "LONGEST_TEXT", "MOST_ROWS", "RequestError", "Service"]

# Largest number of rows in a request.
MOST_ROWS = 10_000
# Largest number of characters of a text in a request.
LONGEST_TEXT = 1000
# Number of keys of learn requests that the model remembers, and their largest length.
_KEYS = 1000
LONGEST_KEY = 100
# Number of latest residuals, from before learning, that calibrate intervals.
_LATEST = 1000


class RequestError(ValueError):
    """A request cannot be answered; the message says why.

    Parameters
    ----------
    message : str
        The reason.
    status : int, default=422
        Status of the HTTP response.

    Examples
    --------
    >>> RequestError("row 1: size is missing").status
    422
    """

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


class Service:
    """A model that answers requests, one change at a time.

    Every answer comes from one state of the model; `rows` in it is the number of rows that this
    state has learned.

    Parameters
    ----------
    model : TableModel
        The model.
    path : Path, optional
        File to save the model to. Default: the model is not saved.
    learns : bool, default=False
        Whether requests may update the model.
    every : int, optional
        Number of rows after which to save the model. Default: only at the end.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 6.0, 200)
    >>> model = TableModel("y", ["x"], solver="newton", polish=False).learn({"x": x}, np.sin(x))
    >>> service = Service(model, learns=True)
    >>> service.predict({"rows": [{"x": 1.5}]})["rows"]
    200
    >>> service.learn({"rows": [{"x": 1.5, "y": 1.0}]})["rows"]
    201
    """

    def __init__(
        self,
        model: TableModel,
        path: Path | None = None,
        learns: bool = False,
        every: int | None = None,
    ) -> None:
        self.model, self.learns = model, learns
        self._path, self._every = path, every
        self._saved = self._tried = model.rows
        self.record = RunRecord(model.notes.get("record") if learns else None)

    # -- requests ----------------------------------------------------------------------------

    def predict(self, request: Any) -> dict[str, Any]:
        """Answer a request for predictions.

        Parameters
        ----------
        request : mapping
            "rows", a list of objects with the features, and optionally "coverage".
        """
        rows, coverage = _rows(request, {"rows", "coverage"}), request.get("coverage")
        if coverage is not None and (not _is_number(coverage) or not 0.0 < coverage < 1.0):
            raise RequestError("coverage must be a number between 0 and 1")
        columns = self._columns(rows)
        with held(self.model):
            self._check_intervals(coverage)
            try:
                answer = self._predicted(columns, coverage)
            except ValueError as error:
                raise RequestError(str(error)) from error
            return {"rows": self.model.rows, **answer}

    def _check_intervals(self, coverage: float | None) -> None:
        """Raise if the model has too few residuals for intervals."""
        if coverage is not None:
            try:
                conformal_ends(self.model.residuals, coverage)
            except ValueError as error:
                raise RequestError(str(error), 409) from error

    def _predicted(self, columns: dict[str, Any], coverage: float | None) -> dict[str, Any]:
        model = self.model
        answer: dict[str, Any] = {"predictions": model.predict(columns).tolist()}
        if coverage is None and len(model.residuals):
            coverage = model.notes.get("intervals")
        if coverage is not None:
            low, high = model.predict_interval(columns, coverage)
            answer |= {"lower": low.tolist(), "upper": high.tolist()}
        if model.task == "classification" and model.loss.kind == "multiclass":
            shares = model.predict_proba(columns).tolist()
            answer["probabilities"] = [dict(zip(model.labels, row, strict=True)) for row in shares]
        return answer

    def learn(self, request: Any) -> dict[str, Any]:
        """Answer a request to learn: predict the rows, then learn them.

        The answer has a "warning" if a checkpoint was due and could not be written.

        Parameters
        ----------
        request : mapping
            "rows", a list of objects with the features and the target, and optionally "key", a
            text. A request with the key of an earlier one learns nothing.
        """
        if not self.learns:
            raise RequestError("this server does not learn; start it with --learn", 403)
        rows, key = _rows(request, {"rows", "key"}), _key(request.get("key"))
        columns, y = self._columns(rows), self._targets(rows)
        model = self.model
        with held(model):
            keys = model.notes.get("keys", [])
            if key is not None and key in keys:
                return {"rows": model.rows, "learned": 0, "predictions": None}
            try:
                before = model.predict(columns) if model.rows else None
                model.learn(columns, y)
            except (ValueError, ArithmeticError) as error:
                raise RequestError(str(error)) from error
            if key is not None:
                model.notes = {**model.notes, "keys": [*keys, key][-_KEYS:]}
            if before is not None:
                self._count(before, columns, y)
            predictions = None if before is None else before.tolist()
            answer = {"rows": model.rows, "learned": len(rows), "predictions": predictions}
        return answer | self._checkpoint()

    def _checkpoint(self) -> dict[str, str]:
        """Save the model if that is due; return a warning if it fails, as the rows are learned."""
        is_due = self._every is not None and self.model.rows - self._tried >= self._every
        if self._path is None or not is_due:
            return {}
        self._tried = self.model.rows
        try:
            self.save(self._path)
        except OSError as error:
            warning = f"{error.filename}: {error.strerror}"
            print(f"colk: {warning}", file=sys.stderr, flush=True)
            return {"warning": f"the rows are learned, but the model is not saved: {warning}"}
        return {}

    def _count(self, before: Any, columns: Mapping[str, Any], y: Any) -> None:
        """Record the errors of rows before they were learned, and calibrate the intervals."""
        is_number = self.model.task == "regression"
        residuals = y - before if is_number else np.asarray(before != y, dtype=np.float64)
        errors = np.abs(residuals)
        self.record.extend(errors, self.model.n_atoms)
        self.record.detect(self.model, columns, errors, self.model.rows - len(y))
        if is_number and self.model.notes.get("intervals") is not None:
            self.model.calibrate(np.concatenate([self.model.residuals, residuals])[-_LATEST:])

    # -- rows --------------------------------------------------------------------------------

    def _columns(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the features of rows as columns; raise if a cell has the wrong type."""
        model = self.model
        known = {*model.features, model.target}
        for number, row in enumerate(rows, 1):
            stray = [name for name in row if name not in known]
            if stray:
                raise RequestError(f"row {number}: {stray[0]!r} is not a feature of the model")
        columns: dict[str, Any] = {}
        for name in model.features:
            cells = [row.get(name) for row in rows]
            columns[name] = self._column(name, cells)
        return columns

    def _column(self, name: str, cells: list[Any]) -> Any:
        if name in self.model.categorical:
            texts = [_text(cell, name, number) for number, cell in enumerate(cells, 1)]
            return np.array(texts, dtype=object)
        read = _moment if name in self.model.dates else _number
        return np.array([read(cell, name, number) for number, cell in enumerate(cells, 1)])

    def _targets(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        name = self.model.target
        cells = [row.get(name) for row in rows]
        missing = [number for number, cell in enumerate(cells, 1) if cell is None]
        if missing:
            raise RequestError(f"row {missing[0]}: the target {name!r} is missing")
        if self.model.task == "regression":
            return np.array([_number(cell, name, number) for number, cell in enumerate(cells, 1)])
        texts = [_text(cell, name, number) for number, cell in enumerate(cells, 1)]
        return np.array(texts, dtype=object)

    # -- the model ---------------------------------------------------------------------------

    @property
    def has_news(self) -> bool:
        """Whether the model has learned rows that are not saved."""
        return self._path is not None and self.model.rows != self._saved

    def save(self, path: Path) -> None:
        """Write the model atomically.

        Parameters
        ----------
        path : Path
            The file.
        """
        with held(self.model):
            self.model.notes = {**self.model.notes, "record": self.record.state}
            save(self.model, path)
            self._saved = self.model.rows

    def whole(self, read: Callable[[], Any]) -> Any:
        """Call a function while the model is locked, and return its result.

        Parameters
        ----------
        read : callable
            Reads the model or its record.
        """
        with held(self.model):
            return read()

    def state(self) -> dict[str, Any]:
        """Return a description of the model and its progress, for monitoring."""
        return dict(self.whole(self._state))

    def _state(self) -> dict[str, Any]:
        model, error = self.model, self.record.recent
        return {
            "target": model.target,
            "task": model.task,
            "features": list(model.features),
            "learns": self.learns,
            "rows": model.rows,
            "atoms": model.n_atoms,
            "error": None if math.isnan(error) else error,
        }


def _rows(request: Any, known: set[str]) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a request; raise if it has none."""
    if not isinstance(request, Mapping):
        raise RequestError("the body must be a JSON object with a list of rows")
    stray = [name for name in request if name not in known]
    if stray:
        cure = "" if "rows" in request else '; send rows as {"rows": [{"column": value}]}'
        fields = ", ".join(sorted(known))
        raise RequestError(f"the body has an unknown field {stray[0]!r}; known: {fields}{cure}")
    rows = request.get("rows")
    if not isinstance(rows, list) or not rows:
        raise RequestError("rows must be a list of at least one object")
    if len(rows) > MOST_ROWS:
        raise RequestError(f"there are {len(rows):,} rows, but at most {MOST_ROWS:,} are allowed")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise RequestError(f"row {number} must be an object with a value for each column")
    return rows


def _key(key: Any) -> str | None:
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
        raise RequestError(f"key must be a text of 1 to {LONGEST_KEY} characters")
    try:
        check_utf8([key], "key")
    except ValueError as error:
        raise RequestError(str(error)) from error
    return key


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _number(cell: Any, name: str, row: int) -> float:
    if cell is None:
        return math.nan
    if not _is_number(cell):
        raise RequestError(f"row {row}: {name} must be a number")
    try:
        return float(cell)
    except OverflowError as error:
        raise RequestError(f"row {row}: {name} is too large") from error


def _moment(cell: Any, name: str, row: int) -> float:
    """Return a date as seconds since 1970; it is a text or already a number of seconds."""
    if not isinstance(cell, str):
        return _number(cell, name, row)
    try:
        return as_moment(cell, name)
    except ValueError as error:
        raise RequestError(f"row {row} does not have a date: {error}") from error


def _text(cell: Any, name: str, row: int) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, list | dict):
        raise RequestError(f"row {row}: {name} must be a text")
    text = str(cell).lower() if isinstance(cell, bool) else str(cell)
    if len(text) > LONGEST_TEXT:
        raise RequestError(f"row {row}: {name} is longer than {LONGEST_TEXT:,} characters")
    return text
