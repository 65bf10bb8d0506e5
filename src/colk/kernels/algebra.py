"""The algebra of kernels: sums, products and scalings of kernels are kernels."""

from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import ClassVar

import numpy as np

from colk._engine import counter_rng
from colk._engine.c_types import Matrix, Readonly
from colk._engine.simd import loops
from colk._validation import Array, check_number
from colk.kernels.base import UNIT, Kernel
from colk.kernels.formulas import Expression
from colk.kernels.inner_product import Constant

__all__ = ["Product", "Scaled", "Sum", "joined"]


def joined(kind: "type[Composite]", left: Kernel, right: Kernel) -> Kernel:
    """Return the sum or the product of two kernels; equal metrics become that of the result.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear, Mahalanobis
    >>> A = [[1.0], [2.0]]
    >>> joined(Sum, Mahalanobis(Gaussian(1.0), A), Mahalanobis(Linear(), A)).kernel
    Sum(parts=(Gaussian(bandwidth=1.0), Linear()))
    """
    owner = left if right.metric is None else right
    metric = owner.metric
    if metric is not None and all(
        isinstance(each, Constant)
        or (each.metric is not None and np.array_equal(each.metric, metric))
        for each in (left, right)
    ):
        return owner.replace(kernel=kind((left.of_atoms, right.of_atoms)))
    return kind((left, right))


def _check_metric(part: Kernel, whole: str) -> None:
    """Raise if a part of a sum, a product or a multiple has a metric of its own."""
    if part.metric is not None:
        raise TypeError(
            f"a kernel with a metric cannot be a part of {whole}: the kernels of a sum or a "
            "product must have the same metric, as in Mahalanobis(k1 + k2, metric)"
        )


class Composite(Kernel):
    """Kernels combined by one operation: the left half of them with the right half."""

    _fields: ClassVar[tuple[str, ...]] = ("parts",)
    _sealed: ClassVar[tuple[str, ...]] = ("combine",)
    neutral: ClassVar[float] = 1.0  # the constant that leaves the other half unchanged

    parts: Readonly[tuple[Kernel, ...]]
    left: Readonly[Kernel]
    right: Readonly[Kernel]

    def __init__(self, parts: Sequence[Kernel]) -> None:
        # (a + b) + c is a + b + c.
        flat: list[Kernel] = []
        for part in parts:
            if not isinstance(part, Kernel):
                raise TypeError(f"parts must be kernels, got {type(part).__name__} {part!r}")
            _check_metric(part, type(self).__name__)
            flat += part.parts if type(part) is type(self) else (part,)
        if not flat:
            raise ValueError(f"{type(self).__name__} needs at least one kernel")
        self.parts = tuple(flat)
        half = (len(flat) + 1) // 2
        self.left = self._joined(flat[:half])
        self.right = self._joined(flat[half:])

    def _joined(self, parts: list[Kernel]) -> Kernel:
        if len(parts) > 1:
            return type(self)(parts)
        return parts[0] if parts else Constant(self.neutral)

    @property
    def depth(self) -> int:
        return max(self.left.depth, 1 + self.right.depth)

    @property
    def is_radial(self) -> bool:
        return self.left.is_radial and self.right.is_radial

    @property
    def is_shift_invariant(self) -> bool:
        return self.left.is_shift_invariant and self.right.is_shift_invariant

    @property
    def has_gradient(self) -> bool:
        return self.left.has_gradient and self.right.has_gradient

    def bind(self, n_features: int) -> Kernel:
        return type(self)([part.bind(n_features) for part in self.parts])

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        self.left.columns(atoms, n, points, size, out, first)
        self.right.columns(atoms, n, points, size, out, first + size)
        for row in range(first, first + size):
            self.combine(out, row, row + size, n)
        return 0

    def combine(self, out: Matrix, left: int, right: int, n: int) -> int:  # cdef
        """Combine two rows of `out` by the operation; the result replaces the left one."""
        raise NotImplementedError


class Sum(Composite):
    """The sum of kernels, written `k1 + k2`.

    Examples
    --------
    >>> from colk.kernels import Constant, Linear
    >>> Linear() + Constant(1.0)
    Sum(parts=(Linear(), Constant(value=1.0)))
    """

    neutral: ClassVar[float] = 0.0
    share: float  # κ(0) of the left half over that of the sum

    def __init__(self, parts: Sequence[Kernel]) -> None:
        super().__init__(parts)
        self.share = self.left.peak / self.peak if self.peak > 0.0 else 1.0

    @property
    def peak(self) -> float:
        return self.left.peak + self.right.peak

    @property
    def formula(self) -> Expression:
        return reduce(add, (part.formula for part in self.parts))

    def combine(self, out: Array, left: int, right: int, n: int) -> int:
        loops.add(out, left, out, right, 1.0, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a frequency of one part, drawn with a probability in proportion to its κ(0)."""
        if counter_rng.uniform(seed, 0) < self.share:
            return self.left.add_frequency(counter_rng.mixed(seed, 1), out)
        return self.right.add_frequency(counter_rng.mixed(seed, 2), out)

    def slopes(self, U: Array, V: Array) -> Array:
        return self.left.slopes(U, V) + self.right.slopes(U, V)

    def rounding(self, n_features: int) -> float:
        """Return the larger bound of the halves plus a unit, because Σ_i √(κ_i κ_i) ≤ √(κ κ)."""
        return max(self.left.rounding(n_features), self.right.rounding(n_features)) + UNIT


class Product(Composite):
    """The product of kernels, written `k1 * k2`.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> Gaussian(0.5) * Linear()
    Product(parts=(Gaussian(bandwidth=0.5), Linear()))
    """

    @property
    def peak(self) -> float:
        return self.left.peak * self.right.peak

    @property
    def formula(self) -> Expression:
        return reduce(mul, (part.formula for part in self.parts))

    def combine(self, out: Array, left: int, right: int, n: int) -> int:
        loops.multiply(out, left, out, right, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a frequency of every part."""
        self.left.add_frequency(counter_rng.mixed(seed, 1), out)
        return self.right.add_frequency(counter_rng.mixed(seed, 2), out)

    def slopes(self, U: Array, V: Array) -> Array:
        slopes = self.left.slopes(U, V) * self.right.gram(U, V)[:, :, None]
        return slopes + self.left.gram(U, V)[:, :, None] * self.right.slopes(U, V)

    def rounding(self, n_features: int) -> float:
        """Return the sum of the bounds of both halves, plus a unit for the multiplication."""
        return self.left.rounding(n_features) + self.right.rounding(n_features) + UNIT


class Scaled(Product):
    """A kernel times a number ≥ 0, written `2.5 * k`.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> 2.5 * Linear()
    Scaled(kernel=Linear(), factor=2.5)
    """

    _fields: ClassVar[tuple[str, ...]] = ("kernel", "factor")

    kernel: Readonly[Kernel]
    factor: Readonly[float]

    def __init__(self, kernel: Kernel, factor: float) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__}")
        _check_metric(kernel, "Scaled")
        # With a negative factor the result would not be positive semidefinite.
        factor = check_number(factor, "the factor of a kernel", at_least=0.0)
        if isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        self.kernel, self.factor = kernel, factor
        self.left, self.right = kernel, Constant(factor)
        self.parts = (self.left, self.right)

    @property
    def formula(self) -> Expression:
        return self.factor * self.kernel.formula

    def bind(self, n_features: int) -> Kernel:
        return type(self)(self.kernel.bind(n_features), self.factor)

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        self.kernel.columns(atoms, n, points, size, out, first)
        for row in range(first, first + size):
            loops.scale(out, row, self.factor, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        return self.kernel.add_frequency(seed, out)
