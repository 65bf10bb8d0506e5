"""Derivatives of user-defined functions: by JAX, by PyTorch, or by differences."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal, cast, get_args

import numpy as np

from colk._validation import Array

__all__ = ["Derivative", "Derivatives", "as_derivatives", "complete"]

Derivatives = Literal["differences", "jax", "torch"]

# Step of central differences, relative to 1 + |u|: the cube root of the rounding of a number.
_STEP = float(np.finfo(float).eps ** (1.0 / 3.0))


def as_derivatives(by: Any) -> Derivatives | None:
    """Return a way to find derivatives, or None.

    Examples
    --------
    >>> as_derivatives("differences")
    'differences'
    """
    if by is not None and by not in get_args(Derivatives):
        raise ValueError(f"derivatives must be one of {list(get_args(Derivatives))}, got {by!r}")
    if by in ("jax", "torch") and find_spec(by) is None:
        raise ModuleNotFoundError(f"derivatives={by!r} needs {by}: pip install {by}", name=by)
    return cast("Derivatives | None", by)


def complete(
    functions: Sequence[Callable[..., Any] | None], by: Derivatives | None
) -> list[Callable[..., Any] | None]:
    """Return inner, its slope, outer and its two slopes; missing slopes are found `by`.

    Examples
    --------
    >>> found = complete([lambda u: u * u, None, lambda u, g: u * g, None, None], "differences")
    >>> round(float(found[1](3.0)), 6), round(float(found[4](3.0, 2.0)), 6)
    (6.0, 3.0)
    """
    found = list(functions)
    for k, function, argument in ((1, found[0], 0), (3, found[2], 0), (4, found[2], -1)):
        if by is not None and found[k] is None and function is not None:
            found[k] = Derivative(function, argument, by)
    return found


class Derivative:
    """The derivative of a function in one of its arguments, with axes of the value first.

    JAX and PyTorch differentiate functions that are written with their operations, in double
    precision. Central differences need no package. They evaluate the function twice for each
    number of the argument, and are accurate to about ten digits: use them to develop a function.

    Parameters
    ----------
    function : callable
        A function of numbers or arrays.
    argument : int
        Index of the argument.
    by : {"differences", "jax", "torch"}
        The way to find the derivative.

    Examples
    --------
    >>> import numpy as np
    >>> product = Derivative(lambda f, g: f[0] * g, 1, "differences")
    >>> product(np.array([3.0]), np.array([1.0, 2.0])).round(6)
    array([[3., 0.],
           [0., 3.]])
    """

    def __init__(self, function: Callable[..., Any], argument: int, by: Derivatives) -> None:
        self.function, self.argument, self.by = function, argument, by

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Derivative) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.function, self.argument, self.by))

    def __call__(self, *arguments: Any) -> Array:
        place = self.argument % len(arguments)
        ways = {"jax": _by_jax, "torch": _by_torch, "differences": _by_differences}
        return ways[self.by](self.function, arguments, place)


def _by_differences(function: Callable[..., Any], arguments: tuple[Any, ...], place: int) -> Array:
    at = np.asarray(arguments[place], dtype=float)
    columns = []
    for k in range(at.size):
        step = _STEP * (1.0 + abs(float(at.flat[k])))
        ends = []
        for sign in (1.0, -1.0):
            moved = at.copy()
            moved.flat[k] += sign * step
            given: list[Any] = [np.copy(each) for each in arguments]
            given[place] = moved if at.ndim else float(moved)
            ends.append(np.asarray(function(*given), dtype=float))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.stack(columns, axis=-1).reshape(columns[0].shape + at.shape)


def _by_jax(function: Callable[..., Any], arguments: tuple[Any, ...], place: int) -> Array:
    import jax

    with jax.enable_x64(True):
        return np.asarray(_compiled_by_jax(function, place)(*arguments), dtype=float)


@lru_cache(maxsize=64)
def _compiled_by_jax(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    import jax

    def values(*given: Any) -> Any:
        return jax.numpy.asarray(function(*given), dtype=float)

    compiled: Callable[..., Any] = jax.jit(jax.jacobian(values, argnums=place))
    return compiled


def _by_torch(function: Callable[..., Any], arguments: tuple[Any, ...], place: int) -> Array:
    import torch

    given = [torch.as_tensor(each, dtype=torch.float64) for each in arguments]

    def value(moved: Any) -> Any:
        result = function(*given[:place], moved, *given[place + 1 :])
        return _stacked(result, torch)

    jacobian: Any = torch.autograd.functional.jacobian
    return np.asarray(jacobian(value, given[place]), dtype=np.float64)


def _stacked(result: Any, torch: Any) -> Any:
    """Return a tuple of tensors and numbers as one tensor."""
    if isinstance(result, (tuple, list)):
        return torch.stack([_stacked(each, torch) for each in result])
    return torch.as_tensor(result, dtype=torch.float64)
