"""The tracked g of a stream, for every risk and every tracker."""

import mpmath
import numpy as np
import pytest
from risk_cases import ALL, TWO_MOMENTS, VARIANCE

from colk.risks import CVaR, Entropic, Mean, MeanSemideviation, Semivariance, Variance
from colk.trackers import Extrapolation, Momentum, MovingAverage, Tracker

BOTH = pytest.mark.parametrize("tracker", [Momentum(), MovingAverage()], ids=repr)


class Slow(Tracker):
    """A moving average at half the rate, as a user writes it."""

    def update(self, g, before, now, rate):
        return g + 0.5 * rate * (now - g)


def last(risk, losses, before, rate, tracker):
    return risk.follow(losses, before, rate=rate, tracker=tracker)[-1]


@BOTH
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
def test_trackers_find_the_estimate(risk, tracker):
    losses = np.random.default_rng(6).exponential(size=40_000)
    path = risk.follow(losses, rate=0.01, tracker=tracker)
    np.testing.assert_allclose(path[2000:].mean(axis=0), risk.estimate(losses), rtol=0.04)


@pytest.mark.parametrize("risk", [CVaR(0.2), MeanSemideviation(2.0), Mean()], ids=repr)
def test_trackers_scale_with_the_losses(risk):
    losses = np.random.default_rng(7).exponential(size=300)
    before = np.concatenate([losses[:1], losses[:-1]])
    paths = [risk.follow(factor * losses, factor * before, rate=0.05) for factor in (1.0, 1024.0)]
    power = np.array([1.0, 2.0])[: risk.n_inner] if risk == MeanSemideviation(2.0) else 1.0
    np.testing.assert_allclose(paths[1], paths[0] * 1024.0**power, rtol=1e-12)


def test_tracker_formulas():
    steps = [2.0, 5.0], [2.0, 3.0], 0.25  # losses, those under the previous f, β
    assert last(Variance(), *steps, Momentum())[0] == 0.75 * (2.0 - 3.0) + 5.0
    assert last(Variance(), *steps, MovingAverage())[0] == 0.75 * 2.0 + 0.25 * 5.0
    assert last(Variance(), *steps, Extrapolation())[0] == 0.75 * 2.0 + 0.25 * 3.0
    assert last(Variance(), *steps, Slow())[0] == 2.0 + 0.125 * 3.0
    # g₂ uses the g₁ before the sample
    g = last(MeanSemideviation(2.0), *steps, Momentum())
    assert g.tolist() == [4.25, 0.75 * (4.0 - (3.0 - 2.0) ** 2) + (5.0 - 2.0) ** 2]
    # both use the g before the sample, and are averaged for every tracker
    for tracker in (Momentum(), MovingAverage(), Slow()):
        g = last(CVaR(0.25), [2.0, 5.0], [2.0, 0.0], 0.1, tracker)
        expected = [2.0 + 0.1 * 2.0 * 0.5 * 3.0, 0.9 * 2.0 + 0.1 * (5.0 - 2.0)]
        np.testing.assert_allclose(g, expected, rtol=1e-15)
    g = last(Entropic(0.5), [2.0, 3.0], [2.0, 0.0], 0.1, MovingAverage())
    assert g[0] == pytest.approx(2.0 * np.log(0.9 * np.exp(1.0) + 0.1 * np.exp(1.5)), rel=1e-14)
    g = last(Entropic(0.5), [2.0, 3.0], [2.0, 0.0], 0.1, Slow())
    assert g[0] == pytest.approx(2.0 * np.log(0.95 * np.exp(1.0) + 0.05 * np.exp(1.5)), rel=1e-14)
    g = last(Entropic(0.5), [2.0, 2.2], [2.0, 1.9], 0.1, Momentum())
    mean = 0.9 * (np.exp(1.0) - np.exp(0.95)) + np.exp(1.1)
    assert g[0] == pytest.approx(2.0 * np.log(mean), rel=1e-14)


@pytest.mark.parametrize("tilt", [1e-12, -1e-9, 1e-3, 1.0, -5.0, 20.0])
@BOTH
def test_the_log_mean_is_exact_for_every_tilt(tilt, tracker):
    """Against 60 digits: neither tiny tilts nor large exponents cost any."""
    losses, before, rate = [2.0, 2.4, 0.1, 30.0, 1.0], [2.0, 2.3, 0.2, 29.0, 1.5], 0.1
    path = Entropic(tilt).follow(losses, before, rate=rate, tracker=tracker)[:, 0]
    with mpmath.workdps(60):
        t, beta, c = mpmath.mpf(tilt), mpmath.mpf(rate), mpmath.mpf(2)
        for k in range(1, 5):
            now, then = mpmath.exp(t * (losses[k] - c)), mpmath.exp(t * (before[k] - c))
            mean = (1 - beta) * (1 - then) + now if tracker == Momentum() else 0
            if mean <= (1 - beta) / 2:
                mean = (1 - beta) + beta * now
            c += mpmath.log(mean) / t
            assert path[k] == pytest.approx(float(c), rel=1e-12)


@BOTH
def test_exponents_beyond_all_numbers(tracker):
    path = Entropic(1.0).follow([0.0, 1e4, 2e4, -1e6], [0.0, 3e4, -1e4, 5.0], tracker=tracker)
    expected = 1e4 + np.log(0.1)
    assert path[1, 0] == pytest.approx(expected, rel=1e-14)
    assert path[2, 0] == pytest.approx(2e4 + np.log(0.1), rel=1e-14)
    assert path[3, 0] == pytest.approx(path[2, 0] + np.log(0.9), rel=1e-14)


@pytest.mark.parametrize("risk", [MeanSemideviation(2.0), Entropic(1.0)], ids=repr)
def test_momentum_never_turns_a_positive_mean_negative(risk):
    steps = [1.0, 1.5], [1.0, 20.0], 0.1
    g, plain = (last(risk, *steps, tracker) for tracker in (Momentum(), MovingAverage()))
    assert np.isfinite(g).all()
    if risk == Entropic(1.0):
        assert g[0] == plain[0]
    else:
        assert g[1] == 0.9 * 1.0 + 0.1 * (1.5 - 1.0) ** 2


@BOTH
@pytest.mark.parametrize("risk", [*ALL, VARIANCE, TWO_MOMENTS], ids=repr)
def test_rate_one_has_no_memory(risk, tracker):
    paths = np.random.default_rng(8).exponential(size=(2, 3))
    paths[:, -1] = 1.3
    found = [risk.follow(path, rate=1.0, tracker=tracker)[-1] for path in paths]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], risk.follow([1.3])[0])


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_a_still_function_needs_no_correction(risk):
    """Where both losses of a sample agree, momentum is the moving average."""
    losses = np.random.default_rng(16).exponential(size=200)
    momentum, average = (
        risk.follow(losses, rate=0.2, tracker=tracker) for tracker in (Momentum(), MovingAverage())
    )
    np.testing.assert_allclose(momentum, average, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("risk", [*ALL, VARIANCE, TWO_MOMENTS], ids=repr)
def test_slopes_of_a_pair_are_the_gradient_in_expectation(risk):
    losses = np.random.default_rng(9).exponential(size=40)
    g = risk.estimate(losses)
    by_inner, inner_slope = risk.outer_slope_inner(losses, g), risk.inner_slope(losses, g)
    through = by_inner @ inner_slope.T  # at θ (rows) by ξ (columns)
    gradient = (risk.outer_slope_loss(losses, g) + through.mean(axis=0)) / len(losses)
    # At the kink of CVaR a pair takes the slope 0, the exact gradient shares what is left.
    off = np.ones(40, bool) if risk.is_smooth or not len(g) else losses != g[0]
    np.testing.assert_allclose(gradient[off], risk.gradient(losses)[off], rtol=1e-9, atol=1e-12)


@BOTH
def test_a_users_risk_tracks_like_the_built_in_one_bit_for_bit(tracker):
    losses, before = np.random.default_rng(11).exponential(size=(2, 50))
    found = [
        risk.follow(losses, before, rate=0.1, tracker=tracker)
        for risk in (VARIANCE, Variance(0.1), Semivariance(0.1))
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[2], found[1])


def test_bad_input_meets_one_clear_error():
    with pytest.raises(ValueError, match="before has 1 entries, expected 2"):
        Variance().follow([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"rate must lie in \(0, 1\]"):
        Variance().follow([1.0, 2.0], rate=0.0)
    with pytest.raises(TypeError, match="tracker"):
        Variance().follow([1.0, 2.0], tracker="momentum")
