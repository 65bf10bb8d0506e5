"""Several quantiles of one target at once, with an output and a pinball loss for each."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import ConstVector, Matrix, Readonly
from colk._validation import Array, check_vector
from colk.losses import base
from colk.losses.base import Loss

__all__ = ["Quantiles", "ShiftedQuantiles"]


class Quantiles(Loss):
    """The sum over outputs c of the pinball losses of f_c and y at the levels τ_c.

    A target is one number; a prediction has one output for each level. At the kink f_c = y the
    slope is 0.

    Parameters
    ----------
    levels : sequence of float
        τ_c, strictly between 0 and 1 and increasing. Default: (0.05, 0.5, 0.95).

    Examples
    --------
    >>> loss = Quantiles((0.25, 0.75))
    >>> loss.value([[-1.0, 1.0]], [0.0]), loss.slope([[-1.0, 1.0]], [0.0])
    (array([0.5]), array([[-0.25,  0.25]]))
    """

    _fields: ClassVar[tuple[str, ...]] = ("levels",)
    couples_outputs: ClassVar[bool] = True

    levels: Readonly[tuple[float, ...]]
    table: ConstVector  # (Q,): the levels as compiled code reads them
    shifts: ConstVector  # (Q,): constants that are added to the outputs; 0 here

    def __init__(self, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> None:
        self._set(_checked(levels), None)

    def _set(self, table: Array, shifts: Array | None) -> None:
        # A term is frozen, so that each attribute is set once.
        self.levels, self.table = tuple(table.tolist()), table
        self.shifts = np.zeros(len(table)) if shifts is None else shifts

    @property
    def kinks(self) -> tuple[float, ...]:
        """A residual of 0."""
        return (0.0,)

    def evaluate(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix) -> float:  # cdef
        """Return the sum over the levels; write the slope of each."""
        total = 0.0
        for c in range(F.shape[1]):
            excess: float = F[row, c] + self.shifts[c] - Y[row, 0]
            slopes[row, c] = 0.0
            if excess > 0.0:
                slopes[row, c] = 1.0 - self.table[c]
            elif excess < 0.0:
                slopes[row, c] = -self.table[c]
            total += slopes[row, c] * excess
        return total

    # cdef
    def curvature(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix, width: float) -> float:
        """Return the mean secant curvature of the levels.

        The largest one would make the steps of the outer levels too short.
        """
        total, y = 0.0, Y[row, 0]  # type: float, float
        for c in range(F.shape[1]):
            excess: float = F[row, c] + self.shifts[c] - y
            apart: float = max(abs(excess), width, base.NEAREST * (1.0 + abs(y)))
            slope: float = 1.0 - self.table[c] if excess >= 0.0 else self.table[c]
            total += slope / apart
        return total / F.shape[1]

    def check_targets(self, y: ArrayLike, n_outputs: int, n_rows: int | None = None) -> Array:
        """Validate targets for predictions with one output for each level; return (n, 1)."""
        if n_outputs != len(self.levels):
            raise ValueError(
                f"Quantiles of {len(self.levels)} levels needs as many outputs, "
                f"the predictions have {n_outputs}"
            )
        return super().check_targets(y, 1, n_rows)


class ShiftedQuantiles(Quantiles):
    """`Quantiles` of f_c + o_c, for constants o_c that the caller may change; a stream uses it.

    Parameters
    ----------
    levels : sequence of float
        As in `Quantiles`.
    shifts : array of shape (Q,)
        o_c. The array is not copied.

    Examples
    --------
    >>> shifts = np.zeros(2)
    >>> loss = ShiftedQuantiles((0.25, 0.75), shifts)
    >>> shifts += 1.0
    >>> loss.value([[-1.0, 0.0]], [0.0])
    array([0.25])
    """

    def __init__(self, levels: Sequence[float], shifts: Array) -> None:
        self._set(_checked(levels), shifts)


def _checked(levels: Sequence[float]) -> Array:
    """Return levels as an array; raise unless they increase between 0 and 1."""
    table = check_vector(levels, None, "levels")
    if len(table) == 0 or not ((table > 0.0) & (table < 1.0)).all():
        raise ValueError(f"levels must lie strictly between 0 and 1, got {levels!r}")
    if (np.diff(table) <= 0.0).any():
        raise ValueError(f"levels must increase, got {levels!r}")
    return np.array(table)
