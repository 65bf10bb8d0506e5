"""Base class of all learners: settings, blocks of a stream, threads, copies and pickles."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import numpy as np

from colk._engine.locks import Lock, give_way
from colk._engine.stream import Stream
from colk._engine.terms import show
from colk._notebook import facts_table
from colk._validation import Array
from colk.errors import DivergenceError
from colk.learners.stored import StoredLearner
from colk.schedules import PowerDecay

__all__ = ["CREATION", "StreamLearner"]

# Samples per call of the compiled loop. Python handles signals and other threads between two calls.
_BLOCK = 1024

# Held while the first sample of a learner creates its stream.
CREATION = Lock()


class StreamLearner(StoredLearner, ABC):
    """A learner whose state is a stream. The first samples set the shape of the stream.

    Its settings are public attributes that cannot be changed, and its repr is the constructor call.
    A copy or an unpickled learner continues bit for bit, and shares nothing with the original.
    """

    _stream: Stream | None = None
    _n_features: int | None = None
    _records: list[Array] | None = None  # the lines of every block, if steps are traced

    # -- settings ----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} is read-only, because the learned state "
                "depends on it; make another learner"
            )
        super().__setattr__(name, value)

    def _keep(self, settings: dict[str, Any]) -> None:
        """Set attributes, also read-only ones."""
        for name, value in settings.items():
            object.__setattr__(self, name, value)  # `vars(self)` would slow down each attribute

    def _repr_html_(self) -> str:
        sizes = {"atoms": "n_atoms", "samples": "n_samples"}
        learned = {
            name: getattr(self, attribute)
            for name, attribute in sizes.items()
            if isinstance(getattr(self, attribute, None), int)
        }
        return facts_table(type(self).__name__, self._settings_shown() | learned)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={text}" for name, text in self._settings_shown().items())
        return f"{type(self).__name__}({settings})"

    def _settings_shown(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, as text."""
        shown: dict[str, Any] = {}
        for name, parameter in signature(type(self)).parameters.items():
            default = parameter.default
            value = getattr(self, "is_traced" if name == "trace" else name, default)
            if isinstance(value, PowerDecay) and value.power == 0.0:
                value = value.initial
            if value is not default and (default is parameter.empty or value != default):
                shown[name] = show(value)
        return shown

    # -- the stream --------------------------------------------------------------------------

    @abstractmethod
    def divergence(self, sample: int = 0, heaviest: float = 1.0) -> DivergenceError:
        """Return the error to raise if the step of this sample would diverge.

        `heaviest` is the largest weight of the samples up to this one.
        """

    @abstractmethod
    def empty_stream(self, n_features: int, packed: dict[str, Any]) -> Stream:
        """Make an empty stream of the shape of a packed one; the learner uses it from now on."""

    @property
    def has_learned(self) -> bool:
        """Whether the learner has seen a sample, so that its state exists."""
        return self._stream is not None

    @property
    def is_traced(self) -> bool:
        """Whether every step is recorded."""
        return self._records is not None

    @property
    def n_features(self) -> int:
        """Number of features."""
        if self._n_features is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._n_features

    @property
    def steps(self) -> int:
        """Number of steps made so far."""
        return 0 if self._stream is None else self._stream.steps

    def _learn_in_blocks(
        self, stream: Stream, size: int, samples: Callable[[slice], tuple[Array, Array, Array]]
    ) -> None:
        """Learn from points, targets and weights, block by block."""
        for start in range(0, size, _BLOCK):
            X, Y, weight = samples(slice(start, start + _BLOCK))
            give_way()
            with stream.lock:
                stream.open_trace(len(X))
                try:
                    taken = stream.advance(X, Y, weight, 0, len(X))
                finally:
                    if self._records is not None:
                        self._records.append(stream.close_trace())
                if stream.diverged:
                    sample = start + taken
                    heaviest = float(samples(slice(sample + 1))[2].max())
                    raise self.divergence(sample, heaviest)

    def _held(self) -> AbstractContextManager[Any]:
        """Keep other threads from changing the state."""
        with CREATION:
            return nullcontext() if self._stream is None else self._stream.lock

    def _recorded(self, width: int) -> Array:
        """Return the lines of all steps so far, of shape (steps, width)."""
        if self._records is None:
            raise ValueError("nothing was recorded: create the learner with trace=True")
        return np.concatenate([np.empty((0, width)), *self._records])

    def get_state(self) -> dict[str, Any]:
        """Return the learned state without the settings, as numbers and arrays.

        The keys are `n_features`, `stream` (the packed stream) and `lines` (the recorded steps, of
        shape (steps, width)). A missing value is None.
        """
        with self._held():
            lines = None if not self._records else np.concatenate(self._records)
            packed = None if self._stream is None else self._stream.pack()
            return {"n_features": self._n_features, "stream": packed, "lines": lines}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `get_state` of a learner with the same settings returned."""
        if state["stream"] is not None:
            self.empty_stream(state["n_features"], state["stream"]).unpack(state["stream"])
        if state["lines"] is not None:
            self._records = [np.array(state["lines"])]

    def __getstate__(self) -> dict[str, Any]:
        """Return settings and state as plain arrays, so that a copy shares no memory."""
        with self._held():
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
            self.empty_stream(self.n_features, packed).unpack(packed)
