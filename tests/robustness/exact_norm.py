"""H-norms in fifty digits: what a step truly lost, whatever the certificate says."""

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

__all__ = ["distance", "gaussian", "polynomial"]

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
