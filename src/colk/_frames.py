"""Rows of arrays and of data frames."""

from typing import Any

import numpy as np

from colk._extras import needed_for

__all__ = ["as_rows", "is_frame", "n_rows_of"]


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame of pandas, polars or pyarrow.

    Examples
    --------
    >>> is_frame(np.eye(2))
    False
    """
    return hasattr(X, "columns") and (hasattr(X, "dtypes") or hasattr(X, "schema"))


def n_rows_of(X: Any) -> int:
    """Return the number of rows of an array, a data frame or a list.

    Examples
    --------
    >>> n_rows_of(np.zeros((3, 2)))
    3
    """
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def as_rows(X: Any) -> Any:
    """Return X as an object whose items are rows: `X[4:8]` and `X[[3, 1]]` are rows of it.

    Examples
    --------
    >>> as_rows([[1.0], [2.0], [3.0]])[1:]
    array([[2.],
           [3.]])
    """
    if hasattr(X, "iloc"):
        return X.iloc
    if not is_frame(X):
        return np.asarray(X)
    with needed_for("a data frame", extra="data"):
        import narwhals as nw
    return _Rows(nw.from_native(X, eager_only=True))


class _Rows:
    """The rows of a frame of polars or pyarrow."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __getitem__(self, which: Any) -> Any:
        return self._frame[which].to_native()
