"""C functions by address: which are taken, what their arguments must be, and how Python calls them.

How compiled code calls them is in the .pxd.
"""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colk._validation import Array

__all__ = ["Signature", "address_of", "as_python", "c_function", "is_c_function"]

_DOUBLE = ctypes.c_double
_VECTOR = ctypes.POINTER(ctypes.c_double)
_SIZE = ctypes.c_ssize_t
_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__  # of all functions of ctypes

# The C functions that compiled code can call; all of them return a double.
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "numbers": (_DOUBLE, _DOUBLE),  # (f, y)
    "points": (_VECTOR, _VECTOR, _SIZE),  # (u, v, their size)
    "gradient": (_VECTOR, _VECTOR, _SIZE, _VECTOR),  # (u, v, their size, result)
    "loss": (_DOUBLE, _VECTOR, _SIZE),  # (loss, g, component)
    "arrays": (_VECTOR, _VECTOR, _VECTOR, _VECTOR),  # (f, y, g, result)
}
_NAMES = {_DOUBLE: "double", _VECTOR: "double *", _SIZE: "ssize_t"}
_SIZES_IN_C = ("Py_ssize_t", "ssize_t", "intptr_t", "npy_intp", "int64_t", "long", "longlong")


class Signature(NamedTuple):
    """What a function takes and gives.

    `kind` names the C function that stands for it. `sizes` are those of its arrays: (q, r, m) of a
    prediction, a target and g; those of (u, v) alone for the gradient of a kernel.
    """

    kind: str
    shape: tuple[int, ...] = ()  # of the result; () is a number
    takes_g: bool = False
    sizes: tuple[int, int, int] = (0, 0, 0)

    @property
    def in_c(self) -> str:
        """The signature of the C function."""
        return f"double ({', '.join(_NAMES[kind] for kind in _ARGUMENTS[self.kind])})"


def is_c_function(function: Any) -> bool:
    """Whether it is a function of C: of ctypes, a scipy.LowLevelCallable, or Numba's cfunc."""
    from scipy import LowLevelCallable

    return isinstance(function, (_FUNCTION, LowLevelCallable)) or _is_numba_cfunc(function)


def _is_numba_cfunc(function: Any) -> bool:
    return hasattr(function, "native_name") and hasattr(function, "ctypes")


def c_function(function: Any, signature: Signature, role: str) -> Callable[..., float]:
    """Return the function as one of ctypes, after a look at its signature."""
    if _is_numba_cfunc(function):
        function = function.ctypes
    elif not isinstance(function, _FUNCTION):  # a LowLevelCallable
        if function.user_data is not None:
            raise TypeError(
                f"{role} is a LowLevelCallable with user_data, which nothing would read"
            )
        function = function.function
    if not isinstance(function, _FUNCTION):
        return _of_capsule(function, signature, role)
    expected = (_DOUBLE, *_ARGUMENTS[signature.kind])
    if function.argtypes is None:
        raise TypeError(
            f"{role} is a C function of unknown arguments; set its restype and argtypes for "
            f"{signature.in_c}"
        )
    found = (function.restype, *function.argtypes)
    if len(found) != len(expected) or not all(map(_same, found, expected)):
        shown = ", ".join(getattr(kind, "__name__", str(kind)) for kind in found[1:])
        result = getattr(found[0], "__name__", str(found[0]))
        raise TypeError(f"{role} must be {signature.in_c}, got {result} ({shown})")
    checked: Callable[..., float] = function
    return checked


def _same(found: Any, expected: Any) -> bool:
    if expected is _VECTOR:
        return found in (_VECTOR, ctypes.c_void_p)
    if expected is _SIZE:  # the same integer has several names
        return found in (ctypes.c_ssize_t, ctypes.c_long, ctypes.c_longlong) and ctypes.sizeof(
            found
        ) == ctypes.sizeof(_SIZE)
    return bool(found is expected)


def _of_capsule(capsule: Any, signature: Signature, role: str) -> Callable[..., float]:
    """Return the function in a PyCapsule, whose name is its signature in C."""
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(
            f"{role} is a LowLevelCallable of {type(capsule).__name__}; one of ctypes or of a "
            "PyCapsule is taken"
        )
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = name_of(capsule)
    text = (name or b"").decode()
    if _spelled(text) != _spelled(signature.in_c):
        raise TypeError(f"{role} must be {signature.in_c}, got {text or 'no signature'}")
    prototype = ctypes.CFUNCTYPE(_DOUBLE, *_ARGUMENTS[signature.kind])
    return prototype(pointer_of(capsule, name))


def _spelled(text: str) -> str:
    """A signature without spaces and `const`, and with one name for a size."""
    words = text.replace("const", "").replace(" ", "").replace("(", ",").replace(")", "").split(",")
    return ",".join("ssize_t" if word in _SIZES_IN_C else word for word in words)


def address_of(function: Any) -> int:
    """Return the address of a function of ctypes."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def as_python(function: Any, signature: Signature) -> Callable[..., Any]:
    """Return a Python function that calls the one of ctypes by colk's convention."""
    makers: dict[str, Callable[[], Any]] = {
        "numbers": lambda: function,
        "points": lambda: lambda u, v: function(_data(u), _data(v), len(u)),
        "gradient": lambda: _of_points_into(function),
        "loss": lambda: _of_loss(function, signature),
        "arrays": lambda: _of_arrays_into(function, signature),
    }
    made: Callable[..., Any] = makers[signature.kind]()
    return made


def _data(array: Array) -> Any:
    return array.ctypes.data_as(_VECTOR)


def _of_points_into(function: Any) -> Callable[..., Any]:
    def call(u: Array, v: Array) -> Array:
        out = np.zeros(len(u))
        _succeed(function(_data(u), _data(v), len(u), _data(out)))
        return out

    return call


def _of_loss(function: Any, signature: Signature) -> Callable[..., Any]:
    def call(loss: float, g: Any = None) -> Any:
        inner = np.zeros(signature.sizes[2]) if g is None else np.array(g, np.float64, ndmin=1)
        if signature.shape == ():
            return function(loss, _data(inner), 0)
        return tuple(function(loss, _data(inner), i) for i in range(signature.shape[0]))

    return call


def _of_arrays_into(function: Any, signature: Signature) -> Callable[..., Any]:
    def call(f: Array, y: Array, g: Array | None = None) -> Array:
        inner = np.zeros(signature.sizes[2]) if g is None else g
        out = np.zeros(signature.shape)
        _succeed(function(_data(f), _data(y), _data(inner), _data(out)))
        return out

    return call


def _succeed(answer: float) -> None:
    if answer != answer:
        raise ArithmeticError("a C function said by NaN that it failed")
