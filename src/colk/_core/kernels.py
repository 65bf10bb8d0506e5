"""Compiled kernels: columns, Gram matrices and expansions.

A kernel reaches this module as a *program*, one float64 vector that spells out a sum of products

    κ(u, v) = Σ_terms coefficient · Π_leaves leaf(u, v)

    program = [n_terms, term, term, ...]
    term    = [coefficient, n_leaves, leaf, leaf, ...]
    leaf    = [code, n_constants, constants ...]

so that one compiled specialisation serves every sum, product and scaling of kernels. A constant
kernel is a term without leaves. The constants of a leaf are

    GAUSSIAN, LAPLACIAN, MATERN_*   inverse bandwidths: one, or one for each feature
    RATIONAL_QUADRATIC              inverse bandwidths, then the shape
    POLYNOMIAL                      degree, offset
    LINEAR                          none
    CUSTOM                          addresses of κ and of its gradient (0: none)

Addresses have 48 bits and are exact in a float64. Atoms are stored feature-major, (p, capacity),
so that the loops run, vectorised, over atoms; points are point-major, (n, p). Distances are sums
of squared differences: the expanded form loses 3e-4 at a feature offset of 7e5.
"""

import math

import numpy as np

from colk._core.jit import (
    bits_of,
    call_at,
    data_of,
    float_of,
    inner,
    jit,
    matrix_at,
    piece,
    strict,
    unit,
    vector_at,
)
from colk._validation import Array

__all__ = [
    "CUSTOM",
    "GAUSSIAN",
    "LAPLACIAN",
    "LINEAR",
    "MATERN_12",
    "MATERN_32",
    "MATERN_52",
    "POLYNOMIAL",
    "RATIONAL_QUADRATIC",
    "column",
    "column_for",
    "diagonals",
    "evaluate",
    "exponential",
    "gram",
    "leaf_column",
    "power",
    "scale_stride",
    "scaled_statistic",
]

GAUSSIAN = 0
MATERN_12 = 1
MATERN_32 = 2
MATERN_52 = 3
RATIONAL_QUADRATIC = 4  # the last of those that depend on the squared distance
LAPLACIAN = 5
POLYNOMIAL = 6
LINEAR = 7
CUSTOM = 8

LOG2_E = 1.0 / math.log(2.0)
# log 2 in two parts: the first has 32 bits, so that its products with whole numbers are exact.
LOG_2_HIGH = 0.6931471803691238
LOG_2_LOW = 1.9082149292705877e-10
INVERSE_FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(14))

# exp(-800) is 0 in float64, and a finite argument keeps (1 + s)·exp(-s) from being inf·0.
FAR = 800.0


@strict
def exponential(x: float) -> float:
    """e^x for x ≤ 0, to 1.5 units in the last place; 0 below e^−708, where float64 thins out.

    x = n log 2 + r with |r| ≤ log 2/2, e^r by its Taylor series, 2^n by its bits: no branch and no
    call, so that a loop over it vectorises. It takes a sixth of the time of the C library's.
    """
    n = math.floor(x * LOG2_E + 0.5)
    r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW
    series = INVERSE_FACTORIALS[13]
    for k in range(12, -1, -1):
        series = series * r + INVERSE_FACTORIALS[k]
    # Adding 1.5·2⁵² leaves n in the low bits; 2^n has the exponent n + 1023.
    power_of_two = float_of((bits_of(n + 6755399441055744.0) + 1023) << 52)
    return series * power_of_two if x > -708.0 else 0.0


@piece
def power(base: float, degree: int) -> float:
    """base^degree by squaring, for a whole degree ≥ 0."""
    result = 1.0
    while degree > 0:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


@inner
def _squared_distances(
    program: Array, first: int, stride: int, atoms: Array, n: int, x: Array, out: Array
) -> None:
    scale, centre = program[first], x[0]
    for j in range(n):
        difference = (atoms[0, j] - centre) * scale
        out[j] = difference * difference
    for k in range(1, x.size):
        scale, centre = program[first + k * stride], x[k]
        for j in range(n):
            difference = (atoms[k, j] - centre) * scale
            out[j] += difference * difference


@piece
def _absolute_distances(
    program: Array, first: int, stride: int, atoms: Array, n: int, x: Array, out: Array
) -> None:
    scale, centre = program[first], x[0]
    for j in range(n):
        out[j] = abs(atoms[0, j] - centre) * scale
    for k in range(1, x.size):
        scale, centre = program[first + k * stride], x[k]
        for j in range(n):
            out[j] += abs(atoms[k, j] - centre) * scale


@piece
def _inner_products(atoms: Array, n: int, x: Array, out: Array) -> None:
    factor = x[0]
    for j in range(n):
        out[j] = atoms[0, j] * factor
    for k in range(1, x.size):
        factor = x[k]
        for j in range(n):
            out[j] += atoms[k, j] * factor


@piece
def scale_stride(program: Array, at: int) -> int:
    """0 where one inverse bandwidth serves all features, 1 where each has its own."""
    n_scales = int(program[at + 1])
    if int(program[at]) == RATIONAL_QUADRATIC:
        n_scales -= 1
    return 0 if n_scales == 1 else 1


@inner
def scaled_statistic(program: Array, at: int, atoms: Array, n: int, x: Array, out: Array) -> None:
    """out[:n] = what the leaf at `at` depends on: scaled ‖u − v‖², scaled ‖u − v‖₁ or uᵀv."""
    code = int(program[at])
    if code <= RATIONAL_QUADRATIC:
        _squared_distances(program, at + 2, scale_stride(program, at), atoms, n, x, out)
    elif code == LAPLACIAN:
        _absolute_distances(program, at + 2, scale_stride(program, at), atoms, n, x, out)
    else:
        _inner_products(atoms, n, x, out)


@piece
def _apply_matern(code: int, out: Array, n: int) -> None:
    for j in range(n):
        r = math.sqrt(out[j])
        if code == MATERN_12:
            out[j] = exponential(-r)
        elif code == MATERN_32:
            s = min(math.sqrt(3.0) * r, FAR)
            out[j] = (1.0 + s) * exponential(-s)
        else:
            s = min(math.sqrt(5.0) * r, FAR)
            out[j] = (1.0 + s + s * s / 3.0) * exponential(-s)


@piece
def _apply_profile(program: Array, at: int, out: Array, n: int) -> None:
    """Turn the statistics in out[:n] into values of the leaf."""
    code = int(program[at])
    if code == GAUSSIAN:
        for j in range(n):
            out[j] = exponential(-0.5 * out[j])
    elif code <= MATERN_52:
        _apply_matern(code, out, n)
    elif code == RATIONAL_QUADRATIC:
        shape = program[at + 1 + int(program[at + 1])]
        for j in range(n):
            out[j] = (1.0 + out[j] / (2.0 * shape)) ** -shape
    elif code == LAPLACIAN:
        for j in range(n):
            out[j] = exponential(-out[j])
    elif code == POLYNOMIAL:
        degree, offset = int(program[at + 2]), program[at + 3]
        for j in range(n):
            out[j] = power(out[j] + offset, degree)


@piece
def _custom_column(address: int, atoms: Array, n: int, x: Array, out: Array, point: Array) -> None:
    there, here, size = data_of(point), data_of(x), x.size
    for j in range(n):
        for k in range(size):
            point[k] = atoms[k, j]
        out[j] = call_at(address, (there, here, size))


@inner
def leaf_column(
    program: Array, at: int, atoms: Array, n: int, x: Array, out: Array, scratch: Array
) -> None:
    """out[:n] = values at (atom_j, x) of the leaf that starts at `at`; uses row 2 of scratch."""
    if int(program[at]) == CUSTOM:
        _custom_column(int(program[at + 2]), atoms, n, x, out, scratch[2])
    else:
        scaled_statistic(program, at, atoms, n, x, out)
        _apply_profile(program, at, out, n)


@piece
def _sum_of_terms(
    program: Array, atoms: Array, n: int, x: Array, out: Array, scratch: Array
) -> None:
    product, values = scratch[0], scratch[1]
    for j in range(n):
        out[j] = 0.0
    at = 1
    for _ in range(int(program[0])):
        for j in range(n):
            product[j] = program[at]
        n_leaves = int(program[at + 1])
        at += 2
        for _ in range(n_leaves):
            leaf_column(program, at, atoms, n, x, values, scratch)
            at += 2 + int(program[at + 1])
            for j in range(n):
                product[j] *= values[j]
        for j in range(n):
            out[j] += product[j]


# What a unit that evaluates a column takes: the addresses of program, atoms (p, capacity), x (p,),
# out and scratch (3 rows of max(n, p) or more), each with its size; and n.
_COLUMN = "float64(" + ", ".join(["int64"] * 10) + ")"


@unit(_COLUMN)
def gaussian_column(
    program: int,
    n_words: int,
    atoms: int,
    capacity: int,
    n: int,
    x: int,
    p: int,
    out: int,
    scratch: int,
    width: int,
) -> float:
    """out[:n] = κ(atom_j, x) for a Gaussian kernel alone."""
    words, values = vector_at(program, n_words), vector_at(out, n)
    leaf = int(words[0]) + 2  # a literal would be compiled as a type of its own
    stride, point = scale_stride(words, leaf), vector_at(x, p)
    _squared_distances(words, leaf + 2, stride, matrix_at(atoms, p, capacity), n, point, values)
    for j in range(n):
        values[j] = exponential(-0.5 * values[j])
    return 0.0


@unit(_COLUMN)
def any_column(
    program: int,
    n_words: int,
    atoms: int,
    capacity: int,
    n: int,
    x: int,
    p: int,
    out: int,
    scratch: int,
    width: int,
) -> float:
    """out[:n] = κ(atom_j, x) for any kernel."""
    words, points = vector_at(program, n_words), matrix_at(atoms, p, capacity)
    point, values, rows = vector_at(x, p), vector_at(out, n), matrix_at(scratch, 3, width)
    leaf = int(words[0]) + 2
    if words[0] == 1.0 and words[1] == 1.0 and words[2] == 1.0:
        leaf_column(words, leaf, points, n, point, values, rows)
    else:
        _sum_of_terms(words, points, n, point, values, rows)
    return 0.0


def column_for(program: Array) -> int:
    """Address of the unit that evaluates columns of this kernel."""
    is_gaussian = tuple(program[:4]) == (1.0, 1.0, 1.0, float(GAUSSIAN))
    return (gaussian_column if is_gaussian else any_column).address


@piece
def column(
    unit: int, program: Array, atoms: Array, n: int, x: Array, out: Array, scratch: Array
) -> None:
    """out[:n] = κ(atom_j, x) for the first n atoms, without allocation, by `column_for(program)`.

    `atoms` is (p or more, capacity), `x` is (p,), and `scratch` offers three rows of max(n, p).
    """
    kernel = data_of(program), program.size
    where = data_of(atoms), atoms.shape[1], n, data_of(x), x.size
    call_at(unit, (*kernel, *where, data_of(out), data_of(scratch), scratch.shape[1]))


@jit
def _diagonals(unit: int, program: Array, X: Array, out: Array) -> None:
    p = X.shape[1]
    scratch = np.empty((3, p))
    for i in range(X.shape[0]):
        column(unit, program, X[i].reshape(p, 1), 1, X[i], out[i:], scratch)


@jit
def _gram(unit: int, program: Array, A: Array, B: Array, out: Array) -> None:
    m, p = B.shape
    atoms = B.T.copy()
    scratch = np.empty((3, max(m, p)))
    for i in range(A.shape[0]):
        column(unit, program, atoms, m, A[i], out[i], scratch)


@jit
def _evaluate(
    unit: int, program: Array, atoms: Array, weights: Array, X: Array, out: Array
) -> None:
    p, m = atoms.shape
    scratch = np.empty((3, max(m, p)))
    values = np.empty(m)
    for i in range(X.shape[0]):
        column(unit, program, atoms, m, X[i], values, scratch)
        for c in range(weights.shape[0]):
            total = 0.0
            for j in range(m):
                total += weights[c, j] * values[j]
            out[i, c] = total


def diagonals(program: Array, X: Array, out: Array) -> None:
    """out[i] = κ(X_i, X_i) for points X of shape (n, p)."""
    _diagonals(column_for(program), program, X, out)


def gram(program: Array, A: Array, B: Array, out: Array) -> None:
    """out[i, j] = κ(A_i, B_j) for points A of shape (n, p) and B of shape (m, p)."""
    _gram(column_for(program), program, A, B, out)


def evaluate(program: Array, atoms: Array, weights: Array, X: Array, out: Array) -> None:
    """out[i, c] = Σ_j weights[c, j] κ(atom_j, X_i), in memory O(M) beyond the result.

    `atoms` is (p, M), `weights` is (q, M), `X` is (n, p), `out` is (n, q).
    """
    _evaluate(column_for(program), program, atoms, weights, X, out)
