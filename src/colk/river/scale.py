"""Units of the targets: their running mean and standard deviation."""

import math

from colk import _stored as stored

__all__ = ["RunningScale"]


class RunningScale:
    """Weighted mean and standard deviation of the targets seen so far; it does not change.

    No square is formed, so that nothing overflows below the end of the range.

    Parameters
    ----------
    total, mean, deviation : float
        Sum of the weights, mean and standard deviation.

    Examples
    --------
    >>> scale = RunningScale().including(1.0, 1.0).including(4.0, 2.0)
    >>> scale.mean, round(scale.deviation, 3)
    (3.0, 1.414)
    >>> scale.unscaled(scale.scaled(7.0))
    7.0
    """

    total: float
    mean: float
    deviation: float
    unit: float  # the deviation; where all targets are equal their size, and 1 where that is 0

    def __init__(self, total: float = 0.0, mean: float = 0.0, deviation: float = 0.0) -> None:
        self.total, self.mean, self.deviation = total, mean, deviation
        self.unit = deviation if deviation > 0.0 else abs(mean) if mean != 0.0 else 1.0

    def including(self, y: float, weight: float) -> "RunningScale":
        """Return the scale that has also seen this target."""
        new = RunningScale.__new__(RunningScale)
        new.total = self.total + weight
        gap, share = y - self.mean, weight / new.total
        # The variance is (1 − s)σ² + s(1 − s)(y − mean)², where s is the share of y.
        new.mean = self.mean + share * gap
        new.deviation = math.hypot(
            math.sqrt(1.0 - share) * self.deviation, math.sqrt(share * (1.0 - share)) * gap
        )
        new.unit = new.deviation
        if new.deviation == 0.0:
            new.unit = abs(new.mean) if new.mean != 0.0 else 1.0
        if not (math.isfinite(new.total) and math.isfinite(new.mean + new.unit)):
            raise ValueError(
                f"y = {y:g} with weight {weight:g} is beyond what can be scaled; scale it first"
            )
        return new

    def scaled(self, y: float) -> float:
        """Return a target as the learner sees it."""
        return (y - self.mean) / self.unit

    def unscaled(self, score: float) -> float:
        """Return a prediction in the units of the targets."""
        return self.mean + self.unit * score

    def __reduce__(self) -> tuple[type["RunningScale"], tuple[float, float, float]]:
        return type(self), (self.total, self.mean, self.deviation)


# Compiled classes take no decorators.
stored.stores(
    total=stored.Number(at_least=0.0),
    mean=stored.Number(),
    deviation=stored.Number(at_least=0.0),
)(RunningScale)
