"""Kernels of the difference u − v, with one bandwidth or one for each feature."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from colk._engine import counter_rng
from colk._engine.c_types import Readonly, Vector, Word
from colk._validation import Array, check_number, check_vector
from colk.kernels.base import FormulaKernel
from colk.kernels.formulas import (
    Expression,
    city_block_distance,
    exp,
    minimum,
    sqrt,
    squared_distance,
)

__all__ = ["Gaussian", "Laplacian", "Matern", "RationalQuadratic"]

# exp(−800) is 0, and a finite argument keeps (1 + s)·exp(−s) from being inf·0.
_FAR = 800.0
# The smoothness ν of Matérn kernels, by the names of their loops.
_HALVES = {0.5: "one_half", 1.5: "three_halves", 2.5: "five_halves"}


def _check_length(value: Any, name: str) -> float:
    length = check_number(value, name, above=0.0)
    if math.isinf(1.0 / length):
        raise ValueError(f"bandwidth {length!r} is too small: its inverse overflows")
    return length


def _check_bandwidth(value: Any) -> float | tuple[float, ...]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        return _check_length(value, "bandwidth")
    lengths = check_vector(value, None, "bandwidth").tolist()
    if not lengths:
        raise ValueError("bandwidth is empty; give one number, or one for each feature")
    return tuple(_check_length(length, f"bandwidth[{k}]") for k, length in enumerate(lengths))


class Stationary(FormulaKernel):
    """A kernel of (u − v)/c, where c is the bandwidth: one length, or one for each feature."""

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth",)
    _sealed: ClassVar[tuple[str, ...]] = ("add_normal",)
    has_exact_peak: ClassVar[bool] = True

    bandwidth: Readonly[float | tuple[float, ...]]

    def __init__(
        self, bandwidth: float | Sequence[float], loop: str, constant: float = 0.0
    ) -> None:
        super().__init__(loop, constant)
        self.bandwidth = _check_bandwidth(bandwidth)

    @property
    def is_radial(self) -> bool:
        return len({*np.atleast_1d(self.bandwidth)}) == 1

    @property
    def is_shift_invariant(self) -> bool:
        return True

    def _scales_of(self, n_features: int) -> Array:
        count = len(self.bandwidth) if isinstance(self.bandwidth, tuple) else n_features
        if count != n_features:
            raise ValueError(
                f"{type(self).__name__} has {count} bandwidths, one for each "
                f"feature, but the points have {n_features} features"
            )
        return np.full(n_features, 1.0 / np.asarray(self.bandwidth))

    def bind_without(self, columns: tuple[int, ...], n_features: int) -> "Stationary":
        """Return an equal kernel that is bound to points of `n_features` and ignores some columns.

        The bandwidths are those of the other columns.
        """
        counted = np.delete(np.arange(n_features), columns)
        scales = np.zeros(n_features)
        scales[counted] = self._scales_of(len(counted))
        bound = self.replace()
        bound._take(scales, columns)
        return bound

    def slopes(self, U: Array, V: Array) -> Array:
        scales = self._scales_of(U.shape[1])[:, None, None]
        with np.errstate(over="ignore"):
            scaled = (U.T[:, :, None] - V.T[:, None, :]) * scales
            return np.moveaxis(self._pull(scaled) * scales, 0, 2)

    def _pull(self, scaled: Array) -> Array:
        """−∂κ/∂r for differences r = (u − v)/c of shape (p, n, m); for κ(s), s = ‖r‖², −2κ'(s)r."""
        return scaled * self._factor(np.einsum("kij,kij->ij", scaled, scaled))

    def _factor(self, squares: Array) -> Array:
        """−2κ'(s) of a kernel of the squared distance s = ‖(u − v)/c‖²."""
        raise NotImplementedError

    def add_normal(self, seed: Word, stretch: float, out: Vector) -> int:  # cdef
        """Add normal frequencies, times `stretch`, in units of the inverse bandwidths."""
        self.check_bound(out.shape[0])
        for k in range(out.shape[0]):
            out[k] += counter_rng.normal(seed, k) * stretch * self.scales[k]
        return 0


class Gaussian(Stationary):
    """The Gaussian kernel κ(u, v) = exp(−‖u − v‖² / (2c²)).

    Its bandwidth is the length c, or one for each feature.

    Examples
    --------
    >>> Gaussian(0.5)([[0.0], [0.5]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    is_squared_exponential: ClassVar[bool] = True

    def __init__(self, bandwidth: float | Sequence[float]) -> None:
        super().__init__(bandwidth, "gaussian")

    @property
    def formula(self) -> Expression:
        return exp(-0.5 * squared_distance(self.bandwidth))

    def add_frequency(self, seed: int, out: Array) -> int:
        return self.add_normal(seed, 1.0, out)

    def _factor(self, squares: Array) -> Array:
        return np.exp(-0.5 * squares)


class Laplacian(Stationary):
    """The Laplacian kernel κ(u, v) = exp(−‖u − v‖₁ / c), of the L1 distance.

    Its bandwidth is the length c, or one for each feature. It has a kink wherever u and v share a
    coordinate; gradients take the slope 0 there.

    Examples
    --------
    >>> Laplacian(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    def __init__(self, bandwidth: float | Sequence[float]) -> None:
        super().__init__(bandwidth, "laplacian")

    @property
    def formula(self) -> Expression:
        return exp(-city_block_distance(self.bandwidth))

    @property
    def is_radial(self) -> bool:
        return False

    def add_frequency(self, seed: Word, out: Vector) -> int:  # cdef
        """Add a Cauchy variable for each feature, in units of the inverse bandwidth."""
        self.check_bound(out.shape[0])
        for k in range(out.shape[0]):
            out[k] += math.tan(math.pi * (counter_rng.uniform(seed, k) - 0.5)) * self.scales[k]
        return 0

    def _pull(self, scaled: Array) -> Array:
        return np.asarray(np.sign(scaled) * np.exp(-np.abs(scaled).sum(axis=0)))


class Matern(Stationary):
    """The Matérn kernel of smoothness ν, a function of r = ‖u − v‖ / c.

    ν = 1/2: exp(−r); ν = 3/2: (1 + √3 r) exp(−√3 r); ν = 5/2: (1 + √5 r + 5r²/3) exp(−√5 r).
    With ν = 1/2 it has a kink at u = v; gradients take the slope 0 there.

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.
    nu : {0.5, 1.5, 2.5}
        The smoothness ν. Default: 1.5.

    Examples
    --------
    >>> Matern(1.0, nu=1.5)([[0.0]], [[1.0]]).round(4)
    array([[0.4834]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth", "nu")

    nu: Readonly[float]

    def __init__(self, bandwidth: float | Sequence[float], nu: float = 1.5) -> None:
        self.nu = check_number(nu, "nu", above=0.0)
        if self.nu not in _HALVES:
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {nu!r}")
        super().__init__(bandwidth, f"matern_of_{_HALVES[self.nu]}")

    @property
    def formula(self) -> Expression:
        s = minimum(math.sqrt(2.0 * self.nu) * sqrt(squared_distance(self.bandwidth)), _FAR)
        if self.nu == 0.5:
            return exp(-s)
        return (1.0 + s if self.nu == 1.5 else 1.0 + s + s * s * (1.0 / 3.0)) * exp(-s)

    def add_frequency(self, seed: Word, out: Vector) -> int:  # cdef
        """Add a multivariate t variable of 2ν degrees of freedom, in units of 1/bandwidth."""
        squares = 0.0
        for i in range(int(2.0 * self.nu)):
            size: float = counter_rng.normal(counter_rng.mixed(seed, -1), i)
            squares += size * size
        return self.add_normal(seed, math.sqrt(2.0 * self.nu / squares), out)

    def _factor(self, squares: Array) -> Array:
        s = np.minimum(np.sqrt(2.0 * self.nu * squares), _FAR)
        if self.nu == 0.5:
            return np.divide(np.exp(-s), s, out=np.zeros_like(s), where=s > 0.0)
        return np.exp(-s) * (3.0 if self.nu == 1.5 else 5.0 / 3.0 * (1.0 + s))


class RationalQuadratic(Stationary):
    """The rational quadratic kernel κ(u, v) = (1 + ‖u − v‖² / (2ac²))^(−a).

    It is a mixture of Gaussian kernels with many bandwidths, and tends to the Gaussian as a grows.

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.
    shape : float
        The exponent a > 0. Default: 1. Smaller values give heavier tails.

    Examples
    --------
    >>> RationalQuadratic(1.0, shape=1.0)([[0.0]], [[1.0]]).round(4)
    array([[0.6667]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth", "shape")

    shape: Readonly[float]

    def __init__(self, bandwidth: float | Sequence[float], shape: float = 1.0) -> None:
        self.shape = check_number(shape, "shape", above=0.0)
        super().__init__(bandwidth, "rational_quadratic", self.shape)

    @property
    def formula(self) -> Expression:
        return (1.0 + 0.5 / self.shape * squared_distance(self.bandwidth)) ** -self.shape

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add normal numbers, times the root of a gamma variable of this shape and mean 1."""
        mean = counter_rng.gamma(counter_rng.mixed(seed, -1), self.shape) / self.shape
        return self.add_normal(seed, math.sqrt(mean), out)

    def _factor(self, squares: Array) -> Array:
        return np.asarray((1.0 + squares / (2.0 * self.shape)) ** (-self.shape - 1.0))

    def rounding(self, n_features: int) -> float:
        """Powers amplify errors in proportion to the exponent."""
        return max(1.0, self.shape) * super().rounding(n_features)
