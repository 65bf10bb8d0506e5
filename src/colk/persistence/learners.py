"""Learners in files: their settings, and the state of their stream.

A learner is made anew of its settings, which its constructor checks; its stream is made anew for
the shapes that the file names, once they are known to be in proportion to the file; and what was
packed is laid into it once it fits.
"""

from inspect import signature
from typing import Any

import numpy as np

from colk._validation import check_number
from colk.errors import FileFormatError
from colk.persistence.memory import Memory, padding
from colk.persistence.parts import take, whole
from colk.persistence.state import Shapes, check_packed
from colk.persistence.triangle import folded, unfolded

__all__ = ["pack", "restore"]

_MOST = 2**31

# Tallies that files of earlier versions lack, which begin with 0.
_LATER = {"squared_move"}

_PARTS = ("settings", "n_features", "is_vector", "tube", "state", "lines", "room")


def pack(learner: Any) -> dict[str, Any]:
    """Return settings, shapes, the state of the stream, and the lines of a trace."""
    state = learner.__getstate__()
    names = [name for name in signature(type(learner)).parameters if name != "trace"]
    lines, packed = state.get("_records"), state.get("_packed")
    return {
        "settings": {
            **{name: getattr(learner, name) for name in names},
            "trace": lines is not None,
        },
        "n_features": state.get("_n_features"),
        "is_vector": state.get("_is_vector"),
        "tube": state.get("_tube"),
        "state": None if packed is None else folded(packed),
        "lines": np.concatenate(lines) if lines else None,
        "room": _room(learner, packed),
    }


def _room(learner: Any, packed: Any) -> Any:
    """Return zeros that make the file as large as a learner of large batches asks for."""
    if packed is None:
        return None
    size = padding(Shapes.of(packed).bytes_needed(learner))
    return np.zeros(size, dtype=np.uint8) if size > 0 else None


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the learner, which goes on bit for bit."""
    settings, n_features, is_vector, tube, packed, lines, _ = take(parts, *_PARTS)
    _check_settings(kind, settings)
    learner = kind(**settings)
    known = learner.__dict__
    if is_vector is not None:
        if type(is_vector) is not bool or not hasattr(kind, "_is_vector"):
            raise FileFormatError(f"is_vector of a {kind.__name__} is {is_vector!r}")
        known["_is_vector"] = is_vector
    if (tube is None) != ("_tube" not in known):
        raise FileFormatError(f"the tube of a {kind.__name__} is {tube!r}")
    if tube is not None:
        known["_tube"] = check_number(tube, "the tube", at_least=0.0)
    if (packed is None) != (n_features is None):
        raise FileFormatError(f"a {kind.__name__} has features or a state, but not both")
    if packed is not None:
        known["_n_features"] = whole(n_features, 1, _MOST, "the number of features")
        _restore_stream(learner, packed, memory)
    if lines is not None:
        _restore_lines(learner, lines)
    return learner


def _check_settings(kind: type[Any], settings: Any) -> None:
    """Settings whose truth is all that a constructor asks for are true or false."""
    if not isinstance(settings, dict) or type(settings.get("trace")) is not bool:
        raise FileFormatError(f"the settings of a {kind.__name__} are missing")
    if type(settings.get("implicit", False)) is not bool:
        raise FileFormatError(f"implicit of a {kind.__name__} is {settings['implicit']!r}")


def _restore_stream(learner: Any, packed: Any, memory: Memory) -> None:
    shapes = Shapes.of(packed)
    memory.check(shapes.bytes_needed(learner), f"a {type(learner).__name__}")
    packed = unfolded(packed, shapes.n_atoms)
    stream = learner.empty_stream(learner.n_features, packed)
    packed = {**dict.fromkeys(_LATER & set(stream.tallies), 0.0), **packed}
    check_packed(stream, packed, getattr(learner, "loss", None))
    stream.unpack(packed)


def _restore_lines(learner: Any, lines: Any) -> None:
    if not isinstance(lines, np.ndarray) or lines.dtype != np.float64 or lines.ndim != 2:
        raise FileFormatError("a trace is no table of numbers")
    if learner._records is None:
        raise FileFormatError("a learner that records nothing has a trace")
    learner._records = [lines.copy()]
    learner.trace  # noqa: B018  # refuses lines of another width
