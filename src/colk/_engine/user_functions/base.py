"""User-defined functions as compiled code calls them: by address, or with the GIL."""

import math
from typing import Any

import cython
import numpy as np

from colk._engine.c_types import (
    Address,
    ConstMatrix,
    ConstPointer,
    ConstVector,
    Matrix,
    Readonly,
    Vector,
)
from colk._engine.simd import loops
from colk._engine.user_functions import addresses
from colk._engine.user_functions.addresses import Signature, as_python, c_function, is_c_function
from colk._engine.user_functions.compilation import machine_code
from colk._validation import Array

__all__ = ["Function", "OfArrays", "OfLoss", "OfNumbers", "OfPoints"]


def as_number(result: Any, role: str) -> float:
    """Validate that a function returned one real number."""
    if isinstance(result, (float, int)):
        return float(result)
    return float(as_values(result, (), role)[0])


def as_values(result: Any, shape: tuple[int, ...], role: str) -> Array:
    """Validate the shape of the result of a function; return it as a vector.

    Axes of length 1 may be missing, so that one number needs no array.
    """
    if isinstance(result, float) and math.prod(shape) == 1:
        return np.array([result])
    wanted = f"shape {shape}" if shape else "one number"
    try:
        values = np.asarray(result)
    except ValueError as error:
        raise ValueError(f"{role} must return {wanted}, got ragged {result!r}") from error
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{role} must return numbers, got {result!r}")
    if [n for n in values.shape if n != 1] != [n for n in shape if n != 1]:
        raise ValueError(f"{role} must return {wanted}, got {values.shape}")
    return np.asarray(values, np.float64).ravel()


class Function:
    """A user-defined function with the signature that a term needs; messages call it `role`."""

    given: Readonly[Any]
    signature: Readonly[Signature]
    role: Readonly[str]
    plain: Any  # called with the GIL
    machine_code: Any  # kept alive for its address
    address: Address
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

    def found(self) -> int:  # cdef inline size_t except? 0
        """Return the address of its machine code, found at the first call; 0 if there is none."""
        if not self.ready:
            with cython.gil:
                self.resolve()
        return self.address

    def resolve(self) -> int:  # cdef gil
        """Look for machine code, which only the compiled package can call."""
        if cython.compiled:
            self.machine_code, self.address = machine_code(self.given, self.signature, self.role)
        self.ready = True
        return 0


class OfNumbers(Function):
    """A function of two numbers."""

    def at(self, a: float, b: float) -> float:  # cdef
        """Return its value."""
        value = addresses.of_numbers(self.found(), a, b)
        if value == value:
            return value
        with cython.gil:
            return as_number(self.plain(float(a), float(b)), self.role)


class OfPoints(Function):
    """A function of two points of the same size."""

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        """Write out[first + b, j] = function(x_b, d_j), for n atoms and `size` points."""
        address, answered = self.found(), True
        for b in range(size):
            for j in range(n):
                out[first + b, j] = addresses.of_points(address, points, b, atoms, j)
                answered = answered and out[first + b, j] == out[first + b, j]
        if not answered:
            with cython.gil:
                self._ask(atoms, n, points, size, out, first)
        return 0

    # cdef gil
    def _ask(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:
        """Call the Python function for the pairs that have no value yet."""
        near, known = np.asarray(points), np.asarray(atoms)[: points.shape[1]]
        for b in range(size):
            for j in range(n):
                if out[first + b, j] != out[first + b, j]:
                    value = self.plain(near[b].copy(), known[:, j].copy())
                    out[first + b, j] = as_number(value, self.role)
        return 0


class OfLoss(Function):
    """A function of a loss, and perhaps of g, that returns one number or several.

    If g has one component, the function gets a number.
    """

    m: int  # numbers in g

    def __init__(self, given: Any, signature: Any, role: str) -> None:
        super().__init__(given, signature, role)
        self.m = signature.sizes[2]

    def at(self, loss: float, g: ConstPointer, i: int) -> float:  # cdef
        """Return component i of its value."""
        value = addresses.of_loss(self.found(), loss, g, self.m, i)
        if value == value:
            return value
        with cython.gil:
            return self._ask(loss, g, i)

    def _ask(self, loss: float, g: ConstPointer, i: int) -> float:  # cdef gil
        signature: Any = self.signature
        arguments: list[Any] = [float(loss)]
        if signature.takes_g:
            means = np.array(loops.numbers(g, self.m))
            arguments.append(float(means[0]) if self.m == 1 else means)
        result = self.plain(*arguments)
        if signature.shape == ():
            return as_number(result, self.role)
        values: Any = as_values(result, signature.shape, self.role)
        return float(values[i])


class OfArrays(Function):
    """A function of a prediction, a target, and perhaps x and g, all of them arrays."""

    # cdef
    def write(
        self,
        F: ConstMatrix,
        i: int,
        Y: ConstMatrix,
        j: int,
        g: ConstVector,
        out: Vector,
        start: int,
    ) -> int:
        """Write its values at rows i of F and j of Y into `out`, from `start` on."""
        if not self.ready:
            with cython.gil:
                if self.found() != 0:  # machine code checks the size of a result, not its shape
                    self._ask(F, i, Y, j, g, out, start)
        answer = addresses.of_arrays(self.address, F, i, Y, j, g, out, start)
        if answer != answer:
            with cython.gil:
                self._ask(F, i, Y, j, g, out, start)
        return 0

    # cdef gil
    def _ask(
        self,
        F: ConstMatrix,
        i: int,
        Y: ConstMatrix,
        j: int,
        g: ConstVector,
        out: Vector,
        start: int,
    ) -> int:
        signature: Any = self.signature
        data = np.array(Y[j])
        arguments = [np.array(F[i]), data]
        if signature.n_inputs > 0:
            arguments[1:] = [data[: signature.sizes[1]], data[signature.sizes[1] :]]
        if signature.takes_g:
            arguments.append(np.array(g))
        values: Any = as_values(self.plain(*arguments), signature.shape, self.role)
        for k in range(len(values)):
            out[start + k] = values[k]
        return 0

    def tabulate(self, F: ConstMatrix, Y: ConstMatrix, g: ConstVector, out: Vector) -> int:  # cpdef
        """Write its values at all rows of F and Y, one row after another."""
        size: int = out.shape[0] // max(F.shape[0], 1)
        for row in range(F.shape[0]):
            self.write(F, row, Y, row, g, out, row * size)
        return 0
