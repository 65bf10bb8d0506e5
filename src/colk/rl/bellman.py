"""Estimate the size of a conditional expectation without the noise around it."""

import numpy as np

from colk._validation import Array

__all__ = ["conditional_rms"]

# Ridge of the regression, relative to the trace of the normal matrix.
_RIDGE = 1e-6


def conditional_rms(columns: Array, delta: Array) -> float:
    """Return √E_x[(E[δ | x])²] from kernel columns at the points x and samples of δ.

    E[δ | x] is fitted to the even samples and multiplied with δ of the odd ones, and vice versa.
    The noise of the two halves is independent, so it cancels in the products.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rl.bellman import conditional_rms
    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], size=10_000)
    >>> delta = 0.2 * x + rng.normal(size=10_000)
    >>> round(conditional_rms(x[:, None], delta), 1)
    0.2
    """
    products = 0.0
    for half, other in ((0, 1), (1, 0)):
        fitted = _fit(columns[half::2], delta[half::2])
        products += float((columns[other::2] @ fitted) @ delta[other::2])
    return float(np.sqrt(max(products / len(delta), 0.0)))


def _fit(columns: Array, targets: Array) -> Array:
    """Return least-squares weights with a small ridge."""
    normal = columns.T @ columns
    ridge = _RIDGE * np.trace(normal) * np.eye(len(normal))
    return np.asarray(np.linalg.lstsq(normal + ridge, columns.T @ targets, rcond=None)[0])
