"""What every learner of a kernel expansion can say of what it has learned."""

from abc import abstractmethod

from colk._engine.stream import Stream
from colk.learners.base import StreamLearner
from colk.rkhs.expansion import KernelExpansion

__all__ = ["ExpansionLearner"]


class ExpansionLearner(StreamLearner):
    """A learner whose function is Σ_j w_j κ(d_j, ·), on atoms that it has chosen."""

    @abstractmethod
    def _state(self) -> Stream:
        """The stream, once there was a sample."""

    @abstractmethod
    def _expansion(self, row: int) -> KernelExpansion:
        """Return the function that begins at this row of the weights."""

    @property
    def function(self) -> KernelExpansion:
        """The learned function: the average of the iterates where there is averaging."""
        return self._expansion(self._state().averaged)

    @property
    def last_function(self) -> KernelExpansion:
        """The last iterate."""
        return self._expansion(0)

    @property
    def n_atoms(self) -> int:
        """Model order M."""
        return 0 if self._stream is None else self._stream.dictionary.size

    @property
    def error_spent(self) -> float:
        """Sum over all steps of the H-norms that compression cost."""
        return 0.0 if self._stream is None else self._stream.error_sum
