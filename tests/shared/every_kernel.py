"""Kernels of three features, of every kind, for the tests of NumPy twins and of exports."""

from colk.kernels import (
    KERNELS,
    Constant,
    Gaussian,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    Mixed,
    OneHotPolynomial,
    Polynomial,
    RationalQuadratic,
)

__all__ = ["EVERY_KERNEL", "missing"]

ARD = (0.5, 1.0, 2.0)
EVERY_KERNEL = [
    Constant(2.5),
    Gaussian(0.7),
    Gaussian(ARD),
    Laplacian(1.3),
    Laplacian(ARD),
    Linear(),
    *(Matern(0.8, nu) for nu in (0.5, 1.5, 2.5)),
    Matern(ARD, 1.5),
    Polynomial(1, 0.3),
    Polynomial(3, 0.5),
    Polynomial(4, 0.0),
    RationalQuadratic(0.9, 1.7),
    RationalQuadratic(ARD, 0.3),
    2.0 * Gaussian(0.5) + Linear() * Gaussian(2.0),
    0.3 * (Linear() + Constant(1.0)) * Polynomial(2),
    (Gaussian(0.5) + Linear()) * (Laplacian(0.5) + 0.3 * Polynomial(2)),
    0.0 * Linear(),
    Mixed(Matern((0.5, 1.0)), (1,), 0.7) + Linear(),
    Mixed(Matern(1.3), (0, 2), (0.2, 1.5)) + Linear(),
    OneHotPolynomial((1,), degree=3, offset=0.5),
    Mahalanobis(Gaussian(0.9), [[1.0, 0.5], [0.0, -1.0], [0.3, 0.2]]),
    Mahalanobis(2.0 * Laplacian(1.1) + Linear(), [[1.0], [-0.4], [0.3]]),
    Mahalanobis(0.5 * Laplacian((0.5, 1.0, 2.0, 4.0)), [[1.0, 0.2, 0.0, 0.7]] * 3),
    Mahalanobis(Mixed(Gaussian(0.9), (1,), 0.7), [[0.5, 0.0], [0.2, 1.0], [-0.4, 0.0]]),
]


def missing(kernels, needs=lambda kind: True):
    """The names of built-in kernels of which a list has none."""
    kinds = {type(kernel) for kernel in kernels}
    return [name for name, kind in KERNELS.items() if needs(kind) and kind not in kinds]
