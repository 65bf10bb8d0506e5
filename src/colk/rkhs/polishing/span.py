"""Functions on given atoms, in coordinates v with ‖f‖_H = ‖v‖, evaluated in blocks of samples."""

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Self, TypeVar

import numpy as np
from scipy.linalg import cho_solve, eigh

from colk._engine.factors import factorise, invert_triangle, whiten
from colk._engine.products import transposed_product
from colk._engine.thread_pool import each_in_threads, map_in_threads
from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.table import KernelTable

__all__ = ["Solver", "Span", "distinct", "weighted_squares"]

Item = TypeVar("Item")
Result = TypeVar("Result")

# Eigenvalues of the Gram matrix below this share of the largest one are rounding errors. If every
# pivot is above this share of the largest, the Cholesky factor is used.
_RANK_TOLERANCE = 1e-12
_INDEPENDENT = 1e-9
# If every pivot is above this share, products with B may follow the sums over samples, without a
# loss of digits that matters for λ. With this many samples per atom that is faster.
_WELL_INDEPENDENT = 1e-5
_MANY = 8
# Largest size of κ(X, D) that is stored; a larger one is recomputed block by block.
_KEPT = 2**25
# Number of samples in a block; threads share the blocks. If there are few samples, as in the choice
# of λ, blocks are smaller.
_BLOCK, _SMALL_BLOCK, _FEW = 1024, 256, 2048
# Number of operations above which threads save more time than starting them takes, and number of
# operations in a task for one thread. Reading an entry of the table takes as long as _READING_WORK
# operations, computing a kernel value as long as _KERNEL_WORK.
_LARGE_WORK, _TASK_WORK = 2**24, 2**22
_READING_WORK, _KERNEL_WORK = 8, 16
# The number of tasks is a multiple of this, so that two or four threads have equal shares.
_ALIKE = 4
# Samples whose curvature is below this share of the largest one are left out of a sum. Under a
# smoothed CVaR, these are most samples outside the tail.
_NEGLIGIBLE = 1e-12


class Span:
    """The span of atoms D: f = κ(·, D)Bv with BᵀKB = I, so that ‖f‖_H = ‖v‖.

    B is L⁻ᵀ with K = LLᵀ or, for nearly dependent atoms, QS^{-1/2} with K = QSQᵀ.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    points : array of shape (n, p)
        Points at which functions are evaluated.
    atoms : array of shape (M, p) or None
        The atoms, as functions keep them; None for the points themselves.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> span = Span(Linear(), np.array([[1.0], [2.0]]), np.array([[2.0]]))
    >>> span.rank, span.predict(np.array([[1.0]]))[:, 0]
    (1, array([1., 2.]))
    """

    def __init__(self, kernel: Kernel, points: Array, atoms: Array | None) -> None:
        self.kernel, self._points = kernel, points
        self.atoms = kernel.points(points) if atoms is None else atoms
        self._table: Array | None = None  # κ(X, D) if raw, else κ(X, D)B
        self._is_raw = self._is_triangular = self.is_well_conditioned = False
        if atoms is None or not self._by_pivots():
            self._by_eigenvalues(atoms is None)
        if atoms is not None and len(points) * self.rank <= _KEPT:
            self._table = self._tabulated(points)

    @classmethod
    def of_atoms(cls, kernel: Kernel, atoms: Array) -> Self:
        """Return the span without points, for sums over blocks of rows.

        Tables of blocks hold κ(x, D). Second derivatives are summed in κ(x, D)B if products with B
        after the sum would cost digits.
        """
        span = cls(kernel, atoms[:0], atoms)
        span._is_raw, span._table = True, None
        return span

    def _tabulated(self, points: Array) -> Array:
        """Return the table at some points; its blocks are computed in threads if it is large."""
        table = np.empty((len(points), len(self.atoms)))
        kernel_table = KernelTable(self.kernel, self.atoms)

        def fill(start: int) -> None:
            rows = table[start : start + _BLOCK]
            kernel_table.write(points[start : start + _BLOCK], rows)
            if self._is_triangular and not self._is_raw:
                whiten(self.basis.T, rows)

        is_large = table.size * _KERNEL_WORK > _LARGE_WORK
        deque((each_in_threads if is_large else map)(fill, range(0, len(points), _BLOCK)), 0)
        return table if self._is_raw or self._is_triangular else table @ self.basis

    def _by_pivots(self) -> bool:
        """Try the Cholesky factor; return False if the atoms are nearly dependent."""
        L = np.ascontiguousarray(self.kernel.of_atoms.gram(self.atoms))
        if not factorise(L):
            return False
        pivots = np.diagonal(L) ** 2
        if not pivots.min() > _INDEPENDENT * pivots.max():
            return False
        L = np.tril(L)
        self._inverse, self.rank = L.T, len(L)
        inverse = L.copy()
        invert_triangle(inverse)
        self.basis: Array = inverse.T
        self._is_triangular = True
        self.is_well_conditioned = bool(pivots.min() > _WELL_INDEPENDENT * pivots.max())
        self._is_raw = self.is_well_conditioned and len(self._points) > _MANY * len(L)
        return True

    def _by_eigenvalues(self, on_points: bool) -> None:
        """Use the eigenvectors whose eigenvalues are above rounding errors."""
        eigenvalues, Q = eigh(self.kernel.of_atoms.gram(self.atoms))
        kept = eigenvalues > _RANK_TOLERANCE * eigenvalues[-1]
        if not kept.any():
            raise ValueError("the Gram matrix of the atoms is zero")
        roots = np.sqrt(eigenvalues[kept])
        self.basis = Q[:, kept] / roots
        self._inverse, self.rank = (Q[:, kept] * roots).T, len(roots)
        if on_points:  # K B = Q S^{1/2}, without the rounding of a product
            self._table = Q[:, kept] * roots

    @property
    def size(self) -> float:
        """Mean of κ(x, x) over the points: the unit of λ."""
        return float(self.kernel.diagonal(self._points).mean()) or 1.0

    def part(self, rows: Any) -> Self:
        """Return the same span, evaluated at some of the points."""
        some = copy.copy(self)
        some._points = self._points[rows]
        some._is_raw = self._is_raw and len(some._points) > _MANY * self.rank
        if self._table is not None:
            some._table = self._table[rows]
            if self._is_raw and not some._is_raw:  # a raw table has a triangular basis
                some._table = some._table.copy()
                deque(some._each_block(some._whiten_block, self.rank), 0)
        elif len(some._points) * self.rank <= _KEPT:
            some._table = self._tabulated(some._points)
        return some

    def _whiten_block(self, rows: slice, table: Array) -> None:
        """Multiply rows of a raw table by B, in place."""
        whiten(self.basis.T, table)

    def coordinates(self, weights: Array) -> Array:
        """Return the coordinates v of weights (M, q)."""
        return np.asarray(self._inverse @ weights)

    def _each_block(
        self, function: Callable[[slice, Array], Result], work: int
    ) -> Iterator[Result]:
        """Yield the results of a function of rows and their part of the table, in order.

        `work` is the number of operations for each entry of the table; threads share large work.
        """
        block = _SMALL_BLOCK if len(self._points) <= _FEW else _BLOCK

        def run(start: int) -> Result:
            rows = slice(start, start + block)
            if self._table is not None:
                return function(rows, self._table[rows])
            return function(rows, self._tabulated(self._points[rows]))

        of_row = self.rank * (work + (_KERNEL_WORK if self._table is None else _READING_WORK))
        starts = range(0, len(self._points), block)
        if len(self._points) * of_row <= _LARGE_WORK:
            return map(run, starts)
        n_tasks = -(-len(starts) * block * of_row // _TASK_WORK)
        n_tasks = min(-(-n_tasks // _ALIKE) * _ALIKE, len(starts))
        edges = [k * len(starts) // n_tasks for k in range(n_tasks + 1)]
        tasks = [starts[first:last] for first, last in pairwise(edges)]
        return chain.from_iterable(each_in_threads(lambda task: [*map(run, task)], tasks))

    def for_table(self, v: Array) -> Array:
        """Return the factor of the table for coordinates v (rank, q)."""
        return np.asarray(self.basis @ v) if self._is_raw else v

    def from_table(self, sums: Array) -> Array:
        """Convert sums over the rows of the table to sums of z = Bᵀκ(D, x), of shape (rank, q)."""
        return np.asarray(self.basis.T @ sums) if self._is_raw else sums

    def from_squares(self, matrices: Array) -> Array:
        """Convert the results of `squares`, of shape (c, M, M), to sums of z zᵀ."""
        if self._is_raw and self.is_well_conditioned:
            return np.asarray(self.basis.T @ matrices @ self.basis)
        return matrices

    def values(self, factor: Array) -> Array:
        """Return the table times a factor from `for_table`, of shape (n, q)."""
        out = np.zeros((len(self._points), factor.shape[1]))
        if not factor.any():
            return out

        def fill(rows: slice, table: Array) -> None:
            out[rows] = table @ factor

        deque(self._each_block(fill, factor.shape[1]), 0)
        return out

    def sums(self, slopes: Array) -> Array:
        """Return Σ_i t_i s_iᵀ over the rows t of the table, for slopes (n, q)."""
        total = np.zeros((len(self.atoms) if self._is_raw else self.rank, slopes.shape[1]))
        products = self._each_block(
            lambda rows, table: transposed_product(table, slopes[rows]), slopes.shape[1]
        )
        for product in products:
            total += product
        return total

    def squares(self, curvature: Array) -> Array:
        """Return Σ_i b_i t_i t_iᵀ for each column of the curvature (n, q); one if all are equal."""
        columns = distinct(curvature)
        width = len(self.atoms) if self._is_raw else self.rank
        total = np.zeros((columns.shape[1], width, width))

        def squares(rows: slice, table: Array) -> list[Array]:
            each = list(columns[rows].T)
            return _for_each(partial(weighted_squares, table), each, table.size * self.rank)

        for parts in self._each_block(squares, self.rank * len(total)):
            for matrix, part in zip(total, parts, strict=True):
                matrix += part
        return total

    def predict(self, v: Array) -> Array:
        """Return values (n, q) of the function with coordinates v (rank, q)."""
        return self.values(self.for_table(v))

    def gather(self, slopes: Array) -> Array:
        """Return Σ_i z_i s_iᵀ of shape (rank, q), for slopes (n, q)."""
        return self.from_table(self.sums(slopes))

    def leverages(self, solver: "Solver") -> Array:
        """Return z_iᵀA⁻¹z_i of each sample, (n, q), with a column for each factor of A."""
        # For many rows a product with the inverse takes half the time of solving.
        inverses = solver.inverses()
        if self._is_raw:
            inverses = [np.tril(inverse) @ self.basis.T for inverse in inverses]
        out = np.empty((len(self._points), len(inverses)))

        def fill(rows: slice, table: Array) -> None:
            def fill_column(c: int) -> None:
                half = table.copy()
                whiten(inverses[c], half)
                out[rows, c] = np.einsum("ij,ij->i", half, half)

            _for_each(fill_column, range(len(inverses)), table.size * self.rank)

        deque(self._each_block(fill, self.rank * len(inverses)), 0)
        return out

    def solver(self, curvature: Array, regularization: float) -> "Solver":
        """Return the solver of λI + Σ_i b_i z_i z_iᵀ, for each column of the curvature (n, q)."""
        return Solver(self.from_squares(self.squares(curvature)), regularization)


def distinct(curvature: Array) -> Array:
    """Return the columns of a table, or only the first one if all are equal."""
    return curvature[:, :1] if bool((curvature == curvature[:, :1]).all()) else curvature


def weighted_squares(table: Array, b: Array) -> Array:
    """Return Σ b z zᵀ over the rows z of a table."""
    active = b > _NEGLIGIBLE * b.max(initial=0.0)
    used = table if active.all() else table[active]
    scaled = used * np.sqrt(b[active])[:, None]
    return np.asarray(scaled.T @ scaled)


class Solver:
    """Cholesky factors of λI + H, one H for each output or one for all.

    Examples
    --------
    >>> solver = Solver(np.array([[[3.0]]]), regularization=1.0)
    >>> solver(np.array([[8.0]])), solver.with_regularization(5.0)(np.array([[8.0]]))
    (array([[2.]]), array([[1.]]))
    """

    def __init__(self, matrices: Array, regularization: float) -> None:
        self._matrices = matrices
        factor = partial(_factor, regularization=regularization)
        self._factors = _for_each(factor, [*matrices], len(matrices[0]) ** 3 // 3)

    def with_regularization(self, regularization: float) -> "Solver":
        """Return the solver with another λ."""
        return Solver(self._matrices, regularization)

    def __call__(self, right: Array) -> Array:
        """Solve for the columns of `right`."""
        if len(self._factors) == 1:
            return _solved(self._factors[0], right)
        columns = zip(self._factors, right.T, strict=True)
        return np.column_stack([_solved(factor, column) for factor, column in columns])

    def inverses(self) -> list[Array]:
        """Return L⁻¹ of each factor A = LLᵀ; entries above the diagonal are undefined."""
        return _for_each(_inverted, self._factors, len(self._factors[0]) ** 3 // 3)


def _for_each(function: Callable[[Item], Result], items: Sequence[Item], work: int) -> list[Result]:
    """Return the results of a function of each output; threads share large work."""
    is_large = len(items) * work > _LARGE_WORK
    return list((map_in_threads if is_large else map)(function, items))


def _inverted(factor: Array) -> Array:
    inverse = factor.copy()
    invert_triangle(inverse)
    return inverse


def _solved(factor: Array, right: Array) -> Array:
    # In LAPACK's column order a lower triangle is an upper one.
    return np.asarray(cho_solve((factor.T, False), right, check_finite=False))


def _factor(matrix: Array, regularization: float) -> Array:
    """Return the Cholesky factor; if rounding makes the matrix indefinite, raise the diagonal."""
    lift = 0.0
    while True:
        lifted = np.array(matrix, order="C")
        lifted[np.diag_indices_from(lifted)] += regularization + lift
        if factorise(lifted):
            return lifted
        lift = 10.0 * lift if lift else 1e-15 * float(np.trace(matrix))
