"""Every risk: its slopes are derivatives, its values follow the definition, its claims hold."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colk._core.risks import MEAN, outer_slopes
from colk._core.trackers import start, track
from colk.losses import Huber, Squared
from colk.risks import (
    RISKS,
    CentralMoments,
    Composition,
    CustomRisk,
    CVaR,
    Entropic,
    LossRisk,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.testing import check_risk

ALL: list[LossRisk] = [
    *(risk() for risk in RISKS.values()),
    CentralMoments(3, 0.2),
    CentralMoments(6, 0.01),
    Semivariance(0.5, 0.2),
    Semideviations(3, 0.5, 0.2),
    MeanSemideviation(1, 1.0),
    MeanSemideviation(3.5, 1.0),
    CVaR(0.2, 0.5, 0.1),
    CVaR(0.03),
    Entropic(-1.0),
    Entropic(1e-6),
]
samples = arrays(np.float64, st.integers(2, 30), elements=st.floats(0.0, 20.0))


def identity(loss):
    return loss


def one(loss):
    return 1.0


def variance_outer(loss, g):
    return loss + 0.1 * (loss - g) ** 2


def variance_slope_loss(loss, g):
    return 1.0 + 0.2 * (loss - g)


def variance_slope_inner(loss, g):
    return -0.2 * (loss - g)


VARIANCE = CustomRisk(
    identity, one, variance_outer, variance_slope_loss, variance_slope_inner, is_convex=True
)


def two_inner(loss):
    return loss, loss**2


def two_inner_slope(loss):
    return 1, 2 * loss  # a whole number beside a real one


def two_outer(loss, g):
    return loss + 0.1 * (g[1] - g[0] ** 2)


def two_slope_loss(loss, g):
    return 1.0


def two_slope_inner(loss, g):
    return -0.2 * g[0], 0.1


TWO_MOMENTS = CustomRisk(
    two_inner, two_inner_slope, two_outer, two_slope_loss, two_slope_inner, n_inner=2
)


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


def test_values_follow_the_definitions():
    rng = np.random.default_rng(0)
    losses, weights = rng.exponential(size=101), rng.uniform(size=101)
    for w in (None, weights):

        def mean(values, w=w):
            return np.average(values, weights=w)

        u = losses - mean(losses)
        above = np.maximum(u, 0.0)
        soft = 0.3 * np.log1p(np.exp(u / 0.3))
        exact = {
            Mean(): 0.0,
            Variance(0.7): 0.7 * mean(u**2),
            CentralMoments(4, 0.7): 0.7 * mean(u**2 + u**3 + u**4),
            Semivariance(0.7): 0.7 * mean(above**2),
            Semivariance(0.7, 0.3): 0.7 * mean(soft**2),
            Semideviations(3, 0.7, 0.3): 0.7 * mean(soft**2 + soft**3),
            MeanSemideviation(2, 0.7): 0.7 * mean(above**2) ** 0.5,
            MeanSemideviation(3, 0.7): 0.7 * mean(above**3) ** (1 / 3),
            Entropic(2.0): np.log(mean(np.exp(2 * u))) / 2,
            Entropic(-2.0): -np.log(mean(np.exp(-2 * u))) / 2,
        }
        for risk, dispersion in exact.items():
            value = mean(losses) + dispersion
            assert risk.value(losses, w) == pytest.approx(value, rel=1e-13), risk


@pytest.mark.parametrize("tail", [0.01, 0.1, 0.25, 0.3333, 0.9])
def test_cvar_is_the_least_of_rockafellar_and_uryasev(tail):
    rng = np.random.default_rng(1)
    losses = rng.lognormal(size=40)
    weights = rng.uniform(size=40)
    weights /= weights.sum()
    # A piecewise linear function of τ has its least value at one of the losses.
    direct = min(t + weights @ np.maximum(losses - t, 0.0) / tail for t in losses)
    assert CVaR(tail).value(losses, weights) == pytest.approx(direct, rel=1e-13)
    assert CVaR(tail).gradient(losses, weights).sum() == pytest.approx(1.0, rel=1e-12)
    # ... and is the mean of the worst share, the last loss counted in part.
    order = np.argsort(losses)[::-1]
    filled = np.minimum(np.cumsum(weights[order]), tail)
    worst = np.diff(filled, prepend=0.0) @ losses[order] / tail
    assert CVaR(tail).value(losses, weights) == pytest.approx(worst, rel=1e-13)


def test_cvar_shares_ties():
    gradient = CVaR(0.5).gradient([1.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(gradient, [0.0, 1 / 3, 1 / 3, 1 / 3], rtol=1e-14)


def test_smooth_cvar_goes_to_the_exact_one():
    losses = np.random.default_rng(2).exponential(size=500)
    exact = CVaR(0.1).value(losses)
    errors = [CVaR(0.1, smoothing=s).value(losses) - exact for s in (0.1, 0.01, 0.001)]
    assert errors == sorted(errors, reverse=True)
    assert 0.0 < errors[-1] < 1e-3


def test_entropic_never_overflows():
    losses = np.array([0.0, 1e-3, 5.0, 1e3, 1e100])
    for tilt in (1e-8, 1.0, 50.0, -1.0, -50.0):
        risk = Entropic(tilt)
        g = risk.estimate(losses)
        for table in (g, risk.outer(losses, [0.0]), risk.outer_slope_loss(losses, [0.0])):
            assert np.isfinite(table).all()
        assert np.isfinite(risk.gradient(losses)).all()
        assert losses.min() <= g[0] <= losses.max()
        program, tracked = risk.program(), np.zeros(1)
        for momentum in (True, False):
            start(program, tracked, 1.0)
            for previous, loss in zip(losses[::-1], losses, strict=True):
                track(program, tracked, previous, loss, 0.1, momentum)
                assert np.isfinite(tracked[0])


def test_entropic_bounds_and_limits():
    losses = np.random.default_rng(3).exponential(size=200)
    values = [Entropic(t).value(losses) for t in (-100.0, -1.0, -1e-9, 1e-9, 1.0, 100.0)]
    assert values == sorted(values)
    assert values[2] == pytest.approx(losses.mean(), rel=1e-8)
    assert values[3] == pytest.approx(losses.mean(), rel=1e-8)
    assert losses.max() - np.log(200) / 100 <= values[-1] <= losses.max()


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_estimate_is_a_fixed_point(risk):
    losses = np.random.default_rng(4).exponential(size=10_000)
    g = risk.estimate(losses)
    # CVaR without smoothing fills its tail to within one sample.
    slack = 0.0 if risk.is_smooth else 1.0 / (0.01 * len(losses))
    np.testing.assert_allclose(risk.inner(losses, g).mean(axis=0), g, rtol=1e-9, atol=slack)
    stationary = risk.outer_slope_inner(losses, g).mean(axis=0)[risk.n_expectations :]
    np.testing.assert_allclose(stationary, 0.0, atol=1e-9 + slack)


@pytest.mark.parametrize("risk", ALL, ids=repr)
@given(losses=samples, shift=st.floats(-10.0, 10.0))
@settings(max_examples=20, deadline=None)
def test_a_constant_adds_itself(risk, losses, shift):
    moved = risk.value(losses + shift)
    assert moved == pytest.approx(risk.value(losses) + shift, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("risk", [Mean(), CVaR(0.3), MeanSemideviation(2.0, 0.7)], ids=repr)
@given(losses=samples, factor=st.floats(1e-2, 1e2))
@settings(max_examples=20, deadline=None)
def test_coherent_risks_are_homogeneous(risk, losses, factor):
    scaled = risk.value(factor * losses)
    assert scaled == pytest.approx(factor * risk.value(losses), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("risk", [risk for risk in ALL if risk.is_convex], ids=repr)
@given(losses=arrays(np.float64, (2, 8), elements=st.floats(0.0, 20.0)))
@settings(max_examples=20, deadline=None)
def test_convex(risk, losses):
    middle = risk.value(losses.mean(axis=0))
    ends = 0.5 * (risk.value(losses[0]) + risk.value(losses[1]))
    assert middle <= ends * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("risk", [risk for risk in ALL if risk.is_monotone], ids=repr)
@given(losses=samples, rise=st.floats(0.0, 5.0), place=st.integers(0, 1))
@settings(max_examples=20, deadline=None)
def test_monotone(risk, losses, rise, place):
    raised = losses.copy()
    raised[place] += rise
    assert risk.value(raised) >= risk.value(losses) - 1e-9


def test_what_is_not_claimed_does_not_hold():
    low, high = np.array([0.0, 10.0]), np.array([9.0, 10.0])
    assert Variance(1.0).value(high) < Variance(1.0).value(low)
    assert MeanSemideviation(2, 3.0).value(high) < MeanSemideviation(2, 3.0).value(low)
    assert Entropic(-1.0).value([5.0, 5.0]) > 0.5 * (
        Entropic(-1.0).value([0.0, 10.0]) + Entropic(-1.0).value([10.0, 0.0])
    )
    u = np.linspace(-3.0, 3.0, 1001)
    for order in range(2, 13):  # u² + … + u^P is convex just for even P
        bend = sum(p * (p - 1) * u ** (p - 2) for p in range(2, order + 1))
        assert (bend > 0.0).all() == CentralMoments(order).is_convex


@pytest.mark.parametrize(
    "risk",
    [
        Variance(0.0),
        CentralMoments(4, 0.0),
        Semivariance(0.0, 0.1),
        Semideviations(4, 0.0),
        MeanSemideviation(2, 0.0),
        CVaR(0.1, 0.0),
        CVaR(1.0),
    ],
    ids=repr,
)
def test_no_dispersion_is_the_mean_bit_for_bit(risk):
    assert risk.program().tolist() == [MEAN, 0.0]
    assert risk.n_inner == 0
    assert risk.is_monotone
    losses = np.random.default_rng(5).exponential(size=33)
    assert risk.value(losses) == Mean().value(losses)
    assert np.array_equal(risk.gradient(losses), Mean().gradient(losses))
    assert risk.inner(losses, []).shape == (33, 0)


@pytest.mark.parametrize("momentum", [True, False])
@pytest.mark.parametrize(
    "risk",
    [
        Variance(),
        MeanSemideviation(),
        CVaR(0.2),
        CVaR(0.1, smoothing=0.1),
        Entropic(0.3),
        Entropic(-1.0),
        TWO_MOMENTS,
    ],
    ids=repr,
)
def test_trackers_find_the_estimate(risk, momentum):
    losses = np.random.default_rng(6).exponential(size=40_000)
    program, g = risk.program(), np.zeros(risk.n_inner)
    start(program, g, losses[0])
    path = np.empty((len(losses), risk.n_inner))
    for t, loss in enumerate(losses):
        track(program, g, loss, loss, 0.01, momentum)
        path[t] = g
    np.testing.assert_allclose(path[2000:].mean(axis=0), risk.estimate(losses), rtol=0.04)


@pytest.mark.parametrize("risk", [CVaR(0.2), MeanSemideviation(2.0), Mean()], ids=repr)
def test_trackers_scale_with_the_losses(risk):
    losses = np.random.default_rng(7).exponential(size=300)
    paths = []
    for factor in (1.0, 1024.0):
        program, g = risk.program(), np.zeros(risk.n_inner)
        start(program, g, factor * losses[0])
        for previous, loss in pairwise(losses):
            track(program, g, factor * previous, factor * loss, 0.05, True)
        paths.append(g)
    power = np.array([1.0, 2.0])[: risk.n_inner] if risk == MeanSemideviation(2.0) else 1.0
    np.testing.assert_allclose(paths[1], paths[0] * 1024.0**power, rtol=1e-12)


def test_tracker_formulas():
    g = np.array([2.0])
    track(Variance().program(), g, 3.0, 5.0, 0.25, True)
    assert g[0] == 0.75 * (2.0 - 3.0) + 5.0
    track(Variance().program(), g, 3.0, 5.0, 0.25, False)
    assert g[0] == 0.75 * 4.25 + 0.25 * 5.0
    g = np.array([2.0, 4.0])  # g₂ looks at the g₁ from before the sample
    track(MeanSemideviation(2.0).program(), g, 3.0, 5.0, 0.25, True)
    assert g.tolist() == [4.25, 0.75 * (4.0 - (3.0 - 2.0) ** 2) + (5.0 - 2.0) ** 2]
    g = np.array([2.0, 1.0])
    track(CVaR(0.25).program(), g, 0.0, 5.0, 0.1, True)
    np.testing.assert_allclose(g, [2.0 + 0.1 * 0.5 * 3.0, 0.9 + 0.1 * (5.0 - 2.0)], rtol=1e-15)
    g = np.array([2.0])
    track(Entropic(0.5).program(), g, 0.0, 3.0, 0.1, False)
    assert g[0] == pytest.approx(2.0 * np.log(0.9 * np.exp(1.0) + 0.1 * np.exp(1.5)), rel=1e-14)
    g = np.array([2.0])
    track(Entropic(0.5).program(), g, 1.9, 2.2, 0.1, True)
    mean = 0.9 * (np.exp(1.0) - np.exp(0.95)) + np.exp(1.1)
    assert g[0] == pytest.approx(2.0 * np.log(mean), rel=1e-14)


@pytest.mark.parametrize("risk", [MeanSemideviation(2.0), Entropic(1.0)], ids=repr)
def test_momentum_never_turns_a_positive_mean_negative(risk):
    program, g, plain = risk.program(), np.zeros(risk.n_inner), np.zeros(risk.n_inner)
    for tracked in (g, plain):
        start(program, tracked, 1.0)
    track(program, g, 20.0, 1.5, 0.1, True)
    track(program, plain, 20.0, 1.5, 0.1, False)
    assert np.isfinite(g).all()
    if risk == Entropic(1.0):
        assert g[0] == plain[0]
    else:
        assert g[1] == 0.9 * 1.0 + 0.1 * (1.5 - 1.0) ** 2


@pytest.mark.parametrize("risk", [*ALL, VARIANCE, TWO_MOMENTS], ids=repr)
def test_rate_one_has_no_memory(risk):
    program = risk.program()
    paths = np.random.default_rng(8).exponential(size=(2, risk.n_inner))
    for momentum in (True, False):
        for g in paths:
            track(program, g, 0.7, 1.3, 1.0, momentum)
        np.testing.assert_array_equal(paths[0], paths[1])


@pytest.mark.parametrize("risk", [*ALL, VARIANCE, TWO_MOMENTS], ids=repr)
def test_slopes_of_a_pair_are_the_gradient_in_expectation(risk):
    losses = np.random.default_rng(9).exponential(size=40)
    g = risk.estimate(losses)
    pairs = np.array([[outer_slopes(risk.program(), a, g, b) for b in losses] for a in losses])
    gradient = (pairs[:, 0, 0] + pairs[:, :, 1].mean(axis=0)) / len(losses)
    # At the kink of CVaR a pair takes the slope 0, the exact gradient shares what is left.
    off = np.ones(40, bool) if risk.is_smooth or not len(g) else losses != g[0]
    np.testing.assert_allclose(gradient[off], risk.gradient(losses)[off], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("custom", [VARIANCE, TWO_MOMENTS], ids=["one", "two"])
def test_a_users_risk_equals_the_built_in_one(custom):
    losses = np.random.default_rng(10).exponential(size=50)
    built_in = Variance(0.1)
    assert custom.value(losses) == pytest.approx(built_in.value(losses), rel=1e-13)
    np.testing.assert_allclose(custom.gradient(losses), built_in.gradient(losses), rtol=1e-11)
    again = pickle.loads(pickle.dumps(custom))
    assert again == custom
    assert again.value(losses) == custom.value(losses)


def test_a_users_risk_tracks_like_the_built_in_one_bit_for_bit():
    losses = np.random.default_rng(11).exponential(size=50)
    found = []
    for risk in (VARIANCE, Variance(0.1)):
        program, g = risk.program(), np.zeros(1)
        start(program, g, losses[0])
        for previous, loss in pairwise(losses):
            track(program, g, previous, loss, 0.1, True)
        found.append(g[0])
    assert found[0] == found[1]


def residuals(f, y, out):
    out[0] = (f[0] - y[0]) ** 2
    out[1] = (f[1] - y[1]) ** 2


def residuals_slope(f, y, out):
    out[:] = 0.0
    out[0, 0] = 2 * (f[0] - y[0])
    out[1, 1] = 2 * (f[1] - y[1])


def worst(f, y, g):
    return g[0] ** 2 + g[1] ** 2 + (f[0] - f[1]) ** 2


def worst_slope(f, y, g, out):
    out[0] = 2 * (f[0] - f[1])
    out[1] = -2 * (f[0] - f[1])


def worst_slope_inner(f, y, g, out):
    out[0] = 2 * g[0]
    out[1] = 2 * g[1]


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


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_gradient_in_the_predictions(risk):
    rng = np.random.default_rng(13)
    F, Y, direction = rng.normal(size=(3, 25, 2))
    loss, h = Huber(0.7), 1e-6
    ends = [risk.value_at(loss, F + s * h * direction, Y) for s in (-1, 1)]
    slope = (risk.gradient_at(loss, F, Y) * direction).sum()
    assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_data_classes(risk):
    assert pickle.loads(pickle.dumps(risk)) == risk
    assert risk.program()[1] == risk.n_inner
    with pytest.raises(AttributeError):
        risk.weight = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Variance(-1.0), "weight must be finite and at least 0"),
        (lambda: CentralMoments(1), "order must be at least 2"),
        (lambda: Semivariance(1.0, -1.0), "smoothing must be"),
        (lambda: MeanSemideviation(0.5), "order must be finite and at least 1"),
        (lambda: CVaR(0.0), r"tail_fraction must lie in \(0, 1\]"),
        (lambda: CVaR(0.1, 1.5), r"weight must lie in \[0, 1\]"),
        (lambda: Entropic(0.0), "tilt must not be 0"),
        (lambda: Mean().value([]), "at least one sample"),
        (lambda: Mean().value([1.0], [-1.0]), "sample_weight must be at least 0"),
        (lambda: Variance().outer([1.0], [1.0, 2.0]), "g has 2 entries, expected 1"),
        (lambda: BALANCED.value_at(Squared(), [[1.0]], [[1.0, 2.0]]), "f has 1 columns"),
    ],
)
def test_bad_input_meets_one_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_functions_that_are_none_are_named():
    with pytest.raises(TypeError, match="outer must be a function"):
        changed(outer=1.0)
    with pytest.raises(TypeError, match="inner must be a function"):
        Composition(None, None, None, None, None)
    with pytest.raises(TypeError, match=r"CustomRisk\.inner"):
        changed(inner=lambda loss: str(loss)).value([1.0])
