"""How good a finished model is on rows that it has not learned, beside its baselines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from colk._validation import Array
from colk.model.baselines import LinearBaseline
from colk.tabular import TableModel
from colk.tabular.intervals import conformal_ends
from colk.tabular.record import Predicted, Score

__all__ = ["BaselineScores", "Quality", "coverage_of", "cross_coverage", "tell_score"]

# Largest number of rows on which the baselines are measured.
_ROWS = 2000


@dataclass(frozen=True)
class Quality:
    """Errors of a finished model and of its baselines, and the coverage of its intervals.

    Parameters
    ----------
    is_held_out : bool
        Whether the rows were held out. If not, the rows of the fit were left out one at a time, and
        the baselines have learned the rows on which they are measured.
    score : Score
        Errors of the model.
    baselines : mapping of str to Score
        Errors of the baselines.
    coverage : float or None
        Share of targets inside the intervals; None without intervals.

    Examples
    --------
    >>> quality = Quality(True, Score(4, 2.0, 16.0))
    >>> quality.lines(TableModel("y", ["x"], task="classification"))
    {'error': '50.00 % wrong, on 4 rows never learned'}
    """

    is_held_out: bool
    score: Score
    baselines: Mapping[str, Score] = field(default_factory=dict)
    coverage: float | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The numbers, to store them with the model."""
        return {
            "is_held_out": self.is_held_out,
            "score": self.score.sums,
            "baselines": {name: score.sums for name, score in self.baselines.items()},
            "coverage": self.coverage,
        }

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Self | None:
        """Return the quality in the notes of a model; None if there is none."""
        try:
            state = notes["quality"]
            baselines = {str(name): Score(*sums) for name, sums in state["baselines"].items()}
            covered = state["coverage"]
            return cls(
                state["is_held_out"] is True,
                Score(*state["score"]),
                baselines,
                None if covered is None else float(covered),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def lines(self, model: TableModel) -> dict[str, str]:
        """Return the lines of a summary by name; none before the model was measured.

        Parameters
        ----------
        model : TableModel
            The model.
        """
        if self.score.rows == 0:
            return {}
        rows = f"{self.score.rows:,} rows"
        how = f"on {rows} never learned" if self.is_held_out else f"each of {rows} left out in turn"
        constant = self.baselines.get("constant", Score()).root_mean_square
        lines = {"error": f"{tell_score(self.score, model, constant)}, {how}"}
        told = [
            f"{name} {_short(each, model, math.nan if name == 'constant' else constant)}"
            for name, each in self.baselines.items()
        ]
        if told:
            of = "root mean square of a " if model.task == "regression" else "a "
            lines["others"] = of + ("; of a " if model.task == "regression" else "; a ").join(told)
        if self.coverage is not None and "intervals" in model.notes:
            share, nominal = 100.0 * self.coverage, 100.0 * model.notes["intervals"]
            n = self.score.rows if self.is_held_out else len(model.residuals)
            lines["covered"] = f"{share:.1f} % of {n:,} targets, by intervals for {nominal:g} %"
        return lines


def tell_score(score: Score, model: TableModel, deviation: float = math.nan) -> str:
    """Return an error as text.

    Parameters
    ----------
    score : Score
        The errors.
    model : TableModel
        The model.
    deviation : float, default=NaN
        Root mean square of the errors of a constant, to which R² is relative.

    Examples
    --------
    >>> tell_score(Score(4, 2.0, 16.0), TableModel("y", ["x"], task="classification"))
    '50.00 % wrong'
    >>> tell_score(Score(4, 2.0, 16.0), TableModel("y", ["x"]), deviation=4.0)
    'mean |residual| 0.5, root mean square 2, R² 0.750'
    """
    if not score.rows:
        return "no rows"
    if model.task == "classification":
        return f"{100.0 * score.error:.2f} % wrong"
    return f"mean |residual| {score.error:.4g}, root mean square {_short(score, model, deviation)}"


def _short(score: Score, model: TableModel, deviation: float) -> str:
    if model.task == "classification":
        return tell_score(score, model)
    told = f"{score.root_mean_square:.4g}"
    if not 0.0 < deviation < math.inf:
        return told
    return f"{told}, R² {1.0 - (score.root_mean_square / deviation) ** 2:.3f}"


class BaselineScores:
    """Measures the baselines on rows; if there are many, on every second, fourth, … row.

    Examples
    --------
    >>> from colk.model.baselines import Baselines
    >>> columns, y = {"x": np.arange(5000.0)}, np.arange(5000.0)
    >>> sums, rows = Baselines(["x"], [], is_classification=False), BaselineScores()
    >>> sums.add(columns, y)
    >>> rows.add(columns, y)
    >>> scores = rows.of(sums.fitted())
    >>> scores["linear model"].rows, round(scores["linear model"].error)
    (1250, 0)
    """

    def __init__(self) -> None:
        self._n, self._stride = 0, 1
        self._columns: dict[str, list[Any]] = {}
        self._y: list[Any] = []

    def add(self, columns: Mapping[str, Any], y: Any) -> None:
        """Add rows.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        y : array of shape (n,)
            Numbers or labels.
        """
        first = -self._n % self._stride
        self._n += len(y)
        self._y += list(y[first :: self._stride])
        for name, values in columns.items():
            self._columns.setdefault(name, []).extend(values[first :: self._stride])
        while len(self._y) > _ROWS:
            self._stride *= 2
            self._y = self._y[::2]
            self._columns = {name: values[::2] for name, values in self._columns.items()}

    def of(self, baseline: LinearBaseline | None) -> dict[str, Score]:
        """Return the errors of a linear model and of a constant.

        Parameters
        ----------
        baseline : LinearBaseline or None
            The baselines.
        """
        if baseline is None or not self._y:
            return {}
        constant = np.tile(baseline.constant, (len(self._y), 1))
        found = {"constant": _scored(baseline, constant, self._y)}
        if baseline.is_linear:
            linear = baseline.scores(self._columns)
            found = {"linear model": _scored(baseline, linear, self._y), **found}
        return found


def _scored(baseline: LinearBaseline, values: Array, y: Any) -> Score:
    score = Score()
    if baseline.labels:
        guesses = [baseline.labels[place] for place in values.argmax(axis=1)]
        pairs = zip(guesses, y, strict=True)
        sizes = np.array([guess != str(label) for guess, label in pairs], dtype=np.float64)
    else:
        sizes = np.abs(np.asarray(y, dtype=np.float64) - values[:, 0])
    score.add(Predicted(None, None, sizes, sizes))
    return score


def coverage_of(residuals: Array, known: Array, coverage: float) -> float | None:
    """Return the share of residuals inside intervals; None if too few others are known.

    Parameters
    ----------
    residuals, known : arrays
        Residuals of rows that the model has not learned; the known ones set the intervals.
    coverage : float
        Nominal coverage.

    Examples
    --------
    >>> coverage_of(np.array([0.0, 0.5, 3.0, 9.5]), np.arange(-9.0, 10.0), 0.9)
    0.75
    """
    try:
        low, high = conformal_ends(known, coverage)
    except ValueError:
        return None
    return float(np.mean((low <= residuals) & (residuals <= high)))


def cross_coverage(residuals: Array, coverage: float) -> float | None:
    """Return the share of residuals in intervals of the other half; None if they are too few.

    Parameters
    ----------
    residuals : array of shape (n,)
        Residuals of rows that the model has not learned.
    coverage : float
        Nominal coverage.

    Examples
    --------
    >>> round(cross_coverage(np.random.default_rng(0).normal(size=2000), 0.9), 2)
    0.9
    """
    one, other = residuals[::2], residuals[1::2]
    shares = coverage_of(one, other, coverage), coverage_of(other, one, coverage)
    if shares[0] is None or shares[1] is None:
        return None
    return (len(one) * shares[0] + len(other) * shares[1]) / len(residuals)
