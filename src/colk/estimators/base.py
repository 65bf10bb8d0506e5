"""Base class of the estimators: it builds the learner, runs passes and has the attributes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from colk._engine.locks import Guarded
from colk._engine.terms import Term, with_parameters
from colk._engine.thread_pool import use_threads
from colk._validation import Array
from colk.compressors import KOMP
from colk.estimators.feature_scales import warn_of_scales
from colk.estimators.stored import StoredEstimator
from colk.estimators.table_input import TableInput
from colk.kernels.bandwidth import as_kernel, takes_bandwidth
from colk.kernels.of_rows import OfRows
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.recipe import Contest, Recipe, Settings, as_loss, as_risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath
from colk.selection import KeptSamples, Race, rows_to_race

__all__ = ["COLKEstimator"]

# Predictions at this many points use threads.
_MANY_POINTS = 8192

_BY_NAME: dict[str, Callable[[Any], Term]] = {
    "kernel": as_kernel,
    "loss": as_loss,
    "risk": as_risk,
}


class COLKEstimator(Guarded, TableInput, StoredEstimator, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A COLK learner with scikit-learn's interface; subclasses define the targets."""

    _changing: ClassVar[tuple[str, ...]] = ("_learner", "loss_curve_", "_contest")

    n_jobs: int | None

    # -- fitted attributes -------------------------------------------------------------------

    @property
    def n_atoms_(self) -> int:
        """Number of atoms, the model order M."""
        return self._fitted().n_atoms

    @property
    def n_steps_(self) -> int:
        """Number of steps so far, over all epochs."""
        return self._fitted().steps

    @property
    def inner_estimate_(self) -> Array:
        """The tracked inner value g of the risk, of shape (m,); empty for the mean."""
        return self._fitted().inner_estimate

    @property
    def eps_(self) -> float:
        """H-norm of the error that compression may make in the next step."""
        learner = self._fitted()
        rule = cast(KOMP, learner.compressor)
        return float(rule.eps or 0.0) + float(rule.fraction or 0.0) * learner.step_length

    @property
    def function_(self) -> KernelExpansion:
        """The learned function in the units of the targets, without the intercept.

        It takes rows of X; for a table, rows as `encoder_` encodes them.
        """
        return self._inputs.in_units(self.learner_.function)

    @property
    def feature_relevance_(self) -> Array | None:
        """Relevance of the features, of shape (p,), as the race found it; None without a race."""
        self._fitted()
        return None if self.race_ is None else self.race_.relevance

    @property
    def learner_(self) -> KernelLearner:
        """The learner of the fitted estimator, which sees scaled targets.

        If the atoms are stored as a sparse matrix, this makes them dense.
        """
        self._make_dense()
        return self._fitted()

    def _fitted(self) -> KernelLearner:
        learner: KernelLearner | None = vars(self).get("_learner")
        if learner is None:
            check_is_fitted(self)  # takes longer than learning a row, so it is called only to raise
        return cast(KernelLearner, learner)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    # -- settings ----------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        A nested name, such as `loss__quantile`, replaces the term by a copy with that parameter.

        Parameters
        ----------
        **params : dict
            Parameters. A term that was given by name, such as loss="pinball", can be nested too.
        """
        nested = dict.fromkeys(path.partition("__")[0] for path in params if "__" in path)
        plain = {name: value for name, value in params.items() if "__" not in name}
        unknown = nested.keys() - self.get_params(deep=False).keys()
        super().set_params(**plain, **dict.fromkeys(unknown))
        for name in nested:
            prefix = f"{name}__"
            below = {
                path.removeprefix(prefix): value
                for path, value in params.items()
                if path.startswith(prefix)
            }
            setattr(self, name, with_parameters(self._term(name), below))
        return self

    def _term(self, name: str) -> Term:
        """Return the term of this parameter; a name becomes a term with its defaults."""
        value = getattr(self, name)
        if name in _BY_NAME and isinstance(value, str) and not takes_bandwidth(value):
            return _BY_NAME[name](value)
        if not isinstance(value, Term):
            raise TypeError(
                f"{name}={value!r} of {type(self).__name__} has no parameters: to set {name}__..., "
                f"pass an object such as kernel=Gaussian(1.0)"
            )
        return value

    # -- the task: regression, classification or quantiles -----------------------------------

    @abstractmethod
    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, first: bool
    ) -> tuple[Array, Array, Array]:
        """Validate the samples and encode the targets; the first call also makes the learner."""

    @abstractmethod
    def _encode(self, y: Any) -> Array:
        """Return targets in the encoding that the loss takes."""

    def encode_targets(self, y: Any) -> Array:
        """Return targets in the units in which the loss is minimised.

        Parameters
        ----------
        y : array of shape (n,) or (n, q)
            Targets or labels, as `fit` takes them.
        """
        self._fitted()
        return self._encode(np.asarray(y))

    # -- for the displays --------------------------------------------------------------------

    def _losses(self, X: Any, y: Any) -> Array:
        """Losses of the samples, in the units in which the loss is minimised."""
        return self.loss_.value(self._values(X), self._encode(np.asarray(y)))

    def _walk(self, X: Any, y: Any, n_points: int) -> tuple[Array, Array]:
        """Learn the stream in parts; return samples seen and model order after each part."""
        X, Y, weight = self._prepare(X, y, None, first=True)
        self._choose_kernel(X, Y, weight)
        ends = np.unique(np.linspace(0, len(X), n_points + 1).astype(int))
        orders = []
        for start, end in pairwise(ends):
            self._pass(X[start:end], Y[start:end], weight[start:end])
            orders.append(self.n_atoms_)
        return ends[1:].astype(np.float64), np.array(orders, dtype=np.float64)

    # -- learning ----------------------------------------------------------------------------

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restore the attributes of a fitted model if learning raises an exception.

        Ctrl-C during a new fit restores them as well. Other threads wait until the call ends.
        """
        with self._lock:
            before = dict(self.__dict__)
            try:
                yield
            except BaseException as error:
                is_new = self.__dict__.get("_learner") is not before.get("_learner")
                if is_new or isinstance(error, Exception):
                    self.__dict__.clear()
                    self.__dict__.update(before)
                raise

    def _settings(self, loss: Loss) -> Settings:
        """The settings of the learner, with this loss and the number of atoms in use."""
        found = replace(Settings.of(self), loss=loss, max_atoms=self.max_atoms_)
        rows = vars(self).get("_rows")
        return replace(found, categorical=self.encoder_.categorical, rows=rows)

    def _start(self, X: Array, loss: Loss, n_outputs: int | None = None) -> None:
        """Make the learner; some defaults depend on the points X."""
        self.max_atoms_ = Settings.of(self).atom_limit
        self.growth_ = np.zeros((0, 3))
        settings = self._settings(loss)
        as_risk(settings.risk).check_loss(loss)
        self._n_outputs = n_outputs
        self._use(Recipe.from_data(settings, X))
        is_plain = not settings.is_open and self._inputs.is_plain
        if is_plain and isinstance(self.bandwidth_, float):
            warn_of_scales(X, getattr(self, "feature_names_in_", None))
        self.loss_curve_: list[float] = []
        self.race_: Race | None = None
        self.risk_path_: RiskPath | None = None
        self._kept = KeptSamples() if settings.is_open else None
        self._contest: Contest | None = None

    def _use(self, recipe: Recipe) -> None:
        """Make the learner of a recipe, and set the attributes that describe it."""
        self._show(recipe)
        self._learner = recipe.learner(self._n_outputs)

    def _show(self, recipe: Recipe) -> None:
        """Set the attributes that describe the learner of a recipe."""
        self.kernel_, self.loss_, self.risk_ = recipe.kernel, recipe.loss, recipe.risk
        self.bandwidth_: Any = getattr(recipe.kernel, "bandwidth", None)
        self.regularization_ = recipe.regularization
        self.step_size_, self.gradient_bound_ = recipe.step_size, recipe.gradient_bound
        self.prior_ = recipe.prior

    # -- choosing the kernel by the data -----------------------------------------------------

    def _choose_kernel(self, X: Array, Y: Array, weight: Array, random: Any = None) -> None:
        """Race the kernels on samples of a `fit`; rebuild the learner if the default loses."""
        if self._kept is None:
            return
        rows = rows_to_race(len(X), random)
        self.race_ = self._settings(self.loss_).race(
            X[rows], Y[rows], weight[rows], self._n_outputs or 1, prefers_narrow=True
        )
        self._kept = None
        if not self.race_.default_won:
            self._use(self._recipe(X))

    def _recipe(self, X: Array) -> Recipe:
        """The recipe of the learner, once the kernel is chosen."""
        settings = self._settings(self.loss_)
        if self.race_ is None or self.race_.default_won:
            return Recipe.from_data(settings, X)
        return Recipe.from_kernel(settings, self.race_.kernel)

    def _learn_on(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn a part of a stream; its first samples are kept for the race of kernels.

        Until the race, the model learns with the default kernel, or the one that `fit` chose, so
        that it can predict. Afterwards a rival with another kernel may learn beside the model, and
        take over; see `Contest`.
        """
        if self.risk_.needs_groups:
            self.risk_.check_stream()
        if isinstance(self._learner.kernel, OfRows):
            self._make_dense()
        if self._kept is None and self._contest is None and self.race_ is not None:
            self._kept = KeptSamples()  # the first part of a stream after `fit`
        if self._kept is None and self._contest is None:
            self._pass(X, Y, weight)
            return
        sums, start = np.zeros(2), 0
        if self._kept is not None:
            start = min(self._kept.lacking, len(X))
            here = slice(None, start)
            self._kept = self._kept.including(X[here], Y[here], weight[here])
            sums += self._learn_part(X[here], Y[here], weight[here])
            if self._kept.lacking == 0:
                self._start_contest(self._kept)
        if self._contest is not None:
            sums += self._compete(self._contest, X[start:], Y[start:], weight[start:])
        self._note_loss(*sums)

    def _start_contest(self, kept: KeptSamples) -> None:
        """Choose the kernel by the first samples of a stream."""
        settings = self._settings(self.loss_)
        contest, leader = Contest.begin(kept.arrays(), self._learner, settings, self.race_)
        self._lead_on(leader)
        self.race_, self._contest, self._kept = contest.latest, contest, None

    def _compete(self, contest: Contest, X: Array, Y: Array, weight: Array) -> tuple[float, float]:
        """Learn beside a rival; return the sums of losses before learning, and of weights."""
        lost = learned = 0.0
        loss, seen = self._learner.loss_sums
        for leader in contest.learn(
            self._learner, X, Y, weight, lambda: self._settings(self.loss_)
        ):
            loss_after, seen_after = self._learner.loss_sums
            lost, learned = lost + (loss_after - loss), learned + (seen_after - seen)
            self._lead_on(leader)
            self.race_, (loss, seen) = contest.latest, leader.loss_sums
        return lost, learned

    def _lead_on(self, leader: KernelLearner) -> None:
        """Continue with this learner."""
        if leader is not self._learner:
            self._learner = leader
            self._show(Recipe.from_kernel(self._settings(self.loss_), leader.kernel))

    # -- passes ------------------------------------------------------------------------------

    def _pass(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn from valid samples in this order, and record their prequential loss."""
        self._note_loss(*self._learn_part(X, Y, weight))

    def _learn_part(self, X: Array, Y: Array, weight: Array) -> tuple[float, float]:
        """Learn from valid samples; return the sums of losses before learning, and of weights."""
        loss, seen = self._learner.loss_sums
        self._learner.learn_checked(X, Y, weight)
        loss_after, seen_after = self._learner.loss_sums
        return loss_after - loss, seen_after - seen

    def _note_loss(self, loss: float, seen: float) -> None:
        """Record the mean prequential loss of a pass or of a part of a stream."""
        self.loss_curve_.append(float(loss / seen) if seen > 0.0 else float("nan"))

    def _values(self, X: Any) -> Array:
        """Validate X; return the values of the learned function, of shape (n,) or (n, q)."""
        learner = self._fitted()
        if issparse(X) or self.has_sparse_atoms_:
            with use_threads(self.n_jobs):
                values = self._function_values(learner.function, X)
        else:
            points = self._points(X)
            if len(points) < _MANY_POINTS:
                values = learner.evaluate(points)
            else:
                with use_threads(self.n_jobs):
                    values = learner.function(points)
        values = values.reshape(len(values), -1)
        return values[:, 0] if learner.is_vector else values
