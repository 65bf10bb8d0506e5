"""Machine code of user-defined functions, compiled by Numba once per process."""

import math
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from colk._engine.user_functions.addresses import Signature, address_of, c_function, is_c_function
from colk.errors import SlowFunctionWarning

__all__ = ["machine_code"]


def machine_code(function: Any, signature: Signature, role: str) -> tuple[Any, int]:
    """Return an object to keep alive and an address, which is 0 if there is no machine code."""
    if is_c_function(function):
        found = c_function(function, signature, role)
        return function, 0 if signature.kind == "gradient" else address_of(found)
    # Numba cannot compile an object with __call__.
    if not (_has_numba() and (isinstance(function, FunctionType) or hasattr(function, "py_func"))):
        return None, 0
    compiled = _compiled(function, signature, role)
    return compiled, 0 if compiled is None else compiled.address


@cache
def _has_numba() -> bool:
    try:
        import numba
    except ImportError:
        return False
    return not numba.config.DISABLE_JIT


# Callers of an address keep its object alive, because this cache may evict it while it is in use.
@lru_cache(maxsize=512)
def _compiled(function: Any, signature: Signature, role: str) -> Any:
    """Return Numba's C function, or warn and return None if Numba cannot compile it."""
    import numba

    call = function if hasattr(function, "py_func") else numba.njit(error_model="python")(function)
    wrapper, arguments = _WRAPPERS[signature.kind](call, signature)
    types = {
        "d": numba.types.float64,
        "v": numba.types.CPointer(numba.types.float64),
        "n": numba.types.intp,
    }
    try:
        return numba.cfunc(numba.types.float64(*[types[kind] for kind in arguments]))(wrapper)
    # Numba has no common exception for functions that it cannot compile.
    except Exception as error:
        name = getattr(function, "__qualname__", repr(function))
        warnings.warn(
            f"{role}: Numba cannot compile {name}, so it is called as Python, which is slower; "
            f"write it with numbers, NumPy functions and plain loops. Numba says: {error}",
            SlowFunctionWarning,
            stacklevel=2,
        )
        return None


# An exception and a result of the wrong size become NaN. Numba supports only `except Exception`.


def _of_numbers(call: Callable[..., Any], signature: Signature) -> tuple[Any, str]:
    def wrapper(a: Any, b: Any) -> Any:
        try:
            return np.float64(call(a, b))
        except Exception:
            return np.nan

    return wrapper, "dd"


def _of_points(call: Callable[..., Any], signature: Signature) -> tuple[Any, str]:
    from numba import carray

    def wrapper(u: Any, v: Any, size: Any) -> Any:
        try:
            return np.float64(call(carray(u, (size,)), carray(v, (size,))))
        except Exception:
            return np.nan

    return wrapper, "vvn"


def _of_loss(call: Callable[..., Any], signature: Signature) -> tuple[Any, str]:
    from numba import carray, njit

    write, m, size = _writer(), signature.sizes[2], math.prod(signature.shape)
    if not signature.takes_g:
        result_of = njit(lambda loss, g: call(loss))
    elif m == 1:
        result_of = njit(lambda loss, g: call(loss, g[0]))
    else:
        result_of = njit(lambda loss, g: call(loss, carray(g, (m,))))

    def number(loss: Any, g: Any, i: Any) -> Any:
        try:
            return np.float64(result_of(loss, g))
        except Exception:
            return np.nan

    def component(loss: Any, g: Any, i: Any) -> Any:
        out = np.empty(size)
        try:
            written = write(result_of(loss, g), out, 0)
        except Exception:
            return np.nan
        return out[i] if written == size else np.nan

    return (component if size > 1 else number), "dvn"


def _of_arrays(call: Callable[..., Any], signature: Signature) -> tuple[Any, str]:
    from numba import carray, njit

    (q, r, m), p, write = signature.sizes, signature.n_inputs, _writer()
    size = math.prod(signature.shape)
    if p > 0 and signature.takes_g:
        result_of = njit(
            lambda f, y, g: call(
                carray(f, (q,)), carray(y, (r + p,))[:r], carray(y, (r + p,))[r:], carray(g, (m,))
            )
        )
    elif p > 0:
        result_of = njit(
            lambda f, y, g: call(carray(f, (q,)), carray(y, (r + p,))[:r], carray(y, (r + p,))[r:])
        )
    elif signature.takes_g:
        result_of = njit(lambda f, y, g: call(carray(f, (q,)), carray(y, (r,)), carray(g, (m,))))
    else:
        result_of = njit(lambda f, y, g: call(carray(f, (q,)), carray(y, (r,))))

    def wrapper(f: Any, y: Any, g: Any, out: Any) -> Any:
        try:
            written = write(result_of(f, y, g), carray(out, (size,)), 0)
        except Exception:
            return np.nan
        return 0.0 if written == size else np.nan

    return wrapper, "vvvv"


_WRAPPERS: dict[str, Callable[[Any, Signature], tuple[Any, str]]] = {
    "numbers": _of_numbers,
    "points": _of_points,
    "gradient": _of_arrays,
    "loss": _of_loss,
    "arrays": _of_arrays,
}


@cache
def _writer() -> Any:
    """Return the compiled function that writes numbers, tuples and arrays one after another.

    It returns the number of values, and writes as many of them as fit. A tuple may mix integers and
    real numbers, and may hold tuples.
    """
    from numba import njit, types
    from numba.extending import overload

    def write(values: Any, out: Any, start: Any) -> Any:
        raise NotImplementedError

    @overload(write)  # type: ignore[untyped-decorator, unused-ignore]
    def choose(values: Any, out: Any, start: Any) -> Any:
        if isinstance(values, (types.Number, types.Boolean)):
            return number
        if isinstance(values, types.Array):
            return array
        if isinstance(values, types.BaseTuple):
            return items if len(values) else nothing
        return None

    def number(values: Any, out: Any, start: Any) -> Any:
        if start < out.size:
            out[start] = values
        return start + 1

    def array(values: Any, out: Any, start: Any) -> Any:
        for value in values.flat:
            if start < out.size:
                out[start] = value
            start += 1
        return start

    def items(values: Any, out: Any, start: Any) -> Any:
        return write(values[1:], out, write(values[0], out, start))

    def nothing(values: Any, out: Any, start: Any) -> Any:
        return start

    return njit(lambda values, out, start: write(values, out, start))
