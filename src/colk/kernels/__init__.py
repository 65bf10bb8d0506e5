"""Kernels κ(u, v), which define the space of functions that a learner searches.

Kernels are frozen, and sums, products and positive scalings of kernels are kernels:
`0.5 * Gaussian(0.1) + Linear() * Linear()`. `KERNELS` lists the built-in kernels by name.
"""

from colk.kernels.algebra import Product, Scaled, Sum
from colk.kernels.base import Kernel
from colk.kernels.custom import CustomKernel
from colk.kernels.inner_product import Constant, Linear, Polynomial
from colk.kernels.mahalanobis import Mahalanobis
from colk.kernels.mixed import Mixed
from colk.kernels.one_hot import OneHotPolynomial
from colk.kernels.stationary import Gaussian, Laplacian, Matern, RationalQuadratic

__all__ = [
    "KERNELS",
    "Constant",
    "CustomKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mahalanobis",
    "Matern",
    "Mixed",
    "OneHotPolynomial",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sum",
]

KERNELS: dict[str, type[Kernel]] = {
    "constant": Constant,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "matern": Matern,
    "polynomial": Polynomial,
    "rational_quadratic": RationalQuadratic,
}
