"""`colk.merge`: one model from several that learned from different samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_number, check_vector, check_weight_range
from colk.learners import NewtonCOLK
from colk.learners.stream_learner import StreamLearner
from colk.merging.functions import merge_functions
from colk.merging.newton import check_learners, merge_learners
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.interop import Affine

__all__ = ["Merged", "merge"]

Model = TypeVar("Model", KernelExpansion, Affine, NewtonCOLK)


@dataclass(frozen=True, eq=False, repr=False)
class Merged(Generic[Model]):
    """Result of `merge`: a model, and a bound on the error of its compression.

    Attributes
    ----------
    model : KernelExpansion, Affine or NewtonCOLK
        The merged model, of the class of the models that were merged.
    error : float
        Proven bound on the H-norm ‖f − f~‖, where f is the merged function before compression and
        f~ that of `model`.
    n_atoms_before : int
        Number of atoms before compression; equal atoms count once.

    Examples
    --------
    >>> import colk
    >>> from colk.kernels import Gaussian
    >>> f = colk.KernelExpansion(Gaussian(0.5), [[0.0], [2.0]], [1.0, 1.0])
    >>> g = colk.KernelExpansion(Gaussian(0.5), [[0.1], [2.0]], [1.0, 1.0])
    >>> colk.merge([f, g], max_atoms=2)
    Merged(KernelExpansion, 3 → 2 atoms, error=0.09901)
    """

    model: Model
    error: float
    n_atoms_before: int

    def __repr__(self) -> str:
        kind, after = type(self.model).__name__, _function_of(self.model).n_atoms
        return f"Merged({kind}, {self.n_atoms_before} → {after} atoms, error={self.error:.4g})"


def merge(
    models: Sequence[Model],
    weights: ArrayLike | None = None,
    *,
    base: NewtonCOLK | None = None,
    eps: float | None = None,
    max_atoms: int | None = None,
) -> Merged[Model]:
    """Merge models that learned from different samples.

    Functions add: the result is Σ weights_k f_k, compressed by KOMP. `NewtonCOLK` learners add in
    information form: with C_k the curvature that learner k has accumulated, on the union of all
    atoms, the result has the curvature λI + Σ weights_k C_k, and it minimises the sum of the
    quadratics that the learners have accumulated. For the squared loss, and without compression,
    this is one learner that has seen all samples. For other losses it is an approximation, because
    each learner takes the curvature at its own predictions. The merged learner can continue
    learning.

    Kernels must be equal. Learners must have the same loss, prior and forgetting, and the risk
    `Mean`, because other risks are not sums over samples.

    Parameters
    ----------
    models : sequence of KernelExpansion, Affine or NewtonCOLK
        The models, all of one class. Learners that have seen no sample are left out.
    weights : array of shape (n_models,), optional
        Factors of the functions; for learners, how often each sample counts, at least 0. Default:
        1/n_models for functions, so that the result is their mean, and 1 for learners.
    base : NewtonCOLK, optional
        The learner that all learners started from, as copies. Its information is counted only once.
    eps : float, optional
        Bound on the H-norm that compression may lose. Default: no bound if `max_atoms` limits the
        merged model; else only equal atoms are merged.
    max_atoms : int, optional
        Largest number of atoms. Default: no limit for functions, and that of the first learner's
        compressor for learners. As in `compress`, more atoms may remain if `eps` is given.

    Returns
    -------
    Merged
        The model and a bound on the error of its compression.

    See Also
    --------
    colk.compress : make one function smaller.

    Examples
    --------
    Two learners, each with one half of the space:

    >>> import colk, numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NewtonCOLK
    >>> X = np.random.default_rng(0).random((400, 1))
    >>> y, half = np.sin(6 * X[:, 0]), X[:, 0] < 0.5
    >>> left = NewtonCOLK(Gaussian(0.2)).learn(X[half], y[half])
    >>> right = NewtonCOLK(Gaussian(0.2)).learn(X[~half], y[~half])
    >>> both = colk.merge([left, right]).model
    >>> both.steps, bool(np.abs(both.predict(X) - y).max() < 0.1)
    (400, True)
    """
    given: list[Any] = list(models)
    if not given:
        raise ValueError("merge needs at least one model")
    eps = None if eps is None else check_number(eps, "eps", at_least=0.0)
    max_atoms = None if max_atoms is None else check_count(max_atoms, "max_atoms")
    _check_classes(given)
    factors = None if weights is None else check_vector(weights, len(given), "weights")
    if isinstance(given[0], NewtonCOLK):
        return Merged(*_merged_learners(given, factors, base, eps, max_atoms))
    if base is not None:
        raise ValueError("base applies to learners only; leave it out for functions")
    if factors is None:
        factors = np.full(len(given), 1.0 / len(given))
    functions = [_function_of(model) for model in given]
    f, error, before = merge_functions(functions, factors, eps, max_atoms)
    model: Any = _with_intercept(f, given, factors) if isinstance(given[0], Affine) else f
    return Merged(model, error, before)


def _with_intercept(f: KernelExpansion, models: Sequence[Affine], factors: Array) -> Affine:
    """Return f plus the weighted sum of the intercepts."""
    intercept = sum(w * np.asarray(m.intercept) for w, m in zip(factors, models, strict=True))
    return Affine(f, float(intercept) if np.ndim(intercept) == 0 else np.asarray(intercept))


def _function_of(model: Any) -> KernelExpansion:
    found: KernelExpansion = model if isinstance(model, KernelExpansion) else model.function
    return found


def _check_classes(models: Sequence[Any]) -> None:
    """Raise TypeError for models that cannot be merged, and for models of different classes."""
    for model in models:
        name = type(model).__name__
        if isinstance(model, StreamLearner) and type(model) is not NewtonCOLK:
            raise TypeError(
                f"the state of a {name} cannot be merged, because it accumulates no curvature; "
                "merge the functions: "
                "colk.merge([learner.function for learner in learners])"
            )
        if not isinstance(model, KernelExpansion | Affine | NewtonCOLK):
            raise TypeError(
                f"merge takes KernelExpansion, Affine or NewtonCOLK, got {name}; tables and "
                "estimators choose kernel and scales by their own rows, so fit all rows at once, "
                "with an estimator of colk.distributed"
            )
        if type(model) is not type(models[0]):
            raise TypeError(
                f"models to merge must be of one class, got {type(models[0]).__name__} and {name}"
            )


def _merged_learners(
    learners: Sequence[NewtonCOLK],
    weights: Array | None,
    base: NewtonCOLK | None,
    eps: float | None,
    max_atoms: int | None,
) -> tuple[Any, float, int]:
    weights = np.ones(len(learners)) if weights is None else weights
    check_weight_range(weights, "weights")
    if base is not None:
        _check_classes([*learners, base])
        base = base if base.has_learned else None
    chosen = [k for k, learner in enumerate(learners) if learner.has_learned]
    if not chosen:
        raise ValueError("none of the learners has seen a sample")
    taking_part = [learners[k] for k in chosen]
    check_learners(taking_part if base is None else [*taking_part, base])
    return merge_learners(taking_part, weights[chosen], base, eps, max_atoms)
