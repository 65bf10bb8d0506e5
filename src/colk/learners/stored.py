"""The stored fields of a learner: its settings, and the packed state of its stream."""

from inspect import signature
from typing import Any, Self

import numpy as np

from colk import _stored as stored
from colk.errors import FileFormatError
from colk.learners.drift import DriftDetector
from colk.learners.memory import bytes_needed

__all__ = ["StoredLearner"]


@stored.stores(
    optional=["detector"],
    settings=stored.Record(
        {"trace": stored.Flag(), "implicit": stored.Flag()}, optional=["implicit"], keeps_rest=True
    ),
    n_features=stored.Optional(stored.Count(1, 2**31)),
    is_vector=stored.Optional(stored.Flag()),
    tube=stored.Optional(stored.Number(at_least=0.0)),
    detector=stored.Optional(stored.Object(DriftDetector)),
    state=stored.Optional(stored.Object(dict)),  # checked against the fields of an empty stream
    lines=stored.Optional(stored.Array("n_steps", "n_columns", finite=False)),
    room=stored.Optional(stored.Array("n_bytes", dtype=np.uint8)),
)
class StoredLearner:
    """Mixin that converts a learner to stored fields and back.

    The constructor checks the settings. The stream is created with the shapes in the file, after a
    check that these are in proportion to the size of the file. It then restores the state, after a
    check of its fields.
    """

    def _to_file(self: Any) -> dict[str, Any]:
        names = [name for name in signature(type(self)).parameters if name != "trace"]
        settings = {name: getattr(self, name) for name in names}
        learned, room = self.get_state(), 0
        packed = learned.pop("stream")
        if packed is not None:
            room = stored.padding(bytes_needed(self, packed))
            packed = stored.Record(self._state().fields()).write(packed)
        return {
            "settings": {**settings, "trace": self.is_traced},
            "is_vector": None,
            "tube": None,
            "detector": None,
            **learned,
            "state": packed,
            # Zeros that make the file large enough for the memory of large batches.
            "room": np.zeros(room, dtype=np.uint8) if room > 0 else None,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        learner: Any = cls(**values["settings"])
        learned = {name: values[name] for name in ("n_features", "lines", "is_vector", "tube")}
        packed, known = values["state"], learner.get_state()
        for name in ("is_vector", "tube"):
            if (learned[name] is None) != (known.get(name) is None):
                raise FileFormatError(f"{name} of a {cls.__name__} cannot be {learned[name]!r}")
        if (packed is None) != (learned["n_features"] is None):
            raise FileFormatError(
                f"a {cls.__name__} needs both a state and a number of features, or neither"
            )
        if learned["lines"] is not None and not learner.is_traced:
            raise FileFormatError(f"a {cls.__name__} with trace=False has a trace")
        learner.set_state({**learned, "stream": None, "detector": values.get("detector")})
        if packed is not None:
            n_features = learned["n_features"]
            budget(bytes_needed(learner, packed, n_features), f"a {cls.__name__}")
            stream = learner.empty_stream(n_features, packed)
            stream.unpack(_checked(learner, stream, packed))
        if learner.is_traced:
            learner.trace  # noqa: B018  # raises if the lines have another width
        restored: Self = learner
        return restored


def _checked(learner: Any, stream: Any, packed: dict[str, Any]) -> dict[str, Any]:
    """Check a packed state against the stream that will restore it."""
    found = stored.Record(stream.fields(), optional=stream.later_tallies).read(packed, "state", {})
    if hasattr(learner, "loss"):
        targets = found["window"]["targets"]
        learner.loss.check_targets(targets, stream.n_outputs, len(targets))
    return found
