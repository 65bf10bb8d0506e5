"""Values of kernel expansions at many points."""

import cython
import numpy as np

from colk._engine.c_types import ConstMatrix, Matrix
from colk._engine.contracts import KernelContract
from colk._engine.simd import loops

__all__ = ["evaluate"]

# Number of points that are evaluated together.
PANEL: int = 16


# cpdef
def evaluate(
    kernel: KernelContract,
    atoms: ConstMatrix,
    n: int,
    weights: ConstMatrix,
    row: int,
    X: ConstMatrix,
    out: Matrix,
) -> int:
    """Write out[i, c] = Σ_j weights[row + c, j] κ(atom_j, X_i), without the interpreter's lock.

    `kernel` is bound to the features of X; atoms and weights are stored in whole vectors, with
    weights of 0 after the first n. Memory beyond the result is O(n).
    """
    start, panel = 0, np.empty((PANEL * (1 + kernel.depth), n // 8 * 8 + 8))  # type: int, Matrix
    with cython.nogil:
        while start < X.shape[0]:
            size: int = min(PANEL, X.shape[0] - start)
            kernel.columns(atoms, n, X[start:], size, panel, 0)
            for b in range(size):
                for c in range(out.shape[1]):
                    out[start + b, c] = loops.dot(weights, row + c, panel, b, n)
            start += size
    return 0
