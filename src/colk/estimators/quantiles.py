"""Several quantiles with the same atoms, as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.estimators.fitting import LEAST_REGULARIZATION, EpochEstimator, Flags, Passes
from colk.estimators.stored import TARGETS, fields_of
from colk.kernels import Kernel
from colk.losses import Pinball, Quantiles
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish, predict_left_out
from colk.schedules import Averaging, Rate

__all__ = ["COLKQuantileRegressor"]

# Share of the samples that may become atoms. Atoms are unusual samples, so coverage is measured on
# the other samples.
_ATOM_SHARE = 0.6
# With fewer of them, all samples may become atoms.
_ENOUGH = 100


@stored.stores(
    fields_of(
        _targets=TARGETS,
        quantiles_=stored.TupleOf(stored.Number(), size="n_quantiles"),
        functions_=stored.ListOf(stored.Object(KernelExpansion), size="n_quantiles", at_least=1),
        intercepts_=stored.Array("n_quantiles"),
        regularizations_=stored.Array("n_quantiles"),
    )
)
class COLKQuantileRegressor(RegressorMixin, EpochEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Conditional quantiles of y: one dictionary of atoms, one function per level.

    COLK minimises the sum of the pinball losses on six of ten samples; this finds the atoms. For
    each level, `colk.rkhs.polishing` then finds the weights that are best for all data, with a λ
    chosen by leave-one-out. Finally a constant is added to each function. It makes the share of
    targets below their leave-one-out prediction equal to the level, among the samples that could
    not become atoms, so that the coverage also holds on new data. Predictions are sorted along the
    levels, so quantiles never cross; sorting does not raise the sum of the pinball losses.
    Standardise the features first; targets are scaled inside.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        Levels, strictly between 0 and 1 and increasing.
    kernel : Kernel or str, default="laplacian"
        As in `COLKRegressor`.
    bandwidth, regularization, step_size, averaging, epochs, shuffle, random_state, eps
        As in `COLKRegressor`. The scale s of the loss is the larger of level and 1 − level over all
        levels.
    max_atoms : int or None, default=200
        As in `COLKRegressor`.

    Attributes
    ----------
    quantiles_ : tuple of float
        The levels.
    functions_ : list of KernelExpansion
        A function for each level, in the units of y.
    intercepts_ : array of shape (Q,)
        The constant that is added to each function.
    regularizations_ : array of shape (Q,)
        λ of each level, as chosen.
    n_atoms_ : int
        Atoms that they share.
    n_features_in_, feature_names_in_
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

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        kernel: Kernel | str = "laplacian",
        bandwidth: Literal["scale", "median"] | float = "scale",
        regularization: float | None = None,
        step_size: Rate | None = None,
        averaging: Averaging | bool = True,
        epochs: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
    ) -> None:
        self.quantiles = quantiles
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.regularization = regularization
        self.step_size = step_size
        self.averaging = averaging
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.eps = eps
        self.max_atoms = max_atoms

    def _learn_all(self, X: Array, Y: Array, weight: Array) -> Flags | None:
        """Find the atoms by passes over some of the samples, then the weights of each level."""
        if (weight == 0.0).any():
            X, Y, weight = (rows[weight > 0.0] for rows in (X, Y, weight))
        fitting, kept_out = self._split(len(X))
        self._epochs(X[fitting], Y[fitting], weight[fitting])
        self._finish(X, Y[:, 0], weight, kept_out)
        return None

    def _split(self, n_samples: int) -> tuple[Any, Any]:
        """Return the samples that may become atoms, and the others; both are all if few."""
        order = check_random_state(self.random_state).permutation(n_samples)
        size = int(_ATOM_SHARE * n_samples)
        if size < _ENOUGH:
            return np.sort(order), np.sort(order)
        return np.sort(order[:size]), np.sort(order[size:])

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, first: bool
    ) -> tuple[Array, Array, Array]:
        """Validate the samples, scale the targets and make the learner."""
        loss = Quantiles(self.quantiles)
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64, order="C", y_numeric=True)
        weight = self._weights(sample_weight, X)
        self.quantiles_ = loss.levels
        self._start(X, loss, len(loss.levels))
        self._targets = RunningScale(1).merged(np.asarray(y, dtype=np.float64), weight)
        return X, self._encode(y), weight

    def _encode(self, y: Any) -> Array:
        return self._targets.scaled(np.asarray(y, dtype=np.float64))[:, None]

    def _conclude(self, passes: Passes, X: Array, Y: Array, weight: Array, lost: float) -> None:
        """Do nothing: `_finish` polishes, and warnings about gradients do not apply here."""

    def _finish(self, X: Array, y: Array, weight: Array, kept_out: Array) -> None:
        """Find the weights of each level, and the constant that gives it its coverage."""
        shared = self._learner.function
        self.functions_, intercepts, chosen = [], [], []
        for level, weights in zip(self.quantiles_, shared.weights.T, strict=True):
            start, loss = KernelExpansion(shared.kernel, shared.atoms, weights), Pinball(level)
            found = polish(
                start,
                X,
                y,
                loss,
                regularization=max(self.regularization_, LEAST_REGULARIZATION),
                choose=True,
                sample_weight=weight,
                tolerance=1e-3,
            )
            left_out = predict_left_out(
                found.function, X, y, loss, found.regularization, sample_weight=weight
            )
            shift = _quantile((y - left_out)[kept_out], weight[kept_out], level)
            intercepts.append(self._targets.unscaled_one(shift))
            self.functions_.append(found.function * float(self._targets.units[0]))
            chosen.append(found.regularization)
        self.intercepts_, self.regularizations_ = np.array(intercepts), np.array(chosen)

    @property
    def function_(self) -> KernelExpansion:
        """All functions as one of several outputs, in the units of y, without the intercepts."""
        self._fitted()
        first = self.functions_[0]
        weights = np.column_stack([f.weights for f in self.functions_])
        return KernelExpansion(first.kernel, first.atoms, weights)

    def predict(self, X: Any) -> Array:
        """Return the quantiles in the order of the levels, of shape (n, Q).

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        self._fitted()
        return np.sort(self.function_(self._points(X)) + self.intercepts_, axis=1)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return 1 − the pinball loss divided by that of constant quantiles.

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
        weight = self._weights(sample_weight, predictions)
        constants = [_quantile(targets, weight, level) for level in self.quantiles_]
        found, least = (
            float(weight @ self.loss_.value(F, targets))
            for F in (predictions, np.tile(constants, (len(targets), 1)))
        )
        return 1.0 - found / least if least > 0.0 else float(found == 0.0)


def _quantile(values: Array, weight: Array, level: float) -> float:
    """Return the smallest value such that a share `level` of the weight is at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    place = np.searchsorted(below, level * below[-1] * (1.0 - 1e-12))
    return float(values[order[min(int(place), len(values) - 1)]])
