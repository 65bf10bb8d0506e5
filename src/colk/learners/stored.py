"""The stored fields of a learner: its settings, and the packed state of its stream.

A file must be in proportion to the memory that the stream of its learner takes.
"""

from inspect import signature
from typing import Any, Self

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import watched_memory
from colk.errors import FileFormatError
from colk.learners.drift import DriftDetector

__all__ = ["StoredLearner", "settings_of"]

# The arrays of a packed stream whose size grows with atoms or targets.
_SHAPES = stored.Record(
    {
        "window": stored.Record(
            {
                "points": stored.Array("n_waiting", "width", finite=False),
                "targets": stored.Array("n_waiting", "n_targets", finite=False),
            },
            keeps_rest=True,
        ),
        "dictionary": stored.Record(
            {
                "weights": stored.Array("n_rows", "n_atoms", finite=False),
                "atoms": stored.Array("n_dimensions", "n_atoms", finite=False),
                "ghosts": stored.Array("n_all_rows", "n_ghosts", finite=False),
            },
            keeps_rest=True,
        ),
    },
    keeps_rest=True,
)


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
        learned, room = self.get_state(), 0
        packed = learned.pop("stream")
        if packed is not None:
            room = _room(self, packed)
            packed = stored.Record(self._state().fields()).write(packed)
        return {
            "settings": settings_of(self),
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
            _shapes_of(learner, packed, n_features)
            with watched_memory(lambda needed: budget(needed, f"a {cls.__name__}")):
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
        targets, risk = found["window"]["targets"], learner.risk
        risk.check_sizes(stream.n_outputs, targets.shape[1])
        # The targets of a composition have its own size, and are those of a loss if that fits.
        if risk.n_outputs is None or stream.has_loss:
            learner.loss.check_targets(targets, stream.n_outputs, len(targets))
    return found


def _shapes_of(learner: Any, packed: Any, n_features: int) -> dict[str, int]:
    """Check the shapes of a packed state, before anything of these sizes is made."""
    shapes: dict[str, int] = {}
    _SHAPES.read(packed, "state", shapes)
    if 0 in (shapes["width"], shapes["n_rows"], shapes["n_dimensions"], shapes["n_all_rows"]):
        raise FileFormatError("a state has atoms, weights or points of length 0")
    _check_features(getattr(learner, "features", None), shapes["n_atoms"], n_features)
    return shapes


def _room(learner: Any, packed: dict[str, Any]) -> int:
    """Return the least size of a file of this learner, by making an empty stream of its size."""
    sizes: list[float] = []
    shapes = _shapes_of(learner, packed, learner.n_features)
    with watched_memory(sizes.append):
        stream = type(learner)(**settings_of(learner)).empty_stream(learner.n_features, packed)
        stream.reserve(max(shapes["n_atoms"], shapes["n_ghosts"]))
    return stored.padding(sum(sizes))


def settings_of(learner: Any) -> dict[str, Any]:
    """Return the arguments of the constructor, by name.

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.kernels import Gaussian
    >>> settings_of(COLK(Gaussian(1.0)))["kernel"]
    Gaussian(bandwidth=1.0)
    """
    names = [name for name in signature(type(learner)).parameters if name != "trace"]
    return {**{name: getattr(learner, name) for name in names}, "trace": learner.is_traced}


def _check_features(features: Any, n_weights: int, n_features: int) -> None:
    """Check the sizes of a map to features before any feature is computed."""
    count = getattr(features, "n_centres", None) or getattr(features, "n_components", None)
    if isinstance(count, int) and count != n_weights:
        raise FileFormatError(f"there are {n_weights} weights for {count} features")
    corner = getattr(features, "low", None)
    if isinstance(corner, tuple) and len(corner) != n_features:
        raise FileFormatError(
            f"centres of {len(corner)} features do not fit points of {n_features}"
        )
