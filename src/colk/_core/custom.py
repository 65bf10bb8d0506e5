"""A user's plain Python functions as machine code: compiled once a process, called by address.

Each address travels in a program as a float64, which holds the 48 bits of an address exactly. The
compiled functions are kept for the life of the process, so that no address dangles.
"""

# Numba is typed in part, and not alike in all its versions.
# mypy: disable-error-code="attr-defined, no-untyped-call, untyped-decorator, no-untyped-def"

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import carray, cfunc, literal_unroll, types
from numba.core.errors import NumbaError

__all__ = ["address_of_composition", "address_of_loss", "address_of_risk"]

_LOSS = types.float64(types.float64, types.float64)
_RISK = types.float64(types.float64, types.CPointer(types.float64), types.int64)
_COMPOSITION = types.float64(*[types.CPointer(types.float64)] * 4)
_ALIVE: list[Any] = []

Plain = Callable[..., Any]


def _compiled(function: Plain) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(function)


def _address(signature: Any, wrapper: Plain, function: Plain, role: str) -> float:
    try:
        compiled: Any = cfunc(signature)(wrapper)
    except NumbaError as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(
            f"{role}: the function {name} could not be compiled; write it with numbers, NumPy "
            f"functions and plain loops only, and let it return what {role} asks for. "
            f"Numba says: {error}"
        ) from error
    _ALIVE.append(compiled)
    return float(compiled.address)


@cache
def address_of_loss(function: Plain, role: str) -> float:
    """Address of a function (prediction, target) -> number."""
    compiled = _compiled(function)

    def wrapper(prediction, target):
        return np.float64(compiled(prediction, target))

    return _address(_LOSS, wrapper, function, role)


@cache
def address_of_risk(function: Plain, role: str, n_inner: int, takes_g: bool, many: bool) -> float:
    """Address of a function of a loss, and of g if `takes_g`; of component i if it gives `many`.

    With `n_inner` = 1 the user's function takes and gives plain numbers.
    """
    compiled = _compiled(function)
    scalar = n_inner == 1

    def wrapper(loss, g_pointer, component):
        if takes_g:
            g = carray(g_pointer, (n_inner,))
            result = compiled(loss, g[0] if scalar else g)
        else:
            result = compiled(loss)
        if scalar or not many:
            return np.float64(result)
        return _component(result, component)

    return _address(_RISK, wrapper, function, role)


@numba.njit
def _component(values, component):
    """Entry `component` of a tuple whose entries may mix whole and real numbers."""
    i, chosen = 0, np.nan
    for value in literal_unroll(values):
        if i == component:
            chosen = np.float64(value)
        i += 1  # noqa: SIM113 -- enumerate is not unrolled
    return chosen


@cache
def address_of_composition(
    function: Plain, role: str, shape: tuple[int, int, int], takes_g: bool, out: tuple[int, ...]
) -> float:
    """Address of a function (f, y[, g][, out]) over arrays; `shape` is their sizes (q, r, m).

    An empty `out` means that the function returns a number instead of writing into an array.
    """
    compiled = _compiled(function)
    q, r, m = shape
    writes = len(out) > 0

    def wrapper(f_pointer, y_pointer, g_pointer, out_pointer):
        f, y, g = carray(f_pointer, (q,)), carray(y_pointer, (r,)), carray(g_pointer, (m,))
        if writes:
            result = carray(out_pointer, out)
            if takes_g:
                compiled(f, y, g, result)
            else:
                compiled(f, y, result)
            return 0.0
        return np.float64(compiled(f, y, g))

    return _address(_COMPOSITION, wrapper, function, role)
