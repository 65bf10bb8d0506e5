"""The polynomial kernel of numbers and one-hot categories, without the one-hot columns."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from colk._validation import Array, check_count, check_number
from colk.kernels.base import UNIT, Kernel
from colk.kernels.formulas import Expression, inner_product, mismatch

__all__ = ["OneHotPolynomial"]


class OneHotPolynomial(Kernel):
    """The kernel κ(u, v) = (uᵀv + Σ_j [u_j = v_j] + offset)^degree of numbers and categories.

    The inner product is over the columns of numbers, and the sum over those of categories, where
    only equality counts. It equals `Polynomial` (with the defaults, `Linear`) on one-hot encoded
    categories, but does not form a column for each value, so a category may have any number of
    values. The estimators create this kernel from `Linear` and `Polynomial` for a table with
    categories.

    Parameters
    ----------
    categorical : sequence of int
        Indices of the columns of categories.
    degree : int
        The degree, a positive integer. Default: 1.
    offset : float
        A number ≥ 0. Default: 0.

    Examples
    --------
    >>> from colk.kernels import OneHotPolynomial
    >>> kernel = OneHotPolynomial(categorical=[1])
    >>> kernel([[2.0, 7.0], [3.0, 7.0], [3.0, 8.0]])
    array([[ 5.,  7.,  6.],
           [ 7., 10.,  9.],
           [ 6.,  9., 10.]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("categorical", "degree", "offset")

    categorical: tuple[int, ...]
    degree: int
    offset: float

    def __init__(self, categorical: Sequence[int], degree: int = 1, offset: float = 0.0) -> None:
        columns = tuple(check_count(k, "a categorical column", at_least=0) for k in categorical)
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(f"categorical must name different columns, got {categorical!r}")
        self.categorical = columns
        self.degree = check_count(degree, "degree")
        # With a negative offset the kernel would not be positive semidefinite.
        self.offset = check_number(offset, "offset", at_least=0.0)

    @property
    def formula(self) -> Expression:
        n = len(self.categorical)
        equal = float(n) + -mismatch(self.categorical, (1.0,) * n)
        return (inner_product(self.categorical) + equal + self.offset) ** self.degree

    def bind(self, n_features: int) -> Kernel:
        if max(self.categorical) >= n_features:
            raise ValueError(
                f"column {max(self.categorical)} is categorical, but the points have {n_features} "
                "features"
            )
        return self

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, which is 0 along categories."""
        numbers = U.copy()
        numbers[:, list(self.categorical)] = 0.0
        base: Any = self.replace(degree=1).gram(U, V)
        factors = self.degree * base ** (self.degree - 1)
        return np.asarray(numbers[:, None, :] * factors[:, :, None])

    def rounding(self, n_features: int) -> float:
        """Powers amplify errors in proportion to the exponent."""
        return self.degree * 4.0 * UNIT * (n_features + 2)
