"""Check a loss: shapes, finite values, slopes that are derivatives, convexity if claimed."""

import numpy as np

from colk._validation import Array, check_count, check_number
from colk.losses import Loss
from colk.testing._slopes import assert_convex, assert_finite, assert_slope, require, shown

__all__ = ["check_loss"]


def check_loss(
    loss: Loss, *, n_outputs: int | None = None, magnitude: float = 1e3, seed: int = 0
) -> None:
    """Raise an AssertionError that names the law which `loss` breaks, and where.

    Parameters
    ----------
    loss : Loss
        The loss to check.
    n_outputs : int, optional
        Number of outputs of a prediction. Default: 3 for a multiclass loss, else 2.
    magnitude : float
        Largest size of predictions and targets. Default: 1000. Sizes are drawn log-uniformly down
        to a millionth of it.
    seed : int
        Seed of the random predictions and targets. Default: 0.

    Examples
    --------
    >>> from colk.losses import CustomLoss, Huber
    >>> check_loss(Huber(1.5))
    >>> wrong = CustomLoss(lambda f, y: (f - y) ** 2, lambda f, y: f - y)
    >>> check_loss(wrong)
    Traceback (most recent call last):
    ...
    AssertionError: slope is the derivative of value: at f = [...], y = [...], output 0, the ...
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
        assert_convex(
            lambda F: loss.value(F, y),
            f,
            other,
            "is_convex",
            lambda i: f"{shown(f=f[i])} and {shown(f=other[i], y=y[i])}",
        )


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
    def where(i: int) -> str:
        return shown(f=f[i], y=y[i])

    value, slope = loss.value(f, y), loss.slope(f, y)
    require(value.shape == (len(f),), "value has one number for each prediction")
    require(slope.shape == f.shape, "slope has the shape of the predictions")
    assert_finite(value, "value is finite", where)
    assert_finite(slope, "slope is finite", where)
    if loss.kind == "multiclass":
        return
    single = sum(loss.value(f[:, c], y[:, c]) for c in range(f.shape[1]))
    apart = np.abs(value - single) / np.maximum(np.abs(value), np.finfo(float).tiny)
    worst = int(np.argmax(apart))
    require(apart[worst] <= 1e-12, f"value is summed over the outputs: it is not at {where(worst)}")
    flat = loss.slope(f[:, 0], y[:, 0])
    require(flat.shape == (len(f),), "slope has the shape of the predictions")
    differs = np.flatnonzero(flat != slope[:, 0])
    if len(differs):
        raise AssertionError(
            f"a slope depends on its own output alone: it does not at {where(int(differs[0]))}"
        )


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
        where=lambda i: f"{shown(f=f[i], y=y[i])}, output {c},",
    )
