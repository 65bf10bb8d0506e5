"""Predictions for the rows of a table, and the description of a model."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from colk._encoding.columns import check_numbers
from colk._encoding.encoder import TableEncoder
from colk._encoding.sources import united
from colk._engine.locks import locked
from colk._notebook import facts_table
from colk._validation import Array
from colk.kernels import Kernel
from colk.losses import Loss
from colk.model import OnlineFit, Recipe, as_averaging, as_risk
from colk.model.relevance import relevance_of
from colk.risks import Risk
from colk.rkhs.compression import Compression, compress, largest_change
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Rate
from colk.selection import Race, Relevance
from colk.tabular.encoding import TableRows
from colk.tabular.intervals import conformal_ends, widened

__all__ = ["TablePredictor"]

# What a compressed model keeps of the notes: how rows are read, and what predictions stand beside.
_KEPT_NOTES = ("id", "month_first", "intervals", "baselines")


class TablePredictor(TableRows):
    """The part of `TableModel` that predicts and describes the model, without learning."""

    rows: int
    _online: OnlineFit
    _fixed: KernelExpansion | None
    residuals: Array

    # -- predicting --------------------------------------------------------------------------

    @locked
    def _scores(self, columns: Mapping[str, Any]) -> Array:
        X = self.points(columns)
        if self.rows == 0:
            raise ValueError("this model has not seen a row yet")
        values: Array = self._online.learner.predict(X) if self._fixed is None else self._fixed(X)
        return values

    def predict(self, columns: Mapping[str, Any]) -> Any:
        """Return predicted numbers or labels, of shape (n,).

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        scores = self._scores(columns)
        if self.task == "regression":
            return scores * self._targets.units[0] + self._targets.means[0]
        if self.loss.kind == "binary":
            places = np.minimum((scores > 0.0).astype(int), len(self.labels) - 1)
        else:
            places = scores[:, : len(self.labels)].argmax(axis=1)
        return np.array(self.labels, dtype=object)[places]

    def predict_proba(self, columns: Mapping[str, Any]) -> Array:
        """Return probabilities of shape (n, C), in the order of `labels`.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        if not self.loss.is_likelihood:
            raise TypeError(f"{type(self.loss).__name__} gives no probabilities; Softmax does")
        scores = self._scores(columns)
        if self.loss.kind == "binary":
            positive = self.loss.probability(scores)
            return np.column_stack([1.0 - positive, positive])
        known = scores[:, : len(self.labels)]
        return self.loss.probability(known) if len(self.labels) > 1 else np.ones_like(known)

    @locked
    def calibrate(self, residuals: Array) -> None:
        """Set the residuals of held-out rows, which determine the intervals.

        Parameters
        ----------
        residuals : array of shape (n,)
            Targets minus predictions, at most 10,000.
        """
        if self.task != "regression":
            raise ValueError("intervals need a target of numbers, but the target is labels")
        self.residuals = check_numbers(residuals, "residuals").copy()

    def predict_interval(self, columns: Mapping[str, Any], coverage: float) -> tuple[Array, Array]:
        """Return the lower and the upper ends of intervals around the predictions.

        If all rows come from one distribution, an interval contains the target with probability
        `coverage` or more.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        coverage : float
            The probability, between 0 and 1.
        """
        low, high = conformal_ends(self.residuals, coverage)
        predictions = self.predict(columns)
        return predictions + low, predictions + high

    # -- the terms in use --------------------------------------------------------------------

    @property
    def kernel(self) -> Kernel:
        """The kernel in use."""
        return self._online.learner.kernel

    @property
    def loss(self) -> Loss:
        """The loss."""
        return self._online.learner.loss

    @property
    def risk(self) -> Risk:
        """The risk."""
        return as_risk(self.settings.risk)

    @property
    def step_size(self) -> Rate | None:
        """The step size; None for `solver="newton"`."""
        return self._online.step_size

    @property
    def averaging(self) -> Averaging | None:
        """The averaging of iterates; None for `solver="newton"`, and if it is off."""
        return None if self._is_newton else as_averaging(self.settings.averaging)

    @property
    def _is_newton(self) -> bool:
        return self.settings.solver == "newton"

    def description(self) -> dict[str, str]:
        """Return the settings in use as text."""
        learner: Any = self._online.learner
        words = {name: str(getattr(self, name)) for name in ("kernel", "loss", "risk")}
        words["solver"] = self.settings.solver
        if self._is_newton:
            words |= {"prior": str(learner.prior), "forgetting": str(learner.forgetting)}
        else:
            words |= {"step size": str(self.step_size), "averaging": str(self.averaging)}
        rule = learner.compressor
        share = rule.fraction is not None
        eps = f"{rule.fraction:g} of the RMS step norm" if share else f"{rule.eps:g}"
        return {**words, "eps": eps, "max atoms": str(self.settings.max_atoms)}

    def __repr__(self) -> str:
        learned = f"{self.rows} rows, {self.n_atoms} atoms" if self.rows else "no rows yet"
        features = f"{len(self.features)} feature" + ("s" if len(self.features) > 1 else "")
        return f"TableModel({self.target!r}, {features}, {self.task}, {learned})"

    def _repr_html_(self) -> str:
        facts = {"task": self.task, "target": self.target, "rows": self.rows, "atoms": self.n_atoms}
        facts |= {name: f"{kind}: {use}" for name, kind, use in self.uses}
        return facts_table("TableModel", {**facts, **self.description()})

    # -- state of the model ------------------------------------------------------------------

    @property
    def race(self) -> Race | None:
        """The latest comparison of kernels; None before the first, or if the kernel is given."""
        return self._online.race

    @property
    def relevance(self) -> Relevance | None:
        """How much the function varies along each of `columns`, and along directions.

        None if the kernel has no gradient.
        """
        return relevance_of(self._online)

    @property
    def feature_relevance(self) -> dict[str, float]:
        """Relevance of each feature, the largest first and 1; empty without a `relevance`."""
        found = self.relevance
        sizes = [] if found is None else united(self._encoder, found.sizes).tolist()
        named = zip((name for name, _ in self._encoder.columns), sizes, strict=False)
        return dict(sorted(named, key=lambda each: -each[1]))

    @property
    def _n_outputs(self) -> int:
        return max(2, len(self.labels)) if self.loss.kind == "multiclass" else 1

    @property
    def n_atoms(self) -> int:
        """Number of atoms, the model order M."""
        return self._online.learner.n_atoms if self._fixed is None else self._fixed.n_atoms

    @property
    def inner_estimate(self) -> Array:
        """The tracked inner value g of the risk."""
        return self._online.learner.inner_estimate

    @property
    def prequential_risk(self) -> float:
        """The risk of up to 1000 latest losses, each computed before its row was learned.

        Losses are those of scaled targets. NaN for the mean, and before the first row.
        """
        return float(getattr(self._online.learner, "prequential_risk", math.nan))

    @property
    def encoder(self) -> TableEncoder:
        """The encoder of rows, which is not to be changed."""
        return self._encoder

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the learner sees."""
        return self._encoder.names

    def category_values(self, name: str) -> list[str]:
        """Return the values of a category that were seen, in order of appearance.

        Parameters
        ----------
        name : str
            The column.
        """
        return self._encoder.values_of(name)

    def unseen_categories(self, columns: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of rows with an unknown value, for each category that has such rows.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        """
        return self._encoder.unknown(columns)

    @property
    def uses(self) -> list[tuple[str, str, str]]:
        """Name, kind and encoding of each feature, as text."""
        return self._encoder.description()

    @property
    def is_fixed(self) -> bool:
        """Whether the model only predicts, because it was compressed."""
        return self._fixed is not None

    @property
    def function(self) -> KernelExpansion:
        """The learned function of standardised columns, in units of the target's deviation."""
        if self._fixed is not None:
            return self._fixed
        if self.rows == 0:
            raise ValueError("this model has not seen a row yet")
        return self._online.learner.function

    @property
    def center(self) -> Array:
        """Means of the columns that the learner sees; 0 unless they are numbers or dates."""
        return self._inputs.center

    @property
    def unit(self) -> Array:
        """Deviations of the columns that the learner sees; 1 unless they are numbers or dates."""
        return self._inputs.unit

    @property
    def target_center(self) -> float:
        """Mean of the targets; 0 for classes."""
        return float(self._targets.means[0])

    @property
    def target_unit(self) -> float:
        """Standard deviation of the targets; 1 for classes."""
        return float(self._targets.units[0])

    def compressed(
        self, *, eps: float | None = None, max_atoms: int | None = None
    ) -> tuple[Self, Compression]:
        """Return a smaller model that only predicts, and the certificate of its error.

        It keeps the intervals. Their ends move outwards by the largest change of the function at
        the atoms, so the coverage stays the same or grows as far as other rows change no more.

        Parameters
        ----------
        eps, max_atoms
            As in `colk.compress`; eps is in units of the target's standard deviation.
        """
        compression = compress(self.function, eps=eps, max_atoms=max_atoms)
        smaller = type(self).__new__(type(self))
        smaller.__dict__.update(self.__dict__)
        settings = replace(
            self.settings, kernel=self.kernel, bandwidth="scale", step_size=self.step_size
        )
        empty = Recipe.from_shape(settings, len(self.columns)).learner(self._n_outputs)
        smaller._fixed = compression.function
        smaller._online = OnlineFit(empty, self.settings, self.race, self.relevance)
        change = largest_change(self.function, compression.function)
        smaller.residuals = widened(self.residuals, change * self.target_unit)
        smaller.notes = {name: self.notes[name] for name in _KEPT_NOTES if name in self.notes}
        return smaller, compression
