"""The prediction formula of a model as plain arrays, the common source of all exports."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from colk._encoding.encoder import TableEncoder
from colk._engine.fourier import Spectrum
from colk._validation import Array
from colk.export.pairs import Count
from colk.kernels import Gaussian, Kernel
from colk.kernels.formulas import Language
from colk.learners import DoublySGD, OnlineLearner
from colk.learners.colk import KernelLearner
from colk.learners.featured import FeatureLearner
from colk.losses import Softmax
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork
from colk.rkhs.interop import Affine

__all__ = ["Formula", "Writer", "read", "write_kernel"]

Probability = Literal["logistic", "softmax"]
T = TypeVar("T")


class Writer(Language[T], Protocol[T]):
    """The target language of an export."""

    def wave(self) -> T:
        """cos(2π(Σ_k x_k d_k + phase)), for an atom that is a frequency and a phase."""


def write_kernel(kernel: Kernel | None, writer: Writer[T]) -> T:
    """Write κ(d, x) by the formula of the kernel; write a wave if the kernel is None.

    Examples
    --------
    >>> from colk.export.python import PlainWriter
    >>> from colk.kernels import Linear
    >>> write_kernel(2.0 * Linear() + Linear(), PlainWriter(n_features=1))
    '((2.0 * inner_product(x, d)) + inner_product(x, d))'
    """
    return writer.wave() if kernel is None else kernel.formula.write(writer)


@dataclass(frozen=True)
class Formula:
    """x ↦ unit·Σ_j w_j κ(d_j, zA) + center with z = (x − shift)/stretch, and the rule for labels.

    Attributes
    ----------
    kernel : Kernel or None
        κ. None for random features: κ(d, x) = cos(2π(dᵀx + phase)).
    atoms : array of shape (M, p)
        The points d_j, or the frequencies of random features.
    weights : array of shape (M, q)
        The weights.
    is_vector : bool
        Whether a prediction is one number rather than a row of q numbers.
    phases : array of shape (M,)
        Phases of random features, in turns.
    unit, center : array of shape (q,)
        Scale and offset of the targets.
    shift, stretch : array of shape (p,), optional
        Offset and scale of the features. Default: features are not scaled.
    metric : array of shape (n_features, p), optional
        A. Default: none, z itself is compared with the atoms.
    classes : array, optional
        Labels. With one score, the second label is predicted if the score is positive. With several
        scores, the label of the largest is predicted.
    probability : {"logistic", "softmax"}, optional
        The function from scores to probabilities. Default: no probabilities.
    count : {"votes", "confidences"}, optional
        How a label is chosen if there is a score for each pair of classes.
    is_sorted : bool
        Whether scores are sorted, as quantiles are.
    names : tuple, optional
        Names of the features.
    encoder : TableEncoder, optional
        Turns rows of a table into points. Default: points are given.
    """

    kernel: Kernel | None
    atoms: Array
    weights: Array
    is_vector: bool
    phases: Array = field(default_factory=lambda: np.empty(0))
    unit: Array = field(default_factory=lambda: np.ones(1))
    center: Array = field(default_factory=lambda: np.zeros(1))
    shift: Array | None = None
    stretch: Array | None = None
    metric: Array | None = None
    classes: NDArray[Any] | None = None
    probability: Probability | None = None
    count: Count | None = None
    is_sorted: bool = False
    names: tuple[Any, ...] | None = None
    encoder: TableEncoder | None = None

    @property
    def n_features(self) -> int:
        """Number of features of a point."""
        return int(self.atoms.shape[1] if self.metric is None else len(self.metric))

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return int(self.weights.shape[1])


def read(model: Any) -> Formula:
    """Return the formula of a model.

    Parameters
    ----------
    model : object
        A fitted function, learner, estimator, River model or policy evaluator of colk, or a
        scikit-learn pipeline of scalers that ends in one.

    Examples
    --------
    >>> from colk import KernelExpansion
    >>> from colk.kernels import Linear
    >>> read(KernelExpansion(Linear(), [[1.0, 2.0]], [3.0])).n_features
    2
    """
    if isinstance(model, KernelExpansion):
        return _of_function(model)
    if isinstance(model, Affine):
        intercept = np.atleast_1d(np.asarray(model.intercept, dtype=np.float64))
        return replace(_of_function(model.function), center=intercept)
    if isinstance(model, OnlineLearner):
        return _of_learner(model)
    readers = (_of_evaluator, _of_estimator, _of_river, _of_compressor, _of_pipeline, _of_table)
    for reader in readers:
        formula = reader(model)
        if formula is not None:
            return formula
    raise TypeError(
        f"a {type(model).__name__} cannot be exported; pass a function, a learner or an estimator "
        "of colk, or a pipeline that ends in one"
    )


def _is_from(model: Any, home: str) -> bool:
    return any(kind.__module__.startswith(home) for kind in type(model).__mro__)


def _of_function(f: KernelExpansion) -> Formula:
    weights = np.array(f.weights).reshape(f.n_atoms, f.n_outputs)
    kernel = f.kernel
    is_vector = f.weights.ndim == 1
    return Formula(kernel.of_atoms, np.array(f.atoms), weights, is_vector, metric=kernel.metric)


def _of_learner(learner: OnlineLearner) -> Formula:
    if isinstance(learner, KernelLearner):
        return _of_function(learner.function)
    if isinstance(learner, DoublySGD):
        weights = learner.weights.reshape(learner.n_components, -1)
        return _of_waves(learner, learner.kernel, learner.seed, weights, 1.0)
    if not isinstance(learner, FeatureLearner):
        raise TypeError(f"a {type(learner).__name__} cannot be exported")
    weights, features = learner.weights.reshape(learner.n_components, -1), learner.features
    if isinstance(features, RBFNetwork):
        kernel = Gaussian(features.radius / np.sqrt(2.0))
        return Formula(kernel, features.centres, weights, learner.is_vector)
    if isinstance(features, RandomFourierFeatures):
        share = 1.0 / np.sqrt(features.n_components)
        return _of_waves(learner, features.kernel, features.seed, weights, share)
    raise TypeError(
        f"user-defined features such as {type(features).__name__} cannot be exported; use "
        "RBFNetwork or RandomFourierFeatures"
    )


def _of_waves(
    learner: OnlineLearner, kernel: Kernel, seed: int, weights: Array, share: float
) -> Formula:
    """Return the formula of random features, which are drawn again from their seed."""
    spectrum = Spectrum(kernel, seed, learner.n_features)
    waves = np.zeros((learner.n_features + 1, len(weights)))
    spectrum.draw(len(weights), waves)
    frequencies, heights = np.ascontiguousarray(waves[:-1].T), spectrum.amplitude * share * weights
    return Formula(None, frequencies, heights, learner.is_vector, waves[-1])


def _of_evaluator(model: Any) -> Formula | None:
    return _of_function(model.function) if _is_from(model, "colk.rl.base") else None


def _of_estimator(model: Any) -> Formula | None:
    if not _is_from(model, "colk.estimators.base"):
        return None
    formula = _of_function(model.function_)
    if hasattr(model, "functions_"):  # several quantiles
        formula = replace(read(Affine(model.function_, model.intercepts_)), is_sorted=True)
    if not model.encoder_.is_plain:
        formula = replace(formula, names=tuple(model.encoder_.names))
    elif hasattr(model, "feature_names_in_"):
        formula = replace(formula, names=tuple(model.feature_names_in_.tolist()))
    if formula.is_sorted:
        return formula
    if hasattr(model, "classes_"):
        return _classifying(formula, model.classes_, model.loss_)
    center = np.atleast_1d(np.asarray(model.intercept_, float))
    return replace(formula, center=center)


def _classifying(formula: Formula, classes: NDArray[Any], loss: Any) -> Formula:
    if len(classes) == 2 and formula.n_outputs == 2:  # use the second score minus the first
        weights = formula.weights[:, 1:] - formula.weights[:, :1]
        formula = replace(formula, weights=weights, is_vector=True)
    probability: Probability | None = None
    if loss.is_likelihood:
        probability = "logistic" if len(classes) == 2 else "softmax"
    return replace(formula, classes=classes, probability=probability)


def _of_table(model: Any) -> Formula | None:
    """Return the formula for the rows of a table."""
    if not _is_from(model, "colk.tabular"):
        return None
    formula = replace(
        _of_function(model.function),
        shift=model.center,
        stretch=model.unit,
        encoder=model.encoder,
    )
    if model.task == "regression":
        unit, center = np.array([model.target_unit]), np.array([model.target_center])
        return replace(formula, unit=unit, center=center)
    return _of_labels(formula, model.labels, model.loss)


def _of_labels(formula: Formula, labels: list[Any], loss: Any) -> Formula:
    """Return the formula of a classifier with the labels seen so far, in order of appearance."""
    if len(labels) < 2:
        raise ValueError("the classifier has seen only one class, so there is nothing to export")
    if formula.n_outputs > 1:
        formula = replace(formula, weights=formula.weights[:, : len(labels)])
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    return _classifying(formula, classes, loss)


def _of_river(model: Any) -> Formula | None:
    if not _is_from(model, "colk.river.base"):
        return None
    formula = replace(_of_function(model.function), names=tuple(model.feature_names))
    if hasattr(model, "labels"):
        return _of_labels(formula, model.labels, Softmax())
    unit, center = np.array([model.target_scale]), np.array([model.target_mean])
    return replace(formula, unit=unit, center=center, is_vector=True)


def _of_compressor(model: Any) -> Formula | None:
    if not _is_from(model, "colk.estimators.compressor"):
        return None
    formula = read(Affine(model.function_, model.intercept_))
    classes = getattr(model, "classes_", None)
    count: Count | None = None
    if classes is not None and len(classes) > 2 and model.is_pairwise:
        count = "confidences" if model.breaks_ties else "votes"
    return replace(formula, classes=classes, count=count)


def _of_pipeline(model: Any) -> Formula | None:
    """Return the formula of the last step, with the scalings of the earlier steps."""
    if not _is_from(model, "sklearn.pipeline"):
        return None
    formula, scalings = read(model.steps[-1][1]), [_scaling(step) for _, step in model.steps[:-1]]
    shift, stretch = np.zeros(formula.n_features), np.ones(formula.n_features)
    for moved, by in scalings:
        shift, stretch = shift + stretch * moved, stretch * by
    return replace(formula, shift=shift, stretch=stretch)


def _scaling(step: Any) -> tuple[Array | float, Array | float]:
    """Return the shift and the divisor of a scaler."""
    if step is None or isinstance(step, str):  # "passthrough"
        return 0.0, 1.0
    name = type(step).__name__ if _is_from(step, "sklearn.preprocessing") else None
    if name == "StandardScaler":
        return step.mean_ if step.with_mean else 0.0, step.scale_ if step.with_std else 1.0
    if name == "MinMaxScaler" and not step.clip:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    raise TypeError(
        f"a pipeline with {type(step).__name__} cannot be exported; use StandardScaler or "
        "MinMaxScaler, or to_onnx, which accepts every step that skl2onnx converts"
    )
