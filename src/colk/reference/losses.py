"""Losses ℓ(f, y) of one prediction f (q,) and one target y (r,), and their slopes ∂ℓ/∂f.

At a kink the slope is the subgradient of least magnitude.

Examples
--------
>>> import numpy as np
>>> from colk.losses import Huber
>>> from colk.reference import losses
>>> f, y = np.array([3.0, 0.0]), np.array([0.0, 0.5])
>>> losses.value(Huber(1.0), f, y), losses.slope(Huber(1.0), f, y)
(2.625, array([ 1. , -0.5]))
"""

from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["couples_outputs", "slope", "value"]

Pair = tuple[Array, ...]


def value(loss: Any, f: Array, y: Array) -> float:
    """Return ℓ(f, y), summed over the outputs."""
    return float(np.sum(_each(loss, f, y)[0]))


def slope(loss: Any, f: Array, y: Array) -> Array:
    """Return ∂ℓ/∂f, of shape (q,)."""
    return np.asarray(_each(loss, f, y)[1])


def couples_outputs(loss: Any) -> bool:
    """Whether the slope of one output depends on the other outputs."""
    return type(loss).__name__ == "Softmax"


def _each(loss: Any, f: Array, y: Array) -> Pair:
    """Return values and slopes of the outputs."""
    name = type(loss).__name__
    if name == "CustomLoss":
        pairs = list(zip(f.tolist(), y.tolist(), strict=True))
        both = [(loss.value_function(*pair), loss.slope_function(*pair)) for pair in pairs]
        return tuple(np.array(both, dtype=float).T)
    if name == "Softmax":
        return _softmax(f, int(y[0]))
    if name in ("Logistic", "Hinge", "SquaredHinge", "SmoothHinge"):
        values, by_margin = _of_margin(name, loss, y * f)
        return values, y * by_margin
    return _of_residual(name, loss, f - y)


def _softmax(f: Array, label: int) -> Pair:
    """log Σ_k exp(f_k − f_label); probabilities, at the label minus the sum of the others."""  # noqa: D403, a function
    slopes = np.exp(f - np.logaddexp.reduce(f))
    slopes[label] = 0.0
    slopes[label] = -slopes.sum()
    return np.logaddexp.reduce(f - f[label]), slopes


def _of_margin(name: str, loss: Any, m: Array) -> Pair:
    """Return values and slopes in the margin m = y·f; u = 1 − m."""
    u = np.maximum(1.0 - m, 0.0)
    if name == "Logistic":
        return np.logaddexp(0.0, -m), -np.exp(-np.logaddexp(0.0, m))
    if name == "Hinge":
        return u, -np.sign(u)
    if name == "SquaredHinge":
        return u**2, -2.0 * u
    near = np.minimum(u, loss.smoothing)
    return near**2 / (2.0 * loss.smoothing) + u - near, -near / loss.smoothing


def _of_residual(name: str, loss: Any, r: Array) -> Pair:
    """Return values and slopes in the residual r = f − y."""
    size, sign = np.abs(r), np.sign(r)
    if name == "Squared":
        return r**2, 2.0 * r
    if name == "Huber":
        near = np.minimum(size, loss.threshold)
        return near**2 / 2.0 + loss.threshold * (size - near), sign * near
    if name == "LogCosh":
        z = size / loss.scale
        near = np.log1p(2.0 * np.sinh(np.minimum(z, 1.0) / 2.0) ** 2)  # cosh z = 1 + 2 sinh²(z/2)
        far = z + np.log1p(np.exp(-2.0 * z)) - np.log(2.0)
        return loss.scale**2 * np.where(z < 1.0, near, far), loss.scale * np.tanh(r / loss.scale)
    if name == "Welsch":
        u = (r / loss.scale) ** 2
        return -(loss.scale**2) * np.expm1(-u) / 2.0, r * np.exp(-u)
    if name == "Tukey":
        u = np.minimum(size / loss.threshold, 1.0) ** 2
        return loss.threshold**2 * (u - u**2 + u**3 / 3.0) / 2.0, r * (1.0 - u) ** 2
    if name in ("EpsilonInsensitive", "SquaredEpsilonInsensitive"):
        excess = np.maximum(size - loss.tube, 0.0)
        squared = name == "SquaredEpsilonInsensitive"
        return (excess**2, 2.0 * sign * excess) if squared else (excess, sign * np.sign(excess))
    if name in ("Pinball", "Expectile"):
        low = loss.quantile if name == "Pinball" else loss.level
        share = np.where(r > 0.0, 1.0 - low, low)
        return (share * size, share * sign) if name == "Pinball" else (share * r**2, 2 * share * r)
    raise TypeError(f"the reference does not implement the loss {name}")
