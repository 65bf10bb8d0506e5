"""Several quantiles with the same atoms, as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._engine.thread_pool import use_threads
from colk._validation import Array, check_vector
from colk.estimators.scaled_targets import ScaledTargets
from colk.estimators.stored import TARGETS, fields_of
from colk.kernels import Kernel
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Loss, Quantiles
from colk.model import Settings
from colk.model.coverage import weighted_quantile
from colk.model.quantile_fit import QuantileFit
from colk.model.targets import QuantileTargets
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Rate

__all__ = ["COLKQuantileRegressor"]

# Up to this many samples, all may become atoms, and cross-validation chooses λ and the constants.
_FEW = 500
_FOLDS = 5
# Of more samples, this share may become atoms. Atoms are unusual samples, so the other samples
# measure the coverage.
_ATOM_SHARE = 0.6


@stored.stores(
    fields_of(
        _targets=TARGETS,
        quantiles_=stored.TupleOf(stored.Number(), size="n_quantiles"),
        regularizations_=stored.Optional(stored.Array("n_quantiles")),
    )
)
class COLKQuantileRegressor(RegressorMixin, ScaledTargets):  # type: ignore[misc]  # scikit-learn is untyped
    """Conditional quantiles of y: one dictionary of atoms, one function per level.

    `fit` works in three steps. COLK minimises the sum of the pinball losses, which finds the atoms.
    For each level, `colk.rkhs.polishing` minimises the objective on all data over the weights. Then
    a constant is added to each function, so that the coverage also holds on new data: of n
    left-out predictions, a share of level · (n + 1)/n is at or above the target, as in conformal
    prediction (for levels below 1/2, at or below, with 1 − level). Up to 500 samples, five-fold
    cross-validation chooses λ and the constant. With more, leave-one-out in closed form chooses
    them; six of ten samples may then become atoms, and the others determine the constant.
    Predictions are sorted along the levels, so quantiles never cross; sorting does not raise the
    sum of the pinball losses. Features and targets are scaled inside.

    `partial_fit` learns a stream. Each sample is one second-order step of
    `colk.learners.QuantileCOLK`, and the constants follow the share of targets below each quantile.
    It forgets as the stream changes. After `fit` it continues from the fitted quantiles.

    A level above 1/2 needs level/(1 − level) samples, such as 19 for 0.95. A level below 1/2 needs
    as many as 1 − level does. With fewer, `fit` warns that the coverage is too low.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        Levels, strictly between 0 and 1 and increasing.
    kernel, bandwidth, standardize
        The model, as in `COLKRegressor`. Defaults: "auto", "scale" and "auto".
    regularization, step_size, averaging, epochs, shuffle, random_state
        The optimiser of `fit`, as in `COLKRegressor`. Defaults: None, None, True, None, True and
        None. The loss scale s is the larger of level and 1 − level over all levels. `partial_fit`
        does not use them.
    forgetting : float or "auto", default="auto"
        How fast `partial_fit` forgets, as in `COLKRegressor`. Set 1.0 if the data do not drift.
        `fit` does not use it.
    eps : float or None, default=None
        H-norm of the error that compression may make in a step, as in `COLKRegressor`.
    max_atoms : int, "auto" or None, default="auto"
        Largest number of atoms. "auto": 400. None: no limit. Lower it for speed.
    n_jobs : int or None, default=None
        Number of threads, as in `COLKRegressor`.

    Attributes
    ----------
    quantiles_ : tuple of float
        The levels.
    functions_ : list of KernelExpansion
        One function per level, in the units of y.
    intercepts_ : array of shape (Q,)
        The constant that is added to each function.
    regularizations_ : array of shape (Q,) or None
        The λ that `fit` chose for each level; None after `partial_fit`.
    n_atoms_ : int
        Number of atoms that the functions share.
    kernel_, race_, relevance_, feature_relevance_
        As in `COLKRegressor`.
    has_sparse_atoms_, n_features_in_, feature_names_in_
        As in `COLKRegressor`.

    References
    ----------
    V. Chernozhukov, I. Fernández-Val and A. Galichon, "Quantile and probability curves without
    crossing", Econometrica 78 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(2000, 1))
    >>> y = np.sin(2 * X[:, 0]) + (0.2 + 0.1 * np.abs(X[:, 0])) * rng.normal(size=2000)
    >>> model = COLKQuantileRegressor(quantiles=(0.1, 0.9), random_state=0).fit(X[:1500], y[:1500])
    >>> low, high = model.predict(X[1500:]).T
    >>> bool(abs(np.mean((low < y[1500:]) & (y[1500:] < high)) - 0.8) < 0.05)
    True
    """

    _targets: RunningScale

    fit_type = QuantileFit
    risk = "mean"
    polish = True
    scale_targets = True

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        kernel: Kernel | str = "auto",
        bandwidth: Literal["auto", "scale", "median"] | float = "scale",
        standardize: bool | Literal["auto"] = "auto",
        regularization: float | None = None,
        step_size: Rate | None = None,
        averaging: Averaging | bool = True,
        forgetting: float | Literal["auto"] = "auto",
        epochs: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        eps: float | None = None,
        max_atoms: int | Literal["auto"] | None = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.regularization = regularization
        self.step_size = step_size
        self.averaging = averaging
        self.forgetting = forgetting
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.eps = eps
        self.max_atoms = max_atoms
        self.n_jobs = n_jobs

    def _learn_more(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """Check and learn more samples; the first call also makes the learner."""
        first = not self.__sklearn_is_fitted__()
        if first or not self._takes_as_is(X):
            X, y = self._validated(X, y, reset=first, y_numeric=True)
        targets = check_vector(y, len(X), "y")
        weight = self._weights(sample_weight, len(X))
        if first:
            self._begin(X)
        self.regularizations_: Array | None = None
        self._learn_targets(X, targets[:, None], weight)

    def _begin(self, X: Array) -> None:
        """Make the learner of a stream."""
        loss = Quantiles(self.quantiles)
        self.quantiles_ = loss.levels
        self._start(X, loss, len(loss.levels))
        self._targets = RunningScale(1)

    def _stream_settings(self, loss: Loss) -> Settings:
        """The settings of a stream, which learns by Newton steps."""
        return super()._stream_settings(loss).for_quantile_stream()

    def _new_targets(self) -> QuantileTargets:
        return QuantileTargets(Quantiles(self.quantiles))

    _target_checks: ClassVar[dict[str, Any]] = {"y_numeric": True}

    def _checked_targets(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.float64)

    def _adopt_targets(self, fit: QuantileFit) -> None:
        targets = cast(QuantileTargets, fit.targets)
        self._targets, self.quantiles_ = targets.scale, targets.loss.levels
        self.regularizations_ = fit.regularizations

    def _encode(self, y: Any) -> Array:
        return self._targets.scaled(np.asarray(y, dtype=np.float64))[:, None]

    @property
    def target_scale_(self) -> float:
        """Standard deviation of the targets, computed without outliers; it divides them."""
        self._fitted()
        return float(self._targets.units[0])

    @property
    def function_(self) -> KernelExpansion:
        """The functions of all levels as one with Q outputs, in the units of y, no intercepts."""
        return self._inputs.in_units(self.learner_.function) * float(self._targets.units[0])

    @property
    def functions_(self) -> list[KernelExpansion]:
        """One function per level, in the units of y, without the intercepts."""
        shared = self.function_
        return [KernelExpansion(shared.kernel, shared.atoms, w) for w in shared.weights.T]

    @property
    def intercepts_(self) -> Array:
        """The constant that is added to each function."""
        offsets = cast(QuantileCOLK, self._fitted()).offsets
        return np.array([self._targets.unscaled_one(offset) for offset in offsets])

    def predict(self, X: Any) -> Array:
        """Return the quantiles in the order of the levels, of shape (n, Q).

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        with use_threads(self.n_jobs):
            function = self._fitted().function * float(self._targets.units[0])
            values = self._function_values(function, X)
        return np.sort(values + self.intercepts_, axis=1)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return 1 − L/L₀, the pinball loss L relative to that of constant quantiles, L₀.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        sample_weight : array of shape (n,), optional
            Weights of the samples.
        """
        predictions = self.predict(X)
        targets = np.asarray(y, dtype=np.float64)
        weight = self._weights(sample_weight, len(predictions))
        constants = [weighted_quantile(targets, weight, level) for level in self.quantiles_]
        found, least = (
            float(weight @ self.loss_.value(F, targets))
            for F in (predictions, np.tile(constants, (len(targets), 1)))
        )
        return 1.0 - found / least if least > 0.0 else float(found == 0.0)
