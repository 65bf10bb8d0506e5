"""The algebra of kernels: sums, products and scalings of kernels are kernels."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from colk import draws, lanes
from colk._validation import Array, check_number
from colk.kernels.base import Kernel

__all__ = ["Product", "Scaled", "Sum"]

_UNIT = float(np.finfo(np.float64).eps)


class Composite(Kernel):
    """A kernel of several parts, which has a property where all parts have it."""

    def _kernels(self) -> tuple[Kernel, ...]:
        raise NotImplementedError

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        return all(kernel.is_radial for kernel in self._kernels())

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) is a function of the difference u − v alone."""
        return all(kernel.is_shift_invariant for kernel in self._kernels())

    @property
    def has_gradient(self) -> bool:
        """Whether the derivative of κ is known."""
        return all(kernel.has_gradient for kernel in self._kernels())


def _half(kind: type["Several"], parts: list[Kernel]) -> Any:
    """The parts as one kernel; none where there are none."""
    if len(parts) > 1:
        return kind(parts)
    return parts[0] if parts else None


class Several(Composite):
    """Parts that one operation combines, the left half of them with the right half."""

    _fields: ClassVar[tuple[str, ...]] = ("parts",)

    parts: tuple[Kernel, ...]
    left: Kernel
    right: Kernel | None  # none where there is a single part

    def __init__(self, parts: Sequence[Kernel]) -> None:
        # (a + b) + c is a + b + c.
        flat: list[Kernel] = []
        for part in parts:
            if not isinstance(part, Kernel):
                raise TypeError(f"parts must be kernels, got {type(part).__name__} {part!r}")
            flat += part.parts if isinstance(part, type(self)) else (part,)
        if not flat:
            raise ValueError(f"{type(self).__name__} needs at least one kernel")
        self.parts = tuple(flat)
        half = (len(flat) + 1) // 2
        self.left = _half(type(self), flat[:half])
        self.right = _half(type(self), flat[half:])

    def _kernels(self) -> tuple[Kernel, ...]:
        return self.parts

    @property
    def depth(self) -> int:
        """How many blocks of rows behind its result `columns` uses."""
        if self.right is None:
            return self.left.depth
        return max(self.left.depth, 1 + self.right.depth)

    def bind(self, n_features: int) -> Kernel:
        """Return an equal kernel of parts that are bound to `n_features`."""
        return type(self)([part.bind(n_features) for part in self.parts])


class Sum(Several):
    """The sum of kernels, written `k1 + k2`.

    Examples
    --------
    >>> from colk.kernels import Constant, Linear
    >>> Linear() + Constant(1.0)
    Sum(parts=(Linear(), Constant(value=1.0)))
    """

    share: float  # of the left half in κ(0)

    def __init__(self, parts: Sequence[Kernel]) -> None:
        super().__init__(parts)
        total = self.peak
        self.share = self.left.peak / total if total > 0.0 else 1.0

    @property
    def peak(self) -> float:
        """κ(u, u) of a kernel of the difference u − v."""
        return sum(part.peak for part in self.parts)

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.left.columns(atoms, n, points, size, out, first)
        if self.right is not None:
            self.right.columns(atoms, n, points, size, out, first + size)
            for row in range(first, first + size):
                lanes.add(out, row, out, row + size, 1.0, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a frequency of one part: the law is the mixture of theirs, weighed by κ(0)."""
        if self.right is None or draws.uniform(seed, 0) < self.share:
            return self.left.add_frequency(draws.mixed(seed, 1), out)
        return self.right.add_frequency(draws.mixed(seed, 2), out)

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, of shape (n, m, p)."""
        total = self.parts[0].slopes(U, V)
        for part in self.parts[1:]:
            total = total + part.slopes(U, V)
        return total

    def rounding(self, n_features: int) -> float:
        """Return the largest of the parts' and that of the sum: Σ_i √(κ_i κ_i) ≤ √(κ κ)."""
        worst = max(part.rounding(n_features) for part in self.parts)
        return worst + _UNIT * (len(self.parts) - 1)


class Product(Several):
    """The product of kernels, written `k1 * k2`.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> Gaussian(0.5) * Linear()
    Product(parts=(Gaussian(bandwidth=0.5), Linear()))
    """

    @property
    def peak(self) -> float:
        """κ(u, u) of a kernel of the difference u − v."""
        return float(np.prod([part.peak for part in self.parts]))

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.left.columns(atoms, n, points, size, out, first)
        if self.right is not None:
            self.right.columns(atoms, n, points, size, out, first + size)
            for row in range(first, first + size):
                lanes.multiply(out, row, out, row + size, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a frequency of every part."""
        self.left.add_frequency(draws.mixed(seed, 1), out)
        if self.right is not None:
            self.right.add_frequency(draws.mixed(seed, 2), out)
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j by the product rule, of shape (n, m, p)."""
        slopes = self.left.slopes(U, V)
        if self.right is None:
            return slopes
        slopes = slopes * self.right.gram(U, V)[:, :, None]
        return slopes + self.left.gram(U, V)[:, :, None] * self.right.slopes(U, V)

    def rounding(self, n_features: int) -> float:
        """Return the sum of the parts', and a unit for each multiplication."""
        total = sum(part.rounding(n_features) for part in self.parts)
        return total + _UNIT * (len(self.parts) - 1)


class Scaled(Composite):
    """A kernel times a number that is not negative, written `2.5 * k`.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> 2.5 * Linear()
    Scaled(kernel=Linear(), factor=2.5)
    """

    _fields: ClassVar[tuple[str, ...]] = ("kernel", "factor")

    kernel: Kernel
    factor: float

    def __init__(self, kernel: Kernel, factor: float) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__}")
        # With a negative factor the result would not be positive semidefinite.
        factor = check_number(factor, "the factor of a kernel", at_least=0.0)
        if isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        self.factor = factor
        self.kernel = kernel

    def _kernels(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def depth(self) -> int:
        """How many blocks of rows behind its result `columns` uses."""
        return self.kernel.depth

    @property
    def peak(self) -> float:
        """κ(u, u) of a kernel of the difference u − v."""
        return self.factor * self.kernel.peak

    def bind(self, n_features: int) -> Kernel:
        """Return an equal kernel whose part is bound to `n_features`."""
        return type(self)(self.kernel.bind(n_features), self.factor)

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.kernel.columns(atoms, n, points, size, out, first)
        for row in range(first, first + size):
            lanes.scale(out, row, self.factor, n)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a frequency of the kernel that is scaled: the law is the same."""
        return self.kernel.add_frequency(seed, out)

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, of shape (n, m, p)."""
        return self.factor * self.kernel.slopes(U, V)

    def rounding(self, n_features: int) -> float:
        """Return the kernel's, and a unit for the multiplication."""
        return self.kernel.rounding(n_features) + _UNIT
