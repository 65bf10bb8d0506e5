"""Base of River's classes: features by name, and a fast path for one sample."""

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from colk._engine.gradient_step import KernelStream
from colk._validation import (
    LARGEST_WEIGHT,
    Array,
    check_number,
    check_vector,
    check_weight_range,
)
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.recipe import Recipe, Settings, Solver
from colk.risks import Risk
from colk.river.feed import Feed
from colk.river.stored import StoredModel
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Pairing, Rate
from colk.selection import KeptSamples, Race

__all__ = ["Features", "OnlineModel", "check_weight", "check_weights"]

Features = Mapping[Hashable, Any]


class OnlineModel(StoredModel):
    """A model whose samples are dictionaries.

    A feature gets a column when it first appears, and counts as 0 if it is missing. Features that
    appear together are sorted by name, so the order of a dictionary does not matter.
    """

    kernel: Kernel | str
    bandwidth: str | float
    risk: Risk | str
    step_size: Rate | None
    tracking_rate: Rate
    regularization: float | None
    eps: float | None
    max_atoms: int | None
    pairing: Pairing
    averaging: Averaging | bool
    gradient_bound: float | None
    solver: Solver
    prior: float | Literal["auto"] | None
    forgetting: float | Literal["auto"]

    _defaults: ClassVar[Settings]  # of the settings that are not parameters of the class

    def _reset(self) -> None:
        """Forget everything; raise if the settings are wrong."""
        self._names: list[Hashable] = []
        self._learner: KernelLearner | None = None
        self._feed: Feed | None = None
        self._race: Race | None = None
        self._kept = KeptSamples() if self._settings().is_open else None
        self._make(n_features=1, n_outputs=2)

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss of the learner."""

    def _settings(self) -> Settings:
        """The settings of the learner."""
        return replace(Settings.of(self, self._defaults), loss=self._loss())

    def _make(self, n_features: int, n_outputs: int) -> KernelLearner:
        """Make a learner of standardised features, with the winner of the race if there is one."""
        settings = self._settings()
        if self._race is not None and not self._race.default_won:
            recipe = Recipe.from_kernel(settings, self._race.kernel_for(n_features))
        else:
            recipe = Recipe.from_shape(settings, n_features)
        return recipe.learner(n_outputs)

    # -- features ----------------------------------------------------------------------------

    def _values(self, x: Features) -> Array:
        """Return the features that have a column as a checked row, of shape (1, p)."""
        _check_values(x)
        return np.array([[float(x.get(name, 0.0)) for name in self._names]])

    def _admit(self, names: Iterable[Hashable]) -> None:
        """Add columns for new names."""
        known = set(self._names)
        new = sorted((name for name in names if name not in known), key=str)
        if new:
            self._names = self._names + new
            self._grow(1 if self._learner is None else self._learner.n_outputs or 1)

    def _matrix(self, X: Any) -> Array:
        """Return a data frame as an array of the known columns."""
        table = np.zeros((len(X), len(self._names)))
        for column, name in enumerate(self._names):
            if name in X.columns:
                table[:, column] = _check_column(X[name], name)
        return table

    def _place_many(self, X: Any) -> Array:
        """Return a data frame as an array; add columns for new features."""
        for name in X.columns:
            _check_column(X[name], name)
        self._admit(X.columns)
        return self._matrix(X)

    def _meet(self, x: Features) -> None:
        """Add columns for the features of a sample."""
        _check_values(x)
        self._admit(x)

    # -- learning and predicting -------------------------------------------------------------

    def _learn(self, x: Features, y: float, w: float, n_outputs: int) -> None:
        """Learn a sample whose target and weight are checked."""
        learned = -1 if self._feed is None or self._kept is not None else self._feed.learn(x, y, w)
        if learned == 1:
            return
        if learned == 0:
            raise cast(KernelLearner, self._learner).divergence()
        self._meet(x)
        self._learn_rows(self._values(x), np.array([[y]]), np.array([w]), n_outputs)

    def _learn_rows(self, X: Array, Y: Array, weight: Array, n_outputs: int) -> None:
        """Learn checked samples; the first ones make the learner."""
        if self._learner is None:
            learner = self._make(X.shape[1], n_outputs)
            learner.learn(X, Y, weight)
            self._learner = learner
            self._connect()
        else:
            self._learner.learn_checked(X, Y, weight)
        if self._kept is not None:
            self._keep(self._kept, X, Y, weight, n_outputs)

    def _keep(self, kept: KeptSamples, X: Array, Y: Array, weight: Array, n_outputs: int) -> None:
        """Keep samples until there are enough of them to choose the kernel."""
        here, rest = slice(None, kept.lacking), slice(kept.lacking, None)
        kept = kept.including(X[here], Y[here], weight[here])
        if kept.lacking:
            self._kept = kept
            return
        points, targets, weights = kept.arrays()
        found = self._settings().race(points, targets, weights, n_outputs)
        self._race, self._kept = found, None
        if not found.default_won:
            learner = self._make(points.shape[1], n_outputs).learn(points, targets, weights)
            learner.learn_checked(X[rest], Y[rest], weight[rest])
            self._learner = learner
            self._connect()

    def _connect(self) -> None:
        """Make the fast path for one sample."""
        if self._learner is not None:
            stream = cast(KernelStream, self._learner.stream)
            self._feed = Feed(stream, self._names, stream.averaged)

    def _grow(self, n_outputs: int) -> None:
        """Give the learner all columns and this many outputs."""
        if self._learner is not None:
            kernel = None
            if self._race is not None and self._race.winner.scaled:
                kernel = self._race.kernel_for(len(self._names))
            self._learner.grow(len(self._names), n_outputs, kernel)
            self._connect()

    def _scores(self, x: Features) -> list[float] | None:
        """Values of the learned function at x, one for each output; None before learning."""
        scores = None if self._feed is None else self._feed.scores(x)
        if scores is not None:
            return scores
        values = self._values(x)
        if self._learner is None:
            return None
        checked: list[float] = self._learner.evaluate(values)[0].tolist()
        return checked

    def _many_scores(self, X: Any) -> Array | None:
        """Values at the rows of a data frame, of shape (n, n_outputs); None before learning."""
        table = self._matrix(X)
        return None if self._learner is None else self._learner.evaluate(table)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Undo a mini-batch if it ends with an error or an interrupt."""
        before = dict(self.__dict__)
        learned = None if self._learner is None else self._learner.__getstate__()
        try:
            yield
        except BaseException:
            self.__dict__.update(before)
            if self._learner is not None and learned is not None:
                self._learner.__setstate__(learned)
                self._connect()
            raise

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the fast path, which is made again."""
        return {**self.__dict__, "_feed": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()

    # -- what was learned --------------------------------------------------------------------

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return 0 if self._learner is None else self._learner.n_atoms

    @property
    def race(self) -> Race | None:
        """How the data chose the kernel; None if they did not, or not yet."""
        return self._race

    @property
    def feature_names(self) -> list[Hashable]:
        """Names of the features, in the order of the columns."""
        return list(self._names)

    @property
    def function(self) -> KernelExpansion:
        """The learned function of the columns `feature_names`, in units of the scaled targets."""
        if self._learner is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet")
        return self._learner.function


def _check_values(x: Features) -> None:
    """Raise if a value is not a finite number."""
    for name, value in x.items():
        if type(value) is not float or not math.isfinite(value):
            truth = isinstance(value, (bool, np.bool_))
            check_number(float(value) if truth else value, repr(name))


def _check_column(column: Any, name: Hashable) -> Array:
    values = np.asarray(column)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"feature {name!r} must hold real numbers, got dtype {values.dtype}")
    if not np.isfinite(values).all():
        raise ValueError(f"feature {name!r} contains NaN or infinity; impute such values first")
    return values.astype(np.float64)


def check_weight(w: Any) -> float:
    """Return the weight of a sample; raise if it is not a number ≥ 0, or too large."""
    if type(w) is float and 0.0 <= w <= LARGEST_WEIGHT:
        return w
    weight = check_number(w, "w", at_least=0.0)
    check_weight_range(np.array([weight]), "w")
    return weight


def check_weights(w: Any, size: int) -> Array:
    """Return the weights of a mini-batch; None gives weight 1 to each sample."""
    if w is None:
        return np.ones(size)
    return check_weight_range(check_vector(w, size, "w"), "w")
