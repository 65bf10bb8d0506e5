"""Store estimators of scikit-learn by their attributes, if these are plain data.

A file names a public class of scikit-learn. Loading makes the object without its constructor and
sets its attributes: numbers, texts, arrays and nested estimators. Modules whose compiled code does
not check the shapes of fitted attributes are excluded.
"""

import warnings
from importlib import import_module
from typing import Any

from colk import _stored as stored
from colk.errors import FileFormatError

__all__ = [
    "COMPOSED",
    "attributes_of",
    "find_class",
    "make",
    "tag_of",
    "version",
    "warn_of_version",
]

# Modules whose classes are stored with their fitted attributes, and modules whose classes are
# stored with their parameters only, because a KernelCompressor contains such an estimator.
_FITTED = (
    "cluster", "compose", "cross_decomposition", "decomposition", "discriminant_analysis", "dummy",
    "ensemble", "feature_extraction", "feature_extraction.image", "feature_extraction.text",
    "feature_selection", "frozen", "impute", "kernel_approximation", "linear_model", "naive_bayes",
    "neural_network", "pipeline", "preprocessing", "random_projection",
)  # fmt: skip
_UNFITTED = ("svm", "kernel_ridge", "gaussian_process")

# Classes of other modules that are stored with their fitted attributes.
_CLASSES = ("neighbors.NeighborhoodComponentsAnalysis",)

# Compiled code uses these centres and this number of threads without a check.
_CENTRES, _THREADS, _MOST_THREADS = "cluster_centers_", "_n_threads", 4096

# Attributes that are lists of tuples: a name, an estimator and possibly columns.
COMPOSED = ("steps", "transformers", "transformers_", "transformer_list", "estimators")
_NO_ESTIMATOR = (None, "passthrough", "drop")


def _home(tag: str) -> str:
    """Return the module of a class, without "sklearn."."""
    return tag.removeprefix("sklearn.").rpartition(".")[0]


def tag_of(estimator: Any) -> str | None:
    """Return the public name of an estimator's class; None if it cannot be stored.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> tag_of(PCA())
    'sklearn.decomposition.PCA'
    """
    kind = type(estimator)
    parts = kind.__module__.split(".")
    if parts[0] != "sklearn":
        return None
    public = [part for part in parts[1:] if not part.startswith("_")]
    tag = ".".join(["sklearn", *public, kind.__name__])
    try:
        return tag if find_class(tag) is kind else None
    except FileFormatError:
        return None


def find_class(tag: str) -> type[Any]:
    """Return the public class of this name; raise if files must not contain it.

    Examples
    --------
    >>> find_class("sklearn.decomposition.PCA").__name__
    'PCA'
    """
    home, name = _home(tag), tag.rpartition(".")[2]
    if home in (*_FITTED, *_UNFITTED) or f"{home}.{name}" in _CLASSES:
        from sklearn.base import BaseEstimator

        kind: Any = getattr(import_module(f"sklearn.{home}"), name, None)
        is_class = isinstance(kind, type) and issubclass(kind, BaseEstimator)
        if is_class and not name.startswith("_") and kind.__module__.startswith(f"sklearn.{home}"):
            found: type[Any] = kind
            return found
    raise FileFormatError(f"it holds a {tag!r}, which files must not hold")


def attributes_of(tag: str, estimator: Any) -> dict[str, Any]:
    """Return the attributes of an estimator to store."""
    attributes: dict[str, Any] = estimator.get_params(deep=False)
    if _home(tag) not in _UNFITTED:
        attributes = dict(vars(estimator))
    elif hasattr(estimator, "n_features_in_"):
        raise TypeError(
            f"a fitted {type(estimator).__name__} cannot be saved; save from_sklearn(model)"
        )
    if attributes.get("memory") is not None:
        raise TypeError(
            f"a {type(estimator).__name__} with a cache cannot be saved; set memory=None"
        )
    return attributes


def make(tag: str, attributes: Any) -> Any:
    """Return an estimator with these attributes; raise if they are not possible."""
    kind = find_class(tag)
    if type(attributes) is not dict:
        raise FileFormatError(f"a {tag} has no attributes")
    for name, value in attributes.items():
        _check_attribute(kind, name, value)
    if _home(tag) in _UNFITTED:
        return kind(**attributes)  # the constructor stores them, and `fit` checks them
    estimator: Any = object.__new__(kind)
    vars(estimator).update(attributes)
    estimator.get_params(deep=False)  # an AttributeError names a parameter that is missing
    if _CENTRES in attributes:
        centres = stored.Array("n_clusters", attributes["n_features_in_"])
        centres.read(attributes[_CENTRES], _CENTRES, {})
    if _THREADS in attributes:
        stored.Count(1, _MOST_THREADS).read(attributes[_THREADS], _THREADS, {})
    return estimator


def _check_attribute(kind: type[Any], name: Any, value: Any) -> None:
    """Raise for attributes that would hide a method, and for caches, which contain pickles."""
    found = getattr(kind, name, None) if isinstance(name, str) else None
    hides = callable(found) or hasattr(found, "__get__") or hasattr(found, "__set__")
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__") or hides:
        raise FileFormatError(f"a {kind.__name__} must not have the attribute {name!r}")
    if name == "memory" and value is not None:
        raise FileFormatError(f"a {kind.__name__} in a file must have memory=None")
    if name in COMPOSED and type(value) is list:
        for item in value:
            _check_step(kind, item)


def _check_step(kind: type[Any], item: Any) -> None:
    if type(item) is not tuple or len(item) < 2 or not isinstance(item[0], str):
        raise FileFormatError(f"a step of a {kind.__name__} must be a name and an estimator")
    is_text = item[1] is None or isinstance(item[1], str)
    if item[1] not in _NO_ESTIMATOR if is_text else not hasattr(item[1], "get_params"):
        raise FileFormatError(f"step {item[0]!r} of a {kind.__name__} is not an estimator")


def version() -> str:
    """Return the version of scikit-learn.

    Examples
    --------
    >>> import sklearn
    >>> version() == sklearn.__version__
    True
    """
    import sklearn

    return str(sklearn.__version__)


def warn_of_version(original: Any) -> None:
    """Warn if another version of scikit-learn wrote the estimators of a file."""
    from sklearn.exceptions import InconsistentVersionWarning

    if original != version():
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name="model",
                current_sklearn_version=version(),
                original_sklearn_version=str(original)[:40],
            ),
            stacklevel=4,
        )
