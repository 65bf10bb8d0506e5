"""Choose the atoms that KOMP starts from: independent ones, or a low-rank subset of many."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colk._engine.dictionary import Dictionary
from colk._engine.simd.loops import NOVELTY_FLOOR
from colk._validation import Array
from colk.compressors import pursuit
from colk.kernels import Kernel

__all__ = ["Start", "independent_start", "low_rank_start"]

# Rows of the Gram matrix per block.
_BLOCK = 256

# A pivot must have at least this share of the largest novelty. Pivots that are close to each other
# would fit f as well, but would make the condition number of K a hundred times larger.
_NOVEL_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Start:
    """Projection of f onto the span of some of its atoms, ready for KOMP.

    The first rows of the dictionary's weights belong to f; the last row holds the atoms' labels.
    """

    dictionary: Dictionary
    frozen: NDArray[np.int64]  # atoms outside the projection, with unchanged weights
    error: float  # estimated H-norm of the projection error


def _fill(
    kernel: Kernel, atoms: Array, labels: NDArray[np.int64], n_outputs: int
) -> tuple[Dictionary, NDArray[np.int64]]:
    """Return a dictionary of the labelled atoms without those in the span of the others.

    Return the labels of its atoms as well. All weights are 0.
    """
    n_features = atoms.shape[1]
    d = Dictionary(
        kernel,
        n_features,
        n_rows=n_outputs + 1,
        n_priced=n_outputs,
        n_fitted=n_outputs,
        capacity=max(len(labels), 1),
    )
    rows = np.column_stack([np.zeros((len(labels), n_outputs)), labels])
    pursuit.append(d, atoms[labels], rows)
    d.clear_ghosts()
    return d, d.weights[:, -1].astype(np.int64)


def _refined_solve(inverse: Array, K: Array, right: Array) -> Array:
    """Solve K x = right by the given inverse, with one step of iterative refinement."""
    solution = inverse @ right
    refined: Array = solution + inverse @ (right - K @ solution)
    return refined


def independent_start(kernel: Kernel, atoms: Array, weights: Array, allowance: float) -> Start:
    """Start from all atoms except those that lie in the span of others up to rounding.

    Project such atoms, cheapest first, as long as the total cost is at most `allowance`; freeze
    the rest.
    """
    n_outputs, labels = weights.shape[1], np.arange(len(atoms))
    d, kept = _fill(kernel, atoms, labels, n_outputs)
    rest = np.setdiff1d(labels, kept)
    fitted, charge, frozen = weights[kept], 0.0, rest
    if len(rest) > 0:
        columns = kernel.gram(atoms[rest], atoms[kept])
        solutions = _refined_solve(d.inverse_gram, kernel.gram(atoms[kept]), columns.T).T
        novelty = kernel.diagonal(atoms[rest]) - np.sum(columns * solutions, axis=1)
        prices = np.linalg.norm(weights[rest], axis=1) * np.sqrt(np.maximum(novelty, 0.0))
        order = np.argsort(prices, kind="stable")
        n_projected = int(np.searchsorted(np.cumsum(prices[order]), allowance, side="right"))
        projected, frozen = order[:n_projected], np.sort(rest[order[n_projected:]])
        fitted = fitted + solutions[projected].T @ weights[rest[projected]]
        charge = float(prices[projected].sum())
    d.set_weights(fitted)
    return Start(d, frozen, charge)


def _values(kernel: Kernel, atoms: Array, weights: Array) -> Array:
    """Evaluate f at its own atoms, block by block."""
    blocks = [
        kernel.gram(atoms[start : start + _BLOCK], atoms) @ weights
        for start in range(0, len(atoms), _BLOCK)
    ]
    return np.concatenate(blocks)


@dataclass(eq=False)
class _PivotedCholesky:
    """K ≈ L Lᵀ, column by column; each pivot is the atom that reduces the residual of f most.

    Let s be the diagonal of K − L Lᵀ, and g = (K − L Lᵀ)w the residual of f at the atoms. Adding
    atom i to the span lowers the squared H-norm of the residual by ‖g_i‖²/s_i.
    """

    kernel: Kernel
    atoms: Array
    left: Array  # g, (M, q)
    novelty: Array  # s, (M,)
    floor: Array  # s below which an atom counts as in the span
    columns: Array  # L, feature by feature: (capacity, M)
    pivots: list[int]

    def next_pivot(self) -> int | None:
        """Return the best atom among those well outside the span, or None."""
        free = self.novelty > np.maximum(self.floor, _NOVEL_SHARE * self.novelty.max())
        gains = np.where(free, np.sum(self.left**2, axis=1), -1.0)
        np.divide(gains, self.novelty, out=gains, where=free)
        best = int(np.argmax(gains))
        return best if gains[best] > 0.0 else None

    def take(self, p: int) -> None:
        """Add atom p to the span."""
        k = len(self.pivots)
        if k == len(self.columns):
            self.columns = np.concatenate([self.columns, np.empty_like(self.columns)])
        column = self.kernel.column(self.atoms, self.atoms[p])
        column -= self.columns[:k, p] @ self.columns[:k]
        column /= np.sqrt(self.novelty[p])
        self.columns[k] = column
        self.left -= np.outer(column, self.left[p] / column[p])
        self.novelty -= column**2
        self.novelty[p] = 0.0
        self.pivots.append(p)


def low_rank_start(
    kernel: Kernel, atoms: Array, weights: Array, allowance: float, at_most: int
) -> Start:
    """Start from the fewest atoms that lose at most `allowance`, by pivoted Cholesky.

    It takes at most `at_most` atoms. It stores only the pivots' columns of the Gram matrix: memory
    O(Mr) for r pivots, time O(Mr² + M²).
    """
    values, diagonal = _values(kernel, atoms, weights), kernel.diagonal(atoms)
    cholesky = _PivotedCholesky(
        kernel,
        atoms,
        left=values.copy(),
        novelty=diagonal.copy(),
        floor=NOVELTY_FLOOR * diagonal,
        columns=np.empty((64, len(atoms))),
        pivots=[],
    )
    while np.sum(weights * cholesky.left) > allowance**2 and len(cholesky.pivots) < at_most:
        pivot = cholesky.next_pivot()
        if pivot is None:
            break
        cholesky.take(pivot)
    d, kept = _fill(kernel, atoms, np.array(cholesky.pivots, dtype=np.int64), weights.shape[1])
    fitted = _refined_solve(d.inverse_gram, kernel.gram(atoms[kept]), values[kept])
    d.set_weights(fitted)
    square = float(np.sum(weights * values) - np.sum(fitted * values[kept]))
    return Start(d, np.empty(0, dtype=np.int64), float(np.sqrt(max(square, 0.0))))
