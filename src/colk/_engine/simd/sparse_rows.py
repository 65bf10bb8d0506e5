"""NumPy version of the loop in sparse_rows.h, for the uncompiled package."""

from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["columns"]


def columns(
    starts: Any, places: Any, values: Array, norms: Array, n_columns: int, profile: int,
    scale: float, constant: float, degree: int, atoms: Array, n: int, points: Array, size: int,
    out: Array, first: int,
) -> int:  # fmt: skip
    """Write out[first + b, j] = κ(row points[b], row atoms[j]); see sparse_rows.h."""
    rows = atoms[0, :n].astype(np.intp)
    for b in range(size):
        point = int(points[b, 0])
        x = np.zeros(n_columns)
        x[places[starts[point] : starts[point + 1]]] = values[starts[point] : starts[point + 1]]
        for j, atom in enumerate(rows):
            own = slice(starts[atom], starts[atom + 1])
            at, entries = x[places[own]], values[own]
            if profile == 0:
                out[first + b, j] = (at @ entries + constant) ** degree
                continue
            if profile == 1:
                distance = norms[point] + norms[atom] - 2.0 * (at @ entries)
            else:
                distance = norms[point] + (np.abs(at - entries) - np.abs(at)).sum()
            out[first + b, j] = 1.0 if point == atom else np.exp(-scale * max(distance, 0.0))
        out[first + b, n : (n + 7) & -8] = 0.0
    return 0
