"""Move a learned state to other units of the points and of the targets.

A new scale of the points moves the atoms against each other, so the kernel has other values at
them. The functions are then the least-squares solution again, in the new span of the atoms: each
sample so far counts as the combination of atoms that interpolates κ(·, x). For Newton's learners
the accumulated curvature tells how much is known along each direction, and for the others the
values at the atoms are fitted.
"""

from typing import Any, TypeVar, cast

import numpy as np
from scipy.linalg import lapack, solve_triangular

from colk._engine.simd import loops
from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.of_rows import OfRows
from colk.learners.colk import KernelLearner

__all__ = ["Change", "Move", "rescaled", "with_kernel"]

AnyLearner = TypeVar("AnyLearner", bound=KernelLearner)
Change = tuple[Array, Array]
Move = tuple[int, Change]  # after so many rows

# The precision of a function whose learner accumulates no curvature, in values at an atom.
_RIDGE = 0.01


def rescaled(
    learner: AnyLearner, points: Change | None = None, targets: Change | None = None
) -> AnyLearner:
    """Return a learner of points a·x + b and of targets c·y + d, which has learned as much.

    Parameters
    ----------
    learner : KernelLearner
        The learner.
    points : tuple of arrays of shape (p,), optional
        a and b. Default: the points stay.
    targets : tuple of arrays of shape (q,), optional
        c and d, for each output. Default: the targets stay.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NewtonCOLK
    >>> X = np.random.default_rng(0).uniform(0.0, 3.0, size=(1000, 1))
    >>> learner = NewtonCOLK(Gaussian(0.5)).learn(X, np.sin(X[:, 0]))
    >>> moved = rescaled(learner, (np.array([0.9]), np.zeros(1)), (np.array([2.0]), np.ones(1)))
    >>> learner.predict([[1.0]]).round(1), moved.predict([[0.9]]).round(1)  # 2 · 0.8 + 1
    (array([0.8]), array([2.7]))
    """
    state = learner.__getstate__()
    if not learner.has_learned:
        return learner
    packed = state["_packed"]
    dictionary, window, kernel = packed["dictionary"], packed["window"], learner.kernel
    ratio, shift = (np.ones(1), np.zeros(1)) if targets is None else targets
    _rescale_targets(packed, ratio, shift)
    before = np.ascontiguousarray(dictionary["atoms"].T)
    atoms = before
    if points is not None and not isinstance(kernel, OfRows):
        atoms = _points_in(learner, before, points)
        window["points"] = _points_in(learner, window["points"], points)
    dictionary["ghosts"] = dictionary["ghosts"][:, :0]
    if len(atoms):
        offsets = np.zeros(1) if "offsets" in packed else shift
        _refit(learner, packed, (before, atoms), (ratio, offsets))
    other = type(learner).__new__(type(learner))
    other.__setstate__(state)
    return other


def with_kernel(learner: AnyLearner, kernel: Kernel) -> AnyLearner:
    """Return a learner in the same state with another kernel of the same shape.

    Parameters
    ----------
    learner : KernelLearner
        The learner.
    kernel : Kernel
        The kernel. The atoms stay as they are, so in a new metric they are those of the old.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Mahalanobis
    >>> from colk.learners import COLK
    >>> kernel = Mahalanobis(Gaussian(1.0), [[1.0]])
    >>> learner = COLK(kernel).learn([[0.0], [1.0]], [0.0, 1.0])
    >>> wider = with_kernel(learner, kernel.replace(metric=[[0.5]]))
    >>> bool(wider.predict([[1.0]]) == learner.predict([[0.5]]))
    True
    """
    found = type(learner).__new__(type(learner))
    found.__setstate__({**learner.__getstate__(), "kernel": kernel})
    return found


def _points_in(learner: KernelLearner, kept: Array, points: Change) -> Array:
    """Return points as the learner keeps them, in the new units."""
    if len(kept) == 0:
        return kept
    kernel = learner.kernel
    return kernel.points(points[0] * kernel.preimages(kept) + points[1])


def _rescale_targets(packed: dict[str, Any], ratio: Array, shift: Array) -> None:
    """Change what is in units of the targets, but the functions."""
    window, largest = packed["window"], float(ratio.max())
    n_targets = window["targets"].shape[1]
    if len(ratio) == 1 or len(ratio) == n_targets:
        window["targets"] = window["targets"] * ratio + shift
    packed["largest_target"] = largest * packed["largest_target"] + float(np.abs(shift).max())
    if "noise" in packed:
        packed["noise"] = packed["noise"] * ratio**2
    if "offsets" in packed:
        packed["offsets"] = ratio * packed["offsets"] + shift
        packed["distances"] = ratio * packed["distances"]


def _refit(
    learner: KernelLearner, packed: dict[str, Any], atoms: tuple[Array, Array], targets: Change
) -> None:
    """Fit all functions again, with the atoms that are independent in the new units."""
    dictionary, kernel = packed["dictionary"], learner.kernel.of_atoms
    L, kept = _coordinates(kernel.gram(atoms[1]))
    before = _factor(dictionary, kernel.gram(atoms[0]))  # U^T, where z = U^T κ(D, x)
    known, prior = _known(learner, before)
    # A sample with the coordinates z before has Lᵀ U z now.
    change = L.T @ before.T
    curvature = change @ known @ change.T
    curvature[np.diag_indices_from(curvature)] += prior
    inverse = np.linalg.inv(curvature)
    inverse = 0.5 * (inverse + inverse.T)
    factor = np.tril(solve_triangular(L[kept], np.eye(len(kept)), lower=True))
    n, q = len(before), learner.n_outputs or 1
    whitened = np.linalg.solve(before.T, dictionary["weights"].T)
    one = known @ (before @ np.ones(n))
    sums = (known @ whitened + prior * whitened) * _by_row(targets[0], whitened.shape[1], q)
    sums += one[:, None] * _by_row(targets[1], whitened.shape[1], q)
    weights = factor.T @ (inverse @ (change @ sums))
    dictionary |= {
        "atoms": np.ascontiguousarray(atoms[1][kept].T),
        "weights": np.ascontiguousarray(weights.T),
        "own": dictionary["own"][kept].copy(),
    }
    if "factor" in dictionary:
        dictionary |= {"factor": factor, "diagonal": (factor**2).sum(axis=0)}
    else:
        dictionary["diagonal"] = dictionary["diagonal"][kept]
    if "P" in packed:
        block = np.arange(len(kept)) // 8
        inverse[block[:, None] < block] = 0.0  # these entries are not read
        rows = np.zeros((len(packed["P"]["rows"]), len(kept)))
        amounts = np.zeros_like(packed["P"]["amounts"])
        packed["P"] = {"matrix": inverse, "rows": rows, "amounts": amounts, "pending": 0}


def _by_row(values: Array, n_rows: int, q: int) -> Array:
    """Return the value of the output that each row of weights belongs to."""
    return np.resize(np.broadcast_to(values, q), n_rows)


def _coordinates(K: Array) -> tuple[Array, Any]:
    """Return L with K ≈ LLᵀ, and the atoms that are independent, by which L is triangular."""
    found, pivots, rank, _ = lapack.dpstrf(K, tol=loops.DEPENDENCE_FLOOR * K.max(), lower=1)
    L = np.empty((len(K), rank))
    L[pivots - 1] = np.tril(found)[:, :rank]
    return L, pivots[:rank] - 1


def _factor(dictionary: dict[str, Any], K: Array) -> Array:
    """Return Uᵀ with UUᵀ = K⁻¹."""
    if "factor" in dictionary:
        return np.tril(dictionary["factor"])
    L, kept = _coordinates(K)
    inverse = np.zeros((len(kept), len(K)))
    inverse[:, kept] = np.tril(solve_triangular(L[kept], np.eye(len(kept)), lower=True))
    return inverse


def _known(learner: KernelLearner, factor: Array) -> tuple[Array, float]:
    """Return the curvature of the samples so far in the coordinates z, and the prior."""
    P = getattr(learner.stream, "P", None)
    if P is None:  # one sample at each atom, whose z is a column of the inverse of Uᵀ
        inverse = np.linalg.pinv(factor)
        return inverse.T @ inverse, _RIDGE
    matrix, prior = cast(Any, P).raw(len(factor)), float(cast(Any, P).prior)
    known = np.linalg.inv(matrix)
    known[np.diag_indices_from(known)] -= prior
    return known, prior
