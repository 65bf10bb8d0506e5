"""Kernels of the inner product uᵀv, and the constant."""

from dataclasses import dataclass

from colk._core import kernels as core
from colk._validation import check_count, check_number
from colk.kernels.base import Kernel, Term

__all__ = ["Constant", "Linear", "Polynomial"]


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel κ(u, v) = (uᵀv + offset)^degree.

    Parameters
    ----------
    degree : int
        A whole number, 1 or more.
    offset : float
        Not negative; 0 leaves only the monomials of the highest degree.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]])
    array([[36.]])
    """

    degree: int
    offset: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a negative offset: the kernel would not be positive semidefinite."""
        object.__setattr__(self, "degree", check_count(self.degree, "degree"))
        object.__setattr__(self, "offset", check_number(self.offset, "offset", at_least=0.0))

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(1.0, ((core.POLYNOMIAL, float(self.degree), self.offset),)),)


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel κ(u, v) = uᵀv.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(1.0, ((core.LINEAR,),)),)


@dataclass(frozen=True)
class Constant(Kernel):
    """The constant kernel κ(u, v) = value, which gives functions an intercept.

    Parameters
    ----------
    value : float
        Not negative.

    Examples
    --------
    >>> (Linear() + Constant(1.0))([[2.0]])
    array([[5.]])
    """

    value: float

    def __post_init__(self) -> None:
        """Refuse a negative value: the kernel would not be positive semidefinite."""
        object.__setattr__(self, "value", check_number(self.value, "value", at_least=0.0))

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        return True

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) is a function of the difference u − v alone."""
        return True

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(self.value, ()),)
