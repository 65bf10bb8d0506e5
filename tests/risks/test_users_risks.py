"""Risks from outside the package: functions or classes, and the check of all of them."""

import math
import pickle

import numpy as np
import pytest
from risk_cases import (
    ALL,
    TWO_MOMENTS,
    VARIANCE,
    identity,
    one,
    variance_outer,
    variance_slope_inner,
    variance_slope_loss,
)

from colk.losses import Squared
from colk.risks import Composition, CustomRisk, Dispersion, LossRisk, Variance
from colk.testing import check_risk


class SecondMoment(LossRisk):
    """E ℓ + η(E ℓ²)²: as a user writes it."""

    n_inner = 1
    _fields = ("weight",)

    def __init__(self, weight=0.1):
        self.weight = weight

    def inner_at(self, loss, g, i):
        return loss**2

    def inner_slope_at(self, loss, g, i):
        return 2.0 * loss

    def outer_at(self, loss, g):
        return loss + self.weight * g[0] ** 2

    def outer_slope_loss_at(self, loss, g):
        return 1.0

    def outer_slope_inner_at(self, loss, g, i):
        return 2.0 * self.weight * g[0]


class Roughness(Dispersion):
    """E ℓ + η E(√(1 + u²) − 1)."""

    def spread_at(self, u):
        return math.sqrt(1.0 + u * u) - 1.0

    def spread_slope_at(self, u):
        return u / math.sqrt(1.0 + u * u)


class Failing(SecondMoment):
    def inner_at(self, loss, g, i):
        raise KeyError("no such loss")


class HalfDone(LossRisk):
    n_inner = 0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("risk", [*ALL, VARIANCE, TWO_MOMENTS], ids=repr)
def test_obeys_the_laws(risk, scale):
    check_risk(risk, scale=scale)


def changed(**functions):
    parts = {
        "inner": identity,
        "inner_slope": one,
        "outer": variance_outer,
        "outer_slope_loss": variance_slope_loss,
        "outer_slope_inner": variance_slope_inner,
    }
    return CustomRisk(**{**parts, **functions})


@pytest.mark.parametrize(
    ("risk", "law"),
    [
        (changed(inner_slope=lambda loss: 2.0), "inner_slope is the derivative of inner"),
        (changed(outer_slope_loss=lambda loss, g: 1.0), "outer_slope_loss is the derivative"),
        (changed(outer_slope_inner=lambda loss, g: 0.0), "outer_slope_inner is the derivative"),
        (changed(is_monotone=True), "is_monotone"),
        (
            changed(
                outer=lambda loss, g: loss - (loss - g) ** 2,
                outer_slope_loss=lambda loss, g: 1.0 - 2 * (loss - g),
                outer_slope_inner=lambda loss, g: 2 * (loss - g),
                is_convex=True,
            ),
            "is_convex",
        ),
    ],
)
def test_the_check_can_fail(risk, law):
    with pytest.raises(AssertionError, match=law):
        check_risk(risk, scale=100.0)


@pytest.mark.parametrize("custom", [VARIANCE, TWO_MOMENTS], ids=["one", "two"])
def test_a_users_risk_equals_the_built_in_one(custom):
    losses = np.random.default_rng(10).exponential(size=50)
    built_in = Variance(0.1)
    assert custom.value(losses) == pytest.approx(built_in.value(losses), rel=1e-13)
    np.testing.assert_allclose(custom.gradient(losses), built_in.gradient(losses), rtol=1e-11)
    again = pickle.loads(pickle.dumps(custom))
    assert again == custom
    assert again.value(losses) == custom.value(losses)


def test_a_class_of_ones_own():
    risk = SecondMoment(0.3)
    check_risk(risk)
    losses = np.random.default_rng(14).exponential(size=50)
    assert risk.value(losses) == pytest.approx(losses.mean() + 0.3 * (losses**2).mean() ** 2)
    again = pickle.loads(pickle.dumps(risk))
    assert again == risk
    assert repr(again) == "SecondMoment(weight=0.3)"
    path = risk.follow(losses, rate=0.5)[:, 0]
    assert path[0] == losses[0] ** 2
    assert path[1] == pytest.approx(0.5 * (losses[0] ** 2 + losses[1] ** 2))


def test_a_dispersion_of_ones_own():
    risk = Roughness(0.3)
    check_risk(risk)
    losses = np.random.default_rng(15).exponential(size=50)
    u = losses - losses.mean()
    expected = losses.mean() + 0.3 * (np.sqrt(1 + u**2) - 1).mean()
    assert risk.value(losses) == pytest.approx(expected, rel=1e-13)
    assert Roughness(0.0).n_inner == 0
    assert Roughness(0.0).value(losses) == losses.mean()


def test_what_a_method_raises_reaches_the_caller():
    with pytest.raises(KeyError, match="no such loss"):
        Failing().value([1.0])
    with pytest.raises(KeyError, match="no such loss"):
        Failing().follow([1.0, 2.0])
    with pytest.raises(NotImplementedError, match="HalfDone must define the method outer_at"):
        HalfDone().value([1.0])
    with pytest.raises(NotImplementedError, match="Dispersion must define the method spread_at"):
        Dispersion(0.1).value([1.0])


def residuals(f, y):
    return (f[0] - y[0]) ** 2, (f[1] - y[1]) ** 2


def residuals_slope(f, y):
    return (2 * (f[0] - y[0]), 0.0), (0.0, 2 * (f[1] - y[1]))


def worst(f, y, g):
    return g[0] ** 2 + g[1] ** 2 + (f[0] - f[1]) ** 2


def worst_slope(f, y, g):
    return 2 * (f[0] - f[1]), -2 * (f[0] - f[1])


def worst_slope_inner(f, y, g):
    return 2 * g[0], 2 * g[1]


BALANCED = Composition(
    residuals,
    residuals_slope,
    worst,
    worst_slope,
    worst_slope_inner,
    n_inner=2,
    n_outputs=2,
    n_targets=2,
    is_convex=True,
)


def test_composition_obeys_the_laws():
    check_risk(BALANCED)
    rng = np.random.default_rng(12)
    F, Y = rng.normal(size=(2, 30, 2))
    g = ((F - Y) ** 2).mean(axis=0)
    np.testing.assert_allclose(BALANCED.estimate_at(Squared(), F, Y), g, rtol=1e-13)
    value = (g**2).sum() + ((F[:, 0] - F[:, 1]) ** 2).mean()
    assert BALANCED.value_at(Squared(), F, Y) == pytest.approx(value, rel=1e-13)
    assert pickle.loads(pickle.dumps(BALANCED)) == BALANCED


def test_a_wrong_composition_is_found():
    wrong = Composition(
        residuals, residuals_slope, worst, worst_slope_inner, worst_slope_inner, 2, 2, 2
    )
    with pytest.raises(AssertionError, match="outer_slope_prediction is the derivative"):
        check_risk(wrong)


def test_sizes_that_do_not_fit_meet_one_clear_error():
    with pytest.raises(ValueError, match="f has 1 columns"):
        BALANCED.value_at(Squared(), [[1.0]], [[1.0, 2.0]])


def test_functions_that_are_none_are_named():
    with pytest.raises(TypeError, match="outer must be a function"):
        changed(outer=1.0)
    with pytest.raises(TypeError, match="missing: inner, inner_slope"):
        Composition(None, None, None, None, None)
    with pytest.raises(TypeError, match="inner must return"):
        changed(inner=lambda loss: str(loss)).value([1.0])
