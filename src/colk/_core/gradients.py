"""Compiled gradients of expansions with respect to their input.

Each leaf κ(u, v) has ∂κ/∂v_k = slope · direction_k, where the slope is one number for the pair:

    of the squared distance    direction_k = (u_k − v_k) / bandwidth_k²
    Laplacian                  direction_k = sign(u_k − v_k) / bandwidth_k
    of the inner product       direction_k = u_k

Where a kernel has a kink the slope in the middle is taken: the Laplacian's is 0 in a coordinate
where u_k = v_k, and that of Matérn 1/2 is 0 where u = v.
"""

import math

import numpy as np

from colk._core import kernels
from colk._core.jit import call_at, data_of, jit
from colk._core.kernels import exponential, leaf_column, power, scale_stride, scaled_statistic
from colk._validation import Array

__all__ = ["gradient"]


@jit
def _matern_slopes(code: int, out: Array) -> None:
    for j in range(out.size):
        r = math.sqrt(out[j])
        if code == kernels.MATERN_12:
            out[j] = exponential(-r) / r if r > 0.0 else 0.0
        elif code == kernels.MATERN_32:
            out[j] = 3.0 * exponential(-math.sqrt(3.0) * r)
        else:
            s = min(math.sqrt(5.0) * r, kernels.FAR)
            out[j] = 5.0 / 3.0 * (1.0 + s) * exponential(-s)


@jit
def _leaf_slopes(program: Array, at: int, atoms: Array, x: Array, out: Array) -> None:
    """out[j] = slope of the leaf that starts at `at` for the pair (atom_j, x)."""
    code, n = int(program[at]), out.size
    scaled_statistic(program, at, atoms, n, x, out)
    if code == kernels.GAUSSIAN:
        for j in range(n):
            out[j] = exponential(-0.5 * out[j])
    elif code <= kernels.MATERN_52:
        _matern_slopes(code, out)
    elif code == kernels.RATIONAL_QUADRATIC:
        shape = program[at + 1 + int(program[at + 1])]
        for j in range(n):
            out[j] = (1.0 + out[j] / (2.0 * shape)) ** (-shape - 1.0)
    elif code == kernels.LAPLACIAN:
        for j in range(n):
            out[j] = exponential(-out[j])
    elif code == kernels.POLYNOMIAL:
        degree, offset = int(program[at + 2]), program[at + 3]
        for j in range(n):
            out[j] = degree * power(out[j] + offset, degree - 1)
    else:
        out[:] = 1.0


@jit
def _direction(code: int, scale: float, atom: float, x: float) -> float:
    if code <= kernels.RATIONAL_QUADRATIC:
        return (atom - x) * scale * scale
    if code == kernels.LAPLACIAN:
        return float(np.sign(atom - x)) * scale
    return atom


@jit
def _add_leaf(
    program: Array, at: int, atoms: Array, weights: Array, x: Array, others: Array, out: Array
) -> None:
    """out[c, k] += Σ_j weights[c, j] · others[j] · slope_j · direction_jk; spends `others`."""
    code, n, stride = int(program[at]), others.size, scale_stride(program, at)
    slopes = np.empty(n)
    _leaf_slopes(program, at, atoms, x, slopes)
    for j in range(n):
        others[j] *= slopes[j]
    for k in range(x.size):
        scale = program[at + 2 + k * stride] if code <= kernels.LAPLACIAN else 1.0
        for j in range(n):
            slopes[j] = others[j] * _direction(code, scale, atoms[k, j], x[k])
        for c in range(weights.shape[0]):
            total = 0.0
            for j in range(n):
                total += weights[c, j] * slopes[j]
            out[c, k] += total


@jit
def _add_custom(
    address: int, atoms: Array, weights: Array, x: Array, others: Array, out: Array
) -> None:
    """As `_add_leaf`, for a user's gradient: it reads v and writes ∂κ/∂v right behind it."""
    size = x.size
    atom, point_and_result = np.empty(size), np.empty(2 * size)
    point_and_result[:size] = x
    there, here = data_of(atom), data_of(point_and_result)
    for j in range(others.size):
        for k in range(size):
            atom[k] = atoms[k, j]
        call_at(address, (there, here, size))
        for c in range(weights.shape[0]):
            for k in range(size):
                out[c, k] += weights[c, j] * others[j] * point_and_result[size + k]


@jit
def _add_term(
    program: Array, at: int, atoms: Array, weights: Array, x: Array, out: Array, scratch: Array
) -> int:
    """Add one term's gradient by the product rule; returns where the next term starts."""
    n, n_leaves, first = atoms.shape[1], int(program[at + 1]), at + 2
    others, values = np.empty(n), np.empty(n)
    end = first
    for chosen in range(n_leaves):
        others[:] = program[at]
        end, position = first, first
        for leaf in range(n_leaves):
            if leaf == chosen:
                position = end
            else:
                leaf_column(program, end, atoms, n, x, values, scratch)
                others *= values
            end += 2 + int(program[end + 1])
        if int(program[position]) == kernels.CUSTOM:
            _add_custom(int(program[position + 3]), atoms, weights, x, others, out)
        else:
            _add_leaf(program, position, atoms, weights, x, others, out)
    return end


@jit
def gradient(program: Array, atoms: Array, weights: Array, X: Array, out: Array) -> None:
    """out[i, c] = gradient at X_i of Σ_j weights[c, j] κ(atom_j, ·).

    `atoms` is (p, M), `weights` is (q, M), `X` is (n, p), `out` is (n, q, p). At a kink the
    slope is 0: see the module's docstring.
    """
    p, m = atoms.shape
    scratch = np.empty((3, max(m, p)))
    out[:] = 0.0
    for i in range(X.shape[0]):
        end = 0
        for _ in range(int(program[0])):
            end = _add_term(program, end + 1, atoms, weights, X[i], out[i], scratch) - 1
