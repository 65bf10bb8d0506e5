"""What a polish found, in files."""

from typing import Any

import numpy as np

from colk.errors import FileFormatError
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole
from colk.rkhs.expansion import KernelExpansion

__all__ = ["pack", "restore"]

_NUMBERS = ("value", "value_before", "regularization", "gap")
_MOST_STEPS = 2**31


def pack(polished: Any) -> dict[str, Any]:
    """Return the function, and how it was found."""
    return {
        "function": polished.function,
        **{name: float(getattr(polished, name)) for name in _NUMBERS},
        "n_steps": polished.n_steps,
        "converged": bool(polished.converged),
        "candidates": np.array(polished.candidates, dtype=np.float64).reshape(-1, 2),
    }


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return what was found."""
    function, n_steps, converged, candidates, *numbers = take(
        parts, "function", "n_steps", "converged", "candidates", *_NUMBERS
    )
    if not isinstance(function, KernelExpansion):
        raise FileFormatError("what was polished is no function")
    if type(converged) is not bool or not all(type(number) is float for number in numbers):
        raise FileFormatError("a polish does not say what it found")
    if not isinstance(candidates, np.ndarray) or candidates.dtype != np.float64:
        raise FileFormatError("the candidates of a polish are no numbers")
    if candidates.ndim != 2 or candidates.shape[1] != 2:
        raise FileFormatError("the candidates of a polish are no pairs")
    return kind(
        function,
        **dict(zip(_NUMBERS, numbers, strict=True)),
        n_steps=whole(n_steps, 0, _MOST_STEPS, "the number of steps"),
        converged=converged,
        candidates=tuple((a, b) for a, b in candidates.tolist()),
    )
