"""A stream that is drawn from a known function, for times and for published intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Sample", "friedman"]

Sample = tuple[dict[str, Any], Any]


def friedman(size: int, seed: int) -> Iterator[Sample]:
    """Yield samples of Friedman's first function of ten features, with noise 1."""
    rng = np.random.default_rng([seed, 1])
    X = rng.random((size, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y = mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=size)
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        yield {f"x{j}": value for j, value in enumerate(x)}, target
