"""Find the final estimator of a pipeline or search, and transform data up to it."""

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

__all__ = ["final", "found_by_fit", "new_on_stream", "prepared", "unwrapped"]


def unwrapped(estimator: Any) -> Any:
    """Return the best estimator of a fitted search; return any other estimator unchanged.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> unwrapped(COLKRegressor(epochs=2))
    COLKRegressor(epochs=2)
    """
    return getattr(estimator, "best_estimator_", estimator)


def final(estimator: Any) -> Any:
    """Return the last step of a pipeline; return any other estimator unchanged.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> final(make_pipeline(StandardScaler(), COLKRegressor(epochs=2)))
    COLKRegressor(epochs=2)
    """
    return final(estimator[-1]) if isinstance(estimator, Pipeline) else estimator


def found_by_fit(estimator: Any, name: str, advice: str) -> Any:
    """Return an attribute of the final fitted estimator; raise with advice if it is None.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> model = COLKRegressor(kernel="laplacian").fit([[0.0], [1.0]], [0.0, 1.0])
    >>> found_by_fit(model, "race_", "set kernel='auto'")
    Traceback (most recent call last):
    ValueError: the estimator has no race_: set kernel='auto'
    """
    chosen = final(unwrapped(estimator))
    check_is_fitted(chosen)
    found = getattr(chosen, name, None)
    if found is None:
        raise ValueError(f"the estimator has no {name}: {advice}")
    return found


def prepared(estimator: Any, X: Any, y: Any = None, *, fit: bool = False) -> Any:
    """Transform X by all steps before the last; with `fit`, fit these steps first.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), COLKRegressor())
    >>> prepared(model, [[1.0], [3.0]], fit=True)
    array([[-1.],
           [ 1.]])
    """
    if not isinstance(estimator, Pipeline):
        return X
    before = estimator[:-1]
    if len(before) > 0:
        X = before.fit_transform(X, y) if fit else before.transform(X)
    return prepared(estimator[-1], X, y, fit=fit)


def new_on_stream(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return a new final estimator and the points that it learns from a stream.

    Earlier steps of a pipeline are fitted on the whole stream. The given estimator is not changed.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> new_on_stream(COLKRegressor(epochs=2), [[1.0]], [2.0])
    (COLKRegressor(epochs=2), [[1.0]])
    """
    copy = clone(unwrapped(estimator))
    return final(copy), prepared(copy, X, y, fit=True)
