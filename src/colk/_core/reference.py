"""Tuples of arrays that compiled code takes by reference.

Handing a tuple of some thirty arrays from Python to compiled code, or from one compiled function
to the next, takes longer than a step with few atoms. A `Pinned` tuple is written once, as compiled
code sees it, to memory that Python owns; an address is all that is handed on. In a function that
begins with

    m = learner_at(address)

`m.levels` reads the field from that memory, and `m.dictionary`, a tuple in the tuple, is again a
reference. The memory does not change while compiled code runs, and the compiler is told so.
"""

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar, cast, get_type_hints

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.types import NamedTuple as NamedTupleType  # type: ignore[attr-defined]  # typed in part
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model
from numpy.typing import NDArray

from colk._validation import Array

__all__ = ["Counts", "Cube", "Flags", "Matrix", "Pinned", "address_of", "reference_to"]

Kind = TypeVar("Kind", bound=tuple[Any, ...])

# Fields of pinned tuples: an `Array` is a vector of reals.
Matrix = Annotated[Array, 2]
Cube = Annotated[Array, 3]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

_NUMBERS = {int: types.int64, float: types.float64}
_VECTORS = {Array: types.float64, Counts: types.int64, Flags: types.boolean}


def _type_of_field(annotation: Any) -> Any:
    if annotation in _NUMBERS:
        return _NUMBERS[annotation]
    if annotation in _VECTORS:
        return types.Array(_VECTORS[annotation], 1, "C")
    if hasattr(annotation, "_fields"):
        return _type_of(annotation)
    (n_dimensions,) = annotation.__metadata__
    return types.Array(types.float64, n_dimensions, "C")


def _type_of(kind: Any) -> Any:
    """Numba's type of a tuple whose fields are annotated as above."""
    hints = get_type_hints(kind, include_extras=True)
    return NamedTupleType([_type_of_field(annotation) for annotation in hints.values()], kind)


def _words(value: Any, kind: Any) -> list[int]:
    """Return the value as compiled code sees it, in whole numbers of 64 bits."""
    if isinstance(kind, NamedTupleType):
        return [word for pair in zip(value, kind, strict=True) for word in _words(*pair)]
    if not isinstance(kind, types.Array):
        return [int(value)] if kind == types.int64 else [int(np.float64(value).view(np.int64))]
    numpy_type = np.dtype(str(kind.dtype))
    if value.dtype != numpy_type or value.ndim != kind.ndim or not value.flags.c_contiguous:
        raise TypeError(f"an array of type {kind} was expected, got {value.dtype}{value.shape}")
    # No owner, no parent: Python keeps the array alive.
    return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]


class Pinned(Generic[Kind]):
    """A tuple of arrays in memory of its own, whose `address` compiled code takes for the tuple.

    Parameters
    ----------
    value : named tuple
        Its fields are numbers, arrays, and tuples of the same sort, annotated with their types.
        Arrays are shared, not copied; numbers are copied.
    """

    __slots__ = ("_memory", "address", "value")

    def __init__(self, value: Kind) -> None:
        self.value = value
        self._memory = np.array(_words(value, _type_of(type(value))), dtype=np.int64)
        self.address: int = self._memory.ctypes.data


class Reference(types.Type):
    """The type of a pinned tuple in compiled code."""

    def __init__(self, target: Any) -> None:
        self.target = target
        # The class tells its fields: symbols of compiled code would be some thousand letters long
        # if they were named.
        super().__init__(name=f"Reference({target.instance_class.__qualname__})")


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind: Any, name: str) -> Any:
        if name not in kind.target.fields:
            return None
        field = kind.target[kind.target.fields.index(name)]
        return Reference(field) if isinstance(field, NamedTupleType) else field


@lower_getattr_generic(Reference)
def _lower_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    place = kind.target.fields.index(name)
    struct = builder.bitcast(value, context.get_value_type(kind.target).as_pointer())
    pointer = cgutils.gep_inbounds(builder, struct, 0, place)
    if isinstance(kind.target[place], NamedTupleType):
        return builder.bitcast(pointer, value.type)
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def reference_to(kind: type[Kind]) -> Callable[[int], Kind]:
    """Make the compiled function from the address of a pinned tuple to the tuple."""
    target = Reference(_type_of(kind))

    @intrinsic
    def refer(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

        return target(types.int64), codegen

    return cast(Callable[[int], Kind], refer)


@intrinsic
def address_of(typingctx: Any, reference: Any) -> Any:
    """Return the address of a pinned tuple: what units are called with."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(args[0], ir.IntType(64))

    return types.int64(reference), codegen
