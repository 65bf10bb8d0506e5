"""Online kernel regression under a risk, as a scikit-learn estimator."""

import math
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.estimators.predictive import PredictiveRegressor
from colk.estimators.stored import TARGETS, fields_of
from colk.kernels import Kernel
from colk.losses import Loss
from colk.model import Solver, regression_loss
from colk.model.fit import Fit
from colk.model.targets import NumberTargets
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKRegressor"]


@stored.stores(fields_of(_targets=TARGETS))
class COLKRegressor(RegressorMixin, PredictiveRegressor):  # type: ignore[misc]  # scikit-learn is untyped
    """Online kernel regression in bounded memory, under a risk of your choice.

    COLK learns f = Σ_j w_j κ(d_j, ·) with one step per sample and keeps a limited number of atoms
    d_j. By default it minimises the mean of the Huber loss. Another `risk` also penalises the
    spread or the tail of the losses. Features and targets are scaled inside. X may be an array, a
    sparse matrix (which is not scaled), or a data frame of pandas, polars or pyarrow with numbers,
    categories, dates and missing cells.

    The parameters below are in four groups. Model: `kernel` to `scale_targets`. Objective: `loss`
    to `regularization`. Optimiser: `solver` to `verbose`. Size and threads: `eps` to `n_jobs`. Most
    users set only `loss`, `risk` and `max_atoms`. In the defaults, s is the scale of the loss: its
    largest slope at f = 0 for the targets −1 and 1 (1 for Huber, 2 for the squared loss). κ is
    the mean of κ(x, x)² divided by the mean of κ(x, x), which is 1 for kernels with a bandwidth.

    Parameters
    ----------
    kernel : Kernel or str, default="auto"
        The kernel, or its name: "laplacian", "gaussian" (or "rbf"), "matern",
        "rational_quadratic", "polynomial" (of degree 3) or "linear". With "auto" the data choose
        the kernel, its bandwidth and a scale for each feature: `fit` compares kernels on up to 2000
        samples, `partial_fit` on the first 500. `partial_fit` uses the Laplacian until then; if
        another kernel wins, it learns the 500 samples again. After `fit`, `partial_fit` continues
        with the fitted model. If a stream changes, `partial_fit` compares kernels again on the
        latest 500 samples, and a learner with another kernel takes over if its predictions are
        better. Name a kernel to save this time: "laplacian" suits tables of mixed features,
        "gaussian" suits smooth functions of few features.
    bandwidth : "auto", "scale", "median" or float, default="scale"
        Bandwidth of a kernel that is given by name; an object has its own. "scale" is √(p·var(X)/2)
        for p features, as scikit-learn's gamma="scale", and p·std(X)/2 for the Laplacian; "median"
        is the median distance. In a stream, "scale" takes the features to have variance 1, and
        "median" is computed from the first part. "auto" lets the data choose, as `kernel="auto"`
        does. Raise a number for a smoother function, lower it for more detail.
    standardize : bool or "auto", default="auto"
        Whether to scale numbers to mean 0 and standard deviation 1, both computed without outliers.
        "auto" does not scale if the kernel is an object or the bandwidth a number, because these
        are in units of X. Otherwise it scales in a stream; in `fit` it scales a table with gaps,
        categories or dates, and numbers whose scales differ by more than a factor of 10. A stream
        scales each row by the rows up to it, so that its parts do not matter. Set False if the
        units are right.
    scale_targets : bool, default=True
        Whether to learn (y − mean)/std instead of y. Both are robust: targets further than 5 robust
        standard deviations from the median are first moved to that distance. `fit` uses all
        targets, `partial_fit` those up to the row. Switch it off only if the targets already have a
        standard deviation of about 1.
    loss : Loss or str, default="huber"
        The loss of one prediction, such as "huber", "squared", "epsilon_insensitive" or "pinball".
        Use "squared" to estimate the mean, "pinball" for a quantile. Thresholds are in units of the
        targets' standard deviation, unless `scale_targets` is off.
    risk : Risk or str, default="mean"
        How the losses of all samples are combined: "mean", "variance", "semivariance", "cvar",
        "entropic" and others. Change it if large losses matter more than small ones. `risk_path`
        decides how far `fit` follows it, and `hedged` how `partial_fit` does.
    regularization : float or None, default=None
        λ of the penalty λ‖f‖²/2, for gradient steps and for the polish. None: 1e-6 s. Raise it if
        the model overfits without the polish; the polish chooses its own λ, at least this large.
    solver : {"gradient", "newton"}, default="gradient"
        "newton" divides gradients by the curvature of the samples so far, see
        `colk.learners.NewtonCOLK`. One pass is then as good as several gradient passes and takes
        about twice the time per step, and `predict` can return standard deviations. It uses `prior`
        and `forgetting`, but not `step_size`, `averaging` and `gradient_bound`.
    step_size : float, PowerDecay or None, default=None
        Step size α of `solver="gradient"`. None: 1/(s κ). For the risk "cvar" and your own risks,
        the function under the risk takes 0.2 × this step. Large steps are noisy, and averaging
        removes the noise: lower the step size if you switch averaging off. Steps are implicit (see
        `colk.COLK`) and cannot diverge; for the mean, only if an explicit step could overshoot.
    averaging : bool, PolyakRuppert or Exponential, default=True
        Whether to predict with an average of the iterates; True gives later iterates more weight.
        Switch it off if the relationship drifts. For `solver="gradient"`.
    gradient_bound : float or None, default=None
        Gradients with a larger norm are clipped. None: 10 s. Raise it if a warning says that most
        gradients are clipped. For `solver="gradient"`.
    tracking_rate : float or PowerDecay, default=0.1
        β, the weight of a new sample in the tracked inner value g of the risk. No effect on the
        risk "mean". Lower it if `inner_estimate_` is noisy.
    hedged : bool, default=True
        Whether the stream under a risk of losses also learns a function under the mean, and
        predicts with the best mixture: the learner is then `colk.learners.HedgedCOLK`, or
        `colk.learners.HedgedNewtonCOLK` with `solver="newton"`. Set False for the plain `colk.COLK`
        or `colk.learners.NewtonCOLK`, to study the algorithm. No effect on the risk "mean".
    pairing : {"overlap", "independent", "same"}, default="overlap"
        Which samples are θ and ξ of a step, see `colk.COLK`. Under a risk of losses only
        `hedged=False` takes another than the default. No effect on the risk "mean".
    prior : float, "auto" or None, default=None
        λ of `solver="newton"`, which minimises the sum of the losses: the prior weighs as much as λ
        samples of curvature 1. None: 0.1 s κ (0.3 s κ for classifiers). "auto" chooses it as the
        samples arrive; use it if the relationship does not change over time.
    forgetting : float or "auto", default=1.0
        γ of `solver="newton"`, in (0, 1]. With γ < 1 the curvature at a point covers about the last
        1/(1 − γ) samples; lower it if the relationship drifts. "auto" adapts it to the stream.
    epochs : int or None, default=None
        Passes of `fit` over the data; `partial_fit` makes one. None: 1 with `polish` or with
        `solver="newton"`, which would count samples twice, otherwise 5. With `polish` and
        `max_atoms="auto"`, None also ends the pass over more than 5,000 samples after 2,000 of
        them if 380 atoms are found. Raise it if `loss_curve_` still falls without the polish.
    shuffle : bool, default=True
        Whether `fit` shuffles the samples before each epoch. Switch it off to learn in their order.
    polish : bool, default=True
        Whether `fit` ends by minimising the objective on all data over the weights of the atoms
        (`colk.rkhs.polishing`). Leave-one-out chooses λ. Switch it off to save time, or to see the
        result of the stream alone. `partial_fit` continues from the polished weights. With the
        default loss and risk, `fit` starts again without gross outliers, which it finds by their
        residuals; `polished_.n_outliers` counts them. With more than 20,000 samples, kernel, atoms
        and λ come from a stratified sample of 10,000, and the weights from all samples.
    risk_path : bool, default=True
        For a risk other than the mean: whether the polish follows a path from the model of the mean
        to that risk, with smaller weights and larger λ, and takes the point with the smallest risk
        on left-out samples. The model of the mean stays unless a point is clearly better. If False,
        the polish minimises the risk exactly as given, with the λ of the mean. Either way the atoms
        are found under the mean. Switch it off if the risk must be met exactly.
    early_stopping : bool, default=False
        Whether `fit` holds out a tenth of the samples and stops after the first epoch that does not
        lower their loss by 1 %. The polish uses all samples. Switch it on with many `epochs`.
    random_state : int, RandomState or None, default=None
        Seed for shuffling and for the held-out samples. Set an int for reproducible results.
    verbose : bool, default=False
        Whether `fit` prints the loss and the number of atoms after each epoch.
    eps : float or None, default=None
        H-norm of the error that compression may make in a step, in units of the targets' standard
        deviation. None: 0.05 × the RMS step norm (0.5 × for two classes, 0.3 × for more), times
        E[κ(x, x)]²/E[κ(x, x)²]; with `solver="newton"` 0.05/√κ. Lower it for more atoms and a
        smaller error, raise it for fewer atoms.
    max_atoms : int, "auto" or None, default="auto"
        Largest number of atoms. None: no limit. "auto": 400; `fit` doubles this
        number as long as that improves predictions of left-out samples, there are two samples for
        each atom, and the time stays within bounds. `growth_` lists the attempts. `partial_fit` and
        `solver="newton"` stay at 400. A step takes O(max_atoms²) time. Raise it if a warning says
        that it makes steps lose too much, lower it for speed.
    n_jobs : int or None, default=None
        Number of threads of `fit` and `predict`. None: the number of cores, but 1 in a worker of
        joblib; −1: all cores. The result does not depend on it. Lower it to leave cores free.

    Attributes
    ----------
    function_ : KernelExpansion
        The learned function in the units of y: predictions are `function_(X) + intercept_`.
    intercept_ : float or array of shape (n_outputs,)
        Mean of the targets, computed without outliers.
    target_scale_ : float or array of shape (n_outputs,)
        Standard deviation of the targets, computed without outliers.
    n_atoms_, n_steps_ : int
        Number of atoms, and number of steps so far.
    inner_estimate_ : array of shape (m,)
        The tracked inner value g of the risk; empty for the mean.
    loss_curve_ : list of float
        Mean loss before learning, of scaled targets, for each epoch or call of `partial_fit`.
    kernel_, loss_, risk_ : Kernel, Loss, Risk
        The terms in use.
    bandwidth_ : float, tuple of float or None
        The bandwidth in use, one per feature if features have scales; None for other kernels.
    race_ : Race or None
        The comparison of kernels that chose `kernel_`; None if there was none.
    feature_relevance_ : array of shape (p,) or None
        Relevance of the features: the root mean square of the derivative of the fitted function
        along each, times the standard deviation of the feature, divided by the largest. None
        without a gradient; see `colk.estimators.FeatureRelevanceDisplay`.
    relevance_ : Relevance or None
        The same for each column of `encoder_`, and directions along which the function varies.
    step_size_, gradient_bound_, prior_, regularization_ : float
        The values in use; None for a parameter that the solver does not use.
    eps_ : float
        The error that compression may make in the next step.
    polished_ : Polished
        Result of the polish of the last `fit`, with the λ that it chose.
    deviations_ : Deviations
        What `predict(X, return_std=True)` uses after `fit` with solver="gradient".
    has_sparse_atoms_ : bool
        Whether the atoms are stored as a sparse matrix. Points of `polished_.function` are then its
        row indices. `function_`, `learner_` and `partial_fit` make the atoms dense.
    risk_path_ : RiskPath or None
        The points that the last `fit` tried between the mean and the risk, and the chosen one; None
        for the mean, and without a `polish` or a `risk_path`.
    max_atoms_ : int or None
        The largest number of atoms in use.
    growth_ : array of shape (k, 3)
        The attempts of `max_atoms="auto"`: the number of atoms, the share of the squared residuals
        of left-out samples that the new atoms explain, and the standard error of this share.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if X had names.

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
        standardize: bool | Literal["auto"] = "auto",
        scale_targets: bool = True,
        loss: Loss | str = "huber",
        risk: Risk | str = "mean",
        regularization: float | None = None,
        solver: Solver = "gradient",
        step_size: Rate | None = None,
        averaging: Averaging | bool = True,
        gradient_bound: float | None = None,
        tracking_rate: Rate = 0.1,
        hedged: bool = True,
        pairing: Pairing = "overlap",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] = 1.0,
        epochs: int | None = None,
        shuffle: bool = True,
        polish: bool = True,
        risk_path: bool = True,
        early_stopping: bool = False,
        random_state: Any = None,
        verbose: bool = False,
        eps: float | None = None,
        max_atoms: int | Literal["auto"] | None = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.scale_targets = scale_targets
        self.loss = loss
        self.risk = risk
        self.regularization = regularization
        self.solver = solver
        self.step_size = step_size
        self.averaging = averaging
        self.gradient_bound = gradient_bound
        self.tracking_rate = tracking_rate
        self.hedged = hedged
        self.pairing = pairing
        self.prior = prior
        self.forgetting = forgetting
        self.epochs = epochs
        self.shuffle = shuffle
        self.polish = polish
        self.risk_path = risk_path
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose
        self.eps = eps
        self.max_atoms = max_atoms
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def _learn_more(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """Check and learn more samples; the first call also makes the learner."""
        self._learn_targets(*self._checked(X, y, sample_weight))

    def _new_targets(self) -> NumberTargets:
        return NumberTargets(regression_loss(self.loss), self.scale_targets)

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}

    def _checked_targets(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.float64)

    def _adopt_targets(self, fit: Fit) -> None:
        self._targets = cast(NumberTargets, fit.targets).scale

    def _checked(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Array, Array, Array]:
        """Validate the samples; the first call also makes the learner."""
        first = not self.__sklearn_is_fitted__()
        if first or not (self._takes_as_is(X) and _is_valid(y, len(X))):
            X, y = self._validated(X, y, reset=first, **self._target_checks)
        targets = np.asarray(y, dtype=np.float64)
        weight = self._weights(sample_weight, len(X))
        if first:
            loss, n_outputs = regression_loss(self.loss), math.prod(targets.shape[1:])
            loss.check_targets(targets[:1], n_outputs)
            self._start(X, loss)
            self._targets = RunningScale(n_outputs)
        elif targets.shape[1:] != self._target_shape:
            expected, given = self._target_shape or (1,), targets.shape[1:] or (1,)
            raise ValueError(f"y has {given[0]} outputs, the model was fitted with {expected[0]}")
        return X, np.ascontiguousarray(targets), weight

    @property
    def _target_shape(self) -> tuple[int, ...]:
        """The shape of one target: () for a number."""
        learner = self._fitted()
        return () if learner.is_vector else (learner.n_outputs or 1,)

    @property
    def intercept_(self) -> Any:
        """Mean of the targets, computed without outliers; predictions add it to the function."""
        return self._targets.means if self._target_shape else float(self._targets.means[0])

    @property
    def target_scale_(self) -> Any:
        """Standard deviation of the targets, computed without outliers; it divides them."""
        return self._targets.units if self._target_shape else float(self._targets.units[0])

    @property
    def function_(self) -> KernelExpansion:
        """The learned function in the units of y: predictions are `function_(X) + intercept_`."""
        f = self._inputs.in_units(self.learner_.function)
        return KernelExpansion(f.kernel, f.atoms, f.weights * self.target_scale_)


def _is_valid(y: Any, size: int) -> bool:
    """Whether targets are finite numbers that need no conversion."""
    return (
        type(y) is np.ndarray
        and y.shape == (size,)
        and y.dtype == np.float64
        and bool(np.isfinite(y).all())
    )
