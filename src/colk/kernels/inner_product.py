"""Kernels of the inner product uᵀv, and the constant."""

from typing import ClassVar

import numpy as np

from colk._engine.c_types import ConstMatrix, Matrix, Readonly
from colk._validation import Array, check_count, check_number
from colk.kernels.base import FormulaKernel, Kernel
from colk.kernels.formulas import Expression, constant, inner_product

__all__ = ["Constant", "Linear", "Polynomial"]


class Polynomial(FormulaKernel):
    """The polynomial kernel κ(u, v) = (uᵀv + offset)^degree.

    Parameters
    ----------
    degree : int
        The degree, a positive integer. Default: 3.
    offset : float
        A number ≥ 0. Default: 1. With 0, only the monomials of the highest degree remain.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]])
    array([[36.]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("degree", "offset")

    degree: Readonly[int]
    offset: Readonly[float]

    def __init__(self, degree: int = 3, offset: float = 1.0) -> None:
        self.degree = check_count(degree, "degree")
        # With a negative offset the kernel would not be positive semidefinite.
        self.offset = check_number(offset, "offset", at_least=0.0)
        super().__init__("polynomial", self.degree)

    @property
    def formula(self) -> Expression:
        return (inner_product() + self.offset) ** self.degree

    def _scales_of(self, n_features: int) -> Array:
        return np.full(n_features, self.offset)

    def slopes(self, U: Array, V: Array) -> Array:
        with np.errstate(over="ignore"):
            factors = self.degree * (U @ V.T + self.offset) ** (self.degree - 1)
            return np.moveaxis(U.T[:, :, None] * factors, 0, 2)

    def rounding(self, n_features: int) -> float:
        """Powers amplify errors in proportion to the exponent."""
        return self.degree * super().rounding(n_features)


class Linear(FormulaKernel):
    """The linear kernel κ(u, v) = uᵀv.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self) -> None:
        super().__init__("linear")

    @property
    def formula(self) -> Expression:
        return inner_product()

    def slopes(self, U: Array, V: Array) -> Array:
        return np.broadcast_to(U[:, None, :], (len(U), len(V), U.shape[1]))


class Constant(Kernel):
    """The constant kernel κ(u, v) = value ≥ 0, which gives functions an intercept.

    Examples
    --------
    >>> (Linear() + Constant(1.0))([[2.0]])
    array([[5.]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("value",)

    value: Readonly[float]

    def __init__(self, value: float = 1.0) -> None:
        # With a negative value the kernel would not be positive semidefinite.
        self.value = check_number(value, "value", at_least=0.0)

    @property
    def formula(self) -> Expression:
        return constant(self.value)

    @property
    def is_radial(self) -> bool:
        return True

    @property
    def is_shift_invariant(self) -> bool:
        return True

    @property
    def peak(self) -> float:
        return self.value

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        for row in range(first, first + size):
            for j in range((n + 7) & -8):
                out[row, j] = self.value if j < n else 0.0
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        return np.zeros((len(U), len(V), U.shape[1]))

    def rounding(self, n_features: int) -> float:
        return 0.0
