"""Optimal weights on given atoms for more rows than fit in memory, in passes over the rows.

The objective, its gradient and its second derivative are sums over blocks of rows, so that a pass
over the rows makes one step of Newton's method, in memory O(M²) for M atoms.
"""

from dataclasses import dataclass

import numpy as np

from colk._engine.products import transposed_product
from colk._validation import Array
from colk.losses import Loss
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.row_losses import RowLosses
from colk.rkhs.polishing.span import Solver, Span

__all__ = ["Iterate", "PassNewton", "Sums"]

# The search ends if a step would reduce the objective by less than this share, or after this many
# passes.
_TOLERANCE = 1e-4
_MOST_PASSES = 10


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows at given weights; k = κ(D, x).

    Parameters
    ----------
    n_rows : int
        Number of rows.
    loss : float
        Σ ℓ.
    slopes : array of shape (M, q)
        Σ k ℓ'.
    curvature : array of shape (M, M)
        Σ k kᵀ ℓ''.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> total = Sums(1, 0.5, one, one) + Sums(2, 0.25, one, one)
    >>> total.n_rows, total.loss, float(total.slopes[0, 0])
    (3, 0.75, 2.0)
    """

    n_rows: int
    loss: float
    slopes: Array
    curvature: Array

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.n_rows + other.n_rows,
            self.loss + other.loss,
            self.slopes + other.slopes,
            self.curvature + other.curvature,
        )


@dataclass(frozen=True, eq=False)
class Iterate:
    """State of the search between two passes.

    Parameters
    ----------
    weights : array of shape (M, q)
        Weights at which the next pass sums; the result once the search has ended.
    best : array of shape (M, q), optional
        The best weights of the passes so far.
    objective : float
        The objective there.
    n_passes : int
        Number of passes made.
    is_done : bool
        Whether the search has ended.
    """

    weights: Array
    best: Array | None = None
    objective: float = np.inf
    n_passes: int = 0
    is_done: bool = False


class PassNewton:
    """Newton's method for the mean of a smooth loss plus λ/2 ‖f‖², one step in each pass.

    If the loss couples its outputs, the largest second derivative of a row is used for all outputs,
    so that steps are shorter than Newton's.

    Parameters
    ----------
    function : KernelExpansion
        Supplies the kernel and the atoms; its weights are not used.
    loss : Loss
        A loss without kinks.
    regularization : float
        λ > 0.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> X, y = np.arange(1.0, 7.0)[:, None], 2.0 * np.arange(1.0, 7.0)
    >>> f = KernelExpansion(Linear(), [[1.0]], [0.0])
    >>> newton, found = PassNewton(f, Squared(), regularization=1e-9), Iterate(np.zeros((1, 1)))
    >>> while not found.is_done:
    ...     sums = newton.sums(found.weights, X[:4], y[:4])
    ...     found = newton.advance(found, sums + newton.sums(found.weights, X[4:], y[4:]))
    >>> found.weights.round(6), found.n_passes
    (array([[2.]]), 2)
    """

    def __init__(self, function: KernelExpansion, loss: Loss, regularization: float) -> None:
        self._kernel, self._atoms, self._loss = function.kernel, function.atoms, loss
        self._n_outputs = function.n_outputs
        self._regularization = regularization
        self._span = Span(function.kernel, function.atoms[:1], function.atoms)

    def sums(self, weights: Array, X: Array, y: Array) -> Sums:
        """Return the sums over a block of rows.

        Parameters
        ----------
        weights : array of shape (M, q)
            Weights of the atoms.
        X : array of shape (n, p)
            Points; a table of shape (n, M) must fit into memory.
        y : array of shape (n,) or (n, r)
            Targets.
        """
        table = self._kernel.gram(X, self._atoms)
        losses, F = RowLosses(self._loss, y, self._n_outputs), table @ weights
        values, slopes = losses.evaluate(F)
        if not self._span.is_well_conditioned:  # after the sum, this would cost digits
            table = table @ self._span.basis
        scaled = table * np.sqrt(losses.curvature(F, slopes).max(axis=1))[:, None]
        return Sums(
            len(y), float(values.sum()), transposed_product(table, slopes), scaled.T @ scaled
        )

    def _in_basis(self, sums: Array) -> Array:
        return self._span.basis.T @ sums if self._span.is_well_conditioned else sums

    def advance(self, iterate: Iterate, sums: Sums) -> Iterate:
        """Return the state after a pass: another step, half of the last one, or the end.

        Parameters
        ----------
        iterate : Iterate
            The state before the pass.
        sums : Sums
            The sums over all rows at its weights.
        """
        weights, n_passes, n = iterate.weights, iterate.n_passes + 1, sums.n_rows
        v, decay = self._span.coordinates(weights), self._regularization
        value = sums.loss / n + 0.5 * decay * float(np.sum(v * v))
        is_last = n_passes >= _MOST_PASSES
        if iterate.best is not None and not value < iterate.objective:
            if is_last or value <= iterate.objective:
                return Iterate(iterate.best, iterate.best, iterate.objective, n_passes, True)
            halfway = 0.5 * (iterate.best + weights)
            return Iterate(halfway, iterate.best, iterate.objective, n_passes)
        gradient = self._in_basis(sums.slopes) / n + decay * v
        curvature = self._in_basis(self._in_basis(sums.curvature).T) / n
        direction = -Solver(curvature[None], decay)(gradient)
        decrease = -0.5 * float(np.sum(gradient * direction))
        if is_last or not decrease > _TOLERANCE * abs(value):
            return Iterate(weights, weights, value, n_passes, True)
        there = np.asarray(self._span.basis @ (v + direction))
        return Iterate(there, weights, value, n_passes)
