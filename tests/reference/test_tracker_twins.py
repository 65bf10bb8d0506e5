"""Trackers of the reference against the values that they track."""

import numpy as np
import pytest

from colk.reference import trackers
from colk.risks import (
    RISKS,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Variance,
)

TRACKED = [risk() for risk in RISKS.values() if risk is not Mean]
SQUARES = CustomRisk(
    inner=lambda loss: (loss, loss**2),
    inner_slope=lambda loss: (1.0, 2.0 * loss),
    outer=lambda loss, g: loss + g[1] - g[0] ** 2,
    outer_slope_loss=lambda loss, g: 1.0,
    outer_slope_inner=lambda loss, g: (-2.0 * g[0], 1.0),
    n_inner=2,
)


class Momentum:
    """The name of a tracker is all that the specification reads."""


class MovingAverage:
    """As above."""


def follow(tracker, risk, losses, rate):
    """g after a stream of losses of a function that stays as it is."""
    g = trackers.start(risk, losses[0])
    for loss in losses[1:]:
        g = trackers.track(tracker, risk, g, loss, loss, rate)
    return g


@pytest.mark.parametrize("risk", [*TRACKED, SQUARES], ids=repr)
@pytest.mark.parametrize("tracker", ["momentum", "average"])
def test_a_stream_leads_to_the_exact_g(risk, tracker):
    losses = np.random.default_rng(0).gamma(3.0, size=20000)
    near = follow(tracker, risk, losses, 0.002)
    np.testing.assert_allclose(near, risk.estimate(losses), rtol=0.2)


@pytest.mark.parametrize("risk", [*TRACKED, SQUARES], ids=repr)
def test_a_function_that_stays_makes_both_trackers_one(risk):
    """(1 − β)(g − h) + h is (1 − β)g + βh."""
    losses = np.random.default_rng(1).gamma(3.0, size=50)
    both = [follow(tracker, risk, losses, 0.1) for tracker in ("momentum", "average")]
    np.testing.assert_allclose(*both, rtol=1e-10)


@pytest.mark.parametrize("risk", [*TRACKED, SQUARES], ids=repr)
def test_a_tracker_is_known_by_its_name(risk):
    g = trackers.start(risk, 2.0)
    for tracker, name in ((Momentum(), "momentum"), (MovingAverage(), "average")):
        named, made = (trackers.track(each, risk, g, 1.0, 1.5, 0.1) for each in (name, tracker))
        np.testing.assert_array_equal(named, made)


@pytest.mark.parametrize("risk", [*TRACKED, SQUARES], ids=repr)
@pytest.mark.parametrize("tracker", ["momentum", "average"])
def test_a_rate_of_one_starts_anew(risk, tracker):
    g = trackers.start(risk, 2.0)
    moved = trackers.track(tracker, risk, g, 7.0, 3.0, 1.0)
    np.testing.assert_array_equal(moved, trackers.start(risk, 3.0))


def test_nothing_is_tracked_of_the_mean():
    assert trackers.start(Mean(), 3.0).shape == (0,)
    assert trackers.track("momentum", Mean(), np.zeros(0), 1.0, 2.0, 0.1).shape == (0,)


def test_momentum_by_hand():
    g = trackers.track("momentum", Variance(0.1), np.array([1.0]), 2.0, 3.0, 0.25)
    assert g[0] == 0.75 * (1.0 - 2.0) + 3.0
    g = trackers.track("momentum", SQUARES, np.array([1.0, 5.0]), 2.0, 3.0, 0.25)
    np.testing.assert_array_equal(g, [0.75 * (1.0 - 2.0) + 3.0, 0.75 * (5.0 - 4.0) + 9.0])


@pytest.mark.parametrize("tilt", [0.3, -0.4])
def test_the_log_mean_tracks_the_mean_of_exponentials(tilt):
    c, now, before, rate = 1.3, 0.7, 0.9, 0.2
    mean = np.exp(tilt * c)
    averaged = (1.0 - rate) * mean + rate * np.exp(tilt * now)
    moved = (1.0 - rate) * (mean - np.exp(tilt * before)) + np.exp(tilt * now)
    for tracker, exact in (("average", averaged), ("momentum", moved)):
        g = trackers.track(tracker, Entropic(tilt), np.array([c]), before, now, rate)
        assert g[0] == pytest.approx(np.log(exact) / tilt, rel=1e-13)


@pytest.mark.parametrize(("before", "now"), [(30.0, 0.0), (1000.0, 1000.0), (0.0, 1000.0)])
def test_the_log_mean_averages_where_momentum_would_break_it(before, now):
    g = np.array([1.0])
    moved, averaged = (
        trackers.track(tracker, Entropic(1.0), g, before, now, 0.1)
        for tracker in ("momentum", "average")
    )
    np.testing.assert_array_equal(moved, averaged)
    assert averaged[0] == pytest.approx(np.logaddexp(np.log(0.9) + 1.0, np.log(0.1) + now))


def test_the_threshold_is_always_averaged():
    risk, g = CVaR(0.25), np.array([1.0, 2.0])
    for tracker in ("momentum", "average"):
        up = trackers.track(tracker, risk, g, 9.0, 3.0, 0.1)
        # τ − β √a·spread·(1 − 1{ℓ > τ}/a)
        np.testing.assert_allclose(up, [1.0 + 0.1 * 0.5 * 2.0 * 3.0, 0.9 * 2.0 + 0.1 * 2.0])
        down = trackers.track(tracker, risk, g, 9.0, 0.5, 0.1)
        np.testing.assert_allclose(down, [1.0 - 0.1 * 0.5 * 2.0, 0.9 * 2.0 + 0.1 * 0.5])


def test_a_mean_of_powers_stays_positive():
    risk, g = MeanSemideviation(2.0), np.array([1.0, 4.0])
    kept = trackers.track("momentum", risk, g, 2.0, 2.5, 0.1)
    np.testing.assert_allclose(kept, [0.9 * (1.0 - 2.0) + 2.5, 0.9 * (4.0 - 1.0) + 1.5**2])
    guarded = trackers.track("momentum", risk, g, 3.0, 1.5, 0.1)
    np.testing.assert_allclose(guarded, [0.9 * (1.0 - 3.0) + 1.5, 0.9 * 4.0 + 0.1 * 0.5**2])
