"""Online kernel regression under a risk, as a scikit-learn estimator."""

from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from colk import _stored as stored
from colk._validation import Array
from colk.estimators.fitting import EpochEstimator
from colk.estimators.stored import TARGETS, fields_of
from colk.estimators.targets import TargetScale
from colk.kernels import Kernel
from colk.learners import NewtonCOLK
from colk.losses import Loss
from colk.recipe import Solver, regression_loss
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKRegressor"]


@stored.stores(fields_of(_targets=TARGETS))
class COLKRegressor(RegressorMixin, EpochEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Online kernel regression in bounded memory, under a risk of your choice.

    Learns f = Σ_j w_j κ(d_j, ·) by COLK, one step a sample, keeping few atoms d_j. The default is
    Huber regression of the mean loss; `risk` puts the losses together otherwise, so that spread
    or tails count as well. Standardise the inputs first; targets are scaled inside.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel, or the name of one. "auto" lets the data choose kernel, bandwidth and a scale for
        each feature: `fit` by up to 1000 samples; `partial_fit` by the first 500, which the
        Laplacian learns, and then anew what was chosen. "laplacian" suits tables of mixed features,
        "gaussian" or "rbf" is smooth and needs fewer atoms where there are few features; "matern",
        "rational_quadratic", "polynomial" (of degree 3), "linear".
    bandwidth : "auto", "scale", "median" or float
        Of a kernel that is named; beside an object it is refused. "auto" lets the data choose it,
        and the scales. "scale" takes √(p·var(X)/2) of the first data seen, as scikit-learn's
        gamma="scale" (p·std(X)/2 for the Laplacian), "median" the median distance.
    loss : Loss or str
        Such as "huber", "squared", "epsilon_insensitive", "pinball". Thresholds of a loss are in
        units of the targets' standard deviation, unless `scale_targets` is off.
    risk : Risk or str
        Such as "mean", "variance", "semivariance", "cvar", "entropic".
    solver : {"gradient", "newton"}
        "newton" divides the slopes by the curvature of what was seen, see
        `colk.learners.NewtonCOLK`: one pass then does what several along gradients do, and
        `predict` tells how far its values may be off. It has no step size, bound or average.
    step_size : float, PowerDecay or None
        α of `solver="gradient"`. None is 1, for "cvar" 0.2, in units of the loss: divided by its
        slope at f = 0 of the target 1 (2 for classifiers), and by E[κ²]/E[κ] of κ = κ(x, x) where
        that is not 1, as of a polynomial. Large steps are noisy, which averaging removes; without
        it take a smaller one. Where a step could go beyond the best prediction of its sample, and
        under every risk but the mean, it is implicit, see `colk.COLK`, and cannot run away.
    tracking_rate : float or PowerDecay
        β of the tracker of the risk's inner value.
    regularization : float or None
        λ of the mean loss, of gradient steps and of the polish. None is 1e-6 times the slope of the
        loss at f = 0 of the target 1.
    eps : float or None
        H-norm that a step may forget, in units of the targets' standard deviation. None is a
        twentieth of the size of the steps made lately, for two classes half of it, for more three
        tenths; less for a kernel whose κ(x, x) varies. Of `solver="newton"` None is 0.05, over the
        root of κ(x, x).
    max_atoms : int or None
        Largest model order. More atoms fit more, at a cost of O(max_atoms²) a step.
    pairing : {"overlap", "independent", "same"}
        Which samples play θ and ξ, see `colk.COLK`; of no concern for the risk "mean".
    averaging : bool, PolyakRuppert or Exponential
        Whether to predict with the average of the iterates; True weighs later ones more. Of
        `solver="gradient"`: of the other the last iterate is the best.
    gradient_bound : float or None
        Longest gradient of a pair, of `solver="gradient"`. None is 10 times the slope of the loss
        at f = 0 of the target 1.
    prior : float, "auto" or None
        λ of `solver="newton"`, beside the sum of the losses: how many samples of curvature 1 it
        counts for. None is 0.1, for classifiers 0.3, in units of the loss and of κ(x, x) as the
        step size is; "auto" chooses it as the samples come, see `colk.learners.NewtonCOLK`.
    forgetting : float or "auto"
        γ of `solver="newton"`, in (0, 1]: below 1 a place remembers some 1/(1 − γ) samples, so that
        a stream whose truth moves is followed. "auto" lets the stream choose how much; see
        `colk.learners.NewtonCOLK`.
    scale_targets : bool
        Whether to learn (y − mean)/std, of the targets in the first calls until 100 were seen.
    epochs : int or None
        Passes over the data that `fit` makes; `partial_fit` makes one. None is 1 with the polish or
        `solver="newton"`, which takes samples that it sees twice for twice as many, and 5 else.
    shuffle : bool
        Whether `fit` shuffles the samples anew in each epoch.
    polish : bool
        Whether `fit` ends with the weights that are best for all of the data on the atoms found,
        by Newton's method (`colk.rkhs.polish`). Leave-one-out then chooses how much to regularise,
        but no less than `regularization`. `partial_fit` goes on from there by single steps.
    early_stopping : bool
        Whether `fit` holds a tenth of the samples out, and makes no further epoch once one has
        not lowered their loss by 1 %. The polish sees them all.
    verbose : bool
        Whether `fit` prints a line for each epoch.
    random_state : int, RandomState or None
        Of the shuffling, and of what is held out.

    Attributes
    ----------
    function_ : KernelExpansion
        The learned function in the units of y: predictions are `function_(X) + intercept_`.
    intercept_ : float or array of shape (n_outputs,)
        The mean of the targets seen first.
    target_scale_ : float or array of shape (n_outputs,)
        Their standard deviation.
    n_atoms_, n_steps_ : int
        Model order and steps made.
    inner_estimate_ : array of shape (m,)
        The tracked value of the risk's inner function.
    loss_curve_ : list of float
        Mean loss of the scaled targets before each step, one entry for each epoch or call of
        `partial_fit`.
    bandwidth_ : float or tuple of float
        The bandwidth in use, one for each feature where they were given scales; None for a kernel
        that has none.
    race_ : Race or None
        How the data chose, with the losses of every kernel and bandwidth; None where they did not.
    step_size_, eps_, regularization_, gradient_bound_, prior_ : float
        The step size, what the next step may forget, λ, the longest gradient, and the prior; None
        where they are those of the other solver.
    polished_ : Polished
        What the polish of the last `fit` found, the regularisation it chose included.
    kernel_, loss_, risk_ : Kernel, Loss, Risk
        The terms in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Their names, where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(1000, 1))
    >>> y = 1e6 * np.sin(2 * X[:, 0]) + 1e5 * rng.normal(size=1000)
    >>> model = COLKRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.n_atoms_ <= 400
    (True, True)
    """

    def __init__(
        self,
        *,
        kernel: Kernel | str = "auto",
        bandwidth: Literal["auto", "scale", "median"] | float = "scale",
        loss: Loss | str = "huber",
        risk: Risk | str = "mean",
        solver: Solver = "gradient",
        step_size: Rate | None = None,
        tracking_rate: Rate = 0.1,
        regularization: float | None = None,
        eps: float | None = None,
        max_atoms: int | None = 400,
        pairing: Pairing = "overlap",
        averaging: Averaging | bool = True,
        gradient_bound: float | None = None,
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] = 1.0,
        scale_targets: bool = True,
        epochs: int | None = None,
        shuffle: bool = True,
        polish: bool = True,
        early_stopping: bool = False,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.loss = loss
        self.risk = risk
        self.solver = solver
        self.step_size = step_size
        self.tracking_rate = tracking_rate
        self.regularization = regularization
        self.eps = eps
        self.max_atoms = max_atoms
        self.pairing = pairing
        self.averaging = averaging
        self.gradient_bound = gradient_bound
        self.prior = prior
        self.forgetting = forgetting
        self.scale_targets = scale_targets
        self.epochs = epochs
        self.shuffle = shuffle
        self.polish = polish
        self.early_stopping = early_stopping
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn anew from X and y, in `epochs` passes.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            How much a sample counts: its step is multiplied by it, 0 skips it.
        """
        with self._unchanged_on_error():
            self._epochs(*self._prepare(X, y, sample_weight, first=True))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn on from X and y, in one pass in their order.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            How much a sample counts.
        """
        with self._unchanged_on_error():
            first = not self.__sklearn_is_fitted__()
            self._follow(*self._prepare(X, y, sample_weight, first))
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, first: bool
    ) -> tuple[Array, Array, Array]:
        """Check the samples and scale the targets; at first also make the learner."""
        if first or not self._is_plain(X) or not _are_plain(y, len(X)):
            X, y = validate_data(
                self,
                X,
                y,
                reset=first,
                dtype=np.float64,
                order="C",
                multi_output=True,
                y_numeric=True,
            )
        targets = np.asarray(y, dtype=np.float64)
        weight = self._weights(sample_weight, X)
        if first:
            self._start(X, regression_loss(self.loss))
            self._targets = TargetScale(targets.shape[1:])
        elif targets.shape[1:] != self._targets.shape:
            expected, given = self._targets.shape or (1,), targets.shape[1:] or (1,)
            raise ValueError(f"y has {given[0]} outputs, the model was fitted with {expected[0]}")
        if self.scale_targets:
            self._targets = self._targets.updated(targets, weight)
        return X, self._encode(targets), weight

    def _encode(self, y: Any) -> Array:
        return self._targets.scaled(np.asarray(y, dtype=np.float64))

    def _unscaled(self, Y: Array) -> Array:
        return self._targets.unscaled(Y)

    def _scaled(self, Y: Array) -> Array:
        return self._targets.scaled(Y)

    @property
    def intercept_(self) -> Any:
        """The mean of the targets seen first, added to the function."""
        self._fitted()
        return self._targets.center if self._targets.shape else float(self._targets.center)

    @property
    def target_scale_(self) -> Any:
        """The standard deviation of the targets seen first, by which they are divided."""
        self._fitted()
        return self._targets.scale if self._targets.shape else float(self._targets.scale)

    @property
    def function_(self) -> KernelExpansion:
        """The learned function in the units of y: predictions are `function_(X) + intercept_`."""
        f = self._fitted().function
        return KernelExpansion(f.kernel, f.atoms, f.weights * self.target_scale_)

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictions in the units of y, of shape (n,) or (n, q).

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        return_std : bool
            Whether to return, of the same shape, the standard deviation of a new target from its
            prediction as well: what is not known of f at x, and the noise. Of `solver="newton"`
            alone, whose curvature tells what is known.

        Examples
        --------
        >>> import numpy as np
        >>> from colk import COLKRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, size=(2000, 1))
        >>> y = np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=2000)
        >>> model = COLKRegressor(kernel="gaussian", solver="newton", random_state=0).fit(X, y)
        >>> values, std = model.predict([[0.5], [9.0]], return_std=True)
        >>> std.round(1)
        array([0.2, 0.7])
        """
        learner = self._fitted()
        points = self._points(X)
        if not return_std:
            return self._targets.unscaled(learner.predict(points))
        if isinstance(learner, NewtonCOLK):
            values, deviations = learner.predict(points, return_std=True)
            return self._targets.unscaled(values), np.asarray(deviations * self._targets.scale)
        raise ValueError(
            "return_std needs the curvature that solver='newton' accumulates; the model was "
            "fitted with solver='gradient'"
        )


def _are_plain(y: Any, size: int) -> bool:
    """Whether scikit-learn would take targets as they are."""
    return (
        type(y) is np.ndarray
        and y.shape == (size,)
        and y.dtype == np.float64
        and bool(np.isfinite(y).all())
    )
