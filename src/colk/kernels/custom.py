"""A kernel from a plain Python function of two points."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Readonly
from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import OfArrays, OfPoints
from colk._engine.user_functions.pickling import reduce_functions
from colk._validation import Array
from colk.kernels.base import Kernel
from colk.kernels.formulas import Expression, function_of_points

__all__ = ["CustomKernel"]


class CustomKernel(Kernel):
    """A kernel from a function of two points.

    With Numba installed, plain functions are compiled at their first use in a process. Without it
    they run in plain Python, which takes about 70 times as long: 4 µs per pair of points instead of
    0.06; a built-in kernel needs 0.01 or less. They are given copies of the points, and exceptions
    that they raise reach the caller. The kernel can be pickled if its functions can. Functions are
    pickled by name, so define them in a module. Check a kernel of your own with
    `colk.testing.check_kernel`.

    Parameters
    ----------
    function : callable
        `function(u, v)` returns κ(u, v) for two vectors. It must be symmetric and positive
        semidefinite. It may be a C function, `double (double *u, double *v, ssize_t size)`, given
        by ctypes, as a scipy.LowLevelCallable or as a cfunc of Numba.
    gradient : callable, optional
        `gradient(u, v)` returns ∂κ/∂v, one number for each feature. Only the method `gradient` of
        an expansion needs it. In C: `double (double *u, double *v, ssize_t size, double *result)`,
        which returns 0, or NaN if it failed.

    Examples
    --------
    >>> import numpy as np
    >>> def cauchy(u, v):
    ...     return 1.0 / (1.0 + np.sum((u - v) ** 2))
    >>> CustomKernel(cauchy)([[0.0], [1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("function", "gradient")

    _function: OfPoints
    gradient: Readonly[Callable[[Array, Array], ArrayLike] | None]

    def __init__(
        self,
        function: Callable[[Array, Array], float],
        gradient: Callable[[Array, Array], ArrayLike] | None = None,
    ) -> None:
        self._function = OfPoints(function, Signature("points"), "function")
        self.gradient = gradient
        if gradient is not None:
            self._gradient_for(1)  # raises if it is not a function

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_functions(self)

    @property
    def function(self) -> Any:
        """The function κ(u, v)."""
        return self._function.given

    @property
    def formula(self) -> Expression:
        return function_of_points(self._function.plain)

    @property
    def has_gradient(self) -> bool:
        return self.gradient is not None

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        self._function.columns(atoms, n, points, size, out, first)
        for row in range(first, first + size):
            for j in range(n, (n + 7) & -8):
                out[row, j] = 0.0
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        if self.gradient is None:
            return super().slopes(U, V)
        n, m, p = len(U), len(V), V.shape[1]
        out = np.empty(n * m * p)
        left, right = np.repeat(U, m, axis=0), np.tile(V, (n, 1))
        self._gradient_for(p).tabulate(left, right, np.empty(0), out)
        return out.reshape(n, m, p)

    def _gradient_for(self, p: int) -> OfArrays:
        return OfArrays(self.gradient, Signature("gradient", (p,), sizes=(p, p, 0)), "gradient")
