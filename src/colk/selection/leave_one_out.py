"""Leave-one-out residuals of a kernel ridge regression on given atoms."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from colk._engine.factors import (
    factorise,
    invert_factor,
    lengths_and_values,
    ridge_triangle,
    weigh_and_square,
    whiten_and_sum,
)
from colk._engine.thread_pool import each_in_threads
from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.table import KernelTable

__all__ = ["LeftOut", "leave_one_out", "nested_residuals", "ridge_of_all"]

Item = TypeVar("Item")
Result = TypeVar("Result")

# Share that is added to the diagonal, because rounding errors matter if atoms coincide.
_JITTER = 1e-10
# Samples of a block; threads share the blocks. One thread reads tables of at most _LARGE entries
# faster.
_BLOCK = 512
_LARGE = 2**19


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
        D, as functions keep them.
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
    whitened = _Whitened(kernel, X, Y, weight, atoms, ridge)
    return LeftOut(whitened.residuals(), whitened.weights())


def ridge_of_all(K: Array, Y: Array, weight: Array, ridge: float) -> LeftOut | None:
    """Fit a ridge regression with all samples as atoms, and without each of them in turn.

    With S = (K + ridge·W⁻¹)⁻¹ the weights are C = SY, and the residuals C_i / S_ii. The result is
    None if the matrix is not positive definite in rounded numbers.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values of the samples.
    Y, weight, ridge
        As in `leave_one_out`.

    Examples
    --------
    >>> found = ridge_of_all(np.eye(2), np.array([[1.0], [2.0]]), np.ones(2), ridge=1.0)
    >>> found.residuals.ravel(), found.weights.ravel()
    (array([1., 2.]), array([0.5, 1. ]))
    """
    S = K.copy()
    S.flat[:: len(S) + 1] += ridge / weight
    if not factorise(S):
        return None
    invert_factor(S)
    weights = S @ Y
    return LeftOut(weights / np.diag(S)[:, None], weights)


def nested_residuals(
    kernel: Kernel, X: Array, Y: Array, weight: Array, atoms: Array, n_first: int, ridge: float
) -> tuple[Array, Array]:
    """Return the residuals of `leave_one_out` on the first atoms, and on all atoms.

    The factor of A on the first atoms is a part of the factor on all, so that both take the time of
    the second.

    Parameters
    ----------
    kernel, X, Y, weight, atoms, ridge
        As in `leave_one_out`.
    n_first : int
        Number of first atoms.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X, Y, ones = np.array([[0.0], [9.0]]), np.array([[1.0], [2.0]]), np.ones(2)
    >>> first, both = nested_residuals(Gaussian(1.0), X, Y, ones, X, n_first=1, ridge=1.0)
    >>> bool(np.allclose(first, leave_one_out(Gaussian(1.0), X, Y, ones, X[:1], 1.0).residuals))
    True
    """
    whitened = _Whitened(kernel, X, Y, weight, atoms, ridge)
    return whitened.residuals(n_first), whitened.residuals()


class _Whitened:
    """The samples in coordinates q = L⁻¹k√w with A = LLᵀ, in blocks that threads share."""

    def __init__(
        self, kernel: Kernel, X: Array, Y: Array, weight: Array, atoms: Array, ridge: float
    ) -> None:
        X, kernel = kernel.points(X), kernel.of_atoms
        self.roots = np.sqrt(weight)
        self.targets = self.roots[:, None] * Y
        self.blocks = [slice(k, k + _BLOCK) for k in range(0, len(X), _BLOCK)]
        n_atoms, values = len(atoms), KernelTable(kernel, atoms)

        def table_and_square(rows: slice | None) -> tuple[Array, Array]:
            square = np.zeros((n_atoms, n_atoms))
            if rows is None:
                values.write(atoms, square)
                return atoms, square
            table = np.empty((len(X[rows]), n_atoms))
            values.write(X[rows], table)
            weigh_and_square(table, self.roots[rows], square)
            return table, square

        found = _each(table_and_square, [None, *self.blocks], len(self.blocks) > 1)
        _, K = next(found)
        table, A = next(found)
        self.tables = [table]
        for table, square in found:
            self.tables.append(table)
            A += square
        # A product with the inverse takes half the time of a solve for this many samples.
        if not ridge_triangle(A, K, ridge, _JITTER):
            raise np.linalg.LinAlgError("the kernel values of the atoms overflow or are not finite")
        self.inverse = A

        def whitened(block: tuple[Array, slice]) -> Array:
            table, rows = block
            part = np.empty((n_atoms, Y.shape[1]))
            whiten_and_sum(A, table, self.targets[rows], part)
            return part

        pairs = list(zip(self.tables, self.blocks, strict=True))
        parts = list(_each(whitened, pairs, len(pairs) > 1))
        self.fitted = sum(parts[1:], start=parts[0])

    def residuals(self, n_first: int | None = None) -> Array:
        """Return the leave-one-out residuals of the fit on the first atoms, by default on all."""
        size = len(self.inverse) if n_first is None else n_first

        def shares_and_values(table: Array) -> tuple[Array, Array]:
            shares, values = np.empty(len(table)), np.empty((len(table), self.targets.shape[1]))
            lengths_and_values(table, size, self.fitted, shares, values)
            return shares, values

        is_large = len(self.targets) * len(self.inverse) > _LARGE
        found = _each(shares_and_values, self.tables, is_large)
        shares, values = zip(*found, strict=True)
        rest = self.targets - np.concatenate(values)
        kept = 1.0 - np.minimum(np.concatenate(shares), 1.0 - _JITTER)
        return np.asarray(rest / (kept * self.roots)[:, None])

    def weights(self) -> Array:
        """Return the weights of all atoms."""
        return np.asarray(np.tril(self.inverse).T @ self.fitted)


def _each(
    function: Callable[[Item], Result], items: Sequence[Item], in_threads: bool
) -> Iterator[Result]:
    return each_in_threads(function, items) if in_threads else map(function, items)
