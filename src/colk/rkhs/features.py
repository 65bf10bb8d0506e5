"""Feature maps φ: fixed features for the methods that learn a vector of parameters.

The paper uses `RBFNetwork`. `RandomFourierFeatures` approximate a shift-invariant kernel. Any
fitted scikit-learn transformer works as well: a learner only calls `transform`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.buffers import aligned, padded, plain
from colk._engine.fourier import Spectrum, fourier_rows
from colk._engine.terms import check_term
from colk._validation import Array, check_count, check_number, check_points, check_vector
from colk.kernels import Gaussian, Kernel

__all__ = ["FeatureMap", "RBFNetwork", "RandomFourierFeatures", "apply_map", "check_spectral"]


class FeatureMap(ABC):
    """A function from points (n, p) to features (n, D).

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rkhs.features import FeatureMap
    >>> from colk.learners import SCGD
    >>> class Line(FeatureMap):
    ...     def transform(self, X):
    ...         return np.column_stack([np.ones(len(X)), np.asarray(X)])
    >>> SCGD(Line()).learn([[0.0], [1.0]], [1.0, 2.0]).n_components
    2
    """

    @abstractmethod
    def transform(self, X: ArrayLike) -> Array:
        """Features of points, of shape (n, D)."""


def _as_corner(value: Any, name: str) -> tuple[float, ...]:
    if np.ndim(value) == 0:
        return (check_number(value, name),)
    return tuple(check_vector(value, None, name).tolist())


@dataclass(frozen=True)
class RBFNetwork(FeatureMap):
    """Radial bumps φ_i(x) = exp(−‖x − c_i‖²/r²) with centres spread evenly over a box.

    In one dimension the centres are equidistant and include both ends. In several dimensions they
    are the first points of the Halton sequence. The exponent has no factor 1/2.

    Parameters
    ----------
    n_centres : int
        Number of features. Default: 50.
    radius : float
        Radius r of a bump. Default: 0.06.
    low, high : float or sequence of float
        Corners of the box; one number for each feature of a point. Default: 0 and 1.

    Examples
    --------
    >>> from colk.rkhs.features import RBFNetwork
    >>> RBFNetwork(3, radius=0.5).transform([[0.5]]).round(4)
    array([[0.3679, 1.    , 0.3679]])
    """

    n_centres: int = 50
    radius: float = 0.06
    low: float | Sequence[float] = 0.0
    high: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        check_count(self.n_centres, "n_centres")
        check_number(self.radius, "radius", above=0.0)
        low, high = _as_corner(self.low, "low"), _as_corner(self.high, "high")
        if len(low) != len(high) or not all(a < b for a, b in zip(low, high, strict=True)):
            raise ValueError(f"low must lie below high in every feature, got {low} and {high}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def centres(self) -> Array:
        """The centres c_i, of shape (n_centres, p)."""
        low, high = np.array(self.low), np.array(self.high)
        if len(low) == 1:
            return np.linspace(low, high, self.n_centres)
        from scipy.stats.qmc import Halton

        spread = Halton(len(low), scramble=False).random(self.n_centres)
        centres: Array = low + (high - low) * spread
        return centres

    def transform(self, X: ArrayLike) -> Array:
        """Features of points, of shape (n, n_centres)."""
        centres = self.centres
        points = check_points(X, centres.shape[1])
        return Gaussian(self.radius / np.sqrt(2.0)).gram(points, centres)


def check_spectral(kernel: Kernel) -> Kernel:
    """Return the kernel if its spectral density is known; raise otherwise.

    Examples
    --------
    >>> from colk.rkhs.features import check_spectral
    >>> from colk.kernels import Laplacian
    >>> check_spectral(Laplacian(0.5))
    Laplacian(bandwidth=0.5)
    """
    check_term(kernel, Kernel, "kernel")
    if not kernel.is_shift_invariant:
        raise TypeError(
            "random features need a shift-invariant kernel (Gaussian, Laplacian, Matern, "
            f"RationalQuadratic, their sums and products); {type(kernel).__name__} is not one"
        )
    return kernel


@lru_cache(maxsize=8)
def _drawn(kernel: Kernel, n: int, seed: int, n_features: int) -> tuple[Array, float]:
    spectrum = Spectrum(kernel, seed, n_features)
    waves = aligned(n_features + 1, padded(n))
    spectrum.draw(n, waves)
    return waves, spectrum.amplitude / math.sqrt(n)


@dataclass(frozen=True)
class RandomFourierFeatures(FeatureMap):
    """φ_i(x) = √(2κ(0)/D) cos(ω_iᵀx + b_i), with ω drawn from the kernel's spectral density.

    The inner product of the features of two points is an unbiased estimate of κ with an error of
    order 1/√D. Feature i does not depend on D.

    Parameters
    ----------
    kernel : Kernel
        A shift-invariant kernel: Gaussian, Laplacian, Matern, RationalQuadratic, or a sum, product
        or multiple of these.
    n_components : int
        Number of features D. Default: 100.
    seed : int
        Seed of the random draw. Default: 0.

    References
    ----------
    Rahimi, Recht, "Random features for large-scale kernel machines", NIPS 2007. Li, Ton, Oglic,
    Sejdinovic, "Towards a unified analysis of random Fourier features", ICML 2019, on the number
    of features.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rkhs.features import RandomFourierFeatures
    >>> from colk.kernels import Gaussian
    >>> X = np.array([[0.0], [0.5]])
    >>> F = RandomFourierFeatures(Gaussian(1.0), n_components=4000).transform(X)
    >>> bool(np.abs(F @ F.T - Gaussian(1.0)(X)).max() < 0.05)
    True
    """

    kernel: Kernel
    n_components: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_spectral(self.kernel)
        check_count(self.n_components, "n_components")
        check_count(self.seed, "seed", at_least=0)

    def transform(self, X: ArrayLike) -> Array:
        """Features of points, of shape (n, n_components)."""
        points, n = plain(check_points(X)), self.n_components
        waves, scale = _drawn(self.kernel, n, self.seed, points.shape[1])
        out = np.empty((len(points), n))
        fourier_rows(waves, n, scale, points, aligned(1, waves.shape[1]), out)
        return out


def apply_map(features: Any, X: Array) -> Array:
    """Apply a feature map or a fitted transformer; return a finite dense array.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rkhs.features import RBFNetwork, apply_map
    >>> apply_map(RBFNetwork(3, radius=0.5), np.array([[0.5]])).round(4)
    array([[0.3679, 1.    , 0.3679]])
    """
    found = features.transform(X)
    if type(features) in (RBFNetwork, RandomFourierFeatures):  # finite for finite points
        return found  # type: ignore[no-any-return]
    if hasattr(found, "toarray"):
        found = found.toarray()
    found = check_points(found, name="the features")
    if len(found) != len(X):
        raise ValueError(
            f"{type(features).__name__}.transform returned {len(found)} rows for {len(X)} points; "
            "it must return one for each"
        )
    return found
