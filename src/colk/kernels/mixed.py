"""A kernel of numbers and categories: a kernel of the numbers times an overlap kernel."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from colk._engine import counter_rng
from colk._engine.c_types import (
    ConstIndices,
    ConstMatrix,
    ConstVector,
    Matrix,
    Readonly,
    Vector,
    Word,
)
from colk._engine.simd import loops
from colk._validation import Array, check_count, check_number
from colk.kernels.base import UNIT, Kernel
from colk.kernels.formulas import Expression, exp, mismatch, without_columns
from colk.kernels.inner_product import Linear, Polynomial
from colk.kernels.one_hot import OneHotPolynomial
from colk.kernels.stationary import Laplacian, Stationary

__all__ = ["Mixed", "category_weights", "with_categories"]

# Mean distance of two standard normal numbers.
_DISTANCE = 2.0 / math.sqrt(math.pi)


class Mixed(Kernel):
    """The kernel κ(u, v) = k(u, v)·exp(−Σ_j w_j [u_j ≠ v_j]) of numbers and categories.

    k is a kernel of the other columns, which hold numbers, and the sum is over the columns of
    categories. A category is a number that stands for a value, such as 0, 1, 2: only equality
    counts. The larger the weight w_j is, the less similar are two rows that differ in column j; a
    column of weight 0 is ignored. Each factor e^(−w) + (1 − e^(−w))[u = v] is positive semidefinite
    for w ≥ 0, so the product is, too. The estimators create this kernel for a table with
    categories.

    Parameters
    ----------
    kernel : Gaussian, Laplacian, Matern or RationalQuadratic
        k. If it has several bandwidths, there is one for each column of numbers.
    categorical : sequence of int
        Indices of the columns of categories.
    weights : float or sequence of float
        One weight, or one for each of these columns. Default: 1.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Mixed
    >>> kernel = Mixed(Gaussian(1.0), categorical=[1], weights=0.5)
    >>> kernel([[0.0, 2.0], [0.0, 7.0], [1.0, 7.0]]).round(4)
    array([[1.    , 0.6065, 0.3679],
           [0.6065, 1.    , 0.6065],
           [0.3679, 0.6065, 1.    ]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("kernel", "categorical", "weights")

    kernel: Readonly[Stationary]
    categorical: Readonly[tuple[int, ...]]
    weights: Readonly[tuple[float, ...]]
    places: ConstIndices  # the columns of categories, for compiled code
    factors: ConstVector  # e^(−w) for each of them

    def __init__(
        self,
        kernel: Stationary,
        categorical: Sequence[int],
        weights: float | Sequence[float] = 1.0,
    ) -> None:
        if not isinstance(kernel, Stationary):
            raise TypeError(
                "kernel must be Gaussian, Laplacian, Matern or RationalQuadratic, got "
                f"{type(kernel).__name__}; a sum of kernels can be a sum of Mixed kernels"
            )
        columns = tuple(check_count(k, "a categorical column", at_least=0) for k in categorical)
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(f"categorical must name different columns, got {categorical!r}")
        given: Any = weights if hasattr(weights, "__len__") else (weights,) * len(columns)
        if len(given) != len(columns):
            raise ValueError(f"there must be a weight for each of {len(columns)} columns")
        self.kernel, self.categorical = kernel, columns
        self.weights = tuple(check_number(w, "a weight", at_least=0.0) for w in given)
        self.places = np.array(columns, dtype=np.intp)
        self.factors = np.array([math.exp(-weight) for weight in self.weights])

    @property
    def bandwidth(self) -> float | tuple[float, ...]:
        """The bandwidth of the kernel of numbers."""
        return self.kernel.bandwidth

    @property
    def formula(self) -> Expression:
        numbers = without_columns(self.kernel.formula, self.categorical)
        return numbers * exp(-mismatch(self.categorical, self.weights))

    @property
    def is_shift_invariant(self) -> bool:
        return True

    def bind(self, n_features: int) -> Kernel:
        if max(self.categorical) >= n_features:
            raise ValueError(
                f"column {max(self.categorical)} is categorical, but the points have {n_features} "
                "features"
            )
        numbers = self.kernel.bind_without(self.categorical, n_features)
        return type(self)(numbers, self.categorical, self.weights)

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        self.kernel.columns(atoms, n, points, size, out, first)
        for b in range(size):
            for i in range(self.places.shape[0]):
                k: int = self.places[i]
                loops.overlap(out, first + b, atoms, k, points[b, k], self.factors[i], n)
        return 0

    def add_frequency(self, seed: Word, out: Vector) -> int:  # cdef
        """Add a frequency for categories that are whole numbers.

        E cos(ω(u − v)) over uniform ω is [u = v] for whole numbers; ω is 0 with probability e^(−w).
        """
        self.kernel.add_frequency(counter_rng.mixed(seed, 1), out)
        stream: Word = counter_rng.mixed(seed, 2)
        for i in range(self.places.shape[0]):
            if counter_rng.uniform(stream, 2 * i) >= self.factors[i]:
                turns: float = counter_rng.uniform(stream, 2 * i + 1)
                out[self.places[i]] += 2.0 * math.pi * turns
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, which is 0 along categories."""
        columns = list(self.categorical)
        counted = np.delete(np.arange(U.shape[1]), columns)
        slopes = np.zeros((U.shape[1], len(U), len(V)))
        if len(counted):
            slopes[counted] = np.moveaxis(self.kernel.slopes(U[:, counted], V[:, counted]), 2, 0)
        for k, factor in zip(columns, self.factors, strict=True):
            slopes *= np.where(U[:, k, None] == V[None, :, k], 1.0, factor)
        return np.moveaxis(slopes, 0, 2)

    def rounding(self, n_features: int) -> float:
        """Return the bound of the kernel of numbers, plus two units for each category."""
        return self.kernel.rounding(n_features) + 2.0 * UNIT * len(self.weights)


def category_weights(is_l1: bool, bandwidth: float, scales: Array) -> tuple[float, ...]:
    """Return weights with which a category counts as much as a number of standard deviation 1.

    Different categories are as far apart as two normal numbers are on average.

    Parameters
    ----------
    is_l1 : bool
        Whether the kernel of numbers uses the L1 distance, not the Euclidean one.
    bandwidth : float
        Its bandwidth.
    scales : array
        Factors of the categories; 1 counts as much as a number with the factor 1.

    Examples
    --------
    >>> category_weights(False, 2.0, np.ones(1))
    (0.25,)
    """
    shares = scales / bandwidth
    weights = _DISTANCE * shares if is_l1 else shares * shares
    return tuple(np.minimum(weights, 1e300).tolist())


def with_categories(kernel: Kernel, categorical: tuple[int, ...]) -> Kernel:
    """Return the kernel for points with categories in these columns.

    It is `Mixed` for a kernel with a bandwidth, and `OneHotPolynomial` for `Linear` and
    `Polynomial`. A kernel of one of these two classes, also in a metric, is returned as it is.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> with_categories(Gaussian(2.0), (1,))
    Mixed(kernel=Gaussian(bandwidth=2.0), categorical=(1,), weights=(0.25,))
    """
    if isinstance(kernel.of_atoms, (Mixed, OneHotPolynomial)):
        return kernel
    if isinstance(kernel, Linear):
        return OneHotPolynomial(categorical)
    if isinstance(kernel, Polynomial):
        return OneHotPolynomial(categorical, kernel.degree, kernel.offset)
    if not isinstance(kernel, Stationary):
        raise TypeError(
            f"{type(kernel).__name__} cannot compare categories: use a kernel with a bandwidth, "
            'such as kernel="laplacian", or encode the categories as numbers'
        )
    bandwidth = float(np.mean(kernel.bandwidth))
    weights = category_weights(isinstance(kernel, Laplacian), bandwidth, np.ones(len(categorical)))
    return Mixed(kernel, categorical, weights)
