"""Add atoms after the polish, as long as they predict left-out residuals.

Atoms are added in steps to 800 and 1600. Before each step two ridge regressions predict residuals
of samples that they have not seen: one on the old atoms, one on all atoms. The step is made if the
new atoms lower the squared residuals by more than two standard errors and by more than 2 %. The
regression on the old atoms can explain nothing, because the residuals come from their best weights.
It only fits noise, and so shows how much the old atoms cost in both regressions. A step to M atoms
takes O(nM²) operations for n samples: the last step takes sixteen times as many as the weights of
400 atoms.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpstrf

from colk._engine.factors import factorise, invert_triangle, whiten
from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.kernels import Kernel
from colk.losses import Loss
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import FinalPolish, RowBlocks, solve_by_sums
from colk.selection.leave_one_out import nested_residuals

__all__ = ["Growth", "filled", "grown", "most_atoms"]

# Numbers of atoms to try, and the least number of samples for each atom.
_STEPS = (800, 1600)
_SAMPLES_PER_ATOM = 2

# Samples whose residuals are predicted, for each atom, and the ridge in units of samples. More
# samples are used only if the result of the first ones is not clear, because few samples underrate
# many atoms.
_JUDGES = (2.5, 5.0, 10.0)
_RIDGE = 0.3

# The gain that a step needs, in standard errors and as a share of the squared residuals. If the
# first samples clearly show a gain below _HOPE, more samples are not tried.
_ERRORS = 2.0
_SHARE = 0.02
_HOPE = 0.005

# Candidates for each new atom; they are drawn where residuals are large. The least novelty of an
# atom beside the others, as a share of κ(x, x).
_CANDIDATES = 2
_NOVELTY = 1e-4

# No atoms are added if an eigenvalue of the Gram matrix is below this share of the largest κ(x, x).
_SINGULAR = 1e-12

# With at most so many rows every row may be an atom.
_ALL = 1500

_TOLERANCE = 1e-3
_SEED = 0


@dataclass(frozen=True)
class Growth:
    """The result of a polish with atoms added while they pay, and the steps that were tried.

    Parameters
    ----------
    final : FinalPolish
        The polish, with the atoms that were added.
    tried : array of shape (k, 3)
        For each number of atoms that was tried: this number, the share by which the new atoms
        lowered the squared residuals of left-out samples, and the standard error of the share.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> X = np.linspace(-1.0, 1.0, 200)[:, None]
    >>> model = COLKRegressor(random_state=0).fit(X, np.sin(3.0 * X[:, 0]))
    >>> model.n_atoms_ <= model.max_atoms_
    True
    """

    final: FinalPolish
    tried: Array

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.final.polished.function.n_atoms


def grown(
    final: FinalPolish,
    X: Array,
    Y: Array,
    weight: Array,
    report: Callable[[str], None] = lambda message: None,
) -> Growth:
    """Add atoms to a polished function while they pay.

    Parameters
    ----------
    final : FinalPolish
        The polish of 400 atoms. With fewer atoms, with outliers, and for the risks `AUC`
        and `GroupRisk` no atoms are added.
    X, Y, weight : arrays
        Samples, as the loss takes them.
    report : callable
        Called with a line of text for each step that was tried. Default: no report.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Huber
    >>> from colk.risks import Mean
    >>> from colk.rkhs.polishing import final_polish
    >>> X = np.random.default_rng(0).uniform(size=(300, 1))
    >>> f = KernelExpansion(Gaussian(0.3), X[::30], np.zeros(10))
    >>> final = final_polish(f, X, np.sin(6.0 * X[:, 0]), Huber(), Mean(), 1e-6)
    >>> grown(final, X, np.sin(6.0 * X[:, 0]), np.ones(300)).n_atoms
    10
    """
    counted = weight > 0.0
    if not counted.all():
        X, Y, weight = X[counted], Y[counted], weight[counted]
    tried: list[tuple[float, float, float]] = []
    random = np.random.default_rng(_SEED)
    is_open = final.outliers is None and final.risk.can_grow
    for size in _STEPS if is_open else ():
        function = final.polished.function
        if not size // 2 <= function.n_atoms < size or len(X) < _SAMPLES_PER_ATOM * size:
            break
        residuals = _residuals(final.loss, function, X, Y)
        larger = _with_more_atoms(function, X, residuals, weight, size, random)
        if larger.n_atoms == function.n_atoms:
            break
        order = random.permutation(len(X))
        for per_atom in _JUDGES:
            rows = order[: int(per_atom * size)]
            gain, error = _gain(function, larger, X[rows], residuals[rows], weight[rows])
            pays = gain > max(_ERRORS * error, _SHARE)
            if pays or gain + _ERRORS * error < _HOPE or len(rows) == len(X):
                break
        tried.append((float(larger.n_atoms), gain, error))
        report(
            f"{larger.n_atoms} atoms: would lower the squared residuals by {gain:.1%} ± "
            f"{error:.1%}{'' if pays else ', not added'}"
        )
        if not pays:
            break
        final = _with_weights(final, larger, X, Y, weight)
    return Growth(final, np.array(tried, dtype=np.float64).reshape(-1, 3))


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
    size = min(len(X), max(_CANDIDATES * lacking, _ALL // 2))
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


def _residuals(loss: Loss, function: KernelExpansion, X: Array, Y: Array) -> Array:
    """Return −ℓ' of each sample, of shape (n, q); for the squared loss, twice its residual."""
    return np.asarray(-loss.slope(function(X), Y)).reshape(len(X), -1)


def _with_more_atoms(
    function: KernelExpansion,
    X: Array,
    residuals: Array,
    weight: Array,
    size: int,
    random: np.random.Generator,
) -> KernelExpansion:
    """Return the function with atoms of weight 0: novel samples where residuals are large."""
    chances = weight * (residuals * residuals).sum(axis=1)
    n_possible = int(np.count_nonzero(chances))
    wanted = min(_CANDIDATES * (size - function.n_atoms), n_possible)
    if wanted == 0:
        return function
    drawn = X[random.choice(len(X), wanted, replace=False, p=chances / chances.sum())]
    return _with_novel(function, drawn, size - function.n_atoms)


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


def _gain(
    function: KernelExpansion,
    larger: KernelExpansion,
    X: Array,
    residuals: Array,
    weight: Array,
) -> tuple[float, float]:
    """Return the relative decrease of squared left-out residuals by new atoms, and its error."""
    total = float(weight @ (residuals**2).sum(axis=1))
    if not total > 0.0:
        return 0.0, 0.0
    scale, share = np.sqrt(total / weight.sum()), weight / weight.mean()
    left_out = nested_residuals(
        larger.kernel, X, residuals / scale, share, larger.atoms, function.n_atoms, _RIDGE
    )
    before, after = ((each * each).sum(axis=1) for each in left_out)
    gains, start = before - after, float(share @ before)
    mean = float(share @ gains)
    deviations = gains - mean / share.sum()
    return mean / start, float(np.sqrt((share**2 * deviations**2).sum())) / start


def _with_weights(
    final: FinalPolish, larger: KernelExpansion, X: Array, Y: Array, weight: Array
) -> FinalPolish:
    """Return the polish of a function on more atoms, with the same λ."""
    found = final.polished
    blocks = RowBlocks.of(X, Y, weight / weight.sum())
    function, solution = solve_by_sums(
        blocks, larger, final.loss, final.risk, found.regularization, tolerance=_TOLERANCE
    )
    polished = replace(
        found,
        function=function,
        value=solution.value,
        gap=solution.gap,
        n_steps=found.n_steps + solution.n_steps,
        converged=solution.converged,
    )
    return replace(final, polished=polished)
