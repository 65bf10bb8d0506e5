"""The implicit step: slopes at the predictions after it, by bisection and repeated sweeps."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference import losses

__all__ = ["implicit_coefficients"]


def implicit_coefficients(
    loss: Any, changes: Array, values: Array, targets: Array, K: Array, step: float, factor: float
) -> Array:
    """Return c⁺ = c·ℓ'(f⁺(x))/ℓ'(f(x)) with f⁺ = factor·f − step·Σ_b c⁺_b κ(x_b, ·).

    Each sample takes a share of its explicit step c (n, q): one share per output, or one for all
    outputs if the loss couples them. Samples are updated in turn until nothing changes.
    """
    ahead = changes.copy()
    together = losses.couples_outputs(loss)
    for _ in range(1000):
        before = ahead.copy()
        for b, c in enumerate(changes):
            slopes = losses.slope(loss, values[b], targets[b])
            others = factor * values[b] - step * (K[b] @ ahead - K[b, b] * ahead[b])
            groups = [slice(None)] if together else [slice(i, i + 1) for i in range(len(c))]
            for group in groups:
                product = c[group] @ slopes[group]
                if product > 0.0:

                    def excess(
                        share: float,
                        b: int = b,
                        c: Array = c,
                        group: slice = group,
                        others: Array = others,
                        product: float = product,
                    ) -> float:
                        after = others - step * K[b, b] * share * c
                        there = losses.slope(loss, after, targets[b])
                        return float(share - (c[group] @ there[group]) / product)

                    ahead[b, group] = _root(excess) * c[group]
        if np.abs(ahead - before).max() <= 1e-12 * np.abs(changes).max():
            break
    return ahead


def _root(excess: Any) -> float:
    """Return the root of an increasing function on [0, 1], or the end nearer to it."""
    low, high = 0.0, 1.0
    if excess(low) >= 0.0:
        return low
    if excess(high) <= 0.0:
        return high
    while high - low > 1e-15:
        middle = 0.5 * (low + high)
        if excess(middle) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
