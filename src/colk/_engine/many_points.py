"""Values at many points: blocks of points, which threads share."""

from collections import deque

from colk._engine.buffers import plain
from colk._engine.contracts import KernelContract
from colk._engine.evaluation import evaluate
from colk._engine.thread_pool import each_in_threads
from colk._validation import Array

__all__ = ["evaluate_many"]

# Kernel values per block, about a millisecond of work, and the least number of points per block.
# With few atoms, starting a smaller block would take longer than evaluating it. Python handles an
# interrupt between two blocks.
_VALUES, _LEAST_BLOCK = 2**20, 2048

# With more kernel values than this, about three milliseconds of work, threads save more than it
# takes to start them, also if threads of BLAS still wait for work on the other cores.
_LARGE = 3 * 2**20


def evaluate_many(
    kernel: KernelContract, atoms: Array, n: int, weights: Array, row: int, X: Array, out: Array
) -> None:
    """Write out[i, c] = Σ_j weights[row + c, j] κ(atom_j, X_i), as `evaluate` does.

    Examples
    --------
    >>> import numpy as np
    >>> from colk._engine.buffers import aligned
    >>> from colk.kernels import Gaussian
    >>> atoms, weights, out = aligned(1, 8), aligned(1, 8), np.empty((2, 1))
    >>> weights[0, 0] = 2.0
    >>> evaluate_many(Gaussian(1.0).bind(1), atoms, 1, weights, 0, np.array([[0.0], [9.0]]), out)
    >>> out.round(3).ravel()
    array([2., 0.])
    """
    block = max(_VALUES // max(n, X.shape[1]), _LEAST_BLOCK)

    def fill(start: int) -> None:
        near, values = plain(X[start : start + block]), out[start : start + block]
        evaluate(kernel, atoms, n, weights, row, near, values)

    is_large = out.size * n > _LARGE and len(X) > block
    deque((each_in_threads if is_large else map)(fill, range(0, len(X), block)), 0)
