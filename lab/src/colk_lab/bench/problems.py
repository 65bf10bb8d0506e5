"""Simulated labels, of which published results exist."""

from typing import Any

import numpy as np

from colk_lab.arrays import Array

__all__ = ["DRAWN"]

# Rows, and their labels.
Drawn = tuple[Array, Any]


def _gauss(n: int, rng: np.random.Generator) -> Drawn:
    """Draw two overlapping normal classes; the best possible accuracy is about 0.816."""
    y = (rng.random(n) < 0.5).astype(int)
    X = rng.normal(size=(n, 2))
    X[y == 1] = 2.0 * X[y == 1] + [2.0, 0.0]
    return X, y


def _checkerboard(n: int, rng: np.random.Generator) -> Drawn:
    X = rng.uniform(0.0, 4.0, size=(n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


def _waveform(n: int, rng: np.random.Generator) -> Drawn:
    """Draw Breiman's three classes: 21 noisy points on mixtures of two triangles."""
    places = np.arange(1.0, 22.0)
    waves = np.maximum(6.0 - np.abs(places - np.array([[11.0], [15.0], [7.0]])), 0.0)
    label = rng.integers(3, size=n)
    first, second = waves[np.array([0, 0, 1])[label]], waves[np.array([1, 2, 2])[label]]
    share = rng.random((n, 1))
    return share * first + (1.0 - share) * second + rng.normal(size=(n, 21)), label


DRAWN = {"Gauss": _gauss, "checkerboard": _checkerboard, "waveform": _waveform}
