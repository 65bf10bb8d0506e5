"""The live dictionary: atoms, weights over them, and the triangular factor of K⁻¹ = U Uᵀ.

`factor` stores Uᵀ, row by row. With it v = K⁻¹k is one pass over the rows; appending a point adds
the row [−v, 1]/√s, where s = κ(x, x) − kᵀv is its novelty; dropping atom j is a sweep of Givens
rotations that gathers row j of U in one column, which then leaves. Being orthogonal, the sweep does
not amplify rounding errors. Beyond the atoms, weights and factor are 0 and the diagonal is NaN,
where no comparison holds: loops may run over whole vectors.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import aligned, padded
from colk._engine.factor_check import check_factor
from colk._engine.simd import loops
from colk._validation import Array
from colk.kernels.base import Kernel, evaluate

__all__ = ["Dictionary"]

# Places that are left free behind the atoms that are asked for.
SPARE = 8


class Dictionary:
    """Atoms and rows of weights: functions that share the atoms.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel κ; None for weights of features, which are not functions of atoms.
    n_features : int
        Dimension p of the points.
    n_rows : int
        Rows of weights.
    n_priced : int, optional
        How many of them, the first, price an atom. All by default.
    n_fitted : int, optional
        How many, the first, are re-fitted when an atom leaves. All by default. The other rows are
        kept as they are: a dropped atom takes its entry along to the ghosts.
    block : int
        How many new points there may be at once.
    capacity : int
        Atoms that fit before the buffers first grow.
    has_factor : bool
        Whether the factor is kept: memory O(M²), and what KOMP and projection need.
    scratch_rows : int
        Rows of scratch, as long as the capacity.

    Examples
    --------
    >>> import numpy as np
    >>> from colk._engine.dictionary import Dictionary
    >>> from colk.kernels import Gaussian
    >>> d = Dictionary(Gaussian(0.5), n_features=1)
    >>> d.size, d.n_rows
    (0, 1)
    """

    kernel: Kernel
    size: int
    n_ghosts: int
    added: int
    atoms_t: Array  # (features, capacity)
    own: Array  # (capacity,): κ(d_j, d_j)
    weights_t: Array  # (rows, capacity)
    factor: Array  # (capacity, capacity)
    diagonal: Array  # (capacity,): of K⁻¹
    points: Array  # (block, features): the new points
    amounts: Array  # (block, rows): their weights
    columns: Array  # (block, capacity): κ(D, x); room for the kernel's parts behind
    solutions: Array  # (block, capacity): K⁻¹κ(D, x)
    halves: Array  # (block, capacity): Uᵀκ(D, x)
    sums: Array  # (3,): kᵀK⁻¹k of the first, of both, of the last new point
    gram: Array  # (block, block): κ of the new points, its lower half
    # Of a block of three or more new points, see compressors/block.py:
    schur: Array  # (block, block): what of the Gram matrix the atoms leave
    lower: Array  # (block, block): its Cholesky factor L, a row for each new point
    inverse: Array  # (block, block): L⁻¹, by pivots
    small_factor: Array  # (block, block): L⁻¹ of the points that are in play
    small_diagonal: Array  # (block,)
    small_carry: Array  # (block,)
    carries: Array  # (block, block): what each drop rotated out
    given: Array  # (block, rows): weights of the points before any was dropped
    shares: Array  # (block, rows): what each drop cost each function, with its sign
    prices: Array  # (block,): of each drop
    charges: Array  # (block,): by which they are multiplied for the rounding of novelties
    novelty: Array  # (block,)
    least: float
    order: Any  # (block,): pivots, then the points that they span
    labels: Any  # (block,): the points in play
    spent: Array  # (rows,): squared H-norm that each function lost since `forget`
    squared_move: float  # mean squared H-norm of the latest steps, where it is followed
    ghosts: Array  # (features + rows, capacity): atoms that the last step dropped
    ghost_atoms: Array  # (features, capacity): their points, the same memory
    ghost_columns: Array  # (block, capacity): κ of them
    carry: Array  # (capacity,)
    # Of the compressor that merges, see compressors/merging.py:
    merges_in_closed_form: bool
    scratch: Array  # (scratch rows, capacity)
    trial: Array  # (features, capacity): points on the first axis
    origin: Array  # (1, features): 0

    def __init__(
        self,
        kernel: Kernel | None,
        n_features: int,
        n_rows: int = 1,
        n_priced: int | None = None,
        n_fitted: int | None = None,
        block: int = 2,
        capacity: int = 32,
        has_factor: bool = True,
        scratch_rows: int = 0,
    ) -> None:
        self.kernel = None if kernel is None else kernel.bind(n_features)  # type: ignore[assignment]
        self.n_features, self.n_rows, self.block = n_features, n_rows, block
        self.n_priced = n_rows if n_priced is None else n_priced
        self.n_fitted = n_rows if n_fitted is None else n_fitted
        self.has_factor = has_factor
        self.merges_in_closed_form = (
            kernel is not None and kernel.is_squared_exponential and self.n_priced == 1
        )
        self.size = self.n_ghosts = self.added = 0
        self.points = np.zeros((block, n_features))
        self.amounts = np.zeros((block, n_rows))
        self.gram, self.schur, self.lower, self.inverse = np.zeros((4, block, block))
        self.small_factor, self.carries = np.zeros((2, block, block))
        self.given, self.shares = np.zeros((2, block, n_rows))
        self.novelty, self.prices, self.charges = np.zeros((3, block))
        self.small_diagonal, self.small_carry = np.zeros((2, block))
        self.order, self.labels = np.zeros((2, block), dtype=np.intp)
        self.least = self.squared_move = 0.0
        self.sums, self.spent = np.zeros(3), np.zeros(n_rows)
        self.origin = np.zeros((1, n_features))
        self.scratch = aligned(max(scratch_rows, 1), SPARE)
        self._resize(max(capacity, 2 * block))

    @classmethod
    def of_features(cls, n_components: int, **shape: int) -> "Dictionary":
        """Return weights of so many features, all 0."""
        self = cls(None, 1, capacity=n_components, has_factor=False, **shape)
        self.occupy(n_components)
        return self

    def occupy(self, size: int) -> None:
        """Let so many places count, whose weights are 0."""
        self.size = size

    # -- room --------------------------------------------------------------------------------

    def _resize(self, wanted: int) -> None:
        """Make all buffers anew for so many atoms; where memory runs out, nothing has changed."""
        capacity = padded(wanted + SPARE)
        depth = 0 if self.kernel is None else self.kernel.depth
        blocks = (1 + depth) * self.block
        panel = self.block if self.has_factor else 1
        side = capacity if self.has_factor else 1
        new = (
            aligned(self.n_features, capacity),
            aligned(self.n_rows, capacity),
            aligned(side, capacity),
            aligned(blocks, capacity),
            aligned(panel, capacity),
            aligned(panel, capacity),
            aligned(self.n_features + self.n_rows, capacity),
            aligned(blocks, capacity),
            aligned(3, capacity),
            aligned(self.scratch.shape[0], capacity),
            aligned(self.n_features, capacity),
        )
        if self.size > 0:
            self._move(new)
        self.atoms_t, self.weights_t, self.factor, self.columns = new[:4]
        self.solutions, self.halves, self.ghosts, self.ghost_columns = new[4:8]
        self.ghost_atoms = new[6][: self.n_features]
        self.own, self.diagonal, self.carry = new[8]
        self.scratch, self.trial = new[9:]
        np.asarray(self.diagonal)[self.size :] = np.nan
        self.capacity = capacity

    def _move(self, new: tuple[Array, ...]) -> None:
        """Copy what outlives a step."""
        n, ghosts = self.size, self.n_ghosts
        new[0][:, :n] = np.asarray(self.atoms_t)[:, :n]
        new[1][:, :n] = np.asarray(self.weights_t)[:, :n]
        if self.has_factor:
            new[2][:n, :n] = np.asarray(self.factor)[:n, :n]
        new[6][:, :ghosts] = np.asarray(self.ghosts)[:, :ghosts]
        new[8][0, :n], new[8][1, :n] = np.asarray(self.own)[:n], np.asarray(self.diagonal)[:n]

    def reserve(self, extra: int) -> None:
        """Make room for `extra` more atoms, by doubling."""
        if self.size + extra > self.capacity:
            self._resize(max(2 * (self.capacity - SPARE), self.size + extra))

    # -- what a step does --------------------------------------------------------------------

    def evaluate_columns(self, points: Array, size: int, ghosts: bool) -> int:
        """κ(D, x) of `size` new points, and the lower half of their Gram matrix.

        They wait behind the atoms, so that one column gives both. With `ghosts` also their columns
        over the atoms that the last step dropped.
        """
        n = self.size
        for b in range(size):
            for k in range(self.n_features):
                self.points[b, k] = self.atoms_t[k, n + b] = points[b, k]
        self.kernel.columns(self.atoms_t, n + size, self.points, size, self.columns, 0)
        for b in range(size):
            for a in range(b + 1):
                self.gram[b, a] = self.columns[b, n + a]
        if ghosts and self.n_ghosts > 0:
            self.kernel.columns(
                self.ghost_atoms, self.n_ghosts, self.points, size, self.ghost_columns, 0
            )
        return 0

    def evaluate_at(self, point: Array) -> int:
        """κ(D, x) of one point, to the first column."""
        return self.kernel.columns(self.atoms_t, self.size, point, 1, self.columns, 0)

    def combine(self, row: int) -> float:
        """Σ_j w_j κ(d_j, x) of this row of weights, at the point of the first column."""
        return loops.dot(self.weights_t, row, self.columns, 0, self.size)

    def append_row(self, b: int, novelty: float) -> None:
        """Append new point b: the row [−v, 1]/√s."""
        n, scale = self.size, 1.0 / math.sqrt(novelty)
        for j in range(n):
            self.factor[n, j] = -scale * self.solutions[b, j]
        self.factor[n, n] = scale
        self.take_in(b)

    def append_second_row(self, b: int, novelty: float, shared: float) -> None:
        """Append new point b after another: ([−v, 0, 1] − L row)/√s, L = `shared`/√s of that."""
        n, last = self.size, self.size - 1
        entry = shared * self.factor[last, last]
        scale = 1.0 / math.sqrt(novelty - entry * entry)
        for j in range(last):
            self.factor[n, j] = -scale * (self.solutions[b, j] + entry * self.factor[last, j])
        self.factor[n, last] = -scale * entry * self.factor[last, last]
        self.factor[n, n] = scale
        self.take_in(b)

    def take_in(self, b: int) -> None:
        """Point and weights of new point b, and the diagonal of the row that was added."""
        n = self.size
        if self.has_factor:
            self.diagonal[n] = 0.0
            for j in range(n + 1):
                self.diagonal[j] += self.factor[n, j] * self.factor[n, j]
        for k in range(self.n_features):
            self.atoms_t[k, n] = self.points[b, k]
        for row in range(self.n_rows):
            self.weights_t[row, n] = self.amounts[b, row]
        self.own[n] = self.gram[b, b]
        self.size = n + 1
        self.added += 1

    def price(self, j: int) -> float:
        """‖w_j‖²/(K⁻¹)_jj: the squared H-norm that dropping atom j costs."""
        squares = 0.0
        for row in range(self.n_priced):
            squares += self.weights_t[row, j] * self.weights_t[row, j]
        return squares / float(self.diagonal[j])

    def drop_atom(self, j: int) -> float:
        """Drop atom j, re-fit the other weights: w ← w − K⁻¹[:, j] w_j/(K⁻¹)_jj; returns its cost.

        That is its price, and what rounding can have hidden of it. The function of the last step
        finds the atom among the ghosts.
        """
        n, charge = self.size, 1.0 + loops.ROUNDING * self.own[j] * self.diagonal[j]
        cost = self.price(j) * charge
        loops.rotate_out(self.factor, n, j, self.carry, self.diagonal)
        for row in range(self.n_fitted):
            amount = self.weights_t[row, j]
            share = amount / self.carry[j]
            self.spent[row] += share * share * charge
            for k in range(n):
                self.weights_t[row, k] -= share * self.carry[k]
            self.weights_t[row, j] = amount  # the ghost's weight
        self.take_out(j)
        for i in range(n):
            self.factor[n - 1, i] = 0.0
        self.diagonal[n - 1] = math.nan
        return float(cost)

    def take_out(self, j: int) -> None:
        """Move atom j with its weights to the ghosts and close the gap."""
        n, ghost = self.size - 1, self.n_ghosts
        if ghost < self.capacity:
            for k in range(self.n_features):
                self.ghosts[k, ghost] = self.atoms_t[k, j]
            for row in range(self.n_rows):
                self.ghosts[self.n_features + row, ghost] = self.weights_t[row, j]
            self.n_ghosts = ghost + 1
        for k in range(self.n_features):
            for i in range(j, n):
                self.atoms_t[k, i] = self.atoms_t[k, i + 1]
        for row in range(self.n_rows):
            for i in range(j, n):
                self.weights_t[row, i] = self.weights_t[row, i + 1]
            self.weights_t[row, n] = 0.0
        for i in range(j, n):
            self.own[i] = self.own[i + 1]
        self.size = n

    def scale_rows(self, first: int, count: int, factor: float) -> None:
        """Multiply the functions of these rows by a number."""
        if factor != 1.0:
            for row in range(first, first + count):
                loops.scale(self.weights_t, row, factor, self.size)

    def forget(self) -> None:
        """Begin a step: no ghosts, nothing added, nothing spent."""
        self.n_ghosts = self.added = 0
        for row in range(self.n_rows):
            self.spent[row] = 0.0

    def clear_ghosts(self) -> None:
        """Forget the atoms that were dropped."""
        self.n_ghosts = 0

    def set_weights(self, values: Array) -> None:
        """Give the first rows these weights (size, rows)."""
        np.asarray(self.weights_t)[: values.shape[1], : self.size] = values.T

    def lay(self, points: Array, amounts: Array) -> None:
        """Lay new points and their weights out, to be taken in."""
        np.asarray(self.points)[: len(points)] = points
        np.asarray(self.amounts)[: len(points)] = amounts

    # -- looking at it -----------------------------------------------------------------------

    @property
    def atoms(self) -> Array:
        """The atoms, a copy of shape (size, n_features)."""
        return np.ascontiguousarray(np.asarray(self.atoms_t)[:, : self.size].T)

    @property
    def weights(self) -> Array:
        """The weights, a copy of shape (size, n_rows)."""
        return np.ascontiguousarray(np.asarray(self.weights_t)[:, : self.size].T)

    @property
    def ghost_weights(self) -> Array:
        """Weights of the atoms that were dropped, in that order, of shape (n_ghosts, n_rows)."""
        return np.array(np.asarray(self.ghosts)[self.n_features :, : self.n_ghosts].T)

    @property
    def inverse_gram(self) -> Array:
        """K⁻¹ = U Uᵀ, formed from the factor."""
        u_t = np.tril(np.asarray(self.factor)[: self.size, : self.size])
        return np.asarray(u_t.T @ u_t)

    def evaluate(self, X: Array, row: int = 0, count: int | None = None) -> Array:
        """Values at the points X of the functions from this row on, of shape (n, count)."""
        out = np.empty((len(X), self.n_rows - row if count is None else count))
        evaluate(self.kernel, self.atoms_t, self.size, self.weights_t, row, X, out)
        return out

    def drift(self) -> float:
        """Max |K K⁻¹ − I|: how far the factor has strayed from the atoms' Gram matrix."""
        K = self.kernel.gram(self.atoms) if self.size > 0 else np.empty((0, 0))
        return float(np.abs(K @ self.inverse_gram - np.eye(self.size)).max(initial=0.0))

    # -- files and pickles -------------------------------------------------------------------

    def pack(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which to go on bit by bit."""
        n, ghosts = self.size, self.n_ghosts
        packed = {
            "atoms": np.array(np.asarray(self.atoms_t)[:, :n]),
            "weights": np.array(np.asarray(self.weights_t)[:, :n]),
            "diagonal": np.array(np.asarray(self.diagonal)[:n]),
            "own": np.array(np.asarray(self.own)[:n]),
            "ghosts": np.array(np.asarray(self.ghosts)[:, :ghosts]),
        }
        if self.has_factor:
            packed["factor"] = np.array(np.asarray(self.factor)[:n, :n])
        return packed

    def fields(self) -> stored.Record:
        """What `pack` returns for a dictionary of this shape."""
        has_factor = self.has_factor
        fields: dict[str, stored.Field] = {
            "atoms": stored.Array(self.n_features, "n_atoms"),
            "weights": stored.Array(self.n_rows, "n_atoms"),
            "diagonal": stored.Array("n_atoms", finite=has_factor),  # NaN without a factor
            "own": stored.Array("n_atoms"),
            "ghosts": stored.Array(self.n_features + self.n_rows, "n_ghosts"),
        }
        if has_factor:
            fields["factor"] = stored.Triangle("n_atoms")
        return stored.Record(fields, check=check_factor if has_factor else None)

    def unpack(self, packed: dict[str, Any]) -> None:
        """Take up what was packed, into a dictionary of the same shape; what it had is gone."""
        n, ghosts = packed["atoms"].shape[1], packed["ghosts"].shape[1]
        self.size = self.n_ghosts = 0
        self._resize(max(self.capacity - SPARE, max(n, ghosts) + self.block))
        np.asarray(self.atoms_t)[:, :n] = packed["atoms"]
        np.asarray(self.weights_t)[:, :n] = packed["weights"]
        np.asarray(self.diagonal)[:n] = packed["diagonal"]
        np.asarray(self.own)[:n] = packed["own"]
        np.asarray(self.ghosts)[:, :ghosts] = packed["ghosts"]
        if self.has_factor:
            np.asarray(self.factor)[:n, :n] = packed["factor"]
        self.size, self.n_ghosts = n, ghosts
