"""Fast path for one sample: write a dictionary to the row of a stream, without an array."""

import math
from typing import Any

from colk._engine.c_types import Readonly, Vector
from colk._engine.gradient_step import KernelStream
from colk._engine.locks import Lock
from colk._engine.running_scale import RunningScale
from colk._validation import Array

__all__ = ["Feed"]


class Feed:
    """Writes samples, which are dictionaries, to a stream and reads predictions from it.

    The lock of the model guards the stream, so that a sample takes only one lock. The caller must
    hold it, except for `learn_alone`, which takes it.

    Parameters
    ----------
    stream : KernelStream
        The stream.
    keys : list
        The key of each column in a sample.
    needed : list of bool
        Whether a sample that lacks the key has a gap.
    held : array
        The only value that a column may have; NaN if any.
    first : int
        First row of the weights of the function that predicts.
    lock : Lock
        The lock of the model.
    scale : RunningScale or None
        The scale of the targets; None if `learn_alone` cannot be used.
    """

    stream: Readonly[KernelStream]
    keys: Readonly[list[Any]]
    needed: Readonly[list[bool]]
    held: Vector
    first: Readonly[int]
    lock: Lock
    scale: RunningScale  # None if other parts of the model learn as well, or if it has another feed

    def __init__(
        self,
        stream: KernelStream,
        keys: list[Any],
        needed: list[bool],
        held: Array,
        first: int,
        lock: Lock,
        scale: RunningScale | None,
    ) -> None:
        self.stream, self.first = stream, first
        self.keys, self.needed, self.held = keys, needed, held
        self.lock, self.scale = lock, scale  # type: ignore[assignment]

    def disconnect(self) -> None:
        """Make `learn_alone` do nothing from now on; the caller holds the lock."""
        self.scale = None  # type: ignore[assignment]

    def learn_alone(self, x: Any, y: float, weight: float) -> bool:  # cpdef
        """Learn from a sample whose target and weight are checked, and scale its target.

        Returns whether it was learned. If not, nothing has changed, and the model must learn it.
        """
        self.lock.acquire()
        try:
            self.stream.begin()
            try:
                if self.scale is None or not self.place(x, True):
                    return False
                return self.scale_and_step(y, weight)
            finally:
                self.stream.end()
        finally:
            self.lock.release()

    def learn(self, x: Any, y: float, weight: float) -> int:  # cpdef except -2
        """Learn from a sample whose target and weight are checked.

        Returns 1 after a step, and 0 if the step would diverge. Returns −1 and does nothing if x is
        not a dict of finite numbers and gaps, or if a feature has no column.
        """
        self.stream.begin()
        try:
            return self.step(y, weight) if self.place(x, True) else -1
        finally:
            self.stream.end()

    def scale_and_step(self, y: float, weight: float) -> bool:  # cdef gil
        """Update the scale and make a step; undo the update if no step was made."""
        learned = False
        try:
            learned = self.step(self.scale.update(y, weight), weight) == 1
        finally:
            if not learned:
                self.scale.undo()
        return learned

    def step(self, y: float, weight: float) -> int:  # cdef gil except -2
        """Make a step with the features in the row; return 0 if it would diverge."""
        self.stream.target[0, 0], self.stream.weight[0] = y, weight
        self.stream.take_row()
        return self.stream.advance_locked(
            self.stream.point, self.stream.target, self.stream.weight, 0, 1
        )

    def scores(self, x: Any) -> list[float] | None:  # cpdef list
        """Return values of the learned function; None if x needs conversion.

        A feature without a column is ignored.
        """
        self.stream.begin()
        try:
            if not self.place(x, False):
                return None
            self.stream.evaluate_row(self.first)
            return [self.stream.values[c] for c in range(self.stream.n_outputs)]
        finally:
            self.stream.end()

    def placed(self) -> list[float]:  # cpdef
        """Return the row of the latest sample."""
        return [self.stream.row[0, column] for column in range(len(self.keys))]

    def place(self, x: Any, whole: bool) -> bool:  # cdef gil
        """Write features to the row; return False if they need conversion, as gaps do.

        With `whole`, all features of x must have columns.
        """
        if type(x) is not dict:
            return False
        features: dict[str, Any]
        n_found: int
        features, n_found, total = x, 0, 0.0
        for column in range(len(self.keys)):
            value = features.get(self.keys[column])
            if value is None:
                if self.needed[column] or self.keys[column] in features:
                    return False
                value = 0.0
            elif isinstance(value, (float, int)):
                n_found += 1
            else:
                return False
            number, held = float(value), self.held[column]  # type: float, float
            if held == held and number != held:
                return False
            self.stream.row[0, column] = number
            total += number  # not finite with a gap that is NaN
        return math.isfinite(total) and (not whole or n_found == len(features))
