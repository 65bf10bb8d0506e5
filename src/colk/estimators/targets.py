"""Units of the targets: what makes y in millions and y in millionths the same problem."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["TargetScale"]

# Targets after which the scale stays as it is.
_ENOUGH = 100.0


_BY_OUTPUT = stored.Either(stored.Number(), stored.Array("n_targets"))


@stored.stores(
    shape=stored.TupleOf(stored.Count(1, 2**31, same="n_targets")),
    total=stored.Number(at_least=0.0),
    center=_BY_OUTPUT,
    deviation=_BY_OUTPUT,
)
@dataclass(frozen=True)
class TargetScale:
    """Mean and standard deviation of the targets seen first, one for each output.

    It learns until 100 targets have been seen at the end of a call, then stays: a function that
    was learned in one unit should not be read in another.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1e6, 3e6])
    >>> scale = TargetScale(()).updated(y, np.ones(2))
    >>> scale.scaled(y), scale.unscaled(np.zeros(1))
    (array([-1.,  1.]), array([2000000.]))
    """

    shape: tuple[int, ...]
    total: float = 0.0
    center: Array | float = 0.0
    deviation: Array | float = 0.0

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "TargetScale":
        if len(values["shape"]) > 1:
            raise FileFormatError(f"targets have the shape {values['shape']}")
        if not values["shape"] and any(isinstance(value, np.ndarray) for value in values.values()):
            raise FileFormatError("one target has a scale for each of several")
        return cls(**values)

    def updated(self, y: Array, weight: Array) -> "TargetScale":
        """Return the scale that has also seen these targets."""
        added = float(weight.sum())
        if self.total >= _ENOUGH or added == 0.0:
            return self
        share = weight.reshape(-1, *(1,) * len(self.shape)) / added
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (share * y).sum(axis=0)
            deviation = _root_mean_square(y - mean, share)
            total = self.total + added
            old, new = self.total / total, added / total
            gap = mean - self.center
            center = self.center + gap * new
            # No square is formed, so that nothing overflows below the end of the range.
            spread = np.hypot(np.sqrt(old) * self.deviation, np.sqrt(new) * deviation)
            spread = np.hypot(spread, np.sqrt(old * new) * gap)
        if not (np.isfinite(total) and np.isfinite(center).all() and np.isfinite(spread).all()):
            raise ValueError("y is beyond what can be scaled: its spread overflows; scale it first")
        return TargetScale(self.shape, total, center, spread)

    @cached_property
    def scale(self) -> Array | float:
        """Standard deviation; where all targets are equal their size, and 1 where that is 0."""
        if self.total == 0.0:
            return np.ones(self.shape)
        size = np.abs(self.center)
        # Equal targets leave a deviation of rounding errors.
        fallback = np.where(size > 0.0, size, 1.0)
        return np.where(self.deviation > 1e-10 * size, self.deviation, fallback)

    def scaled(self, y: Array) -> Array:
        """Targets as the learner sees them."""
        return np.asarray((y - self.center) / self.scale)

    def unscaled(self, f: Array) -> Array:
        """Predictions in the units of the targets."""
        return np.asarray(f * self.scale + self.center)


def _root_mean_square(y: Array, share: Array) -> Array:
    """√Σ share·y² of each column, relative to its largest entry."""
    largest = np.abs(y).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.sqrt((share * (y / unit) ** 2).sum(axis=0)))
