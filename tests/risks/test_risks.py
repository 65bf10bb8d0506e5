"""Every risk: its slopes are derivatives, its values follow the definition, its flags are right."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from risk_cases import ALL

from colk import risks
from colk.losses import Huber
from colk.risks import (
    RISKS,
    CentralMoments,
    CVaR,
    Entropic,
    LossRisk,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.trackers import Momentum, MovingAverage

samples = arrays(np.float64, st.integers(2, 30), elements=st.floats(0.0, 20.0))


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


@pytest.mark.filterwarnings("ignore:CVaR.* is the mean of the worst 90 %:UserWarning")
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
        for tracker in (Momentum(), MovingAverage()):
            path = risk.follow([1.0, *losses], [1.0, *losses[::-1]], tracker=tracker)
            assert np.isfinite(path).all()


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
    assert risk.n_inner == 0
    assert risk.is_monotone
    losses = np.random.default_rng(5).exponential(size=33)
    assert risk.value(losses) == Mean().value(losses)
    assert np.array_equal(risk.gradient(losses), Mean().gradient(losses))
    assert risk.inner(losses, []).shape == (33, 0)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_gradient_in_the_predictions(risk):
    rng = np.random.default_rng(13)
    F, Y, direction = rng.normal(size=(3, 25, 2))
    loss, h = Huber(0.7), 1e-6
    ends = [risk.value_at(loss, F + s * h * direction, Y) for s in (-1, 1)]
    slope = (risk.gradient_at(loss, F, Y) * direction).sum()
    assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_terms_are_frozen(risk):
    again = pickle.loads(pickle.dumps(risk))
    assert again == risk
    assert hash(again) == hash(risk)
    assert repr(again) == repr(risk)
    assert copy.deepcopy(risk) == risk
    assert eval(repr(risk), dict(vars(risks))) == risk
    assert isinstance(risk, LossRisk)
    for name in risk._fields:
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(risk, name, 2.0)


def test_terms_with_other_parameters_are_others():
    assert CVaR(0.1).replace(weight=0.5) == CVaR(0.1, 0.5)
    assert CVaR(0.1) != CVaR(0.2)
    assert Variance(0.3) != Semivariance(0.3)
    assert len({risk() for risk in RISKS.values()}) == len(RISKS)
    with pytest.raises(ValueError, match="tail_fraction must lie"):
        CVaR(0.1).replace(tail_fraction=2.0)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_equal_losses_have_no_dispersion(risk):
    losses = np.full(7, 1.5)
    if not getattr(risk, "smoothing", 0.0):
        assert risk.value(losses) == pytest.approx(1.5, rel=1e-14)
    gradient = risk.gradient(losses)
    np.testing.assert_allclose(gradient, 1 / 7, rtol=1e-9)


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
    ],
)
def test_bad_input_meets_one_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()
