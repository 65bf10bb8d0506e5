"""Compress a function by KOMP and certify its distance from the original."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._engine.blas_threads import one_blas_thread
from colk._validation import Array, check_count, check_number
from colk.compressors import pursuit
from colk.rkhs.certificate import certified_norm, exact_sums
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.reduction import independent_start, low_rank_start

__all__ = ["Compression", "compress", "largest_change"]

# With more atoms than this, a low-rank reduction comes before the inverse of the Gram matrix.
_LARGE = 2000

# Share of eps for the low-rank reduction. Squares add up, so KOMP keeps 97 % of eps.
_REDUCTION_SHARE = 0.25

# Shares of eps to try, in this order, until the certificate holds.
_SHARES = (1.0, 0.999, 0.5, 0.0)


@stored.stores(
    function=stored.Object(KernelExpansion),
    error=stored.Number(at_least=0.0),
    kept=stored.Array("n_kept", dtype=np.int64),
    removed=stored.Array("n_removed", dtype=np.int64),
)
@dataclass(frozen=True, eq=False, repr=False)
class Compression:
    """Result of `compress`: a smaller function, and its distance from the original.

    Attributes
    ----------
    function : KernelExpansion
        The compressed function f~.
    error : float
        Proven bound on the H-norm ‖f − f~‖; tight up to rounding.
    kept : array of int
        Indices of the atoms of f that stay, in their order.
    removed : array of int
        Indices of the other atoms: first the merged ones, then the rest in the order of
        removal.

    Examples
    --------
    >>> from colk.rkhs.compression import compress
    >>> from colk.rkhs.expansion import KernelExpansion
    >>> from colk.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(0.5), [[0.0], [0.1], [2.0]], [1.0, 1.0, 1.0])
    >>> compress(f, max_atoms=2)
    Compression(3 → 2 atoms, error=0.198)
    """

    function: KernelExpansion
    error: float
    kept: NDArray[np.int64]
    removed: NDArray[np.int64]

    def __repr__(self) -> str:
        before = len(self.kept) + len(self.removed)
        return f"Compression({before} → {len(self.kept)} atoms, error={self.error:.4g})"


@one_blas_thread()
def compress(
    f: KernelExpansion, *, eps: float | None = None, max_atoms: int | None = None
) -> Compression:
    """Compress a function: destructive KOMP with pre-fitting (Vincent and Bengio, 2002).

    KOMP removes the atom that costs least in H-norm after the other weights are refitted, and
    repeats this until eps or `max_atoms` stops it. If several atoms cost the same, the newest is
    removed. Equal atoms are merged first. Atoms that lie in the span of others up to rounding are
    projected onto that span, if eps allows it.

    The error is certified: it is computed over all atoms in extended precision, plus a bound on
    the rounding error. If rounding alone exceeds eps, fewer atoms are removed, or none. Above 2000
    atoms, pivoted Cholesky first projects f onto a subset of the atoms that loses at most a
    quarter of eps (or onto 3·`max_atoms` of them). The certified error includes this loss.

    Parameters
    ----------
    f : KernelExpansion
        The function.
    eps : float, optional
        Bound on the H-norm ‖f − f~‖; it always holds. For a relative error pass
        `0.01 * f.norm()`.
    max_atoms : int, optional
        Number of atoms to stop at. If eps is given as well, the bound that is reached first stops
        the compression, so more atoms may remain.

    Returns
    -------
    Compression
        The compressed function, its error and the indices of the atoms that stay.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rkhs.compression import compress
    >>> from colk.rkhs.expansion import KernelExpansion
    >>> from colk.kernels import Gaussian
    >>> x = np.linspace(0.0, 1.0, 50).reshape(-1, 1)
    >>> f = KernelExpansion(Gaussian(0.2), x, np.sin(6.0 * x[:, 0]))
    >>> small = compress(f, eps=0.01 * f.norm())
    >>> small.function.n_atoms, small.error <= 0.01 * f.norm()
    (7, True)
    """
    if not isinstance(f, KernelExpansion):
        raise TypeError(
            f"compress takes a KernelExpansion, got {type(f).__name__}; "
            "for a fitted estimator call colk.from_sklearn(estimator).compress(...)"
        )
    if eps is None and max_atoms is None:
        raise ValueError("give eps, max_atoms or both")
    if eps is not None:
        eps = check_number(eps, "eps", at_least=0.0)
    if max_atoms is not None:
        max_atoms = check_count(max_atoms, "max_atoms", at_least=0)
    if not np.isfinite(f.kernel.of_atoms.diagonal(f.atoms)).all():
        raise ValueError("the kernel is not finite at every atom; scale the features first")
    return _Problem.of(f).solve(eps, max_atoms)


@dataclass(frozen=True, eq=False)
class _Problem:
    """A function with equal atoms merged and weights scaled by a power of 2."""

    f: KernelExpansion
    first: NDArray[np.int64]  # index in f of each distinct atom (the first of equal ones)
    group: NDArray[np.int64]  # for each atom of f, the index of its distinct atom
    atoms: Array  # distinct
    weights: Array  # merged and scaled, (M, q)
    scale: float

    @classmethod
    def of(cls, f: KernelExpansion) -> "_Problem":
        _, first, group = np.unique(f.atoms, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)  # distinct atoms in the order of f
        group = np.argsort(order)[group.reshape(-1)]
        # Scaling keeps squares of weights from overflow and underflow.
        rows = f.weights.reshape(f.n_atoms, f.n_outputs)
        largest = float(np.abs(rows).max(initial=0.0))
        scale = math.ldexp(1.0, min(max(math.frexp(largest)[1], -1000), 1000))
        weights = exact_sums(rows / scale, group, len(first))
        first = first[order]
        return cls(f, first, group, np.ascontiguousarray(f.atoms[first]), weights, scale)

    def solve(self, eps: float | None, max_atoms: int | None) -> Compression:
        if max_atoms is not None and self.f.n_atoms <= max_atoms:
            return self._nothing_removed()
        stop_at = 0 if max_atoms is None else max_atoms
        if len(self.first) <= stop_at:
            merged = self._certify(np.arange(len(self.first)), self.weights, np.empty(0, np.int64))
            return merged if eps is None or merged.error <= eps else self._nothing_removed()
        if eps is None:
            return self._attempt(math.inf, stop_at)
        for share in _SHARES:
            attempt = self._attempt(share * eps / self.scale, stop_at)
            if attempt.error <= eps:
                return attempt
        return self._nothing_removed()

    def _attempt(self, eps: float, stop_at: int) -> Compression:
        """Run KOMP with this bound, in scaled units, and certify the result."""
        kernel, atoms, weights = self.f.kernel.of_atoms, self.atoms, self.weights
        if len(atoms) > _LARGE:
            bounded = stop_at if eps == math.inf else len(atoms)
            rank = min(len(atoms), max(3 * bounded, 64))
            allowance = 0.0 if eps == math.inf else _REDUCTION_SHARE * eps
            start = low_rank_start(kernel, atoms, weights, allowance, rank)
        else:
            start = independent_start(kernel, atoms, weights, 0.5 * eps)
        d, frozen, n_outputs = start.dictionary, start.frozen, weights.shape[1]
        budget = math.sqrt(max(eps - start.error, 0.0) * (eps + start.error))
        pursuit.prune(d, budget, max(stop_at - len(frozen), 0))
        rows, ghosts = d.weights, d.ghost_weights[:, -1]
        kept = np.concatenate([rows[:, -1].astype(np.int64), frozen])
        fitted = np.concatenate([rows[:, :n_outputs], weights[frozen]])
        order = np.argsort(kept)
        return self._certify(kept[order], fitted[order], ghosts.astype(np.int64))

    def _certify(
        self, kept: NDArray[np.int64], fitted: Array, last: NDArray[np.int64]
    ) -> Compression:
        """Return the function on the kept atoms; `last` lists removed atoms in order."""
        f, n = self.f, len(self.first)
        rows = f.weights.reshape(f.n_atoms, f.n_outputs) / self.scale
        difference = exact_sums(
            np.concatenate([rows, -fitted]), np.concatenate([self.group, kept]), n
        )
        error = self.scale * certified_norm(f.kernel.of_atoms, self.atoms, difference)
        places, dropped = self.first[kept], self.first[last]
        others = np.setdiff1d(np.arange(f.n_atoms), np.concatenate([places, dropped]))
        weights = (fitted * self.scale).reshape(len(kept), *f.weights.shape[1:])
        function = KernelExpansion(f.kernel, f.atoms[places], weights)
        return Compression(function, error, places, np.concatenate([others, dropped]))

    def _nothing_removed(self) -> Compression:
        everything = np.arange(self.f.n_atoms)
        return Compression(self.f, 0.0, everything, everything[:0])


def largest_change(f: KernelExpansion, smaller: KernelExpansion) -> float:
    """Return the largest |f − f~| at the atoms of f, for a compressed f~.

    The bound of `Compression` holds at every point; this is the change that was measured.

    Parameters
    ----------
    f, smaller : KernelExpansion
        The function before and after `compress`.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(0.5), [[0.0], [0.1], [2.0]], [1.0, 1.0, 1.0])
    >>> round(largest_change(f, compress(f, max_atoms=2).function), 3)
    0.039
    """
    kernel = f.kernel.of_atoms  # atoms of a kernel with a metric are mapped points
    before, after = (KernelExpansion(kernel, g.atoms, g.weights) for g in (f, smaller))
    return float(np.abs(before(f.atoms) - after(f.atoms)).max(initial=0.0))
