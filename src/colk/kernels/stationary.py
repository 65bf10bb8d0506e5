"""Kernels of the difference u − v, with one bandwidth or one for each feature."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import cython
import numpy as np

from colk import draws, lanes
from colk._validation import Array, check_number, check_vector
from colk.kernels.base import Kernel

__all__ = ["Gaussian", "Laplacian", "Matern", "RationalQuadratic"]

# exp(−800) is 0, and a finite argument keeps (1 + s)·exp(−s) from being inf·0.
_FAR = 800.0


def _check_bandwidth(value: Any) -> float | tuple[float, ...]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        number = check_number(value, "bandwidth", above=0.0)
        return _check_inverse(number)
    numbers = check_vector(value, None, "bandwidth")
    if len(numbers) == 0:
        raise ValueError("bandwidth is empty; give one number, or one for each feature")
    return tuple(
        _check_inverse(check_number(number, f"bandwidth[{k}]", above=0.0))
        for k, number in enumerate(numbers.tolist())
    )


def _check_inverse(bandwidth: float) -> float:
    if math.isinf(1.0 / bandwidth):
        raise ValueError(f"bandwidth {bandwidth!r} is too small: its inverse overflows")
    return bandwidth


class Stationary(Kernel):
    """A kernel of the scaled difference (u − v) / bandwidth."""

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth",)
    _sealed: ClassVar[tuple[str, ...]] = ("check_bound", "add_normal")

    bandwidth: float | tuple[float, ...]
    n_bound: int  # the features that the kernel is bound to
    scales: Array  # (n_bound,): their inverse bandwidths

    def __init__(self, bandwidth: float | Sequence[float]) -> None:
        self.bandwidth = _check_bandwidth(bandwidth)

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        bandwidth = self.bandwidth
        return not isinstance(bandwidth, tuple) or len(set(bandwidth)) == 1

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) is a function of the difference u − v alone."""
        return True

    def inverse_bandwidths(self, n_features: int) -> Array:
        """Return 1/bandwidth for each of `n_features`."""
        count = len(self.bandwidth) if isinstance(self.bandwidth, tuple) else n_features
        if count != n_features:
            raise ValueError(
                f"{type(self).__name__} has {count} bandwidths, one for each "
                f"feature, but the points have {n_features} features"
            )
        return np.full(n_features, 1.0 / np.asarray(self.bandwidth))

    def bind(self, n_features: int) -> Kernel:
        """Return an equal kernel that has an inverse bandwidth for each feature at hand."""
        bound = self.replace()
        bound._spread(n_features)
        return bound

    def _spread(self, n_features: int) -> None:
        self.scales = self.inverse_bandwidths(n_features)
        self.n_bound = n_features

    def check_bound(self, n_features: int) -> int:
        """Refuse points of other features than those that the kernel is bound to."""
        if self.n_bound != n_features:
            with cython.gil:
                raise ValueError(f"{self!r} is not bound to {n_features} features")
        return 0

    def _directions(self, U: Array, V: Array) -> tuple[Array, Array]:
        """(p, n, m): differences u − v in units of the bandwidths; and the inverse bandwidths."""
        scales = self.inverse_bandwidths(U.shape[1])[:, None, None]
        scaled = U.T[:, :, None] - V.T[:, None, :]
        scaled *= scales
        return scaled, scales

    def _slopes_of_squares(self, U: Array, V: Array) -> Array:
        """Slopes of a kernel of s = ‖(u − v)/h‖²: −2κ'(s)·(u − v)/h²."""
        with np.errstate(over="ignore"):
            scaled, scales = self._directions(U, V)
            scaled *= self._factor(np.einsum("kij,kij->ij", scaled, scaled))
        scaled *= scales
        return np.moveaxis(scaled, 0, 2)

    def _factor(self, squares: Array) -> Array:
        """−2κ'(s) of a kernel of the squared distance s."""
        raise NotImplementedError

    def add_normal(self, seed: int, stretch: float, out: Array) -> int:
        """Add normal frequencies, times `stretch`, in units of the inverse bandwidths."""
        self.check_bound(out.shape[0])
        for k in range(out.shape[0]):
            out[k] += draws.normal(seed, k) * stretch * self.scales[k]
        return 0


class Gaussian(Stationary):
    """The Gaussian kernel κ(u, v) = exp(−‖u − v‖² / (2c²)).

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.

    Examples
    --------
    >>> Gaussian(0.5)([[0.0], [0.5]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    is_squared_exponential: ClassVar[bool] = True

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.check_bound(points.shape[1])
        lanes.gaussian(atoms, n, points, size, self.scales, 0.0, out, first)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add standard normal numbers, in units of the inverse bandwidth."""
        return self.add_normal(seed, 1.0, out)

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j = κ·(u − v)/c², of shape (n, m, p)."""
        return self._slopes_of_squares(U, V)

    def _factor(self, squares: Array) -> Array:
        return np.exp(-0.5 * squares)


class Laplacian(Stationary):
    """The Laplacian kernel κ(u, v) = exp(−‖u − v‖₁ / c), of the L1 distance.

    It has a kink wherever u and v share a coordinate; gradients take the slope 0 there.

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.

    Examples
    --------
    >>> Laplacian(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        return False

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.check_bound(points.shape[1])
        lanes.laplacian(atoms, n, points, size, self.scales, 0.0, out, first)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a Cauchy variable for each feature, in units of the inverse bandwidth."""
        self.check_bound(out.shape[0])
        for k in range(out.shape[0]):
            out[k] += math.tan(math.pi * (draws.uniform(seed, k) - 0.5)) * self.scales[k]
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j = κ·sign(u − v)/c, of shape (n, m, p)."""
        with np.errstate(over="ignore"):
            scaled, scales = self._directions(U, V)
            values = np.exp(-np.abs(scaled).sum(axis=0))
        return np.moveaxis(np.sign(scaled) * values * scales, 0, 2)


class Matern(Stationary):
    """The Matérn kernel of smoothness ν, a function of r = ‖u − v‖ / c.

    ν = 1/2: exp(−r); ν = 3/2: (1 + √3 r) exp(−√3 r); ν = 5/2: (1 + √5 r + 5r²/3) exp(−√5 r).
    With ν = 1/2 it has a kink at u = v; gradients take the slope 0 there.

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.
    nu : {0.5, 1.5, 2.5}
        The smoothness ν.

    Examples
    --------
    >>> Matern(1.0, nu=1.5)([[0.0]], [[1.0]]).round(4)
    array([[0.4834]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth", "nu")

    nu: float

    def __init__(self, bandwidth: float | Sequence[float], nu: float = 1.5) -> None:
        super().__init__(bandwidth)
        self.nu = check_number(nu, "nu", above=0.0)
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {nu!r}")

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.check_bound(points.shape[1])
        if self.nu == 0.5:
            lanes.matern_of_one_half(atoms, n, points, size, self.scales, 0.0, out, first)
        elif self.nu == 1.5:
            lanes.matern_of_three_halves(atoms, n, points, size, self.scales, 0.0, out, first)
        else:
            lanes.matern_of_five_halves(atoms, n, points, size, self.scales, 0.0, out, first)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add a multivariate t variable of 2ν degrees of freedom, in units of 1/bandwidth."""
        squares = 0.0
        for i in range(int(2.0 * self.nu)):
            size = draws.normal(draws.mixed(seed, -1), i)
            squares += size * size
        return self.add_normal(seed, math.sqrt(2.0 * self.nu / squares), out)

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, of shape (n, m, p)."""
        return self._slopes_of_squares(U, V)

    def _factor(self, squares: Array) -> Array:
        s = np.minimum(np.sqrt(2.0 * self.nu * squares), _FAR)
        if self.nu == 0.5:
            return np.divide(np.exp(-s), s, out=np.zeros_like(s), where=s > 0.0)
        if self.nu == 1.5:
            return 3.0 * np.exp(-s)
        return 5.0 / 3.0 * (1.0 + s) * np.exp(-s)


class RationalQuadratic(Stationary):
    """The rational quadratic kernel κ(u, v) = (1 + ‖u − v‖² / (2ac²))^(−a).

    A mixture of Gaussian kernels of many bandwidths; it tends to the Gaussian as a grows.

    Parameters
    ----------
    bandwidth : float or sequence of float
        The length c, or one for each feature.
    shape : float
        The exponent a > 0: the smaller, the heavier the tails.

    Examples
    --------
    >>> RationalQuadratic(1.0, shape=1.0)([[0.0]], [[1.0]]).round(4)
    array([[0.6667]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("bandwidth", "shape")

    shape: float

    def __init__(self, bandwidth: float | Sequence[float], shape: float = 1.0) -> None:
        super().__init__(bandwidth)
        self.shape = check_number(shape, "shape", above=0.0)

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        self.check_bound(points.shape[1])
        lanes.rational_quadratic(atoms, n, points, size, self.scales, self.shape, out, first)
        return 0

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add normal numbers, times the root of a gamma variable of this shape and mean 1."""
        mean = draws.gamma(draws.mixed(seed, -1), self.shape) / self.shape
        return self.add_normal(seed, math.sqrt(mean), out)

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j, of shape (n, m, p)."""
        return self._slopes_of_squares(U, V)

    def _factor(self, squares: Array) -> Array:
        return np.asarray((1.0 + squares / (2.0 * self.shape)) ** (-self.shape - 1.0))

    def rounding(self, n_features: int) -> float:
        """Powers amplify errors in proportion to the exponent."""
        return max(1.0, self.shape) * super().rounding(n_features)
