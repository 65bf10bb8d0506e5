"""Lazy predictions for dask collections, computed chunk by chunk."""

from typing import Any

import numpy as np

from colk.distributed.sources import is_lazy

__all__ = ["lazily"]


def predict_part(model: Any, method: str, part: Any, shape: tuple[int, ...]) -> Any:
    """Return the predictions for a chunk, which may be empty."""
    if len(part) == 0:
        return np.empty((0, *shape))
    return getattr(model, method)(part)


def lazily(model: Any, method: str, X: Any) -> Any:
    """Call a method of a fitted model on X; return a dask array if X is a dask collection.

    Parameters
    ----------
    model : estimator
        The fitted model.
    method : str
        The name of the method.
    X : dask array or dataframe, or array
        Points.
    """
    if not is_lazy(X):
        return getattr(model, method)(X)
    import dask.array
    from dask.delayed import delayed

    array: Any = dask.array

    is_frame = hasattr(X, "columns")
    X = X if is_frame else X.rechunk({1: -1})
    example = X._meta_nonempty[:1] if is_frame else np.zeros((1, model.n_features_in_))
    like = getattr(model, method)(example)
    task, shared = delayed(predict_part, pure=False), delayed(model, pure=False)
    lengths = [np.nan] * X.npartitions if is_frame else X.chunks[0]
    chunks = [
        array.from_delayed(
            task(shared, method, part, like.shape[1:]), (n, *like.shape[1:]), meta=like[:0]
        )
        for part, n in zip(np.ravel(X.to_delayed()), lengths, strict=True)
    ]
    return array.concatenate(chunks, allow_unknown_chunksizes=True)
