"""Invalid input to kernels and functions gives one clear error."""

import numpy as np
import pytest

from colk.kernels import (
    Constant,
    CustomKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)
from colk.rkhs.expansion import KernelExpansion

F = KernelExpansion(Gaussian(1.0), [[0.0, 0.0], [1.0, 1.0]], [1.0, -1.0])
PAIR = KernelExpansion(Gaussian(1.0), [[0.0, 0.0]], [[1.0, 2.0]])
CLOSED = CustomKernel(lambda u, v: 1.0)

# Whatever takes points refuses each of these.
POINTS = {
    "NaN": ([[0.0, np.nan]], ValueError, "contains NaN"),
    "infinity": ([[np.inf, 0.0]], ValueError, "contains infinity"),
    "complex": ([[0.0, 1j]], TypeError, "is complex"),
    "strings": ([["a", "b"]], TypeError, "must hold real numbers"),
    "ragged": ([[0.0], [0.0, 1.0]], ValueError, "is ragged"),
    "object array": (np.array([[0.0, None]], dtype=object), TypeError, "must hold real numbers"),
    "a dict": ({}, TypeError, "must hold real numbers"),
    "a number": (0.0, ValueError, r"must have shape \(n_points, n_features\)"),
    "a vector": ([0.0, 1.0], ValueError, "use .reshape"),
    "a cube": (np.zeros((1, 1, 2)), ValueError, r"must have shape \(n_points, n_features\)"),
    "no features": (np.zeros((3, 0)), ValueError, "has no features"),
}
TAKERS = {
    "gram": lambda points: Gaussian(1.0).gram(points),
    "second of gram": lambda points: Gaussian(1.0).gram([[0.0, 0.0]], points),
    "call": lambda points: Linear()(points),
    "column": lambda points: Linear().column(points, [0.0, 0.0]),
    "diagonal": lambda points: Linear().diagonal(points),
    "atoms": lambda points: KernelExpansion(Linear(), points, [1.0]),
    "f(X)": F,
    "gradient": F.gradient,
}


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("taker", TAKERS)
def test_points(taker, points):
    given, kind, message = POINTS[points]
    with pytest.raises(kind, match=message):
        TAKERS[taker](given)


def gaussian(bandwidth):
    return lambda: Gaussian(bandwidth)


BAD = {
    # bandwidths and other parameters
    "zero bandwidth": (gaussian(0.0), ValueError, "bandwidth must be finite and greater than 0"),
    "negative bandwidth": (gaussian(-1.0), ValueError, "greater than 0, got -1.0"),
    "NaN bandwidth": (gaussian(np.nan), ValueError, "bandwidth must be finite"),
    "infinite bandwidth": (gaussian(np.inf), ValueError, "bandwidth must be finite"),
    "bandwidth without inverse": (gaussian(1e-320), ValueError, "its inverse overflows"),
    "text bandwidth": (gaussian("wide"), TypeError, "bandwidth must be a real number, got str"),
    "no bandwidth": (gaussian(None), TypeError, "bandwidth must be a real number"),
    "complex bandwidth": (gaussian(1j), TypeError, "bandwidth must be a real number"),
    "boolean bandwidth": (gaussian(True), TypeError, "bandwidth must be a real number"),
    "bandwidths with a zero": (gaussian([1.0, 0.0]), ValueError, r"bandwidth\[1\] must be finite"),
    "bandwidths with NaN": (gaussian([1.0, np.nan]), ValueError, "bandwidth contains NaN"),
    "empty bandwidths": (gaussian([]), ValueError, "bandwidth is empty"),
    "matrix of bandwidths": (gaussian([[1.0]]), ValueError, "bandwidth must be a vector"),
    "Laplacian bandwidth": (lambda: Laplacian(0.0), ValueError, "bandwidth must be"),
    "Matern bandwidth": (lambda: Matern(0.0), ValueError, "bandwidth must be"),
    "Matern nu": (lambda: Matern(1.0, nu=2.0), ValueError, "nu must be 0.5, 1.5 or 2.5, got 2.0"),
    "Matern text nu": (lambda: Matern(1.0, nu="3/2"), TypeError, "nu must be a real number"),
    "zero shape": (lambda: RationalQuadratic(1.0, 0.0), ValueError, "shape must be finite and"),
    "zero degree": (lambda: Polynomial(0), ValueError, "degree must be at least 1"),
    "fractional degree": (lambda: Polynomial(1.5), TypeError, "degree must be a whole number"),
    "negative offset": (lambda: Polynomial(2, -1.0), ValueError, "offset must be finite and at l"),
    "negative constant": (lambda: Constant(-1.0), ValueError, "value must be finite and at least"),
    "negative scaling": (lambda: -1.0 * Linear(), ValueError, "factor of a kernel must be"),
    "NaN scaling": (lambda: Linear() * np.nan, ValueError, "factor of a kernel must be"),
    "text scaling": (lambda: Scaled(Linear(), "2"), TypeError, "must be a real number"),
    "scaling of a number": (lambda: Scaled(2.0, 2.0), TypeError, "must be a Kernel"),
    "kernel plus number": (lambda: Linear() + 1.0, TypeError, "unsupported operand"),
    "kernel times text": (lambda: Linear() * "2", TypeError, "can't multiply|unsupported operand"),
    "kernel times array": (lambda: np.ones(2) * Linear(), TypeError, "unsupported operand"),
    "sum of numbers": (lambda: Sum((1.0, 2.0)), TypeError, "parts must be kernels, got float"),
    "sum of nothing": (lambda: Sum(()), ValueError, "Sum needs at least one kernel"),
    "product of nothing": (lambda: Product(()), ValueError, "Product needs at least one kernel"),
    "custom number": (
        lambda: CustomKernel(1.0),
        TypeError,
        "function must be a function, got float",
    ),
    "custom slope": (
        lambda: CustomKernel(abs, 1.0),
        TypeError,
        "gradient must be a function, got float",
    ),
    # shapes that do not fit each other
    "bandwidths for points": (
        lambda: Gaussian([1.0, 2.0])([[0.0]]),
        ValueError,
        "has 2 bandwidths, one for each feature, but the points have 1 features",
    ),
    "bandwidths for atoms": (
        lambda: KernelExpansion(Matern([1.0, 2.0]), [[0.0]], [1.0]),
        ValueError,
        "Matern has 2 bandwidths",
    ),
    "gram of two widths": (
        lambda: Linear()([[0.0]], [[0.0, 1.0]]),
        ValueError,
        "V has 2 features, expected 1",
    ),
    "column width": (lambda: Linear().column([[0.0]], [0.0, 1.0]), ValueError, "x has 2 entries"),
    "column matrix": (lambda: Linear().column([[0.0]], [[0.0]]), ValueError, "x must be a vector"),
    "column NaN": (lambda: Linear().column([[0.0]], [np.nan]), ValueError, "x contains NaN"),
    "predict width": (lambda: F([[0.0]]), ValueError, "X has 1 features, expected 2"),
    "gradient width": (lambda: F.gradient([[0.0] * 3]), ValueError, "X has 3 features, expected 2"),
    "weights too few": (
        lambda: KernelExpansion(Linear(), [[0.0], [1.0]], [1.0]),
        ValueError,
        "weights has 1 rows, expected 2",
    ),
    "weights without outputs": (
        lambda: KernelExpansion(Linear(), [[0.0]], np.zeros((1, 0))),
        ValueError,
        r"weights must have shape \(n,\)",
    ),
    "weights a cube": (
        lambda: KernelExpansion(Linear(), [[0.0]], [[[1.0]]]),
        ValueError,
        r"weights must have shape \(n,\)",
    ),
    "weights NaN": (lambda: KernelExpansion(Linear(), [[0.0]], [np.nan]), ValueError, "weights c"),
    "weights text": (lambda: KernelExpansion(Linear(), [[0.0]], ["1"]), TypeError, "weights must"),
    "weights complex": (lambda: KernelExpansion(Linear(), [[0.0]], [1j]), TypeError, "weights is"),
    "weights ragged": (
        lambda: KernelExpansion(Linear(), [[0.0], [1.0]], [[1.0], [1.0, 2.0]]),
        ValueError,
        "weights is ragged",
    ),
    "no kernel": (lambda: KernelExpansion("rbf", [[0.0]], [1.0]), TypeError, "must be a Kernel"),
    "zero of no features": (lambda: KernelExpansion.zero(Linear(), 0), ValueError, "n_features"),
    "zero of no outputs": (lambda: KernelExpansion.zero(Linear(), 1, 0), ValueError, "n_outputs"),
    # functions that do not fit each other
    "other kernels": (
        lambda: F + KernelExpansion(Gaussian(2.0), [[0.0, 0.0]], [1.0]),
        ValueError,
        r"different spaces.*Gaussian\(bandwidth=1.0\) and Gaussian\(bandwidth=2.0\)",
    ),
    "other features": (
        lambda: F.inner(KernelExpansion(Gaussian(1.0), [[0.0]], [1.0])),
        ValueError,
        "have 2 and 1 features",
    ),
    "other outputs": (lambda: F.distance(PAIR), ValueError, "outputs of different shapes"),
    "difference of outputs": (lambda: F - PAIR, ValueError, "outputs of different shapes"),
    "inner of a number": (lambda: F.inner(1.0), TypeError, "expected a KernelExpansion, got float"),
    "function plus number": (lambda: F + 1.0, TypeError, "unsupported operand"),
    "function minus number": (lambda: F - 1.0, TypeError, "unsupported operand"),
    "function times function": (lambda: F * F, TypeError, "unsupported operand"),
    "function times array": (lambda: np.ones(2) * F, TypeError, "unsupported operand"),
    "function times NaN": (lambda: np.nan * F, ValueError, "factor of a function must be finite"),
    "function by zero": (lambda: F / 0, ZeroDivisionError, "divided by zero"),
    "function by text": (lambda: F / "2", TypeError, "unsupported operand"),
    "gradient of own code": (
        lambda: KernelExpansion(CLOSED, [[0.0]], [1.0]).gradient([[0.0]]),
        TypeError,
        "has no gradient",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_clear_error(name):
    make, kind, message = BAD[name]
    with pytest.raises(kind, match=message):
        make()
