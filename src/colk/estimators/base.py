"""What the regressor and the classifier share: building the learner, epochs, attributes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from colk._validation import Array, check_count
from colk.compressors import KOMP
from colk.estimators.convergence import (
    constant_loss,
    warn_of_atoms,
    warn_of_clipping,
    warn_of_loss,
    warn_of_nothing,
)
from colk.expansion import KernelExpansion
from colk.learners import COLK
from colk.learners.naming import (
    as_averaging,
    as_kernel,
    as_loss,
    as_risk,
    check_bandwidth,
    choose_bandwidth,
    choose_eps,
    choose_step,
    kernel_size,
    takes_bandwidth,
)
from colk.losses import Loss
from colk.polish import polish
from colk.selection import KeptSamples, Race, choose, is_open, rows_to_race, until_chosen
from colk.terms import Term, with_parameters

__all__ = ["LEAST_REGULARIZATION", "COLKEstimator"]

# What the polish takes for a regularisation of 0, under which weights are not unique.
LEAST_REGULARIZATION = 1e-12

# Early stopping: another epoch has to lower the loss to this share of what it was, and fewer
# samples than this are too few to hold some out.
_WORTH_AN_EPOCH = 0.99
_FEW = 50

_BY_NAME: dict[str, Callable[[Any], Term]] = {
    "kernel": as_kernel,
    "loss": as_loss,
    "risk": as_risk,
}


class COLKEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A COLK learner behind scikit-learn's face; subclasses say what targets are."""

    # -- what was learned --------------------------------------------------------------------

    @property
    def n_atoms_(self) -> int:
        """Model order M."""
        return self._fitted().n_atoms

    @property
    def n_steps_(self) -> int:
        """Steps made so far, over all epochs."""
        return self._fitted().steps

    @property
    def inner_estimate_(self) -> Array:
        """The tracked value g of the risk, of shape (m,); empty for the mean."""
        return self._fitted().inner_estimate

    @property
    def function_(self) -> KernelExpansion:
        """The learned function in the units of the targets, without the intercept."""
        return self._fitted().function

    def _fitted(self) -> COLK:
        check_is_fitted(self, "_learner")
        learner: COLK = self._learner
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        tags.input_tags.sparse = False
        return tags

    # -- settings ----------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set settings by name; those of a term, `loss__quantile`, put another in its place.

        Parameters
        ----------
        **params : dict
            Settings. A loss or a risk that was named is made from its name.
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
        """The term that is a setting, made from its name where it was named."""
        value = getattr(self, name)
        if name in _BY_NAME and isinstance(value, str) and not takes_bandwidth(value):
            return _BY_NAME[name](value)
        if not isinstance(value, Term):
            raise TypeError(
                f"{name}={value!r} of {type(self).__name__} is no object with parameters of its "
                f"own: pass one, such as kernel=Gaussian(1.0), to set {name}__..."
            )
        return value

    # -- what a task brings ------------------------------------------------------------------

    @abstractmethod
    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, first: bool
    ) -> tuple[Array, Array, Array]:
        """Check the samples and encode the targets; at first also make the learner."""

    @abstractmethod
    def _encode(self, y: Any) -> Array:
        """Return targets as the loss wants them."""

    # -- looking on --------------------------------------------------------------------------

    def _losses(self, X: Any, y: Any) -> Array:
        """Losses of the samples, in the units that the loss is minimised in."""
        values = self._fitted().predict(self._points(X))
        return self.loss_.value(values, self._encode(np.asarray(y)))

    def _walk(self, X: Any, y: Any, n_points: int) -> tuple[Array, Array]:
        """Learn the stream in stretches; returns samples seen and model order after each."""
        X, Y, weight = self._prepare(X, y, None, first=True)
        self._choose_kernel(X, Y, weight, None)
        ends = np.unique(np.linspace(0, len(X), n_points + 1).astype(int))
        orders = []
        for start, end in pairwise(ends):
            self._pass(X[start:end], Y[start:end], weight[start:end])
            orders.append(self.n_atoms_)
        return ends[1:].astype(np.float64), np.array(orders, dtype=np.float64)

    # -- learning ----------------------------------------------------------------------------

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Give a fitted model its attributes back when learning is refused."""
        before = dict(self.__dict__)
        try:
            yield
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _start(self, X: Array, loss: Loss, step_size: float, n_outputs: int | None = None) -> None:
        """Make the learner, with what its settings leave to the first data."""
        check_bandwidth(self)
        kernel, bandwidth = until_chosen(self.kernel, self.bandwidth)
        if takes_bandwidth(kernel):
            bandwidth = choose_bandwidth(kernel, bandwidth, X)
        self.kernel_ = as_kernel(kernel, bandwidth)
        self.loss_ = loss
        self.risk_ = as_risk(self.risk)
        size, norm = kernel_size(self.kernel_, X)
        self.step_size_ = choose_step(self.step_size, self.risk_, step_size / size)
        self.eps_ = choose_eps(self.eps, self.step_size_, norm)
        self._n_outputs = n_outputs
        self._learner = self._make_learner()
        self.loss_curve_: list[float] = []
        self.race_: Race | None = None
        self._kept = KeptSamples() if is_open(self.kernel, self.bandwidth) else None

    def _make_learner(self) -> COLK:
        """Return a learner of the terms and settings in use that has seen nothing."""
        self.bandwidth_: Any = getattr(self.kernel_, "bandwidth", None)
        return COLK(
            self.kernel_,
            self.loss_,
            self.risk_,
            step_size=self.step_size_,
            tracking_rate=self.tracking_rate,
            regularization=self.regularization,
            compressor=KOMP(eps=self.eps_, max_atoms=self.max_atoms),
            pairing=self.pairing,
            gradient_bound=self.gradient_bound,
            averaging=as_averaging(self.averaging),
            n_outputs=self._n_outputs,
        )

    # -- what the data choose ----------------------------------------------------------------

    def _choose_kernel(self, X: Array, Y: Array, weight: Array, random: Any) -> None:
        """Let samples choose what the settings leave open, and make the learner anew."""
        if self._kept is None:
            return
        rows = rows_to_race(len(X), random)
        self.race_ = choose(
            self.kernel,
            self.bandwidth,
            X[rows],
            Y[rows],
            weight[rows],
            self.loss_,
            self._n_outputs or 1,
        )
        self._kept = None
        if not self.race_.default_won:
            self.kernel_ = self.race_.kernel
            self._learner = self._make_learner()

    def _follow(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn a stretch of a stream; its first samples are kept until they choose the kernel.

        Until then the default kernel learns them, so that there is something to predict with;
        one that is chosen learns them anew.
        """
        if self._kept is None:
            self._pass(X, Y, weight)
            return
        here = slice(None, self._kept.lacking)
        self._kept = self._kept.including(X[here], self._unscaled(Y[here]), weight[here])
        self._pass(X, Y, weight)
        if self._kept.lacking == 0:
            points, targets, weights = self._kept.arrays()
            learner, targets = self._learner, self._scaled(targets)
            self._choose_kernel(points, targets, weights, None)
            if self._learner is not learner:
                rest = slice(here.stop, None)
                self._learner.learn(points, targets, weights)
                if len(X[rest]):
                    self._learner.learn(X[rest], Y[rest], weight[rest])

    def _unscaled(self, Y: Array) -> Array:
        """Targets without the unit they are learned in, which may still change."""
        return Y

    def _scaled(self, Y: Array) -> Array:
        """Targets in the unit they are learned in."""
        return Y

    # -- passes ------------------------------------------------------------------------------

    def _pass(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn from valid samples in this order, and note their prequential loss."""
        loss_before, total_before = self._learner.loss_sums
        self._learner.learn(X, Y, weight)
        loss, total = self._learner.loss_sums
        seen = total - total_before
        self.loss_curve_.append((loss - loss_before) / seen if seen > 0.0 else float("nan"))

    def _epochs(self, X: Array, Y: Array, weight: Array) -> None:
        """Pass over the samples as often, and in such orders, as the settings say."""
        random = check_random_state(self.random_state)
        self._choose_kernel(X, Y, weight, random if self.shuffle else None)
        learned, watched = self._held_out(len(X), random)
        best, forgotten = np.inf, 0.0
        for epoch in range(check_count(self.epochs, "epochs")):
            order = random.permutation(learned) if self.shuffle else learned
            spent, steps = self._learner.error_spent, self._learner.steps
            self._pass(X[order], Y[order], weight[order])
            made = self._learner.steps - steps
            forgotten = (self._learner.error_spent - spent) / made if made else 0.0
            self._tell(f"epoch {epoch + 1}: loss {self.loss_curve_[-1]:.4g}")
            if len(watched):
                values = self.loss_.value(self._learner.predict(X[watched]), Y[watched])
                found = float(np.average(values, weights=weight[watched]))
                self._tell(f"epoch {epoch + 1}: loss of samples held out {found:.4g}")
                if not found < _WORTH_AN_EPOCH * best:
                    break
                best = found
        if (weight > 0.0).any():
            self._conclude(X, Y, weight, forgotten)

    def _conclude(self, X: Array, Y: Array, weight: Array, forgotten: float) -> None:
        """Say what went wrong in the epochs, and polish."""
        constant = constant_loss(self.loss_, Y, weight, self._learner.n_outputs or 1)
        warn_of_clipping(self._learner, X, Y, weight)
        if self.n_atoms_ == 0:
            warn_of_nothing(constant, self.eps_)
        elif self.polish:
            self._polish(X, Y, weight)
        else:
            warn_of_atoms(forgotten, self.eps_, self.max_atoms)
            cure = "lower step_size or eps, raise epochs, or set polish=True"
            warn_of_loss(self.loss_curve_[-1], constant, len(X), cure)

    def _held_out(self, size: int, random: Any) -> tuple[Any, Any]:
        """Samples to learn from, and those that early stopping watches: a tenth, or none."""
        if not self.early_stopping or size < _FEW:
            return np.arange(size), np.arange(0)
        order = random.permutation(size)
        return np.sort(order[size // 10 :]), np.sort(order[: size // 10])

    def _tell(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}, {self.n_atoms_} atoms", flush=True)

    def _polish(self, X: Array, Y: Array, weight: Array) -> None:
        """Give the atoms the weights that are best for all of the data; see `colk.polish`."""
        function = self._learner.function
        least = max(self.regularization, LEAST_REGULARIZATION)
        terms = self.loss_, self.risk_
        self.polished_ = polish(
            function, X, Y, *terms, least, choose=True, sample_weight=weight, tolerance=1e-3
        )
        _adopt(self._learner, self.polished_.function)
        found = self.polished_
        self._tell(f"polished: objective {found.value_before:.4g} to {found.value:.4g}")
        start = self.risk_.value_at(self.loss_, np.zeros((len(Y), function.n_outputs)), Y, weight)
        left_out = min(risk for _, risk in found.candidates)
        cure = "the features say nothing of the targets with this kernel: change the bandwidth"
        warn_of_loss(left_out, start, len(X), cure)

    def _is_plain(self, X: Any) -> bool:
        """Whether scikit-learn would take X as it is: what its checks cost a row takes 200 µs.

        The model is fitted, without names of features; X is an array as the learner wants it.
        """
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _points(self, X: Any) -> Array:
        """Points to predict at, checked."""
        if self._is_plain(X):
            plain: Array = X
            return plain
        points: Array = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return points

    def _weights(self, sample_weight: Any, X: Array) -> Array:
        if sample_weight is None:
            return np.ones(len(X))
        weight: Array = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        return weight


def _adopt(learner: COLK, function: KernelExpansion) -> None:
    """Let a learner go on from a function on its own atoms, its average and memory included."""
    dictionary = learner._state().dictionary
    weights = function.weights.reshape(function.n_atoms, -1)
    dictionary.set_weights(np.tile(weights, (1, dictionary.n_rows // weights.shape[1])))
    dictionary.clear_ghosts()
