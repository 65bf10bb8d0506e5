"""One sample at a time, at the price of a call: a learner that is unpacked once and kept so.

Handing a `Learner` of some thirty arrays from Python to compiled code takes longer than a step
with few atoms. `pin` writes it, as compiled code sees it, to memory that Python owns;
`learn_pinned` and `predict_pinned` take nothing but the address. Whoever pins keeps the arrays
alive, and pins anew when one of them is replaced.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.core.types import NamedTuple as NamedTupleType  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from colk._core.buffers import COLUMN, SIZE, Buffers
from colk._core.jit import stepper
from colk._core.kernels import column
from colk._core.step import learn
from colk._core.window import Learner
from colk._validation import Array

__all__ = ["Pinned", "learn_pinned", "pin", "predict_pinned"]


class Pinned(NamedTuple):
    """A learner and the buffers through which it meets one sample."""

    learner: Learner
    x: Array  # (1, features)
    y: Array  # (1, targets)
    weight: Array  # (1,)
    scores: Array  # (outputs,)
    trace: Array  # (1, 0)


_DIMENSIONS = {
    Buffers: dict.fromkeys(("atoms", "weights", "factor", "points", "amounts"), 2)
    | {"work": 2, "ghosts": 2, "panels": 3, "small": 3},
    Learner: dict.fromkeys(
        ("window_x", "window_y", "predictions", "previous", "coefficients", "slopes", "tracked"), 2
    ),
    Pinned: {"x": 2, "y": 2, "trace": 2},
}
_NUMBERS: dict[str, Any] = dict.fromkeys(("order", "counters", "switches", "tallies"), types.int64)
_NUMBERS["marked"] = types.boolean


def _type_of(kind: Any) -> Any:
    """Numba's type of one of the tuples above."""
    fields = []
    for name, annotation in kind.__annotations__.items():
        if hasattr(annotation, "_fields"):
            fields.append(_type_of(annotation))
        elif annotation is int:
            fields.append(types.int64)
        else:
            number = _NUMBERS.get(name, types.float64)
            fields.append(types.Array(number, _DIMENSIONS[kind].get(name, 1), "C"))
    return NamedTupleType(fields, kind)


_PINNED = _type_of(Pinned)


def _n_words(kind: Any) -> int:
    """Words that a value takes: an array has five, and two for each dimension."""
    if isinstance(kind, NamedTupleType):
        return sum(_n_words(field) for field in kind)
    return 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


@intrinsic
def _store(typingctx: Any, address: Any, value: Any) -> Any:
    """Write a value as it is to memory."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], args[1].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


@intrinsic
def _load(typingctx: Any, address: Any) -> Any:
    """Read a `Pinned` from memory."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(_PINNED)
        return builder.load(builder.inttoptr(args[0], kind.as_pointer()))

    return _PINNED(types.int64), codegen


@stepper
def _write(address: int, pinned: Pinned) -> None:
    _store(address, pinned)


def pin(pinned: Pinned) -> NDArray[np.int64]:
    """Memory that holds the learner as compiled code sees it; its address is the handle."""
    if numba.typeof(pinned) != _PINNED:
        raise TypeError("a learner cannot be pinned: an array has another type than expected")
    memory = np.zeros(_n_words(_PINNED), dtype=np.int64)
    _write(memory.ctypes.data, pinned)
    return memory


@stepper
def learn_pinned(address: int) -> int:
    """Learn from the sample in the buffers; returns why it stopped."""
    p = _load(address)
    _, _, status = learn(p.learner, p.x, p.y, p.weight, p.trace)
    return status


@stepper
def predict_pinned(address: int, first: int) -> None:
    """Write the values at x of the functions from row `first` on to the scores."""
    p = _load(address)
    d = p.learner.dictionary
    n, k, weights = d.counters[SIZE], d.panels[COLUMN, 0], d.weights
    column(d.program, d.atoms, n, p.x[0], k, d.work)
    for c in range(p.scores.size):
        total = 0.0
        for j in range(n):
            total += weights[first + c, j] * k[j]
        p.scores[c] = total
