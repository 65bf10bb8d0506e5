"""The contract of a kernel, and the algebra of kernels: sums, products, scalings."""

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from colk._core import kernels as core
from colk._validation import Array, check_count, check_number, check_points, check_vector

__all__ = ["Kernel", "Product", "Scaled", "Sum", "Term", "compilable"]

# Products of sums are multiplied out, so that their length can explode.
_MAX_TERMS = 4096


class Term(NamedTuple):
    """One product of leaves; each leaf is its code, followed by its constants."""

    coefficient: float
    leaves: tuple[tuple[float, ...], ...]

    def spelled_out(self) -> list[float]:
        """Return the term as the core reads it."""
        numbers = [self.coefficient, float(len(self.leaves))]
        for code, *constants in self.leaves:
            numbers += [code, float(len(constants)), *constants]
        return numbers


def compilable(array: Array) -> Array:
    """Return the array, or a copy of a read-only or unaligned one, which Numba compiles apart."""
    return np.require(array, np.float64, ["C", "A", "W"])


class Kernel(ABC):
    """A positive semidefinite function κ(u, v) of two points.

    Call it on one or two sets of points for a Gram matrix; combine kernels by `k1 + k2`,
    `k1 * k2` and `2.5 * k`.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> kernel = 2.0 * Gaussian(1.0) + Linear()
    >>> kernel([[0.0], [1.0]]).round(4)
    array([[2.    , 1.2131],
           [1.2131, 3.    ]])
    """

    # NumPy scalars leave `2.5 * kernel` to the kernel.
    __array_ufunc__: ClassVar[None] = None

    @abstractmethod
    def _terms(self, n_features: int) -> tuple[Term, ...]:
        """Return the kernel as a sum of products of leaves, for points of `n_features`."""

    @property
    def _n_terms(self) -> int:
        """Number of products of leaves that the kernel is multiplied out to."""
        return 1

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        return False

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) is a function of the difference u − v alone."""
        return False

    @property
    def has_gradient(self) -> bool:
        """Whether the derivative of κ is known."""
        return True

    def program(self, n_features: int) -> Array:
        """Return the vector that the compiled core runs for points of `n_features`.

        It may hold addresses of functions: make it anew in every process.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> Gaussian(0.5).program(3)
        array([1., 1., 1., 0., 1., 2.])
        """
        n_features = check_count(n_features, "n_features")
        if self._n_terms > _MAX_TERMS:
            raise ValueError(
                f"the kernel multiplies out to {self._n_terms} products, more than {_MAX_TERMS}"
            )
        terms = self._terms(n_features)
        spelled = [number for term in terms for number in term.spelled_out()]
        return np.array([float(len(terms)), *spelled])

    def gram(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        """Return the matrix of κ(u_i, v_j), of shape (n, m); V is U where it is not given.

        Examples
        --------
        >>> from colk.kernels import Linear
        >>> Linear().gram([[1.0], [2.0]], [[3.0]])
        array([[3.],
               [6.]])
        """
        left = compilable(check_points(U, name="U"))
        right = left if V is None else compilable(check_points(V, left.shape[1], name="V"))
        out = np.empty((len(left), len(right)))
        core.gram(self.program(left.shape[1]), left, right, out)
        return out

    def __call__(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        """Return `gram(U, V)`."""
        return self.gram(U, V)

    def column(self, U: ArrayLike, x: ArrayLike) -> Array:
        """Return the vector of κ(u_i, x) for one point x.

        Examples
        --------
        >>> from colk.kernels import Linear
        >>> Linear().column([[1.0], [2.0]], [3.0])
        array([3., 6.])
        """
        points = check_points(U, name="U")
        point = compilable(check_vector(x, points.shape[1], "x"))
        return self.gram(points, point[None, :])[:, 0]

    def diagonal(self, U: ArrayLike) -> Array:
        """Return the vector of κ(u_i, u_i).

        Examples
        --------
        >>> from colk.kernels import Linear
        >>> Linear().diagonal([[1.0], [2.0]])
        array([1., 4.])
        """
        points = compilable(check_points(U, name="U"))
        out = np.empty(len(points))
        core.diagonals(self.program(points.shape[1]), points, out)
        return out

    def __add__(self, other: Any) -> "Kernel":
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(self, float(other)) if isinstance(other, numbers.Real) else NotImplemented

    def __rmul__(self, factor: Any) -> "Kernel":
        return self.__mul__(factor)


class _Composite(Kernel):
    """A kernel of several parts, which has a property where all parts have it."""

    @abstractmethod
    def _kernels(self) -> tuple[Kernel, ...]: ...

    @property
    def is_radial(self) -> bool:
        return all(kernel.is_radial for kernel in self._kernels())

    @property
    def is_shift_invariant(self) -> bool:
        return all(kernel.is_shift_invariant for kernel in self._kernels())

    @property
    def has_gradient(self) -> bool:
        return all(kernel.has_gradient for kernel in self._kernels())


@dataclass(frozen=True)
class _Several(_Composite):
    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        """Flatten parts of the same kind: (a + b) + c is a + b + c."""
        flat: list[Kernel] = []
        for part in self.parts:
            if not isinstance(part, Kernel):
                raise TypeError(f"parts must be kernels, got {type(part).__name__} {part!r}")
            flat += part.parts if isinstance(part, type(self)) else (part,)
        if not flat:
            raise ValueError(f"{type(self).__name__} needs at least one kernel")
        object.__setattr__(self, "parts", tuple(flat))

    def _kernels(self) -> tuple[Kernel, ...]:
        return self.parts


@dataclass(frozen=True)
class Sum(_Several):
    """The sum of kernels, written `k1 + k2`.

    Examples
    --------
    >>> from colk.kernels import Constant, Linear
    >>> Linear() + Constant(1.0)
    Sum(parts=(Linear(), Constant(value=1.0)))
    """

    @property
    def _n_terms(self) -> int:
        return sum(part._n_terms for part in self.parts)

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return tuple(term for part in self.parts for term in part._terms(n_features))


@dataclass(frozen=True)
class Product(_Several):
    """The product of kernels, written `k1 * k2`.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> Gaussian(0.5) * Linear()
    Product(parts=(Gaussian(bandwidth=0.5), Linear()))
    """

    @property
    def _n_terms(self) -> int:
        return math.prod(part._n_terms for part in self.parts)

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        product: tuple[Term, ...] = (Term(1.0, ()),)
        for part in self.parts:
            product = tuple(
                Term(a.coefficient * b.coefficient, a.leaves + b.leaves)
                for a in product
                for b in part._terms(n_features)
            )
        return product


@dataclass(frozen=True)
class Scaled(_Composite):
    """A kernel times a number that is not negative, written `2.5 * k`.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> 2.5 * Linear()
    Scaled(kernel=Linear(), factor=2.5)
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        """Refuse a negative factor: the result would not be positive semidefinite."""
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(self.kernel).__name__}")
        factor = check_number(self.factor, "the factor of a kernel", at_least=0.0)
        object.__setattr__(self, "factor", factor)
        if isinstance(self.kernel, Scaled):
            object.__setattr__(self, "factor", factor * self.kernel.factor)
            object.__setattr__(self, "kernel", self.kernel.kernel)

    @property
    def _n_terms(self) -> int:
        return self.kernel._n_terms

    def _kernels(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return tuple(
            Term(self.factor * term.coefficient, term.leaves)
            for term in self.kernel._terms(n_features)
        )
