"""A user's own kernel: a plain Python function, run at compiled speed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.np.numpy_support import carray

from colk._core import kernels as core
from colk._naming import ShowsNames
from colk._validation import Array
from colk.kernels.base import Kernel, Term

__all__ = ["CustomKernel"]


def _compile(function: Callable[..., Any]) -> Any:
    if isinstance(function, Dispatcher):
        return function
    return numba.njit(error_model="numpy")(function)


def _as_c_function(wrapper: Callable[..., Any], function: Callable[..., Any], role: str) -> Any:
    try:
        return numba.cfunc("float64(CPointer(float64), CPointer(float64), int64)")(wrapper)
    except NumbaError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"Numba cannot compile the {role} {name} of a CustomKernel; write it with loops and "
            f"NumPy on float64 vectors. Numba says:\n{error}"
        ) from error


# The caches keep the machine code alive for as long as a program may hold its address.
@cache
def _compiled_value(function: Callable[..., Any]) -> Any:
    compiled = _compile(function)

    def value(u: Any, v: Any, size: int) -> float:
        return float(compiled(carray(u, (size,)), carray(v, (size,))))

    return _as_c_function(value, function, "function")


@cache
def _compiled_gradient(function: Callable[..., Any]) -> Any:
    compiled = _compile(function)

    def gradient(u: Any, v_and_out: Any, size: int) -> float:
        both = carray(v_and_out, (2 * size,))
        compiled(carray(u, (size,)), both[:size], both[size:])
        return 0.0

    return _as_c_function(gradient, function, "gradient")


@dataclass(frozen=True, repr=False)
class CustomKernel(ShowsNames, Kernel):
    """A kernel from a plain Python function, compiled by Numba when it is first used.

    `colk.testing.check_kernel` certifies it. It can be pickled where its functions can: they must
    be defined at the top of a module.

    Parameters
    ----------
    function : callable
        `function(u, v)` returns κ(u, v) for two vectors. It must be symmetric and positive
        semidefinite; a division by zero in it gives inf or NaN, not an exception.
    gradient : callable, optional
        `gradient(u, v, out)` writes ∂κ/∂v into the vector `out`; only `gradient` of an expansion
        needs it.

    Examples
    --------
    >>> import numpy as np
    >>> def cauchy(u, v):
    ...     return 1.0 / (1.0 + np.sum((u - v) ** 2))
    >>> CustomKernel(cauchy)([[0.0], [1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    function: Callable[[Array, Array], float]
    gradient: Callable[[Array, Array, Array], None] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {type(self.function).__name__}")
        if self.gradient is not None and not callable(self.gradient):
            raise TypeError(f"gradient must be callable, got {type(self.gradient).__name__}")

    @property
    def has_gradient(self) -> bool:
        """Whether the derivative of κ is known."""
        return self.gradient is not None

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        value = float(_compiled_value(self.function).address)
        gradient = (
            0.0 if self.gradient is None else float(_compiled_gradient(self.gradient).address)
        )
        return (Term(1.0, ((core.CUSTOM, value, gradient),)),)
