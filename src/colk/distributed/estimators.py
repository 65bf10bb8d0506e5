"""The estimators for rows on many machines, with the parameters of the local ones."""

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from colk._validation import check_count
from colk.distributed.connection import connected
from colk.distributed.lazy import lazily
from colk.distributed.rows import PartitionRows
from colk.distributed.sources import partitions_of
from colk.estimators import COLKClassifier, COLKQuantileRegressor, COLKRegressor

__all__ = ["DaskCOLKClassifier", "DaskCOLKQuantileRegressor", "DaskCOLKRegressor"]

Class = TypeVar("Class", bound=type)

_OWN = {"client": None, "sample_size": None, "progress": None}


def _with_parameters_of(local: type) -> Callable[[Class], Class]:
    """Give `__init__` the parameters of a local estimator and `_OWN`, for scikit-learn."""

    def decorate(cls: Class) -> Class:
        def __init__(self: Any, *args: Any, **given: Any) -> None:  # noqa: N807
            bound = parameters.bind(self, *args, **given)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        own = [Parameter(name, Parameter.KEYWORD_ONLY, default=v) for name, v in _OWN.items()]
        here = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
        parameters = Signature([*here, *signature(local).parameters.values(), *own])
        __init__.__signature__ = parameters  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        cls.local_type = local  # type: ignore[attr-defined]
        return cls

    return decorate


def _local_has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        model = getattr(self, "local_", None)
        return hasattr(self.local_type if model is None else model, name)

    return check


class _Distributed(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base class of the estimators for rows on many machines."""

    local_type: ClassVar[type]
    _are_labels: ClassVar[bool] = False

    client: Any
    sample_size: int
    progress: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : dask array or dataframe, array, or list of paths
            Points. Partitions are the chunks of rows of a dask collection, byte ranges of CSV files
            or row groups of Parquet files; the files must have equal columns. Missing cells are
            allowed, and data frames and files may have categories and dates, as in the local
            estimator.
        y : dask array or series, array, str, or list of str
            Targets, with the same partitions as X; for files, the name of the target column, or a
            list of names. All other columns of the files are features.
        sample_weight : dask array or series, array, or str, optional
            Weights of the rows, in the same form as y. Rows of weight 0 are skipped.
        """
        if self.sample_size is not None:
            check_count(self.sample_size, "sample_size")
        if not getattr(self, "polish", True):
            raise ValueError(
                "polish=False is not possible here, because only the polish finds weights for the "
                "rows of all partitions"
            )
        local = self.local_type(
            **{name: getattr(self, name) for name in signature(self.local_type).parameters}
        )
        with connected(self.client) as engine:
            found = partitions_of(X, y, sample_weight, engine, self._are_labels, self.progress)
            rows = PartitionRows(found.parts)
            self.local_ = local.fit_rows(rows, rows.n_features, found.names, self.sample_size)
        self.n_features_in_ = self.local_.n_features_in_
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "local_")

    def predict(self, X: Any) -> Any:
        """Return the predictions of the local estimator; lazy if X is a dask collection.

        Parameters
        ----------
        X : dask array or dataframe, or array
            Points.
        """
        check_is_fitted(self)
        return lazily(self.local_, "predict", X)

    @available_if(_local_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any) -> Any:
        """Return the prediction intervals of the local estimator; lazy if X is a dask collection.

        Parameters
        ----------
        X : dask array or dataframe, or array
            Points.
        """
        check_is_fitted(self)
        return lazily(self.local_, "predict_interval", X)


@_with_parameters_of(COLKRegressor)
class DaskCOLKRegressor(RegressorMixin, _Distributed):  # type: ignore[misc]
    """`COLKRegressor` for rows on many machines.

    A sample of the rows is fitted on the caller's machine. It determines the scale of the targets,
    the kernel, the atoms, λ, and how far a risk is followed. The weights minimise the objective
    over all rows: for every loss and risk, workers send sums of M or M² numbers for M atoms, and
    the rows stay where they are. The result is the same to the bit for any number of workers. If a
    worker dies, the others do its tasks.

    Parameters
    ----------
    **parameters
        The parameters of `COLKRegressor`.
    client : distributed.Client, str, Executor or None, default=None
        A Dask client, the address of a scheduler, or an executor of `concurrent.futures`. None: the
        current client of this process, or a local cluster of processes if there is none. Processes
        are started by importing the main module, so a script needs `if __name__ == "__main__":`.
    sample_size : int or None, default=None
        Number of rows in the sample. None: the same rows as in the local estimator, at most 20,000.
        Raise it for a better choice of kernel and atoms; the caller's machine must hold the sample.
    progress : callable or None, default=None
        Called with the name of a pass, the number of partitions done, and that of all partitions.

    Attributes
    ----------
    local_ : COLKRegressor
        The fitted model. You can save it, export it, or continue with its `partial_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from colk.distributed import DaskCOLKRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(5000, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=5000)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     model = DaskCOLKRegressor(client=pool, sample_size=1000, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), type(model.local_).__name__
    (True, 'COLKRegressor')
    """


@_with_parameters_of(COLKQuantileRegressor)
class DaskCOLKQuantileRegressor(RegressorMixin, _Distributed):  # type: ignore[misc]
    """`COLKQuantileRegressor` for rows on many machines; see `DaskCOLKRegressor`.

    Parameters
    ----------
    **parameters
        The parameters of `COLKQuantileRegressor`.
    client, sample_size, progress
        As in `DaskCOLKRegressor`. Defaults: all None.

    Attributes
    ----------
    local_ : COLKQuantileRegressor
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from colk.distributed import DaskCOLKQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(3000, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=3000)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     model = DaskCOLKQuantileRegressor((0.1, 0.9), client=pool, sample_size=1000,
    ...                                       max_atoms=30, random_state=0).fit(X, y)
    >>> low, high = model.predict(X).T
    >>> bool(abs(np.mean((low < y) & (y < high)) - 0.8) < 0.05)
    True
    """


@_with_parameters_of(COLKClassifier)
class DaskCOLKClassifier(ClassifierMixin, _Distributed):  # type: ignore[misc]
    """`COLKClassifier` for rows on many machines; see `DaskCOLKRegressor`.

    The classes are those of all partitions.

    Parameters
    ----------
    **parameters
        The parameters of `COLKClassifier`. `class_weight="balanced"` counts the rows of all
        partitions.
    client, sample_size, progress
        As in `DaskCOLKRegressor`. Defaults: all None.

    Attributes
    ----------
    local_ : COLKClassifier
        The fitted model.
    classes_ : array of shape (C,)
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from colk.distributed import DaskCOLKClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.6, "in", "out")
    >>> with ThreadPoolExecutor(2) as pool:
    ...     model = DaskCOLKClassifier(client=pool, sample_size=800, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.classes_.tolist()
    (True, ['in', 'out'])
    """

    _are_labels = True

    @property
    def classes_(self) -> Any:
        """The labels, of shape (C,)."""
        check_is_fitted(self)
        return self.local_.classes_

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the local estimator; lazy if X is a dask collection.

        Parameters
        ----------
        X : dask array or dataframe, or array
            Points.
        """
        check_is_fitted(self)
        return lazily(self.local_, "decision_function", X)

    @available_if(_local_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the local estimator; lazy if X is a dask collection.

        Parameters
        ----------
        X : dask array or dataframe, or array
            Points.
        """
        check_is_fitted(self)
        return lazily(self.local_, "predict_proba", X)
