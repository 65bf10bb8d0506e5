"""The columns of a table behind those of an encoded row."""

import numpy as np

from colk._encoding.encoder import TableEncoder
from colk._validation import Array

__all__ = ["united"]


def united(encoder: TableEncoder, sizes: Array) -> Array:
    """Return the sizes of the columns of a table, divided by the largest.

    The size of a date is the root of the sum of squares of its trend and its cycles. Marks of gaps
    and effects of categories belong to their columns.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.
    sizes : array of shape (width,)
        Sizes of the columns of an encoded row; later columns may be missing.

    Examples
    --------
    >>> from colk._encoding.columns import Column
    >>> encoder = TableEncoder([Column("a", "number"), Column("b", "number")], gaps=["a"])
    >>> united(encoder, np.array([3.0, 10.0, 4.0]))
    array([0.5, 1. ])
    """
    circles = [name for name, cycles in encoder._cycles.items() for _ in (*cycles, *cycles)]
    names = [*encoder._typical, *circles, *encoder._codes, *encoder.gaps]
    effects = [names[each.column] for each in encoder.effects for _ in range(each.n_targets)]
    squares = dict.fromkeys((name for name, _ in encoder.columns), 0.0)
    for name, size in zip([*names, *effects], sizes.tolist(), strict=False):
        squares[name] += size**2
    found = np.sqrt(list(squares.values()))
    return np.asarray(found / (found.max() or 1.0))
