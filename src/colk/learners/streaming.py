"""What owns a stream: read-only settings, blocks of samples, copies and pickles."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from colk._validation import Array
from colk.errors import DivergenceError
from colk.stream import Stream

__all__ = ["StreamLearner"]

# Samples between two looks at signals, and at other threads that wait.
_BLOCK = 1024


class StreamLearner(ABC):
    """A learner whose state is a stream, made when the first samples show their shape.

    Settings are read-only. A learner that is copied or pickled goes on bit by bit, and shares
    nothing with its copy.
    """

    _stream: Stream | None = None
    _n_features: int | None = None
    _records: list[Array] | None = None  # the lines of every block, where steps are traced

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} is read-only: what it has learned was learned "
                "with it; make another learner"
            )
        super().__setattr__(name, value)

    @abstractmethod
    def _divergence(self, sample: int) -> DivergenceError:
        """Return what to raise where the step of this sample would diverge."""

    @abstractmethod
    def _remake(self, packed: dict[str, Any]) -> Stream:
        """Make an empty stream of the shape of the one that was packed."""

    @property
    def n_features(self) -> int:
        """Number of features of a sample."""
        if self._n_features is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._n_features

    @property
    def steps(self) -> int:
        """Steps made so far."""
        return 0 if self._stream is None else self._stream.steps

    def _learn_in_blocks(
        self, stream: Stream, size: int, samples: Callable[[slice], tuple[Array, Array, Array]]
    ) -> None:
        """Learn from points, targets and weights, as many as there are, block by block."""
        for start in range(0, size, _BLOCK):
            taken = self._learn_block(stream, *samples(slice(start, start + _BLOCK)))
            if stream.diverged:
                raise self._divergence(start + taken)

    def _learn_block(self, stream: Stream, X: Array, Y: Array, weight: Array) -> int:
        if self._records is None:
            return stream.advance(X, Y, weight, 0, len(X))
        stream.open_trace(len(X))
        try:
            return stream.advance(X, Y, weight, 0, len(X))
        finally:
            self._records.append(stream.close_trace())

    def _recorded(self, width: int) -> Array:
        """Return the lines of all steps so far, of shape (steps, width)."""
        if self._records is None:
            raise ValueError("nothing was recorded: make the learner with trace=True")
        return np.concatenate([np.empty((0, width)), *self._records])

    def __getstate__(self) -> dict[str, Any]:
        """Settings, and the state as plain arrays: a copy shares nothing with the original."""
        state = dict(self.__dict__)
        stream = state.pop("_stream", None)
        if self._records is not None:
            state["_records"] = list(self._records)
        if stream is not None:
            state["_packed"] = stream.pack()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        packed = state.pop("_packed", None)
        self.__dict__.update(state)
        if packed is not None:
            self._remake(packed).unpack(packed)
