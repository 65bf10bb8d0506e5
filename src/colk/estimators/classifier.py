"""Online kernel classification under a risk, as a scikit-learn estimator."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from colk import _stored as stored
from colk._validation import Array
from colk.estimators.fitting import FittedEstimator
from colk.estimators.sparse_input import is_large
from colk.estimators.stored import Labels, fields_of
from colk.kernels import Kernel
from colk.losses import Logistic, Loss
from colk.model import Solver, as_loss, as_risk
from colk.model.fit import Fit
from colk.model.targets import LabelTargets
from colk.risks import Risk
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKClassifier"]


def _has_probabilities(classifier: "COLKClassifier") -> bool:
    ranks = bool(as_risk(classifier.risk).is_of_pairs)
    if ranks:
        raise AttributeError(
            "the risk AUC ranks samples and gives no probabilities; "
            "sklearn.calibration.CalibratedClassifierCV estimates them from the ranks"
        )
    loss = as_loss(classifier.loss)
    if not loss.is_likelihood:
        raise AttributeError(
            f"{type(loss).__name__} is not a likelihood and gives no probabilities; "
            'loss="logistic" does'
        )
    return True


@stored.stores(fields_of(classes_=Labels()))
class COLKClassifier(ClassifierMixin, FittedEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Online kernel classification in bounded memory, under a risk of your choice.

    Two classes share one function, whose sign is the prediction. Each of more classes has its own
    function on the same atoms, and the largest value is the prediction.

    The parameters below are in four groups. Model: `kernel` to `standardize`. Objective: `loss` to
    `regularization`. Optimiser: `solver` to `verbose`. Size and threads: `eps` to `n_jobs`. Most
    users set only `risk`, `class_weight` and `max_atoms`. `COLKRegressor` describes the parameters
    in more detail; the loss scale s is ½ for the logistic and the softmax loss.

    Parameters
    ----------
    kernel : Kernel or str, default="auto"
        The kernel or its name. "auto" lets the data choose; name a kernel to save this time.
    bandwidth : "auto", "scale", "median" or float, default="scale"
        Bandwidth of a kernel that is given by name.
    standardize : bool or "auto", default="auto"
        Whether to scale the features. "auto" does in a stream, and in `fit` if they are a table
        with gaps, categories or dates, or if their scales differ by more than a factor of 10.
    loss : Loss or str, default="logistic"
        The loss of one prediction. "logistic" becomes the softmax loss for more than two classes.
        The margin losses "hinge", "squared_hinge" and "smooth_hinge" then compare each class with
        the rest. Only "logistic" and "softmax" give probabilities.
    risk : Risk or str, default="mean"
        How the losses of all samples are combined. Change it if large losses matter more than small
        ones. "auc" makes `decision_function` rank the samples of two classes; its sign then
        predicts the class poorly, and there are no probabilities.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; it multiplies the sample weights. Classes that a dict leaves out have
        weight 1. "balanced" gives all classes the same total weight in the data of `fit`, by
        n/(C·n_c) for C classes; `partial_fit` does not see all data and needs a dict. Set it if a
        rare class matters as much as a frequent one.
    regularization : float or None, default=None
        λ of the penalty λ‖f‖²/2. None: 1e-6 s. Raise it if the model overfits without the polish.
    solver : {"gradient", "newton"}, default="gradient"
        "newton" learns more from one pass, in about twice the time per step.
    step_size : float, PowerDecay or None, default=None
        Step size α of `solver="gradient"`. None: 1/(s κ). Lower it if you switch averaging off.
    averaging : bool, PolyakRuppert or Exponential, default=True
        Whether to predict with an average of the iterates. Switch it off if the data drift.
    gradient_bound : float or None, default=None
        Gradients with a larger norm are clipped. None: 10 s. Raise it if a warning says so.
    tracking_rate : float or PowerDecay, default=0.1
        β, the weight of a new sample in the tracked inner value g of a risk other than the mean.
        Lower it if `inner_estimate_` is noisy.
    hedged : bool, default=True
        Whether the stream under a risk of losses also learns a function under the mean, and
        predicts with the best mixture. Set False for the plain algorithm.
    pairing : {"overlap", "independent", "same"}, default="overlap"
        Which samples are θ and ξ of a step under a risk other than the mean. Under a risk of losses
        only `hedged=False` takes another than the default.
    prior : float, "auto" or None, default=None
        λ of `solver="newton"`. None: 0.3 s κ. Use "auto" if the data do not drift.
    forgetting : float or "auto", default=1.0
        γ of `solver="newton"`, in (0, 1]. Lower it, or use "auto", if the data drift.
    epochs : int or None, default=None
        Passes of `fit` over the data. None: 1 with `polish` or `solver="newton"`, otherwise 5.
    shuffle : bool, default=True
        Whether `fit` shuffles the samples before each epoch. Switch it off to learn in their order.
    polish : bool, default=True
        Whether `fit` ends by minimising the objective on all data over the weights of the atoms.
        Switch it off to save time.
    risk_path : bool, default=True
        Whether the polish follows a path from the mean to the risk. If False, the polish minimises
        the risk exactly as given.
    early_stopping : bool, default=False
        Whether to stop when the loss on a held-out tenth no longer falls, with many `epochs`.
    random_state : int, RandomState or None, default=None
        Seed for shuffling and for the held-out samples. Set an int for reproducible results.
    verbose : bool, default=False
        Whether `fit` prints the loss and the number of atoms after each epoch.
    eps : float or None, default=None
        H-norm of the error that compression may make in a step. None: 0.5 × the RMS step norm for
        two classes, 0.3 × for more. Lower it for more atoms and a smaller error.
    max_atoms : int, "auto" or None, default="auto"
        Largest number of atoms. "auto": 400, or twice as many as often as that improves the
        model. None: no limit. Lower it for speed.
    n_jobs : int or None, default=None
        Number of threads of `fit` and `predict`. None: the number of cores. The result does not
        depend on it.

    Attributes
    ----------
    classes_ : array of shape (C,)
        The labels, sorted.
    function_ : KernelExpansion
        The decision function: one output for two classes, C for more.
    n_atoms_, n_steps_, inner_estimate_, loss_curve_, polished_, bandwidth_, step_size_, eps_,
    regularization_, gradient_bound_
        As in `COLKRegressor`.
    kernel_, loss_, risk_, race_, relevance_, feature_relevance_, risk_path_, prior_
        As in `COLKRegressor`.
    has_sparse_atoms_, n_features_in_, feature_names_in_
        As in `COLKRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, "inside", "outside")
    >>> model = COLKClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.predict([[0.0, 0.0]])
    array(['inside'], dtype='<U7')
    """

    def __init__(
        self,
        *,
        kernel: Kernel | str = "auto",
        bandwidth: Literal["auto", "scale", "median"] | float = "scale",
        standardize: bool | Literal["auto"] = "auto",
        loss: Loss | str = "logistic",
        risk: Risk | str = "mean",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        self.loss = loss
        self.risk = risk
        self.class_weight = class_weight
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

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model with more samples, in one pass and in their order.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), or data frame
            Points.
        y : array of shape (n,)
            Labels.
        classes : array of shape (C,), optional
            All labels that will occur; required in the first call.
        sample_weight : array of shape (n,), optional
            Weights of the samples.
        """
        with self._unchanged_on_error():
            if issparse(X) and is_large(X):
                learn = partial(self._learn_more, classes=classes)
                self._learn_blocks(learn, X, y, sample_weight)
            else:
                self._learn_more(X, y, sample_weight, classes)
        return self

    def _learn_more(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, classes: ArrayLike | None
    ) -> None:
        """Check and learn more samples; the first call also makes the learner."""
        first = not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        self._refuse_balanced()
        self._learn_on(*self._prepare(X, y, sample_weight, first, classes))

    def _refuse_balanced(self) -> None:
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all data at once, not batches; pass a dict, for "
                "example from sklearn.utils.class_weight.compute_class_weight"
            )

    def _new_targets(self) -> LabelTargets:
        return LabelTargets(as_loss(self.loss), self.class_weight)

    def _checked_targets(self, y: Any) -> Any:
        check_classification_targets(y)
        return np.asarray(y)

    def _adopt_targets(self, fit: Fit) -> None:
        self.classes_ = cast(LabelTargets, fit.targets).labels

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        first: bool,
        classes: Any = None,
    ) -> tuple[Array, Array, Array]:
        """Validate the samples and encode the labels; the first call also makes the learner."""
        X, y = self._validated(X, y, reset=first)
        check_classification_targets(y)
        weight = self._weights(sample_weight, len(X))
        if first:
            self._start_classes(X, np.unique(y if classes is None else np.asarray(classes)))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes {np.unique(classes)} differ from those of the first call, {self.classes_}"
            )
        labels = np.asarray(y)
        return X, self._encode(labels), self._known_targets.weigh(labels, weight)

    @property
    def _known_targets(self) -> LabelTargets:
        """The targets with the labels of this model; weights of classes must be given."""
        targets = LabelTargets(self.loss_, self.class_weight)
        if self.class_weight is None:
            return replace(targets, labels=self.classes_)
        return targets.of_labels(self.classes_)

    def _start_classes(self, X: Array, labels: Any) -> None:
        targets = LabelTargets(as_loss(self.loss)).of_labels(labels)
        self.classes_ = labels
        self._start(X, targets.loss, targets.n_outputs)

    def _encode(self, y: Any) -> Array:
        return LabelTargets(self.loss_, labels=self.classes_).encode(y)

    def decision_function(self, X: Any) -> Array:
        """Return scores: (n,) for two classes, positive for the second; (n, C) for more.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        scores = self._values(X)
        if scores.ndim == 2 and len(self.classes_) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any) -> Any:
        """Return the most likely labels, of shape (n,).

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0.0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, C), for a loss that is a likelihood.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return self.loss_.probability(scores)
        positive = Logistic().probability(scores)
        return np.column_stack([1.0 - positive, positive])
