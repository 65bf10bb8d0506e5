"""Base of the observers of a stream's losses."""

from colk._engine.c_types import Matrix, Public
from colk._signatures import SourceSignature

__all__ = ["LossWatcher"]


class LossWatcher:
    """Base of an object that takes the loss and the features of each sample of a stream."""

    __signature__ = SourceSignature()

    has_alarm: Public[bool]  # whether there was an alarm on which the stream has not acted yet

    def take(self, loss: float, points: Matrix, row: int) -> int:  # cdef
        """Take the loss of a sample before its step, and its features, a row of `points`."""
        return 0
