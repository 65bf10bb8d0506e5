"""Store estimators of scikit-learn by their attributes.

A file names a class of the table `_fitted.STATES`. Loading makes the object without its constructor
and sets its attributes, after the table has checked them and scikit-learn its parameters.
"""

import warnings
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from colk.errors import FileFormatError

if TYPE_CHECKING:
    from colk.persistence._fitted import State

__all__ = [
    "ADVICE",
    "COMPOSED",
    "attributes_of",
    "find_class",
    "make",
    "tag_of",
    "version",
    "warn_of_version",
]

# Modules whose classes are stored with their parameters only, because a KernelCompressor contains
# such an estimator.
_UNFITTED = ("svm", "kernel_ridge", "gaussian_process")

ADVICE = '"Models in files" of the guide lists the classes of scikit-learn that files may hold'

# Attributes that are lists of tuples: a name, an estimator and possibly columns.
COMPOSED = ("steps", "transformers", "transformers_", "transformer_list")


def _states() -> "dict[str, State]":
    """Return the table; it is imported when a file first has a class of scikit-learn."""
    from colk.persistence._fitted import STATES

    return STATES


def _key(tag: str) -> str:
    """Return the key of a class in the table, or the same for a class that is not in it."""
    return tag.removeprefix("sklearn.")


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
    key = _key(tag)
    home, _, name = key.rpartition(".")
    if key in _states() or home in _UNFITTED:
        from sklearn.base import BaseEstimator

        kind: Any = getattr(import_module(f"sklearn.{home}"), name, None)
        is_class = isinstance(kind, type) and issubclass(kind, BaseEstimator)
        if is_class and not name.startswith("_") and kind.__module__.startswith(f"sklearn.{home}"):
            found: type[Any] = kind
            return found
    raise FileFormatError(f"it holds a {tag!r}, which files must not hold; {ADVICE}")


def attributes_of(tag: str, estimator: Any) -> dict[str, Any]:
    """Return the attributes of an estimator to store."""
    if _key(tag) in _states():
        return dict(vars(estimator))
    if hasattr(estimator, "n_features_in_"):
        raise TypeError(
            f"a fitted {type(estimator).__name__} cannot be saved; save from_sklearn(model)"
        )
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    return parameters


def make(tag: str, attributes: Any) -> Any:
    """Return an estimator with these attributes; raise if they are not possible."""
    kind, key = find_class(tag), _key(tag)
    if type(attributes) is not dict:
        raise FileFormatError(f"a {tag} has no attributes")
    if key not in _states():
        return kind(**attributes)  # the constructor stores them, and `fit` checks them
    _states()[key].read(attributes, kind.__name__, frozenset(signature(kind).parameters))
    estimator: Any = object.__new__(kind)
    vars(estimator).update(attributes)
    if hasattr(kind, "_parameter_constraints"):
        estimator._validate_params()
    return estimator


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
