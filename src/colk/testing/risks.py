"""Check a risk: shapes, finite values, slopes that are derivatives, convexity, monotonicity."""

from typing import cast

import numpy as np

from colk._validation import Array, check_number
from colk.losses import Squared
from colk.risks import Composition, LossRisk, Risk
from colk.testing._slopes import assert_convex, assert_slope, require, shown

__all__ = ["check_risk"]


def check_risk(risk: Risk, *, scale: float = 1.0, seed: int = 0) -> None:
    """Raise an AssertionError that names the law which `risk` breaks.

    Parameters
    ----------
    risk : Risk
        A risk of a loss, or a `Composition`.
    scale : float
        Typical size of the losses, or of predictions and targets for a `Composition`. Default: 1.
    seed : int
        Seed of the random losses. Default: 0.

    Examples
    --------
    >>> from colk.risks import CVaR, CustomRisk
    >>> check_risk(CVaR(0.2, smoothing=0.1))
    >>> wrong = CustomRisk(
    ...     inner=lambda loss: loss,
    ...     inner_slope=lambda loss: 1.0,
    ...     outer=lambda loss, g: loss + (loss - g) ** 2,
    ...     outer_slope_loss=lambda loss, g: 1.0 + (loss - g),
    ...     outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
    ... )
    >>> check_risk(wrong)
    Traceback (most recent call last):
    ...
    AssertionError: outer_slope_loss is the derivative of outer: ...
    """
    check_number(scale, "scale", above=0.0)
    rng = np.random.default_rng(seed)
    if getattr(risk, "is_of_losses", False):
        _check_loss_risk(cast(LossRisk, risk), scale, rng)
    elif getattr(risk, "n_outputs", None) is not None:
        _check_composition(cast(Composition, risk), scale, rng)
    else:
        raise TypeError(f"check_risk needs a Risk, got {type(risk).__name__}")


def _check_loss_risk(risk: LossRisk, scale: float, rng: np.random.Generator) -> None:
    losses = scale * rng.exponential(size=300)
    g = risk.estimate(losses)
    _check_shapes(risk, losses, g)
    _check_slopes(risk, losses, g)
    _check_gradient(risk, losses, rng)
    if risk.is_convex:
        pairs = scale * rng.exponential(size=(2, 20, 50))
        value = lambda rows: np.array([risk.value(row) for row in rows])  # noqa: E731
        assert_convex(value, pairs[0], pairs[1], "is_convex")
    if risk.is_monotone:
        slack = 1e-12 / len(losses)
        require((risk.gradient(losses) >= -slack).all(), "is_monotone: a gradient is negative")


def _check_shapes(risk: LossRisk, losses: Array, g: Array) -> None:
    n, m = len(losses), risk.n_inner
    shapes = {
        "inner": (n, m),
        "inner_slope": (n, m),
        "outer": (n,),
        "outer_slope_loss": (n,),
        "outer_slope_inner": (n, m),
    }
    require(g.shape == (m,), "estimate has n_inner numbers")
    for name, shape in shapes.items():
        table = getattr(risk, name)(losses, g)
        require(table.shape == shape, f"{name} has shape {shape}")
        require(np.isfinite(table).all(), f"{name} is finite")
    means = risk.inner(losses, g)[:, : risk.n_expectations].mean(axis=0)
    near = np.allclose(means, g[: risk.n_expectations], rtol=1e-9, atol=1e-12)
    require(near, "estimate is the mean of inner")


def _check_slopes(risk: LossRisk, losses: Array, g: Array) -> None:
    scale = float(losses.mean())

    def by_loss(name: str) -> None:
        slope = getattr(risk, f"{name}_slope" + ("_loss" if name == "outer" else ""))
        law = f"{slope.__name__} is the derivative of {name}"
        if name == "outer":
            assert_slope(lambda at: risk.outer(at, g), lambda at: slope(at, g), losses, law, scale)
        for i in range(risk.n_expectations if name == "inner" else 0):
            assert_slope(
                lambda at, i=i: risk.inner(at, g)[:, i],  # type: ignore[misc]
                lambda at, i=i: slope(at, g)[:, i],  # type: ignore[misc]
                losses,
                f"{law} (n_expectations counts those that are not stationary): entry [{i}]",
                scale,
            )

    by_loss("inner")
    by_loss("outer")
    for loss in losses[:20]:
        for i in range(risk.n_inner):
            _check_slope_in_g(risk, loss, g, i)


def _check_slope_in_g(risk: LossRisk, loss: float, g: Array, i: int) -> None:
    def moved(at: Array) -> Array:
        h = g.copy()
        h[i] = at[0]
        return h

    assert_slope(
        lambda at: risk.outer([loss], moved(at)),
        lambda at: risk.outer_slope_inner([loss], moved(at))[:, i],
        g[i : i + 1],
        f"outer_slope_inner is the derivative of outer: entry [{i}], ∂outer/∂g[{i}]",
        scale=abs(g[i]),
    )


def _check_gradient(risk: LossRisk, losses: Array, rng: np.random.Generator) -> None:
    direction = rng.normal(size=len(losses))
    assert_slope(
        lambda at: np.array([risk.value(losses + t * direction) for t in at]),
        lambda at: np.array([risk.gradient(losses + t * direction) @ direction for t in at]),
        np.zeros(1),
        "gradient is the derivative of value",
        scale=float(losses.mean()),
    )


def _check_composition(risk: Composition, scale: float, rng: np.random.Generator) -> None:
    n = 100
    F = scale * rng.normal(size=(n, risk.n_outputs))
    Y = scale * rng.normal(size=(n, risk.n_targets + risk.n_inputs))
    g = risk.estimate_at(Squared(), F, Y)
    require(g.shape == (risk.n_inner,), "estimate has n_inner numbers")
    for name in ("inner", "outer"):
        finite = np.isfinite(risk.tabulate(name, F, Y, g)).all()
        require(finite, f"{name} is finite at predictions, targets and g of size {scale:g}")
    for c in range(risk.n_outputs):
        _check_slopes_in_f(risk, F, Y, g, c)
    for i in range(risk.n_inner):
        _check_composition_in_g(risk, F, Y, g, i)
    direction = rng.normal(size=F.shape)
    assert_slope(
        lambda at: np.array([risk.value_at(Squared(), F + t * direction, Y) for t in at]),
        lambda at: np.array(
            [(risk.gradient_at(Squared(), F + t * direction, Y) * direction).sum() for t in at]
        ),
        np.zeros(1),
        "gradient_at is the derivative of value_at",
    )
    if risk.is_convex:
        pairs = scale * rng.normal(size=(2, 20, n, risk.n_outputs))
        value = lambda rows: np.array([risk.value_at(Squared(), f, Y) for f in rows])  # noqa: E731
        assert_convex(value, pairs[0], pairs[1], "is_convex")


def _check_slopes_in_f(risk: Composition, F: Array, Y: Array, g: Array, c: int) -> None:
    """Check column c of `inner_slope`, and entry c of `outer_slope_prediction`."""

    def moved(at: Array) -> Array:
        G = F.copy()
        G[:, c] = at
        return G

    def where(row: int) -> str:
        return _row(risk, F, Y, row)

    for i in range(risk.n_inner):
        assert_slope(
            lambda at, i=i: risk.tabulate("inner", moved(at), Y, g)[:, i],  # type: ignore[misc]
            lambda at, i=i: risk.tabulate("inner_slope", moved(at), Y, g)[  # type: ignore[misc]
                :, i * risk.n_outputs + c
            ],
            F[:, c],
            f"inner_slope is the derivative of inner: entry [{i}, {c}], ∂inner[{i}]/∂f[{c}]",
            where=where,
        )
    assert_slope(
        lambda at: risk.tabulate("outer", moved(at), Y, g)[:, 0],
        lambda at: risk.tabulate("outer_slope_prediction", moved(at), Y, g)[:, c],
        F[:, c],
        f"outer_slope_prediction is the derivative of outer: entry [{c}], ∂outer/∂f[{c}]",
        where=where,
    )


def _check_composition_in_g(risk: Composition, F: Array, Y: Array, g: Array, i: int) -> None:
    """Check entry i of `outer_slope_inner`."""

    def moved(at: Array) -> Array:
        h = g.copy()
        h[i] = at[0]
        return h

    for row in range(10):
        f, y = F[row : row + 1], Y[row : row + 1]
        assert_slope(
            lambda at, f=f, y=y: risk.tabulate("outer", f, y, moved(at))[:, 0],  # type: ignore[misc]
            lambda at, f=f, y=y: risk.tabulate("outer_slope_inner", f, y, moved(at))[:, i],  # type: ignore[misc]
            g[i : i + 1],
            f"outer_slope_inner is the derivative of outer: entry [{i}], ∂outer/∂g[{i}]",
            where=lambda _, row=row: f"{_row(risk, F, Y, row)}, {shown(g=g)}",  # type: ignore[misc]
        )


def _row(risk: Composition, F: Array, Y: Array, row: int) -> str:
    """Return the arguments of the functions at a row, for a message."""
    r = risk.n_targets
    x = {"x": Y[row, r:]} if risk.n_inputs > 0 else {}
    return shown(f=F[row], y=Y[row, :r], **x)
