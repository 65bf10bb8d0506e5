"""Read data frames of pandas, polars and pyarrow, and arrays of objects, as typed columns."""

from typing import Any

import numpy as np

from colk._encoding.columns import Column, Kind, as_numbers, as_seconds, as_texts, kind_of_objects
from colk._extras import needed_for
from colk._frames import is_frame

__all__ = ["is_table", "names_of", "read_table"]


def is_table(X: Any) -> bool:
    """Return whether X is a data frame or an array with columns that are not plain numbers.

    Examples
    --------
    >>> is_table(np.eye(2)), is_table(np.array([["a", 1.0]], dtype=object))
    (False, True)
    """
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind not in "OUSM":
            return False
        return X.dtype.kind != "O" or any(kind_of_objects(column) != "number" for column in X.T)
    if not is_frame(X):
        return False
    kinds = [getattr(dtype, "kind", "O") for dtype in getattr(X, "dtypes", ())]
    is_pandas = type(X).__module__.partition(".")[0] == "pandas"
    return not is_pandas or any(kind not in "fiub" for kind in kinds)


def names_of(n_columns: int) -> list[str]:
    """Return names for columns that have none: "x0", "x1" and so on.

    Examples
    --------
    >>> names_of(2)
    ['x0', 'x1']
    """
    return [f"x{k}" for k in range(n_columns)]


def read_table(X: Any) -> tuple[list[Column], dict[str, Any]]:
    """Return the columns of a data frame or of an array of objects, and their values by name.

    Numbers and booleans are numbers, datetimes are dates, and texts and categories are categories.
    Times with a time zone keep their local time.

    Parameters
    ----------
    X : data frame of pandas, polars or pyarrow, or array of objects
        The table.

    Examples
    --------
    >>> columns, table = read_table(np.array([["a", 1.5], [None, 2]], dtype=object))
    >>> columns
    [Column(name='x0', kind='category'), Column(name='x1', kind='number')]
    >>> table["x0"], table["x1"]
    (array(['a', None], dtype=object), array([1.5, 2. ]))
    """
    if isinstance(X, np.ndarray):
        found = {name: _of_objects(X[:, k], name) for k, name in enumerate(names_of(X.shape[1]))}
    else:
        with needed_for("a data frame", extra="data"):
            import narwhals as nw
        frame = nw.from_native(X, eager_only=True)
        found = {str(name): _of_series(frame[name], str(name), nw) for name in frame.columns}
    columns = [Column(name, kind) for name, (kind, _) in found.items()]
    return columns, {name: values for name, (_, values) in found.items()}


def _of_objects(values: Any, name: str) -> tuple[Kind, Any]:
    if values.dtype.kind == "M":
        return "date", as_seconds(values, name)
    kind = kind_of_objects(values.tolist())
    return kind, (as_numbers if kind == "number" else as_texts)(values, name)


def _of_series(series: Any, name: str, nw: Any) -> tuple[Kind, Any]:
    """Return the kind and the values of a column of a data frame."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "number", as_numbers(series.cast(nw.Float64).to_numpy(), name)
    if dtype in (nw.Datetime, nw.Date):
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.replace_time_zone(None)
        return "date", as_seconds(series.to_numpy(), name)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "category", as_texts(series.to_list(), name)
    if dtype == nw.Duration:
        return "number", as_numbers(series.dt.total_seconds().cast(nw.Float64).to_numpy(), name)
    if dtype in (nw.Object, nw.Unknown):
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return _of_objects(values, name)
    raise TypeError(
        f"column {name!r} of type {dtype} is neither numbers, categories nor dates: leave it out, "
        "or convert its cells to numbers or texts"
    )
