"""Compress a fitted kernel estimator, with a certificate."""

from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from colk import _stored as stored
from colk._validation import Array, check_number, reject_lazy
from colk.errors import FileFormatError
from colk.estimators.base import COLKEstimator
from colk.estimators.stored import Labels
from colk.rkhs.compression import Compression, compress
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.interop import Affine, from_sklearn

__all__ = ["KernelCompressor"]


def _is_classifier(compressor: "KernelCompressor") -> bool:
    return bool(get_tags(compressor.estimator).estimator_type == "classifier")


@stored.stores(
    parameters=stored.Anything(),
    is_frozen=stored.Flag(),
    fitted=stored.Optional(
        stored.Record(
            {
                "n_features_in_": stored.Count(1, same="n_features"),
                "feature_names_in_": stored.Texts("n_features"),
                "classes_": Labels(),
                "certificate_": stored.Object(Compression),
                "intercept_": stored.Either(stored.Number(), stored.Array("n_outputs")),
            },
            optional=["feature_names_in_", "classes_"],
        )
    ),
)
class KernelCompressor(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Fit a kernel estimator, then compress its function.

    The certificate bounds the H-norm of f − f~, where f is the original and f~ the compressed
    function. It follows that `|f~(x) − f(x)| ≤ error·√κ(x, x)` at every x. A classifier of more
    than two classes has several functions; their norm is the root of the sum of squared norms.

    Parameters
    ----------
    estimator : estimator
        SVR, NuSVR, KernelRidge, GaussianProcessRegressor, SVC, NuSVC, `COLKRegressor` or
        `COLKClassifier`. Wrap a fitted estimator in scikit-learn's `FrozenEstimator`; otherwise a
        clone is fitted.
    eps : float or None, default=None
        Largest H-norm of f − f~. Set it to bound the change of every prediction.
    max_atoms : int or None, default=None
        Largest number of atoms. Set it if size or speed matter more than the error.
    rel_error : float or None, default=None
        Largest ratio ‖f − f~‖/‖f‖. None: 0.01 if eps and max_atoms are not given either. Give eps
        or rel_error, not both.

    Attributes
    ----------
    estimator_ : estimator
        The fitted original estimator.
    function_ : KernelExpansion
        The compressed function; predictions are function_(X) + intercept_. For an SVC with more
        than two classes it has one output per pair of classes.
    intercept_ : float or array
        The intercept of the original.
    error_ : float
        The certificate, a bound on the H-norm of f − f~.
    certificate_ : Compression
        The result of the compression, with the indices of the atoms that were kept.
    n_atoms_ : int
        Number of atoms that were kept.
    classes_ : array
        The labels of a classifier.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import KernelCompressor
    >>> from sklearn.svm import SVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(300, 1))
    >>> y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=300)
    >>> small = KernelCompressor(SVR(), eps=0.05).fit(X, y)
    >>> len(small.estimator_.support_) > 10 * small.n_atoms_
    True
    >>> bool(np.abs(small.predict(X) - small.estimator_.predict(X)).max() <= small.error_)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        eps: float | None = None,
        max_atoms: int | None = None,
        rel_error: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.eps = eps
        self.max_atoms = max_atoms
        self.rel_error = rel_error

    def _to_file(self) -> dict[str, Any]:
        """Return the parameters and the compressed function, without the fitted original."""
        parameters = self.get_params(deep=False)
        fitted = {name: value for name, value in vars(self).items() if name not in parameters}
        fitted.pop("estimator_", None)
        return {
            "parameters": {**parameters, "estimator": clone(_inside(self.estimator))},
            "is_frozen": isinstance(self.estimator, FrozenEstimator),
            "fitted": fitted or None,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        compressor: Any = cls(**values["parameters"])
        fitted = values["fitted"]
        if not hasattr(compressor.estimator, "get_params"):
            raise FileFormatError("a KernelCompressor must have an estimator")
        if values["is_frozen"]:
            compressor.estimator = FrozenEstimator(compressor.estimator)
        if fitted is not None:
            compressor._check_fitted(fitted)
            vars(compressor).update(fitted)
        return compressor

    def _check_fitted(self, fitted: dict[str, Any]) -> None:
        """Check the fitted attributes against each other."""
        function, p = fitted["certificate_"].function, fitted["n_features_in_"]
        if function.n_features != p:
            raise FileFormatError(f"the function has {function.n_features} features, expected {p}")
        if np.ndim(fitted["intercept_"]) and len(fitted["intercept_"]) != function.n_outputs:
            raise FileFormatError("the intercept does not have the outputs of the function")
        if _is_classifier(self) != ("classes_" in fitted):
            raise FileFormatError("a compressed classifier has labels, a regressor has none")
        if "classes_" in fitted:
            # Two classes share one function. More classes have one each, or one for each pair.
            n = len(fitted["classes_"])
            several = n * (n - 1) // 2 if self.is_pairwise else n
            if function.n_outputs != (1 if n == 2 else several):
                raise FileFormatError(f"{function.n_outputs} functions do not fit {n} classes")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the estimator and compress its function.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        **fit_params : dict
            Arguments for the `fit` of the estimator, such as `sample_weight`.
        """
        if issparse(X):
            raise TypeError("X is a sparse matrix; pass a dense array (X.toarray())")
        if _is_classifier(self):
            _check_classes(y, fit_params.get("sample_weight"))
        estimator = clone(self.estimator).fit(X, y, **fit_params)
        affine = _read(estimator)
        certificate = compress(affine.function, eps=self._eps(affine), max_atoms=self.max_atoms)
        self.estimator_ = estimator
        self.certificate_ = certificate
        self.intercept_ = affine.intercept
        self.n_features_in_ = affine.function.n_features
        for name in ("classes_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def _eps(self, affine: Affine) -> float | None:
        """Return the bound set by eps or rel_error; None if only max_atoms is given."""
        if self.eps is not None and self.rel_error is not None:
            raise ValueError("give eps or rel_error, not both: rel_error r means eps = r·‖f‖")
        if self.eps is not None:
            return self.eps
        if self.rel_error is None and self.max_atoms is not None:
            return None
        share = 0.01 if self.rel_error is None else self.rel_error
        return check_number(share, "rel_error", at_least=0.0) * affine.function.norm()

    @property
    def function_(self) -> KernelExpansion:
        """The compressed function."""
        check_is_fitted(self, "certificate_")
        function: KernelExpansion = self.certificate_.function
        return function

    @property
    def error_(self) -> float:
        """The certificate, a bound on the H-norm of f − f~."""
        check_is_fitted(self, "certificate_")
        return float(self.certificate_.error)

    @property
    def n_atoms_(self) -> int:
        """Number of atoms that were kept."""
        return self.function_.n_atoms

    def _values(self, X: Any) -> Array:
        function = self.function_
        reject_lazy(X, "X")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return Affine(function, self.intercept_)(X)

    @available_if(_is_classifier)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def decision_function(self, X: Any) -> Array:
        """Return the scores from the compressed function.

        The shape is (n,) for two classes, positive for the second class, and (n, C) for C > 2. For
        an SVC with `decision_function_shape="ovo"` there is one column per pair of classes.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        values = self._values(X)
        original = _inside(self.estimator)
        if values.ndim == 1 or getattr(original, "decision_function_shape", "ovo") == "ovo":
            return values
        return _confidences(values, len(self.classes_))

    @property
    def is_pairwise(self) -> bool:
        """Whether there is one function per pair of classes, as in LIBSVM."""
        return hasattr(_inside(self.estimator), "decision_function_shape")

    @property
    def breaks_ties(self) -> bool:
        """Whether the values of the functions decide between classes with equal votes."""
        return bool(_inside(self.estimator).break_ties)

    def predict(self, X: Any) -> Any:
        """Return the predictions of the compressed function.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        """
        values = self._values(X)
        if not _is_classifier(self):
            return values
        if values.ndim == 1:
            return self.classes_[(values > 0.0).astype(np.intp)]
        if self.is_pairwise:
            count = _confidences if self.breaks_ties else _votes
            values = count(values, len(self.classes_))
        return self.classes_[values.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² for a regressor and the accuracy for a classifier.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        sample_weight : array of shape (n,), optional
            Weights of the samples.
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if _is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def _votes(values: Array, n_classes: int) -> Array:
    """Count the votes of all pairs; a positive value is a vote for the first class of the pair."""
    votes = np.zeros((len(values), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        votes[:, i] += values[:, column] > 0.0
        votes[:, j] += values[:, column] <= 0.0
    return votes


def _confidences(values: Array, n_classes: int) -> Array:
    """Count votes as scikit-learn does, plus a fraction that breaks ties."""
    scores: Array = _ovr_decision_function(values < 0.0, -values, n_classes)
    return scores


def _check_classes(y: Any, sample_weight: Any) -> None:
    assert_all_finite(np.asarray(y), input_name="y")
    check_classification_targets(y)
    if sample_weight is None:
        return
    counted = np.asarray(y)[np.asarray(sample_weight) > 0.0]
    if len(np.unique(counted)) < 2:
        raise ValueError(
            "a classifier needs samples of at least 2 classes, but all samples with a positive "
            f"sample_weight are of one class: {np.unique(counted)}"
        )


def _inside(estimator: Any) -> Any:
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def _read(estimator: Any) -> Affine:
    """Return the function of a fitted estimator and its intercept."""
    estimator = _inside(estimator)
    if not isinstance(estimator, COLKEstimator):
        return from_sklearn(estimator)
    if not estimator.encoder_.is_plain:
        raise TypeError(
            "KernelCompressor needs a model of numbers without gaps; for a model of a table, "
            "compress its function_ with colk.compress"
        )
    function = estimator.function_
    if hasattr(estimator, "classes_") and function.weights.shape[1:] == (2,):
        # With two classes only the difference of the two functions matters.
        weights = function.weights[:, 1] - function.weights[:, 0]
        function = KernelExpansion(function.kernel, function.atoms, weights)
    return Affine(function, getattr(estimator, "intercept_", 0.0))
