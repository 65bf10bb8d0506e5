"""The factor of K⁻¹ in files: a triangle, row by row, without the zeros above it."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["folded", "unfolded"]


def folded(packed: dict[str, Any]) -> dict[str, Any]:
    """Return a state whose factor, where it has one, is a vector of n(n + 1)/2 numbers.

    Examples
    --------
    >>> folded({"dictionary": {"factor": np.array([[1.0, 0.0], [2.0, 3.0]])}})
    {'dictionary': {'factor': array([1., 2., 3.])}}
    """
    dictionary = packed["dictionary"]
    if "factor" not in dictionary:
        return packed
    rows = [row[: i + 1] for i, row in enumerate(dictionary["factor"])]
    factor = np.concatenate([np.empty(0), *rows])
    return {**packed, "dictionary": {**dictionary, "factor": factor}}


def unfolded(packed: Any, n_atoms: int) -> dict[str, Any]:
    """Return the state with its factor as a matrix of as many rows as there are atoms.

    Examples
    --------
    >>> unfolded({"dictionary": {"factor": np.array([1.0, 2.0, 3.0])}}, 2)
    {'dictionary': {'factor': array([[1., 0.],
           [2., 3.]])}}
    """
    dictionary = packed["dictionary"]
    if "factor" not in dictionary:
        return dict(packed)
    factor: Array = dictionary["factor"]
    if not isinstance(factor, np.ndarray) or factor.dtype != np.float64:
        raise FileFormatError("the factor of a state is no array of numbers")
    if factor.shape != (n_atoms * (n_atoms + 1) // 2,):
        raise FileFormatError(f"a factor of shape {factor.shape} is not that of {n_atoms} atoms")
    square, start = np.zeros((n_atoms, n_atoms)), 0
    for i in range(n_atoms):
        square[i, : i + 1] = factor[start : start + i + 1]
        start += i + 1
    return {**packed, "dictionary": {**dictionary, "factor": square}}
