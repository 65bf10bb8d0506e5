"""Random Fourier features: frequencies drawn from the spectral law of a kernel.

A shift-invariant kernel is κ(u, v) = κ(0)·E cos(ωᵀ(u − v)) (Bochner). The features are √(2κ(0))
cos(ωᵀx + b), with b uniform in [0, 2π); the mean of their products is κ. The law of ω is the
kernel's `add_frequency`. Feature i depends only on i and the seed, so it can be drawn again at any
time. Angles are in turns; one turn is 2π.
"""

import math

import cython
import numpy as np

from colk._engine import counter_rng
from colk._engine.buffers import zeros
from colk._engine.c_types import ConstMatrix, Matrix, Readonly, Vector, Word
from colk._engine.contracts import KernelContract
from colk._engine.simd import loops

__all__ = ["Spectrum", "fourier_rows"]


class Spectrum:
    """The features of a kernel and a seed, for points with `n_features` features."""

    amplitude: Readonly[float]  # √(2κ(0))
    frequency: Vector  # (p,): frequency of the feature that was drawn last
    kernel: Readonly[KernelContract]
    seed: Readonly[Word]

    def __init__(self, kernel: KernelContract, seed: int, n_features: int) -> None:
        self.kernel = kernel.bind(n_features)
        self.seed = seed
        self.amplitude = math.sqrt(2.0 * kernel.peak)
        self.frequency = zeros(n_features)

    def __reduce__(self) -> tuple[type["Spectrum"], tuple[KernelContract, int, int]]:
        return Spectrum, (self.kernel, self.seed, self.frequency.shape[0])

    def feature(self, i: Word) -> float:  # cdef
        """Draw feature i: store its frequency and return its phase."""
        stream: Word = counter_rng.mixed(self.seed, i)
        for k in range(self.frequency.shape[0]):
            self.frequency[k] = 0.0
        self.kernel.add_frequency(counter_rng.mixed(stream, 0), self.frequency)
        for k in range(self.frequency.shape[0]):
            self.frequency[k] /= 2.0 * math.pi
        return counter_rng.uniform(counter_rng.mixed(stream, -1), 1)

    def draw(self, n: int, waves: Matrix) -> int:  # cpdef
        """Write the first n frequencies, feature by feature, and phases into waves (p + 1, n)."""
        last: int = self.frequency.shape[0]
        for i in range(n):
            waves[last, i] = self.feature(i)
            for k in range(last):
                waves[k, i] = self.frequency[k]
        return 0

    def turns(self, phase: float, points: ConstMatrix, b: int) -> float:  # cdef noexcept
        """Return ωᵀx_b + phase, for the frequency that was drawn last."""
        for k in range(points.shape[1]):
            phase += self.frequency[k] * points[b, k]
        return phase

    def redraw(self, n: int, points: ConstMatrix, columns: Matrix) -> int:  # cdef
        """Write columns[b, i] = φ_i(x_b), rows of whole vectors; draws all n features again."""
        for i in range(n):
            phase: float = self.feature(i)
            for b in range(points.shape[0]):
                columns[b, i] = self.turns(phase, points, b)
        for b in range(points.shape[0]):
            loops.cosines(columns, b, self.amplitude, n)
        return 0

    # cpdef
    def evaluate(self, weights: ConstMatrix, row: int, n: int, X: ConstMatrix, out: Matrix) -> int:
        """Write out[r, c] = Σ_i weights[row + c, i] φ_i(x_r); each of n features is drawn once."""
        np.asarray(out)[:] = 0.0
        values: Matrix = np.zeros((1, (X.shape[0] + 7) & -8))
        with cython.nogil:
            for i in range(n):
                phase: float = self.feature(i)
                for b in range(X.shape[0]):
                    values[0, b] = self.turns(phase, X, b)
                loops.cosines(values, 0, self.amplitude, X.shape[0])
                for b in range(X.shape[0]):
                    for c in range(out.shape[1]):
                        out[b, c] += weights[row + c, i] * values[0, b]
        return 0


# cpdef
def fourier_rows(
    waves: Matrix, n: int, scale: float, X: ConstMatrix, row: Matrix, out: Matrix
) -> int:
    """Write out[r, i] = scale·cos(ω_iᵀx_r + b_i) row by row, so chunks do not change the result.

    Rows of `waves` and the scratch `row` (1, …) are whole vectors.
    """
    last: int = X.shape[1]
    for r in range(X.shape[0]):
        for i in range(n):
            row[0, i] = waves[last, i]
        for k in range(last):
            loops.add(row, 0, waves, k, X[r, k], n)
        loops.cosines(row, 0, scale, n)
        for i in range(n):
            out[r, i] = row[0, i]
    return 0
