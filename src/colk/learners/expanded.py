"""The results of a learner whose function is a kernel expansion."""

from abc import abstractmethod
from typing import Any

from colk._engine.stream import Stream
from colk.learners.stream_learner import StreamLearner
from colk.rkhs.expansion import KernelExpansion

__all__ = ["ExpansionLearner"]


class ExpansionLearner(StreamLearner):
    """A learner whose function is Σ_j w_j κ(d_j, ·), on atoms that it chooses."""

    @abstractmethod
    def _state(self) -> Stream:
        """The stream; raises before the first sample."""

    @abstractmethod
    def _expansion(self, row: int) -> KernelExpansion:
        """Return the function that starts at this row of the weights."""

    @property
    def function(self) -> KernelExpansion:
        """The learned function; with averaging, the average of the iterates."""
        return self._expansion(self._state().shown)

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
        """Sum over all steps of the H-norms of the compression errors of the iterate."""
        return 0.0 if self._stream is None else self._stream.error_sum

    def plot(self, ax: Any = None, output: int = 0, resolution: int = 200) -> Any:
        """Draw the learned function over the range of its atoms.

        Parameters
        ----------
        ax, output, resolution
            As for `KernelExpansion.plot`.

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> import numpy as np
        >>> from colk import COLK
        >>> from colk.kernels import Gaussian
        >>> X = np.linspace(0, 1, 100)[:, None]
        >>> COLK(Gaussian(0.2)).learn(X, X[:, 0] ** 2).plot().get_ylabel()
        'f(x)'
        """
        return self.function.plot(ax, output, resolution)
