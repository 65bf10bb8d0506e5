"""The live dictionary as an object: buffers that grow by doubling, and what can be done to them."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from colk._core import komp
from colk._core.buffers import GHOSTS, LANE, N_COUNTERS, N_PANELS, SIZE, WORK_ROWS, Buffers
from colk._core.factor import drop_at
from colk._core.jit import Unit
from colk._core.kernels import column_for, evaluate, gram
from colk._core.reference import Pinned
from colk._validation import Array

__all__ = ["Dictionary"]


# Blocks of at least this many points are solved for by BLAS.
BLAS_BLOCK = 8
# Below this many atoms by one thread of it.
BLAS_THREADS_FROM = 256


@cache
def _trmm_address() -> int:
    """Where SciPy keeps BLAS's product of a triangular matrix with a panel."""
    return int(get_cython_function_address("scipy.linalg.cython_blas", "dtrmm"))


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Dictionary:
    """Atoms, rows of weights over them, and the triangular factor of their inverse Gram matrix.

    Parameters
    ----------
    program : array
        The compiled form of the kernel, `Kernel.program(n_features)`.
    n_features : int
        Dimension p of the points.
    n_rows : int
        Rows of weights: functions that share the atoms.
    n_priced : int, optional
        How many of them, the first, price an atom. All by default.
    n_fitted : int, optional
        How many, the first, are re-fitted when an atom leaves. All by default.
    block : int
        How many points are absorbed at once.
    capacity : int
        Atoms that fit before the buffers first grow.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk._core.dictionary import Dictionary
    >>> d = Dictionary(Gaussian(0.5).program(1), n_features=1)
    >>> error = d.append(np.array([[0.0], [0.1], [2.0]]), np.array([[1.0], [0.5], [1.0]]))
    >>> d.size
    3
    >>> d.prune(eps=0.2) <= 0.2, d.size
    (True, 2)
    """

    has_kernel = True
    has_factor = True

    def __init__(
        self,
        program: Array,
        n_features: int,
        n_rows: int = 1,
        n_priced: int | None = None,
        n_fitted: int | None = None,
        block: int = 2,
        capacity: int = 32,
    ) -> None:
        self.n_features = n_features
        self.n_rows = n_rows
        self.block = block
        self.capacity = -(-max(capacity, 2 * block) // LANE) * LANE
        self._pinned = self._allocate(
            program,
            np.zeros(N_COUNTERS, dtype=np.int64),
            n_rows if n_priced is None else n_priced,
            n_rows if n_fitted is None else n_fitted,
        )

    def _allocate(
        self, program: Array, counters: NDArray[np.int64], n_priced: int, n_fitted: int
    ) -> Pinned[Buffers]:
        c, p, b = self.capacity, self.n_features, self.block
        buffers = Buffers(
            program=program,
            atoms=np.zeros((p, c)),
            own=np.zeros(c),
            weights=np.zeros((self.n_rows, c)),
            factor=np.zeros((c, c) if self.has_factor else (0, 0)),
            diagonal=np.full(c, np.nan),
            points=np.zeros((b, p)),
            amounts=np.zeros((b, self.n_rows)),
            panels=np.zeros((N_PANELS, b, c)),
            small=np.zeros((3, b, b)),
            order=np.zeros(b, dtype=np.int64),
            marked=np.zeros(b, dtype=np.bool_),
            work=np.zeros((WORK_ROWS, max(c, p, b))),
            ghosts=np.zeros((p + self.n_rows, c)),
            counters=counters,
            spent=np.zeros(self.n_rows),
            n_priced=n_priced,
            n_fitted=n_fitted,
            column=column_for(program) if self.has_kernel else 0,
            absorb=self._absorb_unit().address if self.has_factor else 0,
            trmm=_trmm_address() if b >= BLAS_BLOCK else 0,
        )
        return Pinned(buffers)

    def _absorb_unit(self) -> Unit:
        return komp.absorb_pair if self.block <= 2 else komp.absorb_block

    @property
    def buffers(self) -> Buffers:
        """The arrays, shared with compiled code."""
        return self._pinned.value

    @property
    def address(self) -> int:
        """The buffers as compiled code takes them."""
        return self._pinned.address

    @property
    def size(self) -> int:
        """Number of atoms."""
        return int(self.buffers.counters[SIZE])

    @property
    def atoms(self) -> Array:
        """The atoms, a copy of shape (size, n_features)."""
        return np.ascontiguousarray(self.buffers.atoms[:, : self.size].T)

    @property
    def weights(self) -> Array:
        """The weights, a copy of shape (size, n_rows)."""
        return np.ascontiguousarray(self.buffers.weights[:, : self.size].T)

    @property
    def inverse_gram(self) -> Array:
        """K⁻¹ = U Uᵀ, formed from the factor."""
        u_t = np.tril(self.buffers.factor[: self.size, : self.size])
        return np.asarray(u_t.T @ u_t)

    def reserve(self, extra: int) -> None:
        """Make room for `extra` more atoms, doubling the capacity as often as it takes."""
        if self.size + extra <= self.capacity:
            return
        old, n = self.buffers, self.size
        while self.capacity < n + extra:
            self.capacity *= 2
        self._pinned = self._allocate(old.program, old.counters, old.n_priced, old.n_fitted)
        new = self.buffers
        new.atoms[:, :n] = old.atoms[:, :n]
        new.weights[:, :n] = old.weights[:, :n]
        if self.has_factor:
            new.factor[:n, :n] = old.factor[:n, :n]
        new.own[:n] = old.own[:n]
        new.diagonal[:n] = old.diagonal[:n]
        ghosts = old.counters[GHOSTS]
        new.ghosts[:, :ghosts] = old.ghosts[:, :ghosts]

    def blas_threads(self) -> AbstractContextManager[Any]:
        """One BLAS thread while blocks are solved for, up to a size.

        A small triangle loses more by waking a second thread than it gains, and much more where
        the cores are busy.
        """
        if self.buffers.trmm == 0 or self.size >= BLAS_THREADS_FROM:
            return nullcontext()
        limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
        return limited

    def append(self, points: Array, weights: Array, eps: float = 0.0) -> float:
        """Append points with their weights, each block compressed to within `eps` in H-norm.

        With `eps` 0 only what lies in the span of the atoms already is merged. Returns the sum
        of the errors, a bound on the distance from the uncompressed function.
        """
        keep_all = eps == 0.0
        error = 0.0
        for start in range(0, len(points), self.block):
            chunk = points[start : start + self.block]
            size = len(chunk)
            self.reserve(size)
            d = self.buffers
            d.points[:size] = chunk
            d.amounts[:size] = weights[start : start + size]
            stop_at = self.size + size if keep_all else 0
            error += komp.absorb_points(self.address, size, eps, stop_at, self.capacity)
        return error

    def prune(self, eps: float = np.inf, stop_at: int = 0) -> float:
        """Drop the cheapest atoms while the error stays within `eps`; never below `stop_at`."""
        return float(np.sqrt(komp.prune_at(self.address, eps**2, stop_at, self.capacity)))

    def drop(self, j: int) -> None:
        """Drop atom j; the other weights are re-fitted."""
        if not 0 <= j < self.size:
            raise IndexError(f"atom {j} of {self.size}")
        drop_at(self.address, j)

    def truncate(self, n_atoms: int) -> None:
        """Forget the oldest atoms beyond `n_atoms`; the other weights stay as they are."""
        unfitted = Pinned(self.buffers._replace(n_fitted=0))
        while self.size > n_atoms:
            drop_at(unfitted.address, 0)

    def evaluate(self, X: Array, rows: slice = slice(None)) -> Array:
        """Values at the points X of the functions of these rows, shape (n, len(rows))."""
        d, n = self.buffers, self.size
        weights = np.ascontiguousarray(d.weights[rows, :n])
        out = np.empty((len(X), len(weights)))
        evaluate(d.program, np.ascontiguousarray(d.atoms[:, :n]), weights, X, out)
        return out

    def pack(self) -> dict[str, Any]:
        """Everything but the program: plain numbers and arrays, from which to go on bit by bit."""
        d, n, ghosts = self.buffers, self.size, int(self.buffers.counters[GHOSTS])
        return {
            "n_features": self.n_features,
            "n_rows": self.n_rows,
            "n_priced": d.n_priced,
            "n_fitted": d.n_fitted,
            "block": self.block,
            "capacity": self.capacity,
            "atoms": d.atoms[:, :n].copy(),
            "weights": d.weights[:, :n].copy(),
            "factor": d.factor[:n, :n].copy(),
            "diagonal": d.diagonal[:n].copy(),
            "own": d.own[:n].copy(),
            "ghosts": d.ghosts[:, :ghosts].copy(),
        }

    @classmethod
    def unpack(cls, program: Array, packed: dict[str, Any]) -> "Dictionary":
        """Return the dictionary that was packed."""
        shape = ("n_features", "n_rows", "n_priced", "n_fitted", "block", "capacity")
        self = cls(program, **{name: packed[name] for name in shape})
        d, n, ghosts = self.buffers, packed["atoms"].shape[1], packed["ghosts"].shape[1]
        d.atoms[:, :n] = packed["atoms"]
        d.weights[:, :n] = packed["weights"]
        if self.has_factor:
            d.factor[:n, :n] = packed["factor"]
        d.diagonal[:n] = packed["diagonal"]
        d.own[:n] = packed["own"]
        d.ghosts[:, :ghosts] = packed["ghosts"]
        d.counters[SIZE], d.counters[GHOSTS] = n, ghosts
        return self

    def drift(self) -> float:
        """Max |K K⁻¹ − I|: how far the factor has strayed from the atoms' Gram matrix."""
        atoms = self.atoms
        K = np.empty((self.size, self.size))
        gram(self.buffers.program, atoms, atoms, K)
        return float(np.abs(K @ self.inverse_gram - np.eye(self.size)).max(initial=0.0))
