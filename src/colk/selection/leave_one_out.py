"""Leave-one-out residuals of a kernel ridge regression on given atoms."""

from typing import NamedTuple

import numpy as np

from colk._engine.factors import factorise, invert_triangle, whiten
from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.kernels import Kernel

__all__ = ["LeftOut", "leave_one_out"]

# Share that is added to the diagonal, because rounding errors matter if atoms coincide.
_JITTER = 1e-10
# Samples of a block; threads share the blocks.
_BLOCK = 512


class LeftOut(NamedTuple):
    """A ridge regression f = Σ w_j κ(d_j, ·) and its leave-one-out residuals.

    Examples
    --------
    >>> LeftOut(np.zeros((1, 1)), np.array([[0.5]])).weights
    array([[0.5]])
    """

    residuals: Array  # (n, q): y − f(x), with f fitted without this sample
    weights: Array  # (m, q): of the atoms, with f fitted to all samples


def leave_one_out(
    kernel: Kernel, X: Array, Y: Array, weight: Array, atoms: Array, ridge: float
) -> LeftOut:
    """Fit a ridge regression without each of the samples in turn, in closed form.

    f minimises Σ w‖y − f(x)‖² + ridge·‖f‖² in the span of the atoms: with k = κ(D, x) its weights
    are A⁻¹ Σ w k yᵀ, where A = Σ w k kᵀ + ridge·K. Leaving a sample out divides its residual by
    1 − h, where h = w kᵀA⁻¹k is the leverage of the sample.

    Parameters
    ----------
    kernel : Kernel
        κ.
    X, Y : array of shape (n, p) and (n, q)
        Samples.
    weight : array of shape (n,)
        Their weights, above 0.
    atoms : array of shape (m, p)
        D.
    ridge : float
        Factor of ‖f‖²; the factor of a sample is its weight.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X, Y = np.array([[0.0], [9.0]]), np.array([[1.0], [2.0]])
    >>> left_out = leave_one_out(Gaussian(1.0), X, Y, np.ones(2), X, ridge=1.0)
    >>> left_out.residuals.round(3).ravel(), left_out.weights.round(3).ravel()
    (array([1., 2.]), array([0.5, 1. ]))
    """
    roots = np.sqrt(weight)[:, None]
    targets = roots * Y
    blocks = [slice(k, k + _BLOCK) for k in range(0, len(X), _BLOCK)]

    def table_and_square(rows: slice) -> tuple[Array, Array]:
        table = kernel.gram(X[rows], atoms)
        table *= roots[rows]
        return table, table.T @ table

    tables, squares = zip(*map_in_threads(table_and_square, blocks), strict=True)
    A = sum(squares[1:], start=squares[0])
    A += ridge * kernel.gram(atoms)
    A[np.diag_indices_from(A)] *= 1.0 + _JITTER
    if not factorise(A):
        raise np.linalg.LinAlgError("the kernel values of the atoms overflow or are not finite")
    # A product with the inverse takes half the time of a solve for this many samples.
    invert_triangle(A)

    def whitened(table: Array) -> Array:
        whiten(A, table)
        return np.asarray(np.einsum("ij,ij->i", table, table))

    shares = np.concatenate(map_in_threads(whitened, tables))
    parts = [Q.T @ targets[rows] for Q, rows in zip(tables, blocks, strict=True)]
    fitted = sum(parts[1:], start=parts[0])
    rest = targets - np.concatenate([Q @ fitted for Q in tables])
    shares = np.minimum(shares, 1.0 - _JITTER)[:, None]
    return LeftOut(rest / ((1.0 - shares) * roots), np.tril(A).T @ fitted)
