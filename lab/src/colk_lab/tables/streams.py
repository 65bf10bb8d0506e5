"""Streams that several benchmarks use, and jobs that learn them in chunks."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

SEED = 0

NamedFeatures = dict[str, float]


def wave(n: int) -> tuple[np.ndarray, np.ndarray]:
    """One feature: y = 2x + 3 sin 6x plus noise."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 1))
    return X, 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n)


def cube(n: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a cube: y = Σ sin 5x plus noise."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, n_features))
    return X, np.sin(5 * X).sum(axis=1) + 0.1 * rng.normal(size=n)


def named(n: int, n_features: int) -> list[tuple[NamedFeatures, float]]:
    """Standardised features by name, as River uses them."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, n_features))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    names = [f"x{k}" for k in range(n_features)]
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    return [(dict(zip(names, x, strict=True)), target) for x, target in pairs]


def by_chunks(
    learn: Callable[..., object], arrays: tuple[Any, ...], warm: int, chunk: int
) -> Callable[[], None]:
    """Learn the first `warm` samples, and return the job that learns the next chunk.

    After the last chunk it starts again with the first one after the warm-up.
    """
    learn(*(array[:warm] for array in arrays))
    starts = cycle(range(warm, len(arrays[0]) - chunk + 1, chunk))

    def job() -> None:
        start = next(starts)
        learn(*(array[start : start + chunk] for array in arrays))

    return job


def one_by_one(
    learn_one: Callable[[Any, Any], object], samples: list[tuple[Any, Any]], warm: int, chunk: int
) -> Callable[[], None]:
    """Like `by_chunks`, for a function that learns one sample."""

    def learn(part: list[tuple[Any, Any]]) -> None:
        for x, y in part:
            learn_one(x, y)

    return by_chunks(learn, (samples,), warm, chunk)
