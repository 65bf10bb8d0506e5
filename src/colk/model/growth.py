"""Add atoms, as long as they predict samples that are left out.

The number of atoms is doubled. A ridge regression on all atoms has that on the old ones as a part
of its factor, so both predict the same left-out samples for one price. Candidates for new atoms
are drawn where the losses left out by the old ones are large. The step is made if the new
atoms lower the squared residuals there, or those from a margin for labels, by more than one
standard error and by more than 1 %. A step to M atoms takes O(nM²) operations for n samples; the
next step is not tried if it would take more than 6·10¹⁰ products, some 1 s of one core: 20,000
samples have at most 1600 atoms.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from colk._engine.factors import factorise, invert_triangle, whiten
from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.table import KernelTable
from colk.losses import Loss
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import FinalPolish, polish
from colk.selection import ridge_targets
from colk.selection.samples import losses_of

__all__ = ["Growth", "filled", "grown", "most_atoms"]

# Least number of samples for each atom, and the largest number of products nM² of a step.
_SAMPLES_PER_ATOM, _WORK = 2, 6e10

# Folds, each of which is predicted by a fit to the others, and ridges that are tried, in samples.
_FOLDS = 3
_RIDGES = (10.0, 1.0, 0.1)

# The gain that a step needs, in standard errors and as a share of the loss.
_ERRORS, _SHARE = 1.0, 0.01

# Candidates for each new atom; they are drawn where left-out losses are large.
_CANDIDATES = 2

# The least novelty of an atom beside the others, as a share of κ(x, x).
_NOVELTY = 1e-4

# No atoms are added if an eigenvalue of the Gram matrix is below this share of the largest κ(x, x).
_SINGULAR = 1e-12

# With at most so many rows every row may be an atom.
_ALL = 1500

Places = NDArray[np.intp]

_BLOCK, _JITTER = 1024, 1e-10
_SEED = 0


class Growth(NamedTuple):
    """A function with atoms added while they pay, and the steps that were tried.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> X = np.linspace(-1.0, 1.0, 200)[:, None]
    >>> model = COLKRegressor(random_state=0).fit(X, np.sin(3.0 * X[:, 0]))
    >>> model.n_atoms_ <= model.max_atoms_
    True
    """

    function: KernelExpansion  # new atoms have weight 0
    tried: Array  # for each number of atoms: it, the share by which the loss fell, and its error

    def polished(
        self, final: FinalPolish, X: Array, Y: Array, weight: Array, tolerance: float
    ) -> FinalPolish:
        """Return the polish on all atoms.

        Parameters
        ----------
        final : FinalPolish
            The polish on the first atoms, without outliers.
        X, Y, weight : arrays
            Samples, as the loss takes them.
        tolerance : float
            As in `polish`.
        """
        small, found = final.polished.function, final.polished
        weights = np.zeros((self.function.n_atoms, *small.weights.shape[1:]))
        weights[: small.n_atoms] = small.weights
        polished = polish(
            KernelExpansion(small.kernel, self.function.atoms, weights),
            X,
            Y,
            final.loss,
            final.risk,
            found.regularization,
            sample_weight=weight,
            tolerance=tolerance,
        )
        before, candidates = found.value_before, found.candidates
        polished = replace(polished, value_before=before, candidates=candidates)
        return replace(final, polished=polished)


def grown(
    function: KernelExpansion,
    X: Array,
    Y: Array,
    weight: Array,
    loss: Loss,
    report: Callable[[str], None] = lambda message: None,
) -> Growth:
    """Double the number of atoms of a function while it pays.

    Parameters
    ----------
    function : KernelExpansion
        A function; its weights are not used.
    X, Y, weight : arrays
        Samples, as the loss takes them.
    loss : Loss
        The loss.
    report : callable
        Called with a line of text for each step that was tried. Default: no report.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Huber
    >>> X = np.random.default_rng(0).uniform(size=(300, 1))
    >>> f = KernelExpansion(Gaussian(0.3), X[::30], np.zeros(10))
    >>> grown(f, X, np.sin(6.0 * X[:, 0]), np.ones(300), Huber()).function.n_atoms
    10
    """
    counted = weight > 0.0
    if not counted.all():
        X, Y, weight = X[counted], Y[counted], weight[counted]
    tried = list[tuple[float, float, float]]()
    random, size = np.random.default_rng(_SEED), 2 * function.n_atoms
    targets = ridge_targets(Y, weight, loss, function.n_outputs)
    targets = targets - np.average(targets, axis=0, weights=weight)  # a constant needs many atoms
    samples = X, targets, weight, loss.kind != "regression"
    known: _Fit | None = None
    while _SAMPLES_PER_ATOM * size <= len(X) and len(X) * size**2 <= _WORK:
        if known is None:
            (known,) = _Step(function, *samples).best(function.n_atoms)
        lacking = size - function.n_atoms
        drawn = _drawn(weight * known.losses, _CANDIDATES * lacking, random)
        larger = _with_novel(function, X[drawn], lacking)
        if larger.n_atoms == function.n_atoms:
            break
        few, known = _Step(larger, *samples).best(function.n_atoms, larger.n_atoms)
        gain, error = _gain(few, known, weight)
        pays = gain > max(_ERRORS * error, _SHARE)
        tried.append((float(larger.n_atoms), gain, error))
        report(
            f"{larger.n_atoms} atoms: would lower the loss of left-out samples by {gain:.1%} ± "
            f"{error:.1%}{'' if pays else ', not added'}"
        )
        if not pays:
            break
        function, size = larger, 2 * larger.n_atoms
    return Growth(function, np.array(tried, dtype=np.float64).reshape(-1, 3))


class _Fit(NamedTuple):
    """A ridge regression, by its left-out losses."""

    loss: float  # their weighted mean
    losses: Array


class _Step:
    """Ridge regressions on the atoms of a function, each without the samples of a fold."""

    def __init__(
        self, function: KernelExpansion, X: Array, Y: Array, weight: Array, are_labels: bool
    ) -> None:
        kernel, atoms = function.kernel, function.atoms
        self._values, self._n_atoms = KernelTable(kernel, atoms), len(atoms)
        self._are_labels = are_labels
        self._gram = kernel.of_atoms.gram(atoms)
        shares = weight / weight.sum() * len(X)
        self._rows = [
            tuple(each[fold::_FOLDS] for each in (X, Y, shares)) for fold in range(_FOLDS)
        ]
        self._parts = map_in_threads(lambda rows: self._sums(*rows), self._rows)
        self._totals = [sum(each) for each in zip(*self._parts, strict=True)]
        self._weight = shares / len(X)

    def _sums(self, X: Array, Y: Array, weight: Array) -> tuple[Array, Array]:
        """Return Σ w k kᵀ and Σ w k yᵀ, where k = κ(D, x)."""
        squares = np.zeros((self._n_atoms, self._n_atoms))
        products = np.zeros((self._n_atoms, Y.shape[1]))
        table = np.empty((min(_BLOCK, len(X)), self._n_atoms))
        for first in range(0, len(X), _BLOCK):
            rows = slice(first, first + _BLOCK)
            part, roots = table[: len(X[rows])], np.sqrt(weight[rows])[:, None]
            self._values.write(X[rows], part)
            part *= roots
            squares += part.T @ part
            products += part.T @ (roots * Y[rows])
        return squares, products

    def best(self, *sizes: int) -> list[_Fit]:
        """Return the fits with the best ridge on the first atoms, for each of these numbers."""
        tried = [self._losses(ridge, sizes) for ridge in _RIDGES]
        found = []
        for k in range(len(sizes)):
            fits = (_Fit(float(each[k] @ self._weight), each[k]) for each in tried)
            found.append(min(fits, key=lambda fit: fit.loss))
        return found

    def _losses(self, ridge: float, sizes: Sequence[int]) -> Array:
        """Return the losses of all samples, left out in turn, for each number of first atoms."""
        losses = np.empty((len(sizes), len(self._weight)))
        for fold, found in enumerate(
            map_in_threads(partial(self._left_out, ridge, sizes), range(_FOLDS))
        ):
            losses[:, fold::_FOLDS] = found
        return losses

    def _left_out(self, ridge: float, sizes: Sequence[int], fold: int) -> list[Array]:
        """Return the losses of the samples of a fold, by fits of the first atoms to the others."""
        squares, products = (
            total - part for total, part in zip(self._totals, self._parts[fold], strict=True)
        )
        X, Y, _ = self._rows[fold]
        L = squares + ridge * self._gram
        L.flat[:: len(L) + 1] *= 1.0 + _JITTER
        if not factorise(L):
            return [np.full(len(X), np.inf)] * len(sizes)
        L = np.tril(L)
        sums = solve_triangular(L, products, lower=True)
        weights = [solve_triangular(L[:size, :size].T, sums[:size]) for size in sizes]
        residuals = [np.empty(Y.shape) for _ in sizes]
        table = np.empty((min(_BLOCK, len(X)), self._n_atoms))
        for first in range(0, len(X), _BLOCK):
            rows = slice(first, first + _BLOCK)
            part = table[: len(X[rows])]
            self._values.write(X[rows], part)
            for rest, size, w in zip(residuals, sizes, weights, strict=True):
                rest[rows] = Y[rows] - part[:, :size] @ w
        return [losses_of(rest, np.sign(Y), self._are_labels) for rest in residuals]


def _gain(few: _Fit, every: _Fit, weight: Array) -> tuple[float, float]:
    """Return the share by which the loss of the first atoms falls with all, and its error."""
    if not few.loss > 0.0 or not np.isfinite(every.loss):
        return 0.0, 0.0
    shares, gains = weight / weight.sum(), few.losses - every.losses
    mean = float(shares @ gains)
    error = float(np.sqrt((shares**2) @ (gains - mean) ** 2))
    return mean / few.loss, error / few.loss


def _drawn(chances: Array, size: int, random: np.random.Generator) -> Places:
    """Draw rows without replacement, with probabilities in proportion to their chances."""
    possible, total = int(np.count_nonzero(chances)), float(chances.sum())
    if not 0.0 < total < np.inf:
        return random.permutation(len(chances))[:size]
    return random.choice(len(chances), min(size, possible), replace=False, p=chances / total)


def filled(function: KernelExpansion, X: Array, most: int) -> KernelExpansion:
    """Return the function with the most novel rows as atoms of weight 0, up to `most` atoms.

    Parameters
    ----------
    function : KernelExpansion
        A function.
    X : array of shape (n, p)
        Rows; of many, evenly spaced ones are candidates.
    most : int
        Largest number of atoms. Rows that are nearly dependent on atoms are not added, and none if
        the atoms are dependent in rounded numbers.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [1.0], [2.0]])
    >>> filled(KernelExpansion(Gaussian(0.5), X[:1], np.ones(1)), X, 4).atoms.ravel()
    array([0., 2., 1.])
    """
    lacking = most - function.n_atoms
    if lacking <= 0:
        return function
    size = min(len(X), max(2 * lacking, _ALL // 2))
    larger = _with_novel(function, X[np.linspace(0, len(X) - 1, size).astype(int)], lacking)
    gram = larger.kernel.of_atoms.gram(larger.atoms)
    gram.flat[:: len(gram) + 1] -= _SINGULAR * gram.diagonal().max()
    return larger if factorise(gram) else function


def most_atoms(n_samples: int, limit: int, is_number: bool) -> int:
    """Return the number of atoms to fill up to: all rows if there are at most 1500, for one number.

    Examples
    --------
    >>> most_atoms(1200, 400, True), most_atoms(1200, 400, False), most_atoms(5000, 400, True)
    (1200, 400, 400)
    """
    return n_samples if is_number and n_samples <= _ALL else limit


def _with_novel(function: KernelExpansion, rows: Array, most: int) -> KernelExpansion:
    """Return the function with the most novel of these rows as atoms of weight 0."""
    points, atoms, kernel = function.kernel.points(rows), function.atoms, function.kernel.of_atoms
    novel = _novelties(kernel, atoms, points)
    if novel is None:  # the atoms are nearly dependent already
        return function
    least = _NOVELTY * float(kernel.diagonal(points).max())
    # In LAPACK's column order a lower triangle is an upper one.
    _, order, n_novel, _ = dpstrf(novel.T, lower=0, tol=least, overwrite_a=1)
    chosen = points[order[: min(int(n_novel), most)] - 1]
    zeros = np.zeros((len(chosen), *function.weights.shape[1:]))
    return KernelExpansion(
        function.kernel, np.concatenate([atoms, chosen]), np.concatenate([function.weights, zeros])
    )


def _novelties(kernel: Kernel, atoms: Array, points: Array) -> Array | None:
    """Return the Gram matrix of the parts of κ(x, ·) that the atoms cannot represent.

    Only the lower triangle is defined. The result is None if the atoms are nearly dependent.
    """
    inverse = kernel.gram(atoms)
    if not factorise(inverse):
        return None
    invert_triangle(inverse)
    middle = len(points) // 2
    halves = slice(middle), slice(middle, None)

    def represented(rows: slice) -> Array:
        table = kernel.gram(points[rows], atoms)
        whiten(inverse, table)
        return table

    found = map_in_threads(represented, halves)
    novel = np.zeros((len(points), len(points)))

    def fill(pair: tuple[int, int]) -> None:
        a, b = pair
        rows, columns = halves[a], halves[b]
        products = kernel.gram(points[rows], points[columns])
        novel[rows, columns] = products - found[a] @ found[b].T

    map_in_threads(fill, [(1, 0), (0, 0), (1, 1)])
    return novel
