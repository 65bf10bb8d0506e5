"""C functions: accepted signatures, addresses, and calls from Python."""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colk._validation import Array

__all__ = ["Signature", "address_of", "as_python", "c_function", "is_c_function"]

_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__  # base class of all ctypes functions
_ARRAY: Any = np.ctypeslib.ndpointer(np.float64, flags="C")

# The C functions that compiled code can call; all of them return a double.
_ARGUMENTS = {
    "numbers": ("double", "double"),  # (f, y)
    "points": ("double *", "double *", "ssize_t"),  # (u, v, their size)
    "gradient": ("double *", "double *", "ssize_t", "double *"),  # (u, v, their size, result)
    "loss": ("double", "double *", "ssize_t"),  # (loss, g, component)
    "arrays": ("double *", "double *", "double *", "double *"),  # (f, y, g, result)
}
# The types of the arguments in ctypes, and the names of ctypes types.
_TYPES = {"double": ctypes.c_double, "double *": _ARRAY, "ssize_t": ctypes.c_ssize_t}
_NAMES: dict[Any, str] = {
    ctypes.c_double: "double",
    ctypes.POINTER(ctypes.c_double): "double *",
    ctypes.c_void_p: "double *",
    **{
        kind: "ssize_t"
        for kind in (ctypes.c_ssize_t, ctypes.c_long, ctypes.c_longlong)
        if ctypes.sizeof(kind) == ctypes.sizeof(ctypes.c_ssize_t)
    },
}
_NAME_OF = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_SIZES_IN_C = ("Py_ssize_t", "ssize_t", "intptr_t", "npy_intp", "int64_t", "long", "longlong")


class Signature(NamedTuple):
    """Arguments and result of a function.

    `kind` names the corresponding C function. `sizes` are the sizes (q, r, m) of a prediction, a
    target and g, or those of u and v for the gradient of a kernel. `n_inputs` numbers of x follow
    the target in the same array.
    """

    kind: str
    shape: tuple[int, ...] = ()  # of the result; () is a number
    takes_g: bool = False
    sizes: tuple[int, int, int] = (0, 0, 0)
    n_inputs: int = 0

    @property
    def in_c(self) -> str:
        """The signature of the C function."""
        return f"double ({', '.join(_ARGUMENTS[self.kind])})"


def is_c_function(function: Any) -> bool:
    """Whether it is a ctypes function, a scipy.LowLevelCallable or a cfunc of Numba."""
    from scipy import LowLevelCallable

    return isinstance(function, (_FUNCTION, LowLevelCallable)) or hasattr(function, "native_name")


def c_function(function: Any, signature: Signature, role: str) -> Callable[..., float]:
    """Validate the signature of a C function; return a ctypes function that takes arrays."""
    if hasattr(function, "native_name"):  # Numba's
        function = function.ctypes
    elif not isinstance(function, _FUNCTION):  # a LowLevelCallable
        if function.user_data is not None:
            raise TypeError(
                f"{role} is a LowLevelCallable with user_data, which colk does not pass on"
            )
        function = function.function
    address, spelled, shown = _address_and_signature(function, signature, role)
    if spelled != _normalised(signature.in_c):
        raise TypeError(f"{role} must be {signature.in_c}, got {shown}")
    types = [_TYPES[name] for name in _ARGUMENTS[signature.kind]]
    return ctypes.CFUNCTYPE(ctypes.c_double, *types)(address)


def _address_and_signature(function: Any, signature: Signature, role: str) -> tuple[int, str, str]:
    """Return the address of a C function, its normalised signature, and the signature to show."""
    if isinstance(function, _FUNCTION):
        if function.argtypes is None:
            raise TypeError(
                f"{role} is a C function whose arguments are unknown; set its restype and "
                f"argtypes for {signature.in_c}"
            )
        types = (function.restype, *function.argtypes)
        names = [getattr(kind, "__name__", str(kind)) for kind in types]
        spelled = ",".join(_NAMES.get(kind, "other") for kind in types).replace(" ", "")
        return address_of(function), spelled, f"{names[0]} ({', '.join(names[1:])})"
    if type(function).__name__ != "PyCapsule":
        raise TypeError(
            f"{role} is a LowLevelCallable of {type(function).__name__}; it must wrap a ctypes "
            "function or a PyCapsule"
        )
    name = _NAME_OF(function)
    text = (name or b"").decode()
    return _POINTER_OF(function, name), _normalised(text), text or "no signature"


def _normalised(text: str) -> str:
    """Normalise a signature: no spaces, no `const`, and one name for a size."""
    words = text.replace("const", "").replace(" ", "").replace("(", ",").replace(")", "").split(",")
    return ",".join("ssize_t" if word in _SIZES_IN_C else word for word in words)


def address_of(function: Any) -> int:
    """Return the address of a ctypes function."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def as_python(call: Callable[..., float], signature: Signature) -> Callable[..., Any]:
    """Return a Python function that takes colk's arguments and calls the result of `c_function`."""
    no_g = np.zeros(signature.sizes[2])

    def written(*arguments: Any) -> Array:
        out = np.zeros(signature.shape)
        answer = call(*arguments, out)
        if answer != answer:
            raise ArithmeticError("a C function failed: it returned NaN")
        return out

    def of_loss(loss: float, g: Any = no_g) -> Any:
        inner = np.array(g, np.float64, ndmin=1)
        if signature.shape == ():
            return call(loss, inner, 0)
        return tuple(call(loss, inner, i) for i in range(signature.shape[0]))

    def of_arrays(f: Array, y: Array, *more: Array) -> Array:
        x = more[:1] if signature.n_inputs else ()
        g = more[-1] if signature.takes_g else no_g
        return written(f, np.concatenate([y, *x]), np.array(g))

    ways: dict[str, Callable[..., Any]] = {
        "numbers": call,
        "points": lambda u, v: call(u, v, len(u)),
        "gradient": lambda u, v: written(u, v, len(u)),
        "loss": of_loss,
        "arrays": of_arrays,
    }
    return ways[signature.kind]


def of_numbers(*arguments: Any) -> float:
    """Return NaN, because uncompiled code cannot call a function by its address."""
    return float("nan")


of_points = of_loss = of_arrays = of_numbers
