"""Features of samples: dictionaries and data frames as numbers, where a gap is 0."""

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from colk._validation import Array, check_number
from colk.tabular.columns import as_numbers, is_missing, kind_of_objects

__all__ = ["Features", "checked_features", "column_of", "drop_missing"]

Features = Mapping[Hashable, Any]


def drop_missing(x: Features) -> dict[Hashable, Any]:
    """Return a sample without the features that are None or NaN.

    Put it before the scalers of River, which a single NaN spoils for good.

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
    """Return the features that are not gaps; raise if one is not a finite number.

    Examples
    --------
    >>> checked_features({"size": 2, "open": True, "age": None, "price": float("nan")})
    {'size': 2.0, 'open': 1.0}
    """
    return dict(_known(x))


def _known(x: Features) -> Iterator[tuple[Hashable, float]]:
    for name, value in x.items():
        if type(value) is float and math.isfinite(value):
            yield name, value
        elif not is_missing(value):
            if isinstance(value, str):
                raise TypeError(
                    f"{name!r} must be a number, got {value!r}: put preprocessing.OneHotEncoder "
                    "before the model"
                )
            truth = isinstance(value, (bool, np.bool_))
            yield name, check_number(float(value) if truth else value, repr(name))


def column_of(column: Any, name: Hashable) -> Array:
    """Return a column of a data frame as floats, with NaN for gaps; raise if one is infinite.

    Examples
    --------
    >>> column_of([1, None, 2.5], "size")
    array([1. , nan, 2.5])
    """
    values = np.asarray(column)
    if values.dtype == object and kind_of_objects(values.tolist()) == "number":
        values = as_numbers(values, repr(name))
    if values.dtype.kind not in "fiub":
        raise TypeError(f"feature {name!r} must hold real numbers, got dtype {values.dtype}")
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"feature {name!r} contains infinity; impute such values first")
    return numbers
