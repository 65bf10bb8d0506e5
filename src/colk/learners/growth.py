"""Extension of a packed state to more features or outputs."""

from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["enlarge"]


def enlarge(packed: dict[str, Any], features: tuple[int, int], outputs: tuple[int, int]) -> None:
    """Extend a packed stream in place to more features and outputs.

    Atoms and waiting samples are 0 in a new feature; a new output starts as the function 0.
    """
    (p, n_features), (q, n_outputs) = features, outputs
    dictionary = packed["dictionary"]
    ghosts = dictionary["ghosts"]
    dictionary["atoms"] = _lengthen(dictionary["atoms"], n_features)
    dictionary["weights"] = _spread(dictionary["weights"], q, n_outputs)
    dictionary["ghosts"] = np.concatenate(
        [_lengthen(ghosts[:p], n_features), _spread(ghosts[p:], q, n_outputs)]
    )
    if "noise" in packed:
        packed["noise"] = np.append(packed["noise"], np.zeros(n_outputs - q))


def _lengthen(rows: Array, n_rows: int) -> Array:
    """Append rows of zeros."""
    return np.concatenate([rows, np.zeros((n_rows - len(rows), rows.shape[1]))])


def _spread(rows: Array, old: int, new: int) -> Array:
    """Append rows of zeros to each group of `old` rows: a group is one function's outputs."""
    groups = rows.reshape(len(rows) // old, old, rows.shape[1])
    padding = np.zeros((len(groups), new - old, rows.shape[1]))
    return np.concatenate([groups, padding], axis=1).reshape(len(groups) * new, rows.shape[1])
