"""H-norms in fifty digits: the true error of a step."""

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from colk.learners import COLK

__all__ = ["distance", "follow", "gaussian", "polynomial"]

DIGITS = 50


def gaussian(bandwidth: float) -> Callable[[Any, Any], Any]:
    def kernel(u: Any, v: Any) -> Any:
        square = sum((a - b) ** 2 for a, b in zip(u, v, strict=True))
        return mp.exp(-square / (2 * mpf(bandwidth) ** 2))

    return kernel


def polynomial(degree: int, offset: float) -> Callable[[Any, Any], Any]:
    def kernel(u: Any, v: Any) -> Any:
        return (sum(a * b for a, b in zip(u, v, strict=True)) + mpf(offset)) ** degree

    return kernel


def distance(kernel: Callable[[Any, Any], Any], *terms: tuple[Any, Any, float]) -> float:
    """H-norm of Σ factor·Σ_j weights_j κ(atoms_j, ·) over terms (atoms, weights, factor)."""
    with mp.workdps(DIGITS):
        total: dict[tuple[float, ...], Any] = {}
        for atoms, weights, factor in terms:
            for atom, weight in zip(np.atleast_2d(atoms), weights, strict=True):
                place = tuple(float(x) + 0.0 for x in atom)
                total[place] = total.get(place, mpf(0)) + mpf(float(factor)) * mpf(float(weight))
        points = [(tuple(mpf(x) for x in place), w) for place, w in total.items() if w != 0]
        square = mpf(0)
        for i, (u, a) in enumerate(points):
            square += a * a * kernel(u, u)
            square += 2 * a * sum((b * kernel(u, v) for v, b in points[:i]), mpf(0))
        return float(mp.sqrt(max(square, mpf(0))))


def follow(learner: COLK, kernel: Callable[[Any, Any], Any], X: Any, y: Any) -> tuple[Any, Any]:
    """H-norm that each step of a learner of the mean loss lost, and what the learner says of it.

    The learner must be new, with a constant step size, no gradient bound and no averaging.
    """
    step, size = learner.step_size.initial, learner.batch_size
    before = (np.empty((0, X.shape[1])), np.empty(0), 1.0 - step * learner.regularization)
    spent, lost, said = 0.0, [], []
    for start in range(0, len(X), size):
        batch = slice(start, start + size)
        values = learner.last_function(X[batch]) if start else np.zeros(size)
        amounts = -step * learner.loss.slope(values, y[batch]) / size
        learner.learn(X[batch], y[batch])
        f = learner.last_function
        lost.append(distance(kernel, (f.atoms, f.weights, -1.0), before, (X[batch], amounts, 1.0)))
        said.append(learner.error_spent - spent)
        before, spent = (f.atoms, f.weights, before[2]), learner.error_spent
    return np.array(lost), np.array(said)
