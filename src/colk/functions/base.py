"""A user's function as compiled code calls it: by address, or with the interpreter's lock."""

import math
from typing import Any

import cython
import numpy as np

from colk._validation import Array
from colk.functions import addresses
from colk.functions.addresses import Signature, as_python, c_function, is_c_function
from colk.functions.compilation import machine_code

# What calls an address, `addresses.of_...`, is defined in the .pxd of that module alone: where
# nothing is compiled, no function has an address.

__all__ = ["Function", "OfArrays", "OfLoss", "OfNumbers", "OfPoints"]


def _as_array(result: Any, role: str) -> Any:
    values = np.asarray(result) if result is not None else np.empty(0, object)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{role} must return numbers, got {result!r}")
    return values


def as_number(result: Any, role: str) -> float:
    """Return what a function returned, where it is one real number."""
    if isinstance(result, (float, int)):
        return float(result)
    values = _as_array(result, role)
    if values.size != 1:
        raise ValueError(f"{role} must return one number, got {values.size}")
    return float(values.item())


def as_values(result: Any, shape: tuple[int, ...], role: str) -> Array:
    """Return what a function returned as a vector, where it has the shape that is expected.

    Axes of length 1 may be left out, so that one number needs no array.
    """
    if isinstance(result, float) and math.prod(shape) == 1:
        return np.array([result])
    try:
        values = _as_array(result, role)
    except ValueError as error:
        raise ValueError(f"{role} must return shape {shape}, got ragged {result!r}") from error
    if [n for n in values.shape if n != 1] != [n for n in shape if n != 1]:
        raise ValueError(f"{role} must return shape {shape}, got {values.shape}")
    return np.asarray(values, np.float64).ravel()


class Function:
    """A user's function, of the signature that a term needs.

    Parameters
    ----------
    given : callable, or a function of C
        What the user gave.
    signature : Signature
        What it takes and gives.
    role : str
        What it is to its term, for messages.
    """

    given: Any
    signature: Signature
    role: str
    plain: Any  # called with the interpreter's lock
    machine_code: Any  # kept alive for its address
    address: int
    ready: bool

    def __init__(self, given: Any, signature: Signature, role: str) -> None:
        self.given, self.signature, self.role = given, signature, role
        self.machine_code, self.address, self.ready = None, 0, False
        if is_c_function(given):
            self.plain = as_python(c_function(given, signature, role), signature)
        elif callable(given):
            self.plain = given
        else:
            raise TypeError(f"{role} must be a function, got {type(given).__name__}")

    def resolve(self) -> int:
        """Look for machine code, at the first call; uncompiled sources have no use for it."""
        if cython.compiled:
            self.machine_code, self.address = machine_code(self.given, self.signature, self.role)
        self.ready = True
        return 0


class OfNumbers(Function):
    """A function of two numbers."""

    def at(self, a: float, b: float) -> float:
        """Return its value."""
        if not self.ready:
            with cython.gil:
                self.resolve()
        if self.address != 0:
            value: float = addresses.of_numbers(self.address, a, b)  # type: ignore[attr-defined]
            if value == value:
                return value
        with cython.gil:
            return as_number(self.plain(float(a), float(b)), self.role)


class OfPoints(Function):
    """A function of two points of the same size."""

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = function(x_b, d_j), for n atoms and `size` points."""
        if not self.ready:
            with cython.gil:
                self.resolve()
        if self.address == 0:
            with cython.gil:
                self._ask(atoms, n, points, size, out, first, False)
        elif not addresses.of_points(  # type: ignore[attr-defined]
            self.address, atoms, n, points, size, out, first
        ):
            with cython.gil:
                self._ask(atoms, n, points, size, out, first, True)
        return 0

    def _ask(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int, again: bool
    ) -> int:
        """Call the Python function for all pairs, or again where the machine code gave NaN."""
        p = points.shape[1]
        near, known = np.asarray(points), np.asarray(atoms)
        for b in range(size):
            for j in range(n):
                if again and out[first + b, j] == out[first + b, j]:
                    continue
                value = self.plain(near[b].copy(), known[:p, j].copy())
                out[first + b, j] = as_number(value, self.role)
        return 0


class OfLoss(Function):
    """A function of a loss, and perhaps of g, that gives one number or several.

    Where g is one number, the function gets a number.
    """

    def at(self, loss: float, g: Array, i: int) -> float:
        """Return component i of its value."""
        if not self.ready:
            with cython.gil:
                self.resolve()
        if self.address != 0:
            value: float = addresses.of_loss(self.address, loss, g, i)  # type: ignore[attr-defined]
            if value == value:
                return value
        with cython.gil:
            return self._ask(loss, g, i)

    def _ask(self, loss: float, g: Array, i: int) -> float:
        signature: Any = self.signature
        if not signature.takes_g:
            result = self.plain(float(loss))
        elif signature.sizes[2] == 1:
            result = self.plain(float(loss), float(g[0]))
        else:
            result = self.plain(float(loss), np.array(g))
        if signature.shape == ():
            return as_number(result, self.role)
        values: Any = as_values(result, signature.shape, self.role)
        return float(values[i])


class OfArrays(Function):
    """A function of a prediction and a target, and perhaps of g: of arrays."""

    def write(self, F: Array, i: int, Y: Array, j: int, g: Array, out: Array, start: int) -> int:
        """Write its values at rows i of F and j of Y into `out`, from `start` on."""
        if not self.ready:
            with cython.gil:
                self.resolve()
                if self.address != 0:  # it looks at the size of a result alone, not at its shape
                    self._ask(F, i, Y, j, g)
        if self.address == 0 or not addresses.of_arrays(  # type: ignore[attr-defined]
            self.address, F, i, Y, j, g, out, start
        ):
            with cython.gil:
                self._take(F, i, Y, j, g, out, start)
        return 0

    def _ask(self, F: Array, i: int, Y: Array, j: int, g: Array) -> Any:
        f = np.array([F[i, c] for c in range(F.shape[1])])
        arguments = [f, np.array([Y[j, c] for c in range(Y.shape[1])])]
        signature: Any = self.signature
        if signature.takes_g:
            arguments.append(np.array([g[k] for k in range(g.shape[0])]))
        return as_values(self.plain(*arguments), signature.shape, self.role)

    def _take(self, F: Array, i: int, Y: Array, j: int, g: Array, out: Array, start: int) -> int:
        values: Any = self._ask(F, i, Y, j, g)
        for k in range(len(values)):
            out[start + k] = values[k]
        return 0

    def tabulate(self, F: Array, Y: Array, g: Array, out: Array) -> int:
        """Write its values at all rows of F and Y, one row after another."""
        signature: Any = self.signature
        size = int(np.prod(signature.shape))
        with cython.nogil:
            self._all(F, Y, g, out, size)
        return 0

    def _all(self, F: Array, Y: Array, g: Array, out: Array, size: int) -> int:
        for row in range(F.shape[0]):
            self.write(F, row, Y, row, g, out, row * size)
        return 0
