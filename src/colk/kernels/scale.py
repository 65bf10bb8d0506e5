"""The size of κ(x, x), by which default step sizes are divided."""

from typing import NamedTuple, Self

import numpy as np

from colk._validation import Array
from colk.kernels.base import Kernel

__all__ = ["KernelScale"]

# `KernelScale.of` looks at no more points than this, `KernelScale.standard` draws this many.
_MOST_POINTS = 1000
_DRAWN_POINTS = 500


class KernelScale(NamedTuple):
    """Moments of κ = κ(x, x) over points x; all are 1 for a kernel with κ(x, x) = 1.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> KernelScale.of(Linear(), np.array([[1.0], [1.0], [2.0], [2.0]]))
    KernelScale(mean=3.4, largest=4.0, evenness=0.7352941176470589)
    """

    mean: float = 1.0  # E[κ²]/E[κ]; constant steps on the squared loss are stable below 2/mean
    largest: float = 1.0
    evenness: float = 1.0  # E[κ]²/E[κ²]; if it is small, a few steps are much longer than the rest

    @classmethod
    def of(cls, kernel: Kernel, X: Array) -> Self:
        """Return the moments over at most 1000 of the points X."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = kernel.diagonal(X[:: -(-len(X) // _MOST_POINTS)])
            mean, square = float(values.mean()), float((values * values).mean())
        if not (mean > 0.0 and np.isfinite(square)):
            return cls()
        return cls(square / mean, float(values.max()), mean * mean / square)

    @classmethod
    def standard(cls, kernel: Kernel, n_features: int) -> Self:
        """Return the moments over standard normal points, for features that are standardised."""
        return cls.of(kernel, np.random.default_rng(0).normal(size=(_DRAWN_POINTS, n_features)))
