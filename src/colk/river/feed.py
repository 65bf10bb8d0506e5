"""The fast path of one sample: from a dictionary to the row of a stream, without an array."""

import math
from typing import Any

from colk._engine.gradient_step import KernelStream

__all__ = ["Feed"]


class Feed:
    """Writes samples, which are dictionaries, to a stream and reads predictions from it.

    Parameters
    ----------
    stream : KernelStream
        The stream.
    names : list
        Names of the columns.
    first : int
        First row of the weights of the function that predicts.
    """

    stream: KernelStream
    names: list[Any]
    first: int

    def __init__(self, stream: KernelStream, names: list[Any], first: int) -> None:
        self.stream, self.names, self.first = stream, names, first

    def learn(self, x: Any, y: float, weight: float) -> int:
        """Learn from a sample whose target and weight are checked.

        Returns 1 after a step, and 0 if the step would diverge. Returns −1 and does nothing unless
        x is a dict of finite numbers with exactly the names of the columns.
        """
        self.stream.enter()
        try:
            if not self.place(x, True):
                return -1
            self.stream.target[0, 0], self.stream.weight[0] = y, weight
            return self.stream.advance_locked(
                self.stream.row, self.stream.target, self.stream.weight, 0, 1
            )
        finally:
            self.stream.leave()

    def scores(self, x: Any) -> list[float] | None:
        """Return values of the learned function; None if x needs conversion.

        A missing feature counts as 0; a feature without a column is ignored.
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
        """Write features to the row; return False if they need conversion.

        With `whole`, x must have exactly the names of the columns.
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
