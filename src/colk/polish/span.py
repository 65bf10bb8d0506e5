"""Functions on given atoms in coordinates in which ‖f‖_H is ‖v‖, evaluated in blocks of samples."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, solve_triangular
from scipy.linalg.lapack import dtrtri

from colk._validation import Array
from colk.kernels import Kernel

__all__ = ["Span"]

# Directions of the Gram matrix below this share of its largest eigenvalue are rounding; where every
# pivot is above this share of the largest, Cholesky's factor will do.
_RANK_TOLERANCE = 1e-12
_INDEPENDENT = 1e-9
# Where every pivot is above this share, products with B may come after sums over samples, which
# costs them no more digits than λ can spare; of so many samples for each atom that takes less time.
_WELL_INDEPENDENT = 1e-5
_MANY = 8
# Numbers of κ(X, D) that are kept; beyond, its rows are formed anew, a block at a time.
_KEPT = 2**24
_BLOCK = 1024


class Span:
    """The span of atoms D: f = κ(·, D)Bv with BᵀKB = I, so that ‖f‖_H = ‖v‖.

    B is L⁻ᵀ of K = LLᵀ or, of atoms that are nearly dependent, QS^{-1/2} of K = QSQᵀ.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    points : array of shape (n, p)
        Where functions are evaluated.
    atoms : array of shape (M, p) or None
        The atoms; None for the points themselves.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> span = Span(Linear(), np.array([[1.0], [2.0]]), np.array([[2.0]]))
    >>> span.rank, span.predict(np.array([[1.0]]))[:, 0]
    (1, array([1., 2.]))
    """

    def __init__(self, kernel: Kernel, points: Array, atoms: Array | None) -> None:
        self._kernel, self._points = kernel, points
        self._atoms = points if atoms is None else atoms
        self._table: Array | None = None  # κ(X, D) or, where that is not raw, κ(X, D)B
        self._is_raw = False
        if atoms is None or not self._by_pivots():
            self._by_eigenvalues(atoms is None)
        if atoms is not None and len(points) * self.rank <= _KEPT:
            self._table = self._tabulated(points)

    def _tabulated(self, points: Array) -> Array:
        table = self._kernel.gram(points, self._atoms)
        return table if self._is_raw else table @ self.basis

    def _by_pivots(self) -> bool:
        """Take Cholesky's factor; False where the atoms are too nearly dependent for it."""
        try:
            L = np.linalg.cholesky(self._kernel.gram(self._atoms))
        except np.linalg.LinAlgError:
            return False
        pivots = np.diagonal(L) ** 2
        if not pivots.min() > _INDEPENDENT * pivots.max():
            return False
        self.basis: Array = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False).T
        self._inverse, self.rank = L.T, len(L)
        is_well = pivots.min() > _WELL_INDEPENDENT * pivots.max()
        self._is_raw = bool(is_well and len(self._points) > _MANY * len(L))
        return True

    def _by_eigenvalues(self, on_points: bool) -> None:
        """Take the eigenvectors whose eigenvalues are no rounding."""
        eigenvalues, Q = eigh(self._kernel.gram(self._atoms))
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
        return float(self._kernel.diagonal(self._points).mean()) or 1.0

    def part(self, rows: Any) -> Self:
        """The same span, evaluated at some of the points."""
        some = copy.copy(self)
        some._points = self._points[rows]
        some._is_raw = self._is_raw and len(some._points) > _MANY * self.rank
        if self._table is not None:
            some._table = self._table[rows]
            if self._is_raw and not some._is_raw:
                some._table = some._table @ self.basis
        elif len(some._points) * self.rank <= _KEPT:
            some._table = self._tabulated(some._points)
        return some

    def coordinates(self, weights: Array) -> Array:
        """The v of weights (M, q)."""
        return np.asarray(self._inverse @ weights)

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Rows of samples, and their part of the table."""
        for start in range(0, len(self._points), _BLOCK):
            rows = slice(start, start + _BLOCK)
            if self._table is not None:
                yield rows, self._table[rows]
            else:
                yield rows, self._tabulated(self._points[rows])

    def _for_table(self, v: Array) -> Array:
        """What the table is to be multiplied by, for coordinates v (rank, q)."""
        return self.basis @ v if self._is_raw else v

    def _from_table(self, sums: Array) -> Array:
        """Sums over the rows of the table, (rank, q), as sums of z = Bᵀκ(D, x)."""
        return self.basis.T @ sums if self._is_raw else sums

    def predict(self, v: Array) -> Array:
        """Values (n, q) of the function with coordinates v (rank, q)."""
        out, weights = np.empty((len(self._points), v.shape[1])), self._for_table(v)
        for rows, table in self._blocks():
            out[rows] = table @ weights
        return out

    def gather(self, slopes: Array) -> Array:
        """Σ_i z_i s_iᵀ of shape (rank, q), for slopes (n, q)."""
        total = np.zeros((self.rank, slopes.shape[1]))
        for rows, table in self._blocks():
            total += table.T @ slopes[rows]
        return self._from_table(total)

    def leverages(self, solver: "Solver") -> Array:
        """z_iᵀA⁻¹z_i of each sample, (n, q): a column for each factor of A."""
        # For many rows a product with the inverse takes half the time of solving.
        roots = [self._for_table(root) for root in solver.inverse_roots()]
        out = np.empty((len(self._points), len(roots)))
        for rows, table in self._blocks():
            halves = [table @ root for root in roots]
            out[rows] = np.column_stack([np.einsum("ij,ij->i", half, half) for half in halves])
        return out

    def solver(self, curvature: Array, regularization: float) -> "Solver":
        """Solve with λI + Σ_i b_i z_i z_iᵀ, one for each column of the curvature (n, q)."""
        shared = bool((curvature == curvature[:, :1]).all())
        columns = curvature[:, :1] if shared else curvature
        matrices = [np.zeros((self.rank, self.rank)) for _ in range(columns.shape[1])]
        for rows, table in self._blocks():
            for c, matrix in enumerate(matrices):
                b = columns[rows, c]
                active = b > 0.0
                used = table if active.all() else table[active]
                scaled = used * np.sqrt(b[active])[:, None]
                matrix += scaled.T @ scaled
        for c, matrix in enumerate(matrices):
            matrices[c] = self._from_table(self._from_table(matrix).T)
            matrices[c][np.diag_indices(self.rank)] += regularization
        return Solver(matrices)


class Solver:
    """Cholesky factors, one for each output or one for all."""

    def __init__(self, matrices: list[Array]) -> None:
        self._factors = [_factor(matrix) for matrix in matrices]

    def __call__(self, right: Array) -> Array:
        """Solve for the columns of `right`."""
        if len(self._factors) == 1:
            return np.asarray(cho_solve(self._factors[0], right, check_finite=False))
        columns = zip(self._factors, right.T, strict=True)
        return np.column_stack([cho_solve(f, column, check_finite=False) for f, column in columns])

    def inverse_roots(self) -> list[Array]:
        """R with RRᵀ = A⁻¹, for each factor."""
        return [np.tril(dtrtri(f[0], lower=True)[0]).T for f in self._factors]


def _factor(matrix: Array) -> Any:
    """Cholesky factor; rounding that makes the matrix indefinite is lifted out of the way."""
    lift = 0.0
    while True:
        try:
            lifted = matrix + lift * np.eye(len(matrix)) if lift else matrix
            return cho_factor(lifted, lower=True, check_finite=False)
        except LinAlgError:
            lift = 10.0 * lift if lift else 1e-15 * float(np.trace(matrix))
