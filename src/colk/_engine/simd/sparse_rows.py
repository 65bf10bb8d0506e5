"""NumPy version of the loop in sparse_rows.h, for the uncompiled package."""

from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["columns"]


def columns(
    starts: Any, places: Any, values: Array, norms: Array, tails: Array, n_columns: int,
    profile: int, scale: float, constant: float, degree: int, atoms: Array, n: int, points: Array,
    size: int, out: Array, first: int,
) -> int:  # fmt: skip
    """Write out[first + b, j] = κ(row points[b], row atoms[j]); see sparse_rows.h."""
    given = np.concatenate([atoms[0, :n], points[:size, 0]])
    if not ((given >= 0.0) & (given < len(norms))).all():
        raise IndexError("a point of OfRows must be the number of a row")
    rows = atoms[0, :n].astype(np.intp)
    for b in range(size):
        point = int(points[b, 0])
        x = np.zeros(n_columns)
        x[places[starts[point] : starts[point + 1]]] = values[starts[point] : starts[point + 1]]
        for j, atom in enumerate(rows):
            own = slice(starts[atom], starts[atom + 1])
            at, entries = x[places[own]], values[own]
            if profile == 2:
                total = (np.abs(at - entries) - np.abs(at) - np.abs(entries)).sum()
            else:
                total = at @ entries
            if profile == 0:
                out[first + b, j] = (total + constant) ** degree
            elif total == 0.0:
                out[first + b, j] = tails[point] * tails[atom]
            else:
                distance = norms[point] + norms[atom] + (-2.0 * total if profile == 1 else total)
                out[first + b, j] = 1.0 if point == atom else np.exp(-scale * max(distance, 0.0))
        out[first + b, n : (n + 7) & -8] = 0.0
    return 0
