"""Certify a loss: shapes, finite values, slopes that are derivatives, convexity if claimed."""

import numpy as np

from colk._validation import Array, check_count, check_number
from colk.losses import Loss
from colk.testing._slopes import assert_convex, assert_slope, require

__all__ = ["check_loss"]


def check_loss(
    loss: Loss, *, n_outputs: int | None = None, magnitude: float = 1e3, seed: int = 0
) -> None:
    """Raise an AssertionError that names the law which `loss` breaks.

    Parameters
    ----------
    loss : Loss
        The loss to certify.
    n_outputs : int, optional
        Numbers in one prediction: 2 by default, 3 for a multiclass loss.
    magnitude : float
        Predictions and targets are drawn up to this size, evenly over the orders of magnitude
        down to a millionth of it.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> from colk.losses import CustomLoss, Huber
    >>> check_loss(Huber(1.5))
    >>> wrong = CustomLoss(lambda f, y: (f - y) ** 2, lambda f, y: f - y)
    >>> check_loss(wrong)
    Traceback (most recent call last):
    ...
    AssertionError: slope is the derivative of value: ...
    """
    q = check_count(n_outputs or (3 if loss.kind == "multiclass" else 2), "n_outputs")
    check_number(magnitude, "magnitude", above=0.0)
    rng = np.random.default_rng(seed)
    f, y = _draw(loss, rng, q, magnitude)
    _check_shapes(loss, f, y)
    for c in range(q):
        _check_output(loss, f, y, c)
    if loss.is_convex:
        other = _draw(loss, rng, q, magnitude)[0]
        assert_convex(lambda F: loss.value(F, y), f, other, "is_convex")


def _spread(rng: np.random.Generator, shape: tuple[int, ...], magnitude: float) -> Array:
    sizes = magnitude * 10.0 ** rng.uniform(-6.0, 0.0, shape)
    signed: Array = sizes * rng.choice([-1.0, 1.0], shape)
    return signed


def _draw(
    loss: Loss, rng: np.random.Generator, q: int, magnitude: float, n: int = 400
) -> tuple[Array, Array]:
    f = _spread(rng, (n, q), magnitude)
    if loss.kind == "multiclass":
        return f, rng.integers(q, size=(n, 1)).astype(float)
    if loss.kind == "binary":
        return f, rng.choice([-1.0, 1.0], (n, q))
    return f, _spread(rng, (n, q), magnitude)


def _check_shapes(loss: Loss, f: Array, y: Array) -> None:
    value, slope = loss.value(f, y), loss.slope(f, y)
    require(value.shape == (len(f),), "value has one number for each prediction")
    require(slope.shape == f.shape, "slope has the shape of the predictions")
    require(np.isfinite(value).all(), "value is finite")
    require(np.isfinite(slope).all(), "slope is finite")
    if loss.kind == "multiclass":
        return
    single = sum(loss.value(f[:, c], y[:, c]) for c in range(f.shape[1]))
    require(np.allclose(value, single, rtol=1e-12, atol=0.0), "value is summed over the outputs")
    flat = loss.slope(f[:, 0], y[:, 0])
    require(flat.shape == (len(f),), "slope has the shape of the predictions")
    require(np.array_equal(flat, slope[:, 0]), "a slope depends on its own output alone")


def _check_output(loss: Loss, f: Array, y: Array, c: int) -> None:
    def moved(at: Array) -> Array:
        F = f.copy()
        F[:, c] = at
        return F

    assert_slope(
        lambda at: loss.value(moved(at), y),
        lambda at: loss.slope(moved(at), y)[:, c],
        f[:, c],
        "slope is the derivative of value",
    )
