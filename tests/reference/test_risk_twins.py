"""Risks of the specification: slopes are derivatives, and the engine's formulas equal them."""

from types import SimpleNamespace

import numpy as np
import pytest

from colk.reference import risks
from colk.risks import (
    KLDRO,
    RISKS,
    CentralMoments,
    ChiSquareDRO,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)

ONE = CustomRisk(
    inner=lambda loss: loss**2,
    inner_slope=lambda loss: 2.0 * loss,
    outer=lambda loss, g: loss + (loss - g) ** 2,
    outer_slope_loss=lambda loss, g: 1.0 + 2.0 * (loss - g),
    outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
)
TWO = CustomRisk(
    inner=lambda loss: (loss, loss**2),
    inner_slope=lambda loss: (1.0, 2.0 * loss),
    outer=lambda loss, g: loss * g[1] - g[0] ** 2,
    outer_slope_loss=lambda loss, g: g[1],
    outer_slope_inner=lambda loss, g: (-2.0 * g[0], loss),
    n_inner=2,
)
ALL = [
    *(risk() for risk in RISKS.values()),
    CentralMoments(3, 0.2),
    Semivariance(0.2, smoothing=0.3),
    Semideviations(5, 0.2, smoothing=0.1),
    MeanSemideviation(1.0, 0.4),
    MeanSemideviation(3.5, 0.4),
    MeanSemideviation(1.0, 0.4, 0.3),
    MeanSemideviation(2.0, 0.4, 0.3),
    CVaR(0.3, 0.6, 0.2),
    ChiSquareDRO(0.05),
    KLDRO(1.0),
    Entropic(-0.7),
    ONE,
    TWO,
]
NOTHING = [Variance(0.0), CentralMoments(4, 0.0), Semivariance(0.0), Semideviations(4, 0.0)]
NOTHING += [MeanSemideviation(2.0, 0.0), CVaR(1.0), CVaR(0.2, 0.0), Mean()]


def draw(risk, rng):
    """A loss and a g."""
    g = np.abs(rng.normal(size=risks.n_inner(risk))) + 0.1
    return float(rng.normal(scale=2.0)), g


def assert_engine_equals(risk, loss, g):
    value, slope_loss, slope_inner = risks.outer(risk, loss, g)
    pairs = [
        (risk.inner([loss], g)[0], risks.inner(risk, loss, g)),
        (risk.inner_slope([loss], g)[0], risks.inner_slope(risk, loss, g)),
        (risk.outer([loss], g)[0], value),
        (risk.outer_slope_loss([loss], g)[0], slope_loss),
        (risk.outer_slope_inner([loss], g)[0], slope_inner),
    ]
    for engine, specified in pairs:
        np.testing.assert_allclose(engine, specified, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("risk", ALL + NOTHING, ids=repr)
def test_the_engine_equals_it(risk):
    rng = np.random.default_rng(0)
    assert risk.n_inner == risks.n_inner(risk)
    for _ in range(100):
        assert_engine_equals(risk, *draw(risk, rng))


@pytest.mark.parametrize(
    ("risk", "loss", "g"),
    [
        (Entropic(2.0), 30.0, [1.0]),  # an exponent of 58
        (Entropic(-2.0), -30.0, [1.0]),
        (MeanSemideviation(2.0), 5000.0, [1.0, 4.0]),  # the power 6e6 times g₂
        (MeanSemideviation(3.0), 5000.0, [1.0, 1e-3]),
        (MeanSemideviation(1.0), 5e7, [1.0, 2.0]),
    ],
    ids=repr,
)
def test_the_engine_equals_it_beyond_the_caps(risk, loss, g):
    assert_engine_equals(risk, loss, np.array(g))


@pytest.mark.parametrize("risk", NOTHING, ids=repr)
def test_a_weight_of_nothing_is_the_mean(risk):
    assert risks.kind(risk) == "Mean"
    value, by_loss, by_g = risks.outer(risk, 1.5, np.zeros(0))
    assert (value, by_loss, len(by_g)) == (1.5, 1.0, 0)


@pytest.mark.parametrize("risk", [*ALL, Entropic(2.0)], ids=repr)
@pytest.mark.parametrize("far", [1.0, 1e4])
def test_slopes_are_derivatives(risk, far):
    """Far out both caps are exceeded."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        loss, g = draw(risk, rng)
        loss, h = far * loss, far * 1e-6
        _, by_loss, by_g = risks.outer(risk, loss, g)
        outer = [risks.outer(risk, loss + sign * h, g).value for sign in (1.0, -1.0)]
        inner = [risks.inner(risk, loss + sign * h, g) for sign in (1.0, -1.0)]
        np.testing.assert_allclose(by_loss, (outer[0] - outer[1]) / (2 * h), rtol=2e-5, atol=2e-6)
        if type(risk) is CustomRisk:
            rise = (inner[0] - inner[1]) / (2 * h)
            np.testing.assert_allclose(risks.inner_slope(risk, loss, g), rise, rtol=1e-5)
        for i in range(len(g)):
            step = 1e-6 * np.eye(len(g))[i]
            around = [risks.outer(risk, loss, g + sign * step).value for sign in (1.0, -1.0)]
            rise = (around[0] - around[1]) / 2e-6
            size = 1e-9 * abs(around[0]) / 1e-6  # what the difference cancels
            np.testing.assert_allclose(by_g[i], rise, rtol=2e-5, atol=2e-6 + size)


@pytest.mark.parametrize("risk", [risk for risk in ALL if risk is not TWO], ids=repr)
def test_g_is_a_fixed_point_and_the_value_the_mean(risk):
    """At the exact g of a sample the mean of inner is g, and the mean of outer the risk."""
    sample = np.random.default_rng(2).gamma(2.0, size=4000)
    g = risk.estimate(sample)
    mean = np.mean([risks.inner(risk, loss, g) for loss in sample], axis=0)
    np.testing.assert_allclose(mean, g, atol=1e-3 * np.abs(g).max(initial=0.0))
    value = np.mean([risks.outer(risk, loss, g).value for loss in sample])
    assert value == pytest.approx(risk.value(sample), rel=1e-9)


@pytest.mark.parametrize("risk", [CVaR(0.3, 1.0, 0.2), Entropic(0.5), MeanSemideviation(2.0)])
def test_what_has_no_inner_slope_is_stationary(risk):
    sample = np.random.default_rng(3).gamma(2.0, size=2000)
    g = risk.estimate(sample)
    slopes = np.mean([risks.outer(risk, loss, g).slope_inner for loss in sample], axis=0)
    still = risks.inner_slope(risk, 1.0, g) == 0.0
    assert still.any()
    np.testing.assert_allclose(slopes[still], 0.0, atol=1e-9)


def test_a_power_of_nothing_is_sane():
    risk, g = MeanSemideviation(2.0, 0.5), np.zeros(2)
    assert risks.outer(risk, 0.0, g)[:2] == (0.0, 1.0)
    assert_engine_equals(risk, -1.0, np.array([0.0, 1e-300]))
    value, by_loss, _ = risks.outer(risk, 2.0, g)
    assert value == risk.outer([2.0], g)[0]
    assert by_loss == risk.outer_slope_loss([2.0], g)[0]


class Composition(SimpleNamespace):
    """The contract of `colk.risks.Composition`: functions that return."""


def test_a_composition_is_read_by_rows():
    both = Composition(
        n_inner=2,
        inner=lambda f, y: (f[0] - y[0], f[1] * f[0]),
        inner_slope=lambda f, y: [[1.0, 0.0], [f[1], f[0]]],
        outer=lambda f, y, g: f[0] * g[0] + f[1] * g[1],
        outer_slope_prediction=lambda f, y, g: g,
        outer_slope_inner=lambda f, y, g: f,
    )
    sample, g = (np.array([2.0, 3.0]), np.array([0.5])), np.array([5.0, 7.0])
    np.testing.assert_array_equal(risks.inner(both, sample, g), [1.5, 6.0])
    np.testing.assert_array_equal(risks.inner_slope(both, sample, g), [[1.0, 0.0], [3.0, 2.0]])
    value, by_f, by_g = risks.outer(both, sample, g)
    assert value == 31.0
    np.testing.assert_array_equal(by_f, g)
    np.testing.assert_array_equal(by_g, sample[0])


def test_one_number_may_be_returned_plain():
    one = Composition(n_inner=1, inner=lambda f, y: f[0], inner_slope=lambda f, y: 1.0)
    sample = np.array([2.0]), np.array([0.5])
    assert risks.inner(one, sample, np.zeros(1)).shape == (1,)
    assert risks.inner_slope(one, sample, np.zeros(1)).shape == (1, 1)
