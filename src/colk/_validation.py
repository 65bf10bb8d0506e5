"""Validation of input; messages name the given value, the expected one, and the remedy."""

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LARGEST_WEIGHT",
    "Array",
    "check_count",
    "check_fraction",
    "check_number",
    "check_points",
    "check_rows",
    "check_vector",
    "check_weight_range",
    "reject_lazy",
]

Array = NDArray[np.float64]

# Larger weights overflow.
LARGEST_WEIGHT = 1e100


def _as_float(values: ArrayLike, name: str) -> Array:
    """Return `values` as a float64 array; raise if they are not real numbers."""
    reject_lazy(values, name)
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise TypeError(f"{name} is a sparse matrix; pass a dense array ({name}.toarray())")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: every row must have the same length") from error
    if array.dtype.kind == "c":
        raise TypeError(f"{name} is complex; pass real numbers")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float64)


def _check_finite(array: Array, name: str) -> None:
    if not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else "infinity"
        raise ValueError(f"{name} contains {kind}; remove or impute such values first")


def check_points(points: ArrayLike, n_features: int | None = None, name: str = "X") -> Array:
    """Return points as a finite (n, p) float64 array; a vector is rejected."""
    array = _as_float(points, name)
    if array.ndim != 2:
        hint = "; use .reshape(-1, 1) for one feature" if array.ndim == 1 else ""
        raise ValueError(f"{name} must have shape (n_points, n_features), got {array.shape}{hint}")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no features: its shape is {array.shape}")
    if n_features is not None and array.shape[1] != n_features:
        raise ValueError(f"{name} has {array.shape[1]} features, expected {n_features}")
    _check_finite(array, name)
    return array


def check_rows(values: ArrayLike, n_rows: int, name: str = "y") -> Array:
    """Return finite values of shape (n,) or (n, q), one row for each of `n_rows` points."""
    array = _as_float(values, name)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(f"{name} must have shape (n,) or (n, n_outputs), got {array.shape}")
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} rows, expected {n_rows}, one for each point")
    _check_finite(array, name)
    return array


def check_vector(values: ArrayLike, size: int | None, name: str) -> Array:
    """Return finite values of shape (size,)."""
    array = _as_float(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {array.shape}")
    if size is not None and len(array) != size:
        raise ValueError(f"{name} has {len(array)} entries, expected {size}")
    _check_finite(array, name)
    return array


def check_number(
    value: Any, name: str, *, above: float = -math.inf, at_least: float = -math.inf
) -> float:
    """Return a finite real number, greater than `above` and at least `at_least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {type(value).__name__} {value!r}")
    number = float(value)
    if not math.isfinite(number) or number <= above or number < at_least:
        bound = "finite"
        if above > -math.inf:
            bound = f"finite and greater than {above:g}"
        elif at_least > -math.inf:
            bound = f"finite and at least {at_least:g}"
        raise ValueError(f"{name} must be {bound}, got {value!r}")
    return number


def check_fraction(value: Any, name: str) -> float:
    """Return a number in (0, 1]."""
    number = check_number(value, name)
    if not 0.0 < number <= 1.0:
        raise ValueError(f"{name} must lie in (0, 1], got {value!r}")
    return number


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """Return a whole number of at least `at_least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value!r}")
    return int(value)


def reject_lazy(value: Any, name: str, instead: str = "colk.distributed") -> None:
    """Raise TypeError for a Dask collection, which NumPy would load into memory whole.

    `instead` names the alternative that accepts such a collection.
    """
    graph = getattr(value, "__dask_graph__", None)
    if not callable(graph) or isinstance(value, type):
        return
    # An object of xarray has the method too; it returns None if there is no Dask behind it.
    if type(value).__module__.partition(".")[0].startswith("dask") or graph() is not None:
        raise TypeError(
            f"{name} is a Dask collection, and all of it would be loaded into memory: use "
            f"{instead}, or pass {name}.compute() of a sample, or one chunk after another "
            "(`partial_fit` learns from chunks)"
        )


def check_weight_range(weight: Array, name: str) -> Array:
    """Return weights if they are at least 0 and not too large."""
    if (weight < 0.0).any():
        raise ValueError(f"{name} must be at least 0")
    largest = float(weight.max(initial=0.0))
    if largest > LARGEST_WEIGHT:
        raise ValueError(
            f"{name} has a weight of {largest:g}, and weights above {LARGEST_WEIGHT:g} overflow: "
            "divide all weights by their mean"
        )
    return weight
