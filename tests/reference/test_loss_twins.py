"""Losses of the specification: slopes are derivatives, and the engine's formulas equal them."""

import mpmath
import numpy as np
import pytest

from colk.losses import (
    LOSSES,
    CustomLoss,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    Pinball,
    SmoothHinge,
    Softmax,
    Tukey,
    Welsch,
)
from colk.reference import losses

QUARTIC = CustomLoss(lambda f, y: (f - y) ** 4, lambda f, y: 4.0 * (f - y) ** 3)
ALL = [
    *(loss() for loss in LOSSES.values()),
    Huber(0.3),
    LogCosh(0.2),
    EpsilonInsensitive(0.0),
    Expectile(0.8),
    Pinball(0.9),
    SmoothHinge(0.3),
    Welsch(0.3),
    Tukey(0.7),
    QUARTIC,
]


def draw(loss, rng):
    """One prediction and one target."""
    if loss.kind == "multiclass":
        return rng.normal(scale=3.0, size=4), rng.integers(4, size=1).astype(float)
    y = rng.choice([-1.0, 1.0], size=3) if loss.kind == "binary" else rng.normal(size=3)
    return rng.normal(scale=2.0, size=3), y


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_the_engine_equals_it(loss):
    rng = np.random.default_rng(0)
    for scale in (1e-9, 1.0, 1e4):
        for _ in range(50):
            f, y = draw(loss, rng)
            f = f * scale
            value, slope = losses.value(loss, f, y), losses.slope(loss, f, y)
            # Far out softmax forms its slopes from a logarithm of that size.
            precision = 1e-13 * max(1.0, scale / 10.0)
            assert loss.value(f[None], y[None])[0] == pytest.approx(value, rel=1e-13, abs=1e-15)
            np.testing.assert_allclose(
                loss.slope(f[None], y[None])[0], slope, rtol=precision, atol=1e-15
            )


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_slopes_are_derivatives(loss):
    rng = np.random.default_rng(1)
    h = 1e-6
    for _ in range(100):
        f, y = draw(loss, rng)
        rise = [
            (losses.value(loss, f + h * e, y) - losses.value(loss, f - h * e, y)) / (2.0 * h)
            for e in np.eye(len(f))
        ]
        np.testing.assert_allclose(losses.slope(loss, f, y), rise, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", [loss for loss in ALL if loss.kinks], ids=repr)
def test_the_least_slope_wins_at_kinks(loss):
    y = np.ones(1) if loss.kind == "binary" else np.zeros(1)
    for kink in loss.kinks:
        f = np.array([kink])
        assert losses.slope(loss, f, y)[0] == 0.0
        assert loss.slope(f, y)[0] == 0.0


@pytest.mark.parametrize("f", [-1e3, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 1e3])
def test_against_high_precision(f):
    with mpmath.workdps(60):
        exact = mpmath.mpf(f)
        cosh = 0.25 * mpmath.log(mpmath.cosh(exact / 0.5))
        logistic = mpmath.log(1 + mpmath.exp(-exact))
        softmax = mpmath.log(mpmath.exp(exact) + 2) - exact
        probability = 1 / (1 + mpmath.exp(-exact))
    one, zero = np.ones(1), np.zeros(1)
    assert losses.value(LogCosh(0.5), np.array([f]), zero) == pytest.approx(float(cosh), rel=1e-13)
    assert losses.value(Logistic(), np.array([f]), one) == pytest.approx(
        float(logistic), rel=1e-13, abs=1e-300
    )
    assert losses.slope(Logistic(), np.array([f]), -one)[0] == pytest.approx(
        float(probability), rel=1e-12, abs=1e-300
    )
    scores = np.array([f, 0.0, 0.0])
    assert losses.value(Softmax(), scores, zero) == pytest.approx(
        float(softmax), rel=1e-13, abs=1e-300
    )


def test_limits_tie_the_losses_together():
    rng = np.random.default_rng(2)
    f, y, sign = rng.normal(size=5), rng.normal(size=5), rng.choice([-1.0, 1.0], size=5)
    half = np.sum(np.abs(f - y)) / 2.0
    assert losses.value(Pinball(0.5), f, y) == pytest.approx(half)
    assert losses.value(EpsilonInsensitive(0.0), f, y) == pytest.approx(2.0 * half)
    assert losses.value(Huber(1e9), f, y) == pytest.approx(np.sum((f - y) ** 2) / 2.0)
    assert losses.value(SmoothHinge(1e-12), f, sign) == pytest.approx(
        losses.value(Hinge(), f, sign), rel=1e-9
    )


def test_an_unknown_loss_is_refused():
    with pytest.raises(TypeError, match="the loss object"):
        losses.value(object(), np.zeros(1), np.zeros(1))
