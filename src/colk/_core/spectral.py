"""Random Fourier features: frequencies drawn from the spectral law of a kernel.

A shift-invariant kernel is κ(u, v) = κ(0)·E cos(ωᵀ(u − v)) (Bochner), so that the features
√(2κ(0)) cos(ωᵀx + b), with b uniform in [0, 2π), have κ as the mean of their products. The law of
ω for the leaves of a kernel's program, in units of the inverse bandwidth:

    GAUSSIAN             standard normal
    MATERN_ν             multivariate t with 2ν degrees of freedom
    RATIONAL_QUADRATIC   normal, times the root of a gamma variable of this shape and mean 1
    LAPLACIAN            a Cauchy variable for each feature

A product of leaves adds their frequencies; a sum of terms is a mixture. Feature i of a seed
depends on both and on nothing else: it can be drawn again whenever it is needed.
"""

import math

import numpy as np

from colk._core.jit import inner, jit, piece
from colk._core.kernels import GAUSSIAN, LAPLACIAN, RATIONAL_QUADRATIC, scale_stride
from colk._core.random import gamma, mixed, normal, uniform
from colk._validation import Array

__all__ = ["amplitude", "cosine", "draw_feature", "draw_features", "fourier_rows"]

# sin y = y Σ_k S_k y^{2k}, cut where the rest is below 3e-16 on [−π/2, π/2].
S1, S2, S3 = -1.0 / math.factorial(3), 1.0 / math.factorial(5), -1.0 / math.factorial(7)
S4, S5, S6 = 1.0 / math.factorial(9), -1.0 / math.factorial(11), 1.0 / math.factorial(13)
S7, S8, S9 = -1.0 / math.factorial(15), 1.0 / math.factorial(17), -1.0 / math.factorial(19)


@piece
def cosine(turns: float) -> float:
    """cos(2π·turns), without a call, so that loops over it vectorise."""
    folded = 0.25 - abs(turns - np.floor(turns + 0.5))
    y = 2.0 * math.pi * folded
    s = y * y
    tail = S5 + s * (S6 + s * (S7 + s * (S8 + s * S9)))
    return y * (1.0 + s * (S1 + s * (S2 + s * (S3 + s * (S4 + s * tail)))))


@piece
def amplitude(program: Array) -> float:
    """√(2κ(0)): the coefficients of the terms add up to κ(0)."""
    total, at = 0.0, 1
    for _ in range(int(program[0])):
        total += program[at]
        n_leaves = int(program[at + 1])
        at += 2
        for _ in range(n_leaves):
            at += 2 + int(program[at + 1])
    return math.sqrt(2.0 * total)


@inner
def _stretch(program: Array, at: int, seed: int) -> float:
    """The factor that turns normal frequencies into those of the leaf."""
    code = int(program[at])
    if code == GAUSSIAN:
        return 1.0
    if code == RATIONAL_QUADRATIC:
        shape = program[at + 1 + int(program[at + 1])]
        return math.sqrt(gamma(seed, shape) / shape)
    freedom = 2 * code - 1  # Matérn: 2ν
    squares = 0.0
    for i in range(freedom):
        squares += normal(seed, i) ** 2
    return math.sqrt(freedom / squares)


@inner
def _add_leaf(program: Array, at: int, seed: int, out: Array) -> None:
    stride = scale_stride(program, at)
    if int(program[at]) == LAPLACIAN:
        for k in range(out.size):
            out[k] += math.tan(math.pi * (uniform(seed, k) - 0.5)) * program[at + 2 + k * stride]
        return
    factor = _stretch(program, at, mixed(seed, -1))
    for k in range(out.size):
        out[k] += normal(seed, k) * factor * program[at + 2 + k * stride]


@inner
def draw_feature(program: Array, seed: int, i: int, out: Array) -> float:
    """Write frequency i, in turns, into `out` (p,); returns its phase, in turns."""
    stream = mixed(seed, i)
    own = mixed(stream, -1)
    for k in range(out.size):
        out[k] = 0.0
    chosen = uniform(own, 0) * 0.5 * amplitude(program) ** 2
    at = 1
    for _ in range(int(program[0])):
        coefficient, n_leaves = program[at], int(program[at + 1])
        taken = chosen < coefficient
        at += 2
        for leaf in range(n_leaves):
            if taken:
                _add_leaf(program, at, mixed(stream, leaf), out)
            at += 2 + int(program[at + 1])
        chosen = np.inf if taken else chosen - coefficient
    for k in range(out.size):
        out[k] /= 2.0 * math.pi
    return uniform(own, 1)


@jit
def draw_features(program: Array, seed: int, frequencies: Array, phases: Array) -> float:
    """Fill `frequencies` (p, D) and `phases` (D,), in turns; returns the amplitude √(2κ(0)/D)."""
    frequency = np.empty(frequencies.shape[0])
    for i in range(phases.size):
        phases[i] = draw_feature(program, seed, i, frequency)
        for k in range(frequency.size):
            frequencies[k, i] = frequency[k]
    return amplitude(program) / math.sqrt(phases.size)


@jit
def fourier_rows(frequencies: Array, phases: Array, scale: float, X: Array, out: Array) -> None:
    """out[r, i] = scale·cos(2π(ω_iᵀx_r + b_i)), row by row: chunks cannot change the result."""
    for row in range(X.shape[0]):
        for i in range(phases.size):
            out[row, i] = phases[i]
        for k in range(X.shape[1]):
            x = X[row, k]
            for i in range(phases.size):
                out[row, i] += frequencies[k, i] * x
        for i in range(phases.size):
            out[row, i] = scale * cosine(out[row, i])
