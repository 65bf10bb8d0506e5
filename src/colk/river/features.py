"""Turn dictionaries and data frames of features into numbers; each text gets its own column."""

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from colk._encoding.columns import as_numbers, is_missing, kind_of_objects
from colk._validation import Array, check_number

__all__ = ["Features", "checked_columns", "checked_features", "drop_missing"]

Features = Mapping[Hashable, Any]
Columns = dict[Hashable, tuple[Any, Any]]  # rows and their values


def drop_missing(x: Features) -> dict[Hashable, Any]:
    """Return a sample without the features that are None or NaN.

    Put it before River's scalers, because a single NaN makes their means NaN for good.

    Parameters
    ----------
    x : dict
        Features.

    Examples
    --------
    >>> from river import preprocessing
    >>> from colk.river import COLKRegressor, drop_missing
    >>> drop_missing({"size": 2.0, "age": None, "price": float("nan")})
    {'size': 2.0}
    >>> model = drop_missing | preprocessing.StandardScaler() | COLKRegressor()
    >>> model.learn_one({"size": 2.0, "price": float("nan")}, 1.0)
    """
    return {name: value for name, value in x.items() if not is_missing(value)}


def checked_features(x: Features) -> dict[Hashable, float]:
    """Return features, NaN for gaps; raise if one is neither a gap, a finite number nor a text.

    A text is a category: it becomes a feature of its own with the value 1.

    Examples
    --------
    >>> checked_features({"size": 2, "open": True, "age": None, "city": "Rome"})
    {'size': 2.0, 'open': 1.0, 'age': nan, 'city=Rome': 1.0}
    """
    return dict(_checked(x))


def _checked(x: Features) -> Iterator[tuple[Hashable, float]]:
    for name, value in x.items():
        if type(value) is float and math.isfinite(value):
            yield name, value
        elif isinstance(value, str):
            yield f"{name}={value}", 1.0
        elif is_missing(value):
            yield name, math.nan
        else:
            truth = isinstance(value, (bool, np.bool_))
            yield name, check_number(float(value) if truth else value, repr(name))


def checked_columns(X: Any) -> Columns:
    """Return the features of a data frame: their rows and values, NaN for gaps.

    Examples
    --------
    >>> import pandas as pd
    >>> checked_columns(pd.DataFrame({"size": [1, None], "city": ["Rome", "Oslo"]}))
    {'size': (slice(None, None, None), array([ 1., nan])), 'city=Rome': ([0], [1.0]), \
'city=Oslo': ([1], [1.0])}
    """
    found: Columns = {}
    for name in X.columns:
        values = np.asarray(X[name])
        if values.dtype == object and kind_of_objects(values.tolist()) == "number":
            values = as_numbers(values, repr(name))
        if values.dtype.kind in "fiub":
            numbers = _finite(values.astype(np.float64), name)
            found[name] = slice(None), numbers
            continue
        if values.dtype.kind not in "OUT":
            raise TypeError(f"feature {name!r} must hold real numbers, got dtype {values.dtype}")
        for row, value in enumerate(values.tolist()):
            for known, number in _checked({name: value}):
                rows, numbers_of = found.setdefault(known, ([], []))
                rows.append(row)
                numbers_of.append(number)
    return found


def _finite(numbers: Array, name: Hashable) -> Array:
    if np.isinf(numbers).any():
        raise ValueError(f"feature {name!r} contains infinity; impute such values first")
    return numbers
