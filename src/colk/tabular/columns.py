"""Checks of the names and the values of columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._validation import Array, reject_lazy

__all__ = ["LARGEST", "check_names", "check_numbers"]

# Larger numbers are rejected, so that sums of their squares do not overflow.
LARGEST = 1e140


def check_names(target: str, features: Sequence[str], categorical: Sequence[str]) -> None:
    """Raise if columns are missing, named twice or used twice."""
    if not features:
        raise ValueError("there are no features to learn from")
    if len(set(features)) < len(features):
        raise ValueError("features are named twice")
    if target in features:
        raise ValueError(f"the target {target!r} is among the features")
    stray = [name for name in categorical if name not in features]
    if stray:
        raise ValueError(f"categorical column {stray[0]!r} is not among the features")


def check_numbers(values: Any, name: str) -> Array:
    """Return a column as floats; raise if a value is missing or too large."""
    reject_lazy(values, name)
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a column of numbers, got {array.dtype} {array.shape}")
    numbers = array.astype(np.float64, copy=False)
    # Both comparisons are false if a value is missing.
    if len(numbers) and not (numbers.min() >= -LARGEST and numbers.max() <= LARGEST):
        raise ValueError(f"{name} has values that are missing or beyond ±{LARGEST:g}")
    return numbers
