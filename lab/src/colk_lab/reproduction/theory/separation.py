"""Distances between the atoms of COLK in H, step by step, compared with what is proved."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.linalg import solve_triangular

from colk.kernels import Kernel
from colk.learners import COLK
from colk_lab.arrays import Array

__all__ = ["Apart", "distances", "entering", "follow_atoms", "nearest_pair"]


@dataclass
class Apart:
    """Smallest distances seen in a run, relative to bounds; below 1 a bound is violated.

    Attributes
    ----------
    growth : float
        After steps that increase the order: distance of an atom from the span of the others, over
        ε/(√b W) (Proposition A).
    entry : float
        Distance of a new atom from the span of the others, over χ/s_k (Proposition B).
    pair : float
        Distance of two atoms over χ = ε/(αC), which the paper's proof says is at least 1.
    weight, order, removed : float
        Largest weight or coefficient, largest order, and largest k of a step that keeps a point.
    """

    growth: float = inf
    entry: float = inf
    pair: float = inf
    weight: float = 0.0
    order: int = 0
    removed: int = 0


def distances(kernel: Kernel, points: Array) -> Array:
    """Return the distance of each κ(d, ·) from the span of the others.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> distances(Gaussian(1.0), np.array([[0.0], [9.0]])).round(3).tolist()
    [1.0, 1.0]
    """
    factor = np.linalg.cholesky(kernel.gram(points))
    inverse = solve_triangular(factor, np.eye(len(points)), lower=True)
    found: Array = 1.0 / np.sqrt((inverse**2).sum(axis=0))
    return found


def nearest_pair(kernel: Kernel, points: Array) -> float:
    """Return the smallest distance of two kernels in H; infinity for one point."""
    if len(points) < 2:
        return inf
    K = kernel.gram(points)
    diagonal = np.diag(K)
    squares = diagonal[:, None] + diagonal[None] - 2.0 * K
    return float(np.sqrt(max(squares[~np.eye(len(K), dtype=bool)].min(), 0.0)))


def entering(removed: int) -> float:
    """Return s_k of Proposition B: a new atom is χ/s_k from the span of the others.

    Examples
    --------
    >>> entering(0), entering(1), round(entering(2), 1)
    (1.0, 2.0, 4.1)
    """
    return sqrt((13.0 * 4.0 ** (removed - 1) - 1.0) / 3.0) if removed else 1.0


def follow_atoms(
    learner: COLK,
    step_size: float,
    gradient_bound: float,
    eps: float,
    steps: Iterable[tuple[Array, Array]],
) -> Apart:
    """Learn the samples of each step, and compare the atoms with the propositions.

    The learner has constant settings, KOMP with `eps` and no averages.
    """
    longest = step_size * gradient_bound
    found = Apart(weight=longest)
    old: set[bytes] = set()
    for X, y in steps:
        learner.learn(X, y)
        f = learner.last_function
        points = [row.tobytes() for row in f.atoms]
        fresh = {row.tobytes() for row in X} - old
        removed = len(old) + len(fresh) - len(points)
        new = np.array([point not in old for point in points], dtype=bool)
        found.weight = max(found.weight, float(np.abs(f.weights).max(initial=0.0)))
        found.order = max(found.order, len(points))
        if new.any():
            apart = distances(learner.kernel, f.atoms)
            bound = eps / longest / entering(removed)
            found.entry = min(found.entry, float(apart[new].min()) / bound)
            found.pair = min(found.pair, nearest_pair(learner.kernel, f.atoms) * longest / eps)
            found.removed = max(found.removed, removed)
            if len(points) > len(old):
                bound = eps / (sqrt(len(X)) * found.weight)
                found.growth = min(found.growth, float(apart.min()) / bound)
        old = set(points)
    return found
