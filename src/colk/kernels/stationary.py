"""Kernels of the difference u − v, with one bandwidth or one for each feature."""

import math
from dataclasses import dataclass
from typing import Any

from colk._core import kernels as core
from colk._validation import check_number, check_vector
from colk.kernels.base import Kernel, Term

__all__ = ["Gaussian", "Laplacian", "Matern", "RationalQuadratic"]

_MATERN_CODES = {0.5: core.MATERN_12, 1.5: core.MATERN_32, 2.5: core.MATERN_52}


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


@dataclass(frozen=True)
class _Stationary(Kernel):
    """A kernel of the scaled difference (u − v) / bandwidth."""

    bandwidth: float | tuple[float, ...]

    def __post_init__(self) -> None:
        """Store the bandwidth as a number or a tuple, so that kernels can be compared."""
        object.__setattr__(self, "bandwidth", _check_bandwidth(self.bandwidth))

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        bandwidth = self.bandwidth
        return not isinstance(bandwidth, tuple) or len(set(bandwidth)) == 1

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) is a function of the difference u − v alone."""
        return True

    def _inverse_bandwidths(self, n_features: int) -> tuple[float, ...]:
        if not isinstance(self.bandwidth, tuple):
            return (1.0 / self.bandwidth,)
        if len(self.bandwidth) != n_features:
            raise ValueError(
                f"{type(self).__name__} has {len(self.bandwidth)} bandwidths, one for each "
                f"feature, but the points have {n_features} features"
            )
        return tuple(1.0 / bandwidth for bandwidth in self.bandwidth)


@dataclass(frozen=True)
class Gaussian(_Stationary):
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

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(1.0, ((core.GAUSSIAN, *self._inverse_bandwidths(n_features)),)),)


@dataclass(frozen=True)
class Laplacian(_Stationary):
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

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(1.0, ((core.LAPLACIAN, *self._inverse_bandwidths(n_features)),)),)

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) is a function of the Euclidean distance ‖u − v‖ alone."""
        return False


@dataclass(frozen=True)
class Matern(_Stationary):
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

    nu: float = 1.5

    def __post_init__(self) -> None:
        """Refuse a smoothness without a closed form."""
        super().__post_init__()
        nu = check_number(self.nu, "nu", above=0.0)
        if nu not in _MATERN_CODES:
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}")
        object.__setattr__(self, "nu", nu)

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        return (Term(1.0, ((_MATERN_CODES[self.nu], *self._inverse_bandwidths(n_features)),)),)


@dataclass(frozen=True)
class RationalQuadratic(_Stationary):
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

    shape: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an exponent that is not positive."""
        super().__post_init__()
        object.__setattr__(self, "shape", check_number(self.shape, "shape", above=0.0))

    def _terms(self, n_features: int) -> tuple[Term, ...]:
        scales = self._inverse_bandwidths(n_features)
        return (Term(1.0, ((core.RATIONAL_QUADRATIC, *scales, self.shape),)),)
