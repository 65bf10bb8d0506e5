"""From a dictionary of features to the row of a stream, without an array in between."""

import math
from typing import Any

from colk._engine.gradient_step import KernelStream

__all__ = ["Feed"]


class Feed:
    """The shortest way of one sample by names into a stream, and of its predictions out of it.

    Parameters
    ----------
    stream : KernelStream
        The stream.
    names : list
        Name of the feature of each column.
    first : int
        Row of the weights where the function that predicts begins.
    """

    stream: KernelStream
    names: list[Any]
    first: int

    def __init__(self, stream: KernelStream, names: list[Any], first: int) -> None:
        self.stream, self.names, self.first = stream, names, first

    def learn(self, x: Any, y: float, weight: float) -> int:
        """Learn from a sample whose target and weight are known to be good.

        Returns 1; 0 where the step would diverge; −1, and nothing done, where x is not a plain
        dictionary of finite numbers for just the names that have a column.
        """
        self.stream.enter()
        try:
            if not self.place(x, True):
                return -1
            self.stream.target[0, 0], self.stream.weight[0] = y, weight
            return self.stream.proceed(
                self.stream.row, self.stream.target, self.stream.weight, 0, 1
            )
        except BaseException:
            self.stream.restore()
            raise
        finally:
            self.stream.leave()

    def scores(self, x: Any) -> list[float] | None:
        """Values of the learned function; None where x needs a closer look.

        A feature that is missing counts as 0, one that has no column is left out.
        """
        self.stream.enter()
        try:
            if not self.place(x, False):
                return None
            self.stream.evaluate_row(self.first)
            return [self.stream.values[c] for c in range(self.stream.n_outputs)]
        finally:
            self.stream.leave()

    def place(self, x: Any, whole: bool) -> bool:
        """Write features to the row; False where that takes more than to look at each number.

        With `whole` every name must be there, and no other.
        """
        if type(x) is not dict or (whole and len(x) != len(self.names)):
            return False
        features, total = x, 0.0
        for column in range(len(self.names)):
            value = features.get(self.names[column])
            if value is None and not whole and self.names[column] not in features:
                value = 0.0
            if not isinstance(value, (float, int)):
                return False
            self.stream.row[0, column] = value
            total += self.stream.row[0, column]
        return math.isfinite(total)
