"""Base class of the estimators: it builds the learner, runs passes and has the attributes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from colk._encoding.sources import united
from colk._engine.locks import Guarded
from colk._engine.running_scale import RunningScale
from colk._engine.terms import Term, with_parameters
from colk._engine.thread_pool import use_threads
from colk._validation import Array
from colk.compressors import KOMP
from colk.estimators.stored import StoredEstimator
from colk.estimators.table_input import TableInput
from colk.kernels import Kernel
from colk.kernels.bandwidth import as_kernel, takes_bandwidth
from colk.learners.colk import KernelLearner
from colk.learners.newton import NewtonCOLK
from colk.losses import Loss
from colk.losses.scale import loss_scale
from colk.model import OnlineFit, Recipe, Settings, as_loss, as_risk
from colk.model.defaults import default_regularization
from colk.model.feature_scales import warn_of_scales
from colk.model.relevance import relevance_of
from colk.model.stream_inputs import StreamInputs
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath
from colk.schedules import Rate
from colk.selection import Race, Relevance

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

    _changing: ClassVar[tuple[str, ...]] = ("_online", "loss_curve_")

    n_jobs: int | None
    _online: OnlineFit

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
        return self._fitted().eps_now

    @property
    def function_(self) -> KernelExpansion:
        """The learned function in the units of the targets, without the intercept.

        It takes rows of X; for a table, rows as `encoder_` encodes them.
        """
        return self._inputs.in_units(self.learner_.function)

    @property
    def kernel_(self) -> Kernel:
        """The kernel, which the data may have chosen."""
        self._fitted()
        return self._online.kernel

    @property
    def bandwidth_(self) -> Any:
        """The bandwidth of the kernel; None if it has none."""
        return getattr(self.kernel_, "bandwidth", None)

    @property
    def loss_(self) -> Loss:
        """The loss."""
        return self._fitted().loss

    @property
    def risk_(self) -> Risk:
        """The risk."""
        return self._fitted().risk

    @property
    def regularization_(self) -> float:
        """λ of the mean loss."""
        scale = loss_scale(self.loss_)
        return default_regularization(self._online.settings.regularization, scale)

    @property
    def step_size_(self) -> Rate | None:
        """The step size of the gradient solver; None for Newton's."""
        self._fitted()
        return self._online.step_size

    @property
    def gradient_bound_(self) -> float | None:
        """Bound on the gradient norm of the gradient solver; None for Newton's."""
        learner = self._fitted()
        return None if isinstance(learner, NewtonCOLK) else learner.gradient_bound

    @property
    def prior_(self) -> float | str | None:
        """λ of Newton's solver; None for the gradient solver."""
        learner = self._fitted()
        return learner.prior if isinstance(learner, NewtonCOLK) else None

    @property
    def max_atoms_(self) -> int | None:
        """Largest number of atoms in use; None without a limit."""
        return cast(KOMP, self._fitted().compressor).max_atoms

    @property
    def race_(self) -> Race | None:
        """The latest comparison of kernels; None if the kernel is given."""
        self._fitted()
        return self._online.race

    @property
    def feature_relevance_(self) -> Array | None:
        """Relevance of the features, of shape (p,), largest 1; None without a gradient."""
        found = self.relevance_
        return None if found is None else united(self.encoder_, found.sizes)

    @property
    def relevance_(self) -> Relevance | None:
        """Relevance of the columns of `encoder_`, and directions; None without a gradient."""
        self._fitted()
        return relevance_of(self._online)

    @property
    def learner_(self) -> KernelLearner:
        """The learner of the fitted estimator, which sees scaled targets.

        If the atoms are stored as a sparse matrix, this makes them dense.
        """
        self._make_dense()
        return self._fitted()

    def _fitted(self) -> KernelLearner:
        online: OnlineFit | None = vars(self).get("_online")
        if online is None:
            check_is_fitted(self)  # takes longer than learning a row, so it is called only to raise
        return cast(OnlineFit, online).learner

    def __sklearn_is_fitted__(self) -> bool:
        return "_online" in vars(self)

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

    # -- learning ----------------------------------------------------------------------------

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restore the attributes of a fitted model if learning raises an exception.

        Ctrl-C during a new fit restores them as well. Other threads wait until the call ends.
        """
        with self._lock:
            before = dict(self.__dict__)
            online = before.get("_online")
            if online is not None:
                before["_online"] = copy(online)
            try:
                yield
            except BaseException as error:
                is_new = self.__dict__.get("_online") is not online
                if is_new or isinstance(error, Exception):
                    self.__dict__.clear()
                    self.__dict__.update(before)
                raise

    def _stream_settings(self, loss: Loss) -> Settings:
        """The settings of a learner of a stream, with this loss and the categories in use."""
        return replace(Settings.of(self), loss=loss, categorical=self.encoder_.categorical)

    def _start(self, X: Array, loss: Loss, n_outputs: int | None = None) -> None:
        """Make the learner of a stream that begins with the points X."""
        settings = self._stream_settings(loss)
        settings = replace(settings, max_atoms=settings.atom_limit)
        as_risk(settings.risk).check_loss(loss)
        recipe = self._first_recipe(settings, X)
        self._online = OnlineFit(recipe.learner(n_outputs), settings)
        is_plain = not settings.is_open and self._inputs.is_plain
        if is_plain and isinstance(self.bandwidth_, float):
            warn_of_scales(X, getattr(self, "feature_names_in_", None))
        self.growth_ = np.zeros((0, 3))
        self.risk_path_: RiskPath | None = None
        self.loss_curve_: list[float] = []

    def _first_recipe(self, settings: Settings, X: Array) -> Recipe:
        """The recipe of a learner that has seen no sample: it does not depend on the first points.

        A sparse matrix is not scaled, and a median needs points.
        """
        if settings.bandwidth == "median" or not isinstance(self._inputs, StreamInputs):
            return Recipe.from_data(settings, X)
        return Recipe.from_shape(settings, self._inputs.encoder.n_fixed)

    # -- streams -----------------------------------------------------------------------------

    def _learn_on(
        self, X: Array, Y: Array, weight: Array, scale: RunningScale | None = None
    ) -> None:
        """Learn a part of a stream, and record its mean prequential loss.

        The targets are scaled if their scale is given.
        """
        if self.risk_.needs_groups:
            self.risk_.check_stream()
        self._make_dense()
        if self._online.learner.has_learned:
            self._online.grow(X.shape[1], self._online.learner.n_outputs or 1)
        online = self._online
        online.expect(self._inputs.moves)
        if scale is None:
            lost, seen = online.learn(X, Y, weight)
        else:
            lost, seen = online.learn_numbers(X, Y, weight, scale)
        if online.has_notes:
            online.warn(self._inputs.encoder.names)
        self._note_loss(lost, seen)

    def _note_loss(self, loss: float, seen: float) -> None:
        """Record the mean prequential loss of a part of a stream."""
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
