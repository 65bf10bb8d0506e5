"""The live dictionary: atoms, weights over them, and the triangular factor of K⁻¹ = U Uᵀ.

`factor` stores Uᵀ, row by row. Solving v = K⁻¹k takes one pass over the rows. Appending a point
adds the row [−v, 1]/√s, where s = κ(x, x) − kᵀv is its novelty. Dropping atom j takes Givens
rotations that gather row j of U in one column, which is removed; they do not amplify rounding
errors. Beyond the atoms, weights and factor are 0, the diagonal NaN: loops run over whole vectors.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import aligned, padded, zeros
from colk._engine.contracts import KernelContract, Scratch
from colk._engine.factor_check import check_factor
from colk._engine.many_points import evaluate_many
from colk._engine.simd import loops
from colk._validation import Array

__all__ = ["Dictionary"]

SPARE = 8  # entries that are kept free after the atoms


class Dictionary:
    """Atoms and rows of weights, one row for each function on these atoms.

    Parameters
    ----------
    kernel : KernelContract or None
        The kernel κ; None for weights of features, which are not functions of atoms.
    n_features : int
        Dimension p of the points.
    n_rows : int
        Number of rows of weights.
    n_priced : int, optional
        Number of rows, from the first, that count in the cost of dropping an atom. Default: all.
    n_fitted : int, optional
        Number of rows, from the first, that are refitted when an atom is dropped. Default: all. The
        other rows keep their weights; the weight of a dropped atom is kept with the ghosts.
    block : int
        Largest number of new points per step.
    capacity : int
        Number of atoms that fit before the buffers first grow.
    has_factor : bool
        Whether to keep the factor, which takes O(M²) memory. KOMP and projection need it.

    Examples
    --------
    >>> import numpy as np
    >>> from colk._engine.dictionary import Dictionary
    >>> from colk.kernels import Gaussian
    >>> d = Dictionary(Gaussian(0.5), n_features=1)
    >>> d.size, d.n_rows
    (0, 1)
    """

    kernel: KernelContract
    size: int
    n_ghosts: int
    added: int  # atoms that this step added
    dropped: int  # place of the atom that was dropped last, before it was
    atoms_t: Array  # (features, capacity)
    weights_t: Array  # (rows, capacity)
    factor: Array  # (capacity, capacity)
    diagonal: Array  # (capacity,): diagonal of K⁻¹
    own: Array  # (capacity,): κ(d_j, d_j)
    carry: Array  # (capacity,): the column of K⁻¹ of a dropped atom
    spent: Array  # (rows,): squared H-norm that each function lost in this step
    ghosts: Array  # (features + rows, capacity): atoms that the last step dropped
    ghost_atoms: Array  # (features, capacity): their points, the same memory
    ghost_columns: Array  # (block, capacity): κ(ghosts, x)
    # The new points of a step:
    points: Array  # (block, features)
    amounts: Array  # (block, rows): their weights
    columns: Array  # (block, capacity): κ(D, x); the kernel's own parts follow
    gram: Array  # (block, block): κ of the new points, its lower half
    order: Any  # (block,): new points that move
    peak: float  # κ(x, x) if it is the same for all x and known, else 0
    squared_move: float  # mean squared H-norm of the latest steps, if the compressor needs it
    scratch: Scratch  # working memory of the compressor

    def __init__(
        self,
        kernel: KernelContract | None,
        n_features: int,
        n_rows: int = 1,
        n_priced: int | None = None,
        n_fitted: int | None = None,
        block: int = 2,
        capacity: int = 32,
        has_factor: bool = True,
    ) -> None:
        self.kernel = None if kernel is None else kernel.bind(n_features)  # type: ignore[assignment]
        self.peak = 0.0 if kernel is None or not kernel.has_exact_peak else kernel.peak
        self.n_features, self.n_rows, self.block = n_features, n_rows, block
        self.n_priced = n_rows if n_priced is None else n_priced
        self.n_fitted = n_rows if n_fitted is None else n_fitted
        self.has_factor = has_factor
        self.size = self.n_ghosts = self.added = self.dropped = 0
        self.points = zeros((block, n_features))
        self.amounts = zeros((block, n_rows))
        self.gram, self.spent = zeros((block, block)), zeros(n_rows)
        self.order = zeros(block, dtype=np.intp)
        self.squared_move, self.scratch = 0.0, Scratch()
        self._resize(max(capacity, 2 * block))

    @classmethod
    def of_features(cls, n_components: int, **shape: int) -> "Dictionary":
        """Return weights of `n_components` features, all 0."""
        self = cls(None, 1, capacity=n_components, has_factor=False, **shape)
        self.occupy(n_components)
        return self

    def occupy(self, size: int) -> None:
        """Set the number of atoms to `size`, with weights of 0."""
        self.size = size

    # -- files and pickles -------------------------------------------------------------------

    def fields(self) -> stored.Record:
        """Fields that `pack` returns for a dictionary of this shape."""
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

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
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

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore the state that a dictionary of the same shape has packed."""
        n, ghosts = packed["atoms"].shape[1], packed["ghosts"].shape[1]
        if max(n, ghosts) + self.block > self.capacity - SPARE:
            self._resize(max(n, ghosts) + self.block)
        np.asarray(self.weights_t)[:] = np.asarray(self.factor)[:] = 0.0
        np.asarray(self.diagonal)[:] = np.nan
        np.asarray(self.atoms_t)[:, :n] = packed["atoms"]
        np.asarray(self.weights_t)[:, :n] = packed["weights"]
        np.asarray(self.diagonal)[:n] = packed["diagonal"]
        np.asarray(self.own)[:n] = packed["own"]
        np.asarray(self.ghosts)[:, :ghosts] = packed["ghosts"]
        if self.has_factor:
            np.asarray(self.factor)[:n, :n] = packed["factor"]
        self.size, self.n_ghosts = n, ghosts

    # -- memory ------------------------------------------------------------------------------

    def attach(self, scratch: Scratch) -> None:
        """Attach the scratch of a compressor."""
        scratch.resize(self.capacity)
        self.scratch = scratch

    def _resize(self, wanted: int) -> None:
        """Reallocate all buffers for `wanted` atoms; if memory runs out, nothing has changed."""
        capacity = padded(wanted + SPARE)
        depth = 0 if self.kernel is None else self.kernel.depth
        blocks, side = (1 + depth) * self.block, capacity if self.has_factor else 1
        p, rows = self.n_features, self.n_rows
        new = tuple(aligned(n, capacity) for n in (p, rows, side, p + rows, 3, blocks, blocks))
        new[4][1] = np.nan
        if self.size > 0:
            self._move(new)
        # These local variables have C types: nothing can fail once the first buffer is replaced.
        atoms, weights, factor, ghosts, _, columns, ghost_columns = new
        ghost_atoms, own, diagonal, carry = new[3][:p], new[4][0], new[4][1], new[4][2]
        self.scratch.resize(capacity)
        self.atoms_t, self.weights_t, self.factor, self.ghosts = atoms, weights, factor, ghosts
        self.ghost_atoms, self.own, self.diagonal, self.carry = ghost_atoms, own, diagonal, carry
        self.columns, self.ghost_columns, self.capacity = columns, ghost_columns, capacity

    def _move(self, new: tuple[Array, ...]) -> None:
        """Copy the state that persists between steps."""
        n, ghosts = self.size, self.n_ghosts
        new[0][:, :n] = np.asarray(self.atoms_t)[:, :n]
        new[1][:, :n] = np.asarray(self.weights_t)[:, :n]
        if self.has_factor:
            new[2][:n, :n] = np.asarray(self.factor)[:n, :n]
        new[3][:, :ghosts] = np.asarray(self.ghosts)[:, :ghosts]
        new[4][0, :n], new[4][1, :n] = np.asarray(self.own)[:n], np.asarray(self.diagonal)[:n]

    def capacity_for(self, extra: int) -> int:
        """Return the capacity with room for `extra` more atoms; it grows by doubling."""
        wanted = max(2 * (self.capacity - SPARE), self.size + extra) + SPARE
        return self.capacity if self.size + extra <= self.capacity else padded(wanted)

    def reserve(self, extra: int) -> None:
        """Make room for `extra` more atoms."""
        if self.size + extra > self.capacity:
            self._resize(max(2 * (self.capacity - SPARE), self.size + extra))

    # -- operations of a step ----------------------------------------------------------------

    def evaluate_columns(self, points: Array, size: int, ghosts: bool) -> int:
        """Compute κ(D, x) for `size` new points, and the lower half of their Gram matrix.

        The points are stored behind the atoms, so that one column contains both; a single point
        needs no entry if κ(x, x) is known. With `ghosts`, also compute their columns over the atoms
        that the last step dropped.
        """
        n, extra = self.size, 0 if size == 1 and self.peak > 0.0 else size
        for b in range(size):
            for k in range(self.n_features):
                self.points[b, k] = self.atoms_t[k, n + b] = points[b, k]
        self.kernel.columns(self.atoms_t, n + extra, self.points, size, self.columns, 0)
        self.gram[0, 0] = self.peak
        for b in range(extra):
            for a in range(b + 1):
                self.gram[b, a] = self.columns[b, n + a]
        if ghosts and self.n_ghosts > 0:
            self.kernel.columns(
                self.ghost_atoms, self.n_ghosts, self.points, size, self.ghost_columns, 0
            )
        return 0

    def evaluate_at(self, point: Array) -> int:
        """Write κ(D, x) of one point to the first column."""
        return self.kernel.columns(self.atoms_t, self.size, point, 1, self.columns, 0)

    def combine(self, row: int) -> float:
        """Return Σ_j w_j κ(d_j, x) for this row of weights, at the point of the first column."""
        return loops.dot(self.weights_t, row, self.columns, 0, self.size)

    def append_row(self, b: int, solutions: Array, row: int, novelty: float) -> None:
        """Append new point b: the row [−v, 1]/√s, with v in a row of `solutions`."""
        n, scale = self.size, 1.0 / math.sqrt(novelty)
        for j in range(n):
            self.factor[n, j] = -scale * solutions[row, j]
        self.factor[n, n] = scale
        self.append(b)

    def append_second_row(self, b: int, solutions: Array, novelty: float, shared: float) -> None:
        """Append new point b after another one: ([−v, 0, 1] − L row)/√s, with L = `shared`/√s."""
        n, last = self.size, self.size - 1
        entry = shared * self.factor[last, last]
        scale = 1.0 / math.sqrt(novelty - entry * entry)
        for j in range(last):
            self.factor[n, j] = -scale * (solutions[b, j] + entry * self.factor[last, j])
        self.factor[n, last] = -scale * entry * self.factor[last, last]
        self.factor[n, n] = scale
        self.append(b)

    def append(self, b: int) -> None:
        """Make new point b an atom; if there is a factor, its row is already written."""
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
        self.size, self.added = n + 1, self.added + 1

    def cheapest(self) -> int:
        """Return the atom that costs least to drop; ties go to the newest atom."""
        best, least = self.size - 1, math.inf
        for j in range(self.size):
            price = self.price(j)
            if price <= least:
                best, least = j, price
        return best

    def near_dependent(self) -> int:
        """Return the atom of least novelty if its novelty is below the floor; else `size`.

        1/(K⁻¹)_jj is the novelty of atom j given all the others. Without a floor, a sequence of
        points, each novel when it was added, can end in a singular Gram matrix.
        """
        worst, largest = self.size, 1.0 / loops.DEPENDENCE_FLOOR
        for j in range(self.size):
            if self.diagonal[j] * self.own[j] > largest:
                worst, largest = j, self.diagonal[j] * self.own[j]
        return worst

    def price(self, j: int) -> float:
        """Return ‖w_j‖²/(K⁻¹)_jj, the squared H-norm that dropping atom j costs."""
        squares = 0.0
        for row in range(self.n_priced):
            squares += self.weights_t[row, j] * self.weights_t[row, j]
        return squares / float(self.diagonal[j])

    def drop_atom(self, j: int) -> float:
        """Drop atom j and re-fit the other weights: w ← w − K⁻¹[:, j] w_j/(K⁻¹)_jj.

        Returns the cost plus a bound on its rounding error. The atom becomes a ghost.
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
        self.remove(j)
        for i in range(n):
            self.factor[n - 1, i] = 0.0
        self.diagonal[n - 1] = math.nan
        return float(cost)

    def remove(self, j: int) -> None:
        """Move atom j with its weights to the ghosts and close the gap."""
        n, ghost = self.size - 1, self.n_ghosts
        if ghost < self.capacity:
            for k in range(self.n_features):
                self.ghosts[k, ghost] = self.atoms_t[k, j]
            for row in range(self.n_rows):
                self.ghosts[self.n_features + row, ghost] = self.weights_t[row, j]
            self.n_ghosts = ghost + 1
        for k in range(self.n_features):
            loops.close_gap(loops.data_of_row(self.atoms_t, k), j, n)
        for row in range(self.n_rows):
            loops.close_gap(loops.data_of_row(self.weights_t, row), j, n)
            self.weights_t[row, n] = 0.0
        loops.close_gap(loops.data(self.own), j, n)
        self.size, self.dropped = n, j

    def scale_rows(self, first: int, count: int, factor: float) -> None:
        """Multiply the weights of these rows by a number."""
        if factor != 1.0:
            for row in range(first, first + count):
                loops.scale(self.weights_t, row, factor, self.size)

    def begin_step(self) -> None:
        """Start a step: discard the ghosts, and set the numbers of added atoms and losses to 0."""
        self.n_ghosts = self.added = 0
        for row in range(self.n_rows):
            self.spent[row] = 0.0

    def clear_ghosts(self) -> None:
        """Discard the ghosts."""
        self.n_ghosts = 0

    def set_weights(self, values: Array) -> None:
        """Set the weights of the first rows, given in shape (size, rows)."""
        np.asarray(self.weights_t)[: values.shape[1], : self.size] = values.T

    def set_new_points(self, points: Array, amounts: Array) -> None:
        """Set the new points and their weights."""
        np.asarray(self.points)[: len(points)] = points
        np.asarray(self.amounts)[: len(points)] = amounts

    # -- inspection --------------------------------------------------------------------------

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
        """Weights of the dropped atoms in the order of dropping, of shape (n_ghosts, n_rows)."""
        return np.array(np.asarray(self.ghosts)[self.n_features :, : self.n_ghosts].T)

    @property
    def inverse_gram(self) -> Array:
        """K⁻¹ = U Uᵀ, formed from the factor."""
        u_t = np.tril(np.asarray(self.factor)[: self.size, : self.size])
        return np.asarray(u_t.T @ u_t)

    def evaluate(self, X: Array, row: int = 0, count: int | None = None) -> Array:
        """Return the values at X of `count` functions, from this row on, in shape (n, count)."""
        out = np.empty((len(X), self.n_rows - row if count is None else count))
        evaluate_many(self.kernel, self.atoms_t, self.size, self.weights_t, row, X, out)
        return out

    def drift(self) -> float:
        """Max |K K⁻¹ − I|: the rounding error that the factor has accumulated."""
        K = self.kernel.gram(self.atoms) if self.size > 0 else np.empty((0, 0))
        return float(np.abs(K @ self.inverse_gram - np.eye(self.size)).max(initial=0.0))
