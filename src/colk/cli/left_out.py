"""Choose the rows of a run that are held out, to test the model or calibrate its intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._engine.counter_rng import uniform

__all__ = ["CALIBRATION", "HeldOutRows"]

# Share of the rows that calibrate intervals.
CALIBRATION = 0.1

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class HeldOutRows:
    """Draws held-out rows by their position, so that every pass leaves out the same rows.

    Parameters
    ----------
    holdout : float, default=0.0
        Share of the rows that test the model.
    calibration : float, default=0.0
        Share of the rows that calibrate its intervals.
    seed : int, default=0
        Seed of the random numbers.

    Examples
    --------
    >>> left_out = HeldOutRows(holdout=0.2, calibration=0.1)
    >>> [int(left_out.rows(part, 0, 1000).sum()) for part in ("holdout", "calibration", "learn")]
    [194, 111, 695]
    """

    holdout: float = 0.0
    calibration: float = 0.0
    seed: int = 0

    def rows(self, part: str, first: int, size: int) -> Mask:
        """Return a mask of the rows that belong to a part.

        Parameters
        ----------
        part : {"learn", "holdout", "calibration"}
            The part.
        first, size : int
            Index of the first row in the pass, and number of rows.
        """
        ends = {
            "holdout": (0.0, self.holdout),
            "calibration": (self.holdout, self.holdout + self.calibration),
            "learn": (self.holdout + self.calibration, 1.0),
        }
        low, high = ends[part]
        if high - low == 1.0:
            return np.ones(size, dtype=bool)
        numbers = (uniform(self.seed, row) for row in range(first, first + size))
        drawn = np.fromiter(numbers, np.float64, size)
        return (low <= drawn) & (drawn < high)

    def take(
        self, part: str, columns: Mapping[str, Any], lines: NDArray[np.int64], first: int
    ) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Return the rows of a batch that belong to a part, and their lines.

        Parameters
        ----------
        part : {"learn", "holdout", "calibration"}
            The part.
        columns, lines
            The rows of the batch.
        first : int
            Index of the first of these rows in the pass.
        """
        chosen = self.rows(part, first, len(lines))
        if chosen.all():
            return dict(columns), lines
        return {name: values[chosen] for name, values in columns.items()}, lines[chosen]
